/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One GPU ring as its reader sees it (trainprof/wire/gpu_ring.h): opened, checked, drained.
 *
 * The file is in the hands of the measured program: it is read by pread(), because a mapping would
 * raise SIGBUS when somebody truncates it, and nothing in it is trusted. Whatever it holds, a call
 * reads a bounded number of bytes and stays inside its own memory.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_READER_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_READER_H

#include "gpu_clock.h"

#include "trainprof/base/status.h"
#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members are for reading only. */
struct tp_gpu_ring_reader {
	int fd;
	struct tp_gpu_ring_header header; /* as read last; texts in it end with a NUL */
	uint64_t head;                    /* as read last */
	uint64_t tail;                    /* events taken so far */
	bool is_damaged;                  /* nothing more is read */
	struct tp_gpu_clocks clocks;
	uint64_t n_pairs; /* clock pairs looked at so far */
	char *names;      /* the table as far as it is known; heap, as the next */
	size_t n_names;   /* bytes */
	struct tp_gpu_place *places;
	size_t n_places;
	char *block;
};

/*
 * Open the file and check its head.
 * Errors  TP_ABSENT (it has no contents yet: try again), TP_VERSION (another major version; the
 * text says which), TP_PARSE (its sizes make no sense), TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_gpu_ring_reader_open(struct tp_gpu_ring_reader *out,
						     const char *path, struct tp_error *err);
/* The same of a file that is open already, which is taken over, also when it fails. */
TP_MUST_CHECK enum tp_status tp_gpu_ring_reader_open_fd(struct tp_gpu_ring_reader *out, int fd,
							const char *name, struct tp_error *err);
void tp_gpu_ring_reader_close(struct tp_gpu_ring_reader *file); /* the file itself stays */

/* Read header, tables and clock pairs anew. False when the file is damaged, for ever. */
bool tp_gpu_ring_reader_refresh(struct tp_gpu_ring_reader *file);

/* One event, borrowed for the call. */
typedef void tp_gpu_event_fn(void *context, const struct tp_gpu_event *event);

/* Hand over what tp_gpu_ring_reader_refresh() found, at most `most` events, and tell the writer
 * that their room is free. Returns how many. */
size_t tp_gpu_ring_reader_drain(struct tp_gpu_ring_reader *file, size_t most, tp_gpu_event_fn *take,
				void *context);

/* Events that refresh found and nobody took. */
uint64_t tp_gpu_ring_reader_n_left(const struct tp_gpu_ring_reader *file);

/* The name of that id, not NUL-terminated; NULL: there is none, and *length is 0. */
const char *tp_gpu_ring_reader_name(const struct tp_gpu_ring_reader *file, uint32_t id,
				    size_t *length);
/* Place 1 is the first. NULL: there is none. */
const struct tp_gpu_place *tp_gpu_ring_reader_place(const struct tp_gpu_ring_reader *file,
						    uint32_t place);

/* Ask the agent to collect, to wait or to leave. */
void tp_gpu_ring_reader_request(const struct tp_gpu_ring_reader *file, enum tp_gpu_request wanted);

/* Tell the agent that somebody still reads. */
void tp_gpu_ring_reader_mark_alive(const struct tp_gpu_ring_reader *file, uint64_t now_ns);

/* Give back the memory of events; the agent must have left. */
void tp_gpu_ring_reader_free_events(const struct tp_gpu_ring_reader *file);

#endif
