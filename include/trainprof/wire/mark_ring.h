/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark ring: a file in the recording directory into which the user's program writes step and
 * phase marks ("trainprof/mark.h") and from which trainprof drains them.
 *
 * 	offset 0    u64 magic "TPMARKS1"  u32 header bytes (128)  u32 record bytes (64)
 * 	            u32 number of records N, a power of two  u32 flags, 1 = checksums;
 * 	            zeros
 * 	offset 64   u64 head: records claimed so far, over all processes; zeros
 * 	offset 128  N records of 64 bytes; claim c lives in slot c mod N
 *
 * 	record      u64 sequence  u64 time_ns  u32 pid  u32 tid  u16 kind  u16 depth  u32 checksum
 * 	            char name[32], NUL-terminated
 *
 * The sequence is 0 in a fresh slot, 2c+3 while claim c is being written, 2c+2 once it is complete.
 * Writers never wait: an undrained record is overwritten. Every claim is either delivered or lost,
 * so after each drain  next == n_taken + n_lost. Numbers are in the byte order of the machine.
 *
 * Writers with atomic operations (C) share one ring: the claim is a fetch-and-add of the head, the
 * slot is entered by compare-and-swap, and the checksum is zero.
 *
 * A writer without them (Python) must not touch that head. It uses rings with checksums: one for
 * each process and interpreter, next to the shared one, named RING.PID-NUMBER. Its writer creates
 * the file as .RING.PID-NUMBER and renames it when it is complete. Only one thread at a time writes
 * there (Python's interpreter lock), so a claim needs no atomic operation; the head is stored in
 * the same step and never runs backwards. The order in which the bytes of a record become visible
 * is not known: the checksum is the CRC-32 of zlib over the 64 bytes of the record with a checksum
 * of zero, and a record that does not match it is still being written. After fork() the child
 * creates a ring of its own. The order of marks is known within a ring; between rings it follows
 * from their times only.
 *
 * The user's program can change the file, so nothing in it is trusted, and it is read with pread()
 * because a mapping would raise SIGBUS if the file were truncated.
 */
#ifndef TRAINPROF_WIRE_MARK_RING_H
#define TRAINPROF_WIRE_MARK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_MARK_RING_MAGIC UINT64_C(0x31534b52414d5054)
#define TP_MARK_RING_ENV   "TRAINPROF_MARKS"

enum {
	TP_MARK_RING_HEADER_BYTES = 128,
	TP_MARK_RING_RECORD_BYTES = 64,
	TP_MARK_RING_MIN_RECORDS = 16,
	TP_MARK_RING_MAX_RECORDS = 1 << 20,
	TP_MARK_RING_RECORDS = 1 << 14, /* 1 MiB: 1.6 s at 10,000 marks per second */
	TP_MARK_NAME_BYTES = 32,
	TP_MARK_RING_CHECKSUMS = 1,
};

enum tp_ring_kind {
	TP_RING_STEP = 1,     /* a step begins; the thread's current step ends */
	TP_RING_STEP_END = 2, /* the current step ends, none begins */
	TP_RING_PHASE_BEGIN = 3,
	TP_RING_PHASE_END = 4,
};

struct tp_mark_ring_header {
	uint64_t magic;
	uint32_t header_bytes;
	uint32_t record_bytes;
	uint32_t n_records;
	uint32_t flags; /* TP_MARK_RING_CHECKSUMS */
	uint32_t reserved[10];
	uint64_t head;
	uint64_t reserved2[7];
};

struct tp_mark_record {
	uint64_t sequence;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid;     /* as the program sees itself: differs in a pid namespace */
	uint32_t tid;
	uint16_t kind;  /* enum tp_ring_kind */
	uint16_t depth; /* number of phases open around this mark in its thread, without the mark's
			   own phase */
	uint32_t checksum;             /* in a ring with checksums, else zero */
	char name[TP_MARK_NAME_BYTES]; /* of a phase that begins, else empty */
};

/* The reader's side. Members are read-only for callers. */
struct tp_mark_ring {
	int fd;
	uint32_t n_records;
	bool has_checksums;
	uint64_t next; /* the next claim to read */
	uint64_t n_taken;
	uint64_t n_lost;   /* overwritten, never finished, or malformed */
	bool is_damaged;   /* the file was truncated or its head ran backwards: nothing more is read
			    */
	uint64_t stuck_at; /* the unfinished claim that the last drain found */
	uint64_t stuck_since_ns;
	struct tp_mark_record *block;
	struct tp_mark_record *again;
};

/* Receives one mark, in order of claims, which for one thread is the order of time. Borrowed for
 * the call. */
typedef void tp_mark_fn(void *context, const struct tp_mark_record *mark);

/* Creates the file (mode 0600, with its blocks reserved so that a full disk cannot kill the writing
 * program) and the reader's side of it. n_records is rounded up to a power of two. Returns 0, or an
 * errno; EEXIST when the path exists. */
int tp_mark_ring_create(struct tp_mark_ring *ring, const char *path, uint32_t n_records);

/* Opens a ring with checksums that a program has created. Returns 0, or an errno; EINVAL if the
 * file is not such a ring. */
int tp_mark_ring_open(struct tp_mark_ring *ring, const char *path);

/* Delivers every complete record. An unfinished record stops the drain, because its writer may be
 * waiting for a CPU. After a second, or when half of the ring has been claimed since, its writer is
 * considered dead and the record lost. With `is_last` the drain does not wait. Returns the number
 * of records delivered. */
size_t tp_mark_ring_drain(struct tp_mark_ring *ring, bool is_last, tp_mark_fn *take, void *context);

/* Releases the reader's side; the file stays. */
void tp_mark_ring_close(struct tp_mark_ring *ring);

#endif
