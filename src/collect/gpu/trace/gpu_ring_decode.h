/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the events of one process's GPU ring into records, as an importer would make them of a
 * trace: tracks of streams and threads, spans of kernels, copies, fills, calls, waits and NVTX
 * ranges, links between calls and what they launched. The process is a rank.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_DECODE_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_DECODE_H

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_gpu_demangler;
struct tp_gpu_ring_reader;
struct tp_gpu_decoder;
struct tp_progress;
struct tp_sink;
struct tp_task_tree;

/* What came of the events; grows. */
struct tp_gpu_decode_stats {
	uint64_t n_events;
	uint64_t n_spans;
	uint64_t n_lost;     /* dropped by the agent, as its LOST events say */
	uint64_t n_unplaced; /* no clock pair, no place, a time that cannot be, too many tracks */
	uint64_t n_unknown;  /* types that this version does not know */
	uint64_t cupti_ns;   /* in which CUPTI did its own work */
	uint64_t opened_ns;  /* when collecting began last, and ended last; 0 = it has not yet */
	uint64_t closed_ns;
};

struct tp_gpu_decoder_config {
	struct tp_sink *sink;
	const struct tp_task_tree *tree; /* whose tasks threads are */
	const struct tp_gpu_demangler *demangler;
	const struct tp_gpu_ring_reader *file; /* its names, places and clocks */
	const char *source;                    /* of the gaps that are put */
	uint32_t rank;
	pid_t pid;
	struct tp_progress *progress; /* counts ends of outer ranges; NULL: nobody does */
	const bool *is_spent;         /* when true no ranges are put any more; NULL: never */
};

/* All that `config` points to is borrowed until free. */
struct tp_gpu_decoder *tp_gpu_decoder_new(const struct tp_gpu_decoder_config *config);
void tp_gpu_decoder_free(struct tp_gpu_decoder *teller); /* NULL is allowed */

/* Before the events of a drain: what CUPTI cannot know yet lies behind now_ns. */
void tp_gpu_decoder_begin(struct tp_gpu_decoder *teller, uint64_t now_ns);
/* A tp_gpu_event_fn; the context is the teller. */
void tp_gpu_decoder_event(void *teller, const struct tp_gpu_event *event);
/* After them: waits whose calls have come since, threads whose tasks are known by now. */
void tp_gpu_decoder_end(struct tp_gpu_decoder *teller);

/* After the last drain: kernels whose calls will not come any more. */
void tp_gpu_decoder_flush(struct tp_gpu_decoder *teller);
/* After the last one: what lies behind the last window was not traced. */
void tp_gpu_decoder_finish(struct tp_gpu_decoder *teller, uint64_t now_ns);

const struct tp_gpu_decode_stats *tp_gpu_decoder_get_stats(const struct tp_gpu_decoder *teller);

#endif
