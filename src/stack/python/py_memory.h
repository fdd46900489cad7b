/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the process under inspection: another process, or an image of one in tests. Ranges
 * are read in the given order, many by one system call. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_MEMORY_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_MEMORY_H

#include "trainprof/base/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_py_memory {
	/* Returns how many of the first ranges were read completely. */
	size_t (*read)(struct tp_py_memory *self, const struct tp_process_range *ranges, size_t n);
	/* NULL if there is nothing to gain: see tp_py_memory_expect(). */
	void (*expect)(struct tp_py_memory *self, const struct tp_process_range *ranges, size_t n,
		       size_t n_last);
	bool has_clock;          /* reading takes time */
	const uint64_t *time_ns; /* for a test: the time; NULL = that of the clock, if there is one
				  */
	pid_t pid;               /* for a process */
	void *image;             /* for a test */
	uint64_t n_calls;
	int error; /* errno of the last read that failed */
};

/* The memory of a running process; each read is a system call. */
void tp_py_memory_init_process(struct tp_py_memory *self, pid_t pid);

/* Time since an arbitrary start; constant if reading takes no time. */
uint64_t tp_py_memory_now_ns(const struct tp_py_memory *self);

bool tp_py_memory_get(struct tp_py_memory *self, uint64_t address, void *out, size_t size);
bool tp_py_memory_get_u64(struct tp_py_memory *self, uint64_t address, uint64_t *out);

/* Reads ranges and skips those that cannot be read; is_read shows which were read. */
void tp_py_memory_read_each(struct tp_py_memory *self, const struct tp_process_range *ranges,
			    size_t n, bool *is_read);

/* Sorts ranges of which the order does not matter by address: then those on one page are read as
 * one (process_memory.c). */
void tp_py_memory_sort(struct tp_process_range *ranges, size_t n);

/* Limits of one expectation. */
enum { TP_PY_MEMORY_EXPECT_MAX = 96, TP_PY_MEMORY_EXPECT_BYTES = 3072 };

/* Says what will be read soon, so that one call can read it all, in this order; `out` is not set.
 * The last `n_last` ranges show whether the others are valid, so they have to be read after them:
 * they are forgotten at the first read of anything else, and by a second expectation, which adds to
 * the first. Without ranges: what was expected so far is forgotten. */
void tp_py_memory_expect(struct tp_py_memory *self, const struct tp_process_range *ranges, size_t n,
			 size_t n_last);

/* Decodes bytes that were read; they need no alignment. */
uint64_t tp_py_memory_u64(const uint8_t *at);
uint32_t tp_py_memory_u32(const uint8_t *at);

#endif
