/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of one GPU ring (trainprof/wire/gpu_ring.h): opens, checks and drains it.
 *
 * The measured program can change the file. It is read with pread(), because a mapping would raise
 * SIGBUS if the file were truncated, and nothing in it is trusted. For any contents, a call reads a
 * bounded number of bytes and stays within its own memory.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_READER_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_READER_H

#include "gpu_clock.h"

#include "trainprof/base/status.h"
#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members are read-only for callers. */
struct tp_gpu_ring_reader {
	int fd;
	struct tp_gpu_ring_header header; /* as last read; texts in it end with a NUL */
	uint64_t head;                    /* as last read */
	uint64_t tail;                    /* events consumed so far */
	bool is_damaged;                  /* nothing more is read */
	struct tp_gpu_clocks clocks;
	uint64_t n_pairs; /* clock pairs processed so far */
	char *names;      /* the known part of the table; on the heap */
	size_t n_names;   /* bytes */
	struct tp_gpu_place *places;
	size_t n_places;
	char *block;
};

/* Opens the file and checks its header. Errors  TP_ABSENT (it has no contents yet: try again),
 * TP_VERSION (another major version; the text says which), TP_PARSE (invalid sizes), TP_IO. */
TP_MUST_CHECK enum tp_status tp_gpu_ring_reader_open(struct tp_gpu_ring_reader *out,
						     const char *path, struct tp_error *err);
/* The same for an open descriptor, which it takes ownership of, even if it fails. */
TP_MUST_CHECK enum tp_status tp_gpu_ring_reader_open_fd(struct tp_gpu_ring_reader *out, int fd,
							const char *name, struct tp_error *err);
void tp_gpu_ring_reader_close(struct tp_gpu_ring_reader *file); /* the file itself stays */

/* Re-reads header, tables and clock pairs. Returns false if the file is damaged, permanently. */
bool tp_gpu_ring_reader_refresh(struct tp_gpu_ring_reader *file);

/* One event, borrowed for the call. */
typedef void tp_gpu_event_fn(void *context, const struct tp_gpu_event *event);

/* Delivers at most `most` of the events that tp_gpu_ring_reader_refresh() found, and frees their
 * space for the writer. Returns how many. */
size_t tp_gpu_ring_reader_drain(struct tp_gpu_ring_reader *file, size_t most, tp_gpu_event_fn *take,
				void *context);

/* Events that refresh found and that were not drained yet. */
uint64_t tp_gpu_ring_reader_n_left(const struct tp_gpu_ring_reader *file);

/* The name of that id, not NUL-terminated; NULL: there is none, and *length is 0. */
const char *tp_gpu_ring_reader_name(const struct tp_gpu_ring_reader *file, uint32_t id,
				    size_t *length);
/* Place 1 is the first. NULL: there is none. */
const struct tp_gpu_place *tp_gpu_ring_reader_place(const struct tp_gpu_ring_reader *file,
						    uint32_t place);

/* Requests the agent to collect, to wait or to leave. */
void tp_gpu_ring_reader_request(const struct tp_gpu_ring_reader *file, enum tp_gpu_request wanted);

/* Shows the agent that the reader is alive. */
void tp_gpu_ring_reader_mark_alive(const struct tp_gpu_ring_reader *file, uint64_t now_ns);

/* Frees the memory of events; the agent must have left. */
void tp_gpu_ring_reader_free_events(const struct tp_gpu_ring_reader *file);

#endif
