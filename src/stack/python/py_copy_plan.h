/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of one thread's stack twice by one system call: all frames of the plan (copy A,
 * the outermost first), the pointer to the innermost frame ("entry"), all frames again (copy B, the
 * innermost first).
 *
 * The newest chunk, where most calls and returns happen, may be read several times with the entry
 * in between ("looks"): each look is one more chance to catch it unchanged, at a tenth of the price
 * of another call.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_COPY_PLAN_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_COPY_PLAN_H

#include "py_layout.h"
#include "py_memory.h"
#include "py_stack_location.h"

#include <stdbool.h>

enum { TP_PY_COPY_MAX_SNAPSHOTS = 6 };

/* The thread whose state is read, and the conditions that the state has to meet. */
struct tp_py_copy_thread {
	uint64_t state; /* address of its PyThreadState */
	uint64_t interp;
	uint64_t pthread;
	uint32_t tid;         /* as the process sees it; 0 = not checked */
	uint64_t tid_address; /* before 3.11: address at which the C library keeps the tid */
	uint64_t link;        /* address of the pointer that links the state into its list */
	struct tp_py_stack_location plan;
};

/* A chunk in copy B. */
struct tp_py_copy_chunk {
	uint64_t address;
	size_t size;
	size_t at; /* byte offset */
};

struct tp_py_copy {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	size_t thread_bytes, frame_bytes;
	size_t loose_bytes; /* size of a loose frame and its prefix */
	uint8_t *bytes;
	size_t bytes_capacity;
	/* Offsets and sizes in `bytes`. Layout of a copy: loose frames, then chunks. */
	size_t copy_bytes;
	size_t state_at;
	size_t second_at;
	size_t looks_at; /* the newest chunk of each look between the first and the last */
	size_t newest_bytes;
	size_t n_looks;
	struct tp_py_copy_chunk chunks[TP_PY_STACK_LOCATION_CHUNKS];
	size_t n_chunks; /* 0 if the last read failed */
	struct tp_process_range *pieces;
	size_t n_pieces;
	size_t pieces_capacity;
};

/* The word just before a generator's frame shows whether the generator runs: this prefix is read
 * with every loose frame. */
enum { TP_PY_COPY_PREFIX_BYTES = 8 };

/* The bytes of one frame before and after the entry was read. */
struct tp_py_copy_pair {
	const uint8_t *before;
	const uint8_t *after;
	uint64_t rank; /* for frames in chunks: larger = called later; 0 = loose */
};

void tp_py_copy_init(struct tp_py_copy *self, struct tp_py_memory *mem,
		     const struct tp_py_layout *layout);
void tp_py_copy_release(struct tp_py_copy *self);

enum tp_py_copy_outcome {
	TP_PY_COPY_READ,
	TP_PY_COPY_SLOW,       /* not read in one go: too much time between the copies */
	TP_PY_COPY_UNREADABLE, /* some planned memory cannot be read */
};

/* 1 <= n_looks <= TP_PY_COPY_MAX_SNAPSHOTS; self->n_looks is the number that was made. */
enum tp_py_copy_outcome tp_py_copy_read(struct tp_py_copy *self,
					const struct tp_py_copy_thread *thread, size_t n_looks);

/* Results of the last read: */
uint64_t tp_py_copy_state_word(const struct tp_py_copy *self, uint32_t offset);
uint64_t tp_py_copy_link(const struct tp_py_copy *self);
uint32_t tp_py_copy_tid(const struct tp_py_copy *self);
uint64_t tp_py_copy_second_frame_ptr(const struct tp_py_copy *self);
uint64_t tp_py_copy_entry(const struct tp_py_copy *self, size_t look);
const uint8_t *tp_py_copy_chunk(const struct tp_py_copy *self,
				const struct tp_py_stack_location *plan, size_t i);
/* Finds a frame's bytes, if it is in a chunk that was read. */
bool tp_py_copy_find(const struct tp_py_copy *self, const struct tp_py_stack_location *plan,
		     size_t look, uint64_t address, struct tp_py_copy_pair *out);
/* Returns memory of a chunk as copy B has it; NULL if the last read has not all of it. */
const uint8_t *tp_py_copy_latest(const struct tp_py_copy *self, uint64_t address, size_t size);
void tp_py_copy_loose(const struct tp_py_copy *self, size_t k, struct tp_py_copy_pair *out);

#endif
