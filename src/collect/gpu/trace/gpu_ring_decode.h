/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the events of one process's GPU ring to records like those of an imported trace: tracks
 * of streams and threads; spans of kernels, copies, memsets, calls, waits and NVTX ranges; links
 * between calls and the work that they launched. The process is one rank. */
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

/* Statistics of the decoded events; they only grow. */
struct tp_gpu_decode_stats {
	uint64_t n_events;
	uint64_t n_spans;
	uint64_t n_lost;     /* dropped by the agent, as its LOST events say */
	uint64_t n_unplaced; /* no clock pair, no place, an impossible time, or too many tracks */
	uint64_t n_unknown;  /* event types that this version does not know */
	uint64_t cupti_ns;   /* time in which CUPTI did its own work */
	uint64_t opened_ns;  /* when collection last began, and last ended; 0 = not yet */
	uint64_t closed_ns;
};

struct tp_gpu_decoder_config {
	struct tp_sink *sink;
	const struct tp_task_tree *tree; /* the tasks of the threads */
	const struct tp_gpu_demangler *demangler;
	const struct tp_gpu_ring_reader *file; /* its names, places and clocks */
	const char *source;                    /* for gaps */
	uint32_t rank;
	pid_t pid;
	struct tp_progress *progress; /* counts ends of outer ranges; NULL = not counted */
	const bool *is_spent;         /* if true, no more ranges are recorded; NULL = never */
};

/* Everything that `config` points to is borrowed until free. */
struct tp_gpu_decoder *tp_gpu_decoder_new(const struct tp_gpu_decoder_config *config);
void tp_gpu_decoder_free(struct tp_gpu_decoder *decoder); /* NULL is allowed */

/* Call before the events of a drain: CUPTI cannot deliver anything later than now_ns yet. */
void tp_gpu_decoder_begin(struct tp_gpu_decoder *decoder, uint64_t now_ns);
/* A tp_gpu_event_fn; the context is the decoder. */
void tp_gpu_decoder_event(void *decoder, const struct tp_gpu_event *event);
/* To be called after all events: handles waits whose calls have arrived, and threads whose tasks
 * are known now. */
void tp_gpu_decoder_end(struct tp_gpu_decoder *decoder);

/* Call after the last drain: emits kernels whose calls will not arrive any more. */
void tp_gpu_decoder_flush(struct tp_gpu_decoder *decoder);
/* Call at the end: time after the last window was not traced. */
void tp_gpu_decoder_finish(struct tp_gpu_decoder *decoder, uint64_t now_ns);

const struct tp_gpu_decode_stats *tp_gpu_decoder_get_stats(const struct tp_gpu_decoder *decoder);

#endif
