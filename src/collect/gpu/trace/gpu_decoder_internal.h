/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the decoder of GPU events, for its source files: work and calls, ranges, and the
 * emitter below both. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_DECODER_INTERNAL_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_DECODER_INTERNAL_H

#include "gpu_ring_decode.h"
#include "nccl_payload.h"

#include "trainprof/base/map.h"
#include "trainprof/model/span.h"

/* A time further in the future is invalid: clocks of one machine agree better. */
#define TP_GPU_AHEAD_NS UINT64_C(1000000000)

struct tp_nccl_match;

/* An open range. */
struct tp_gpu_range {
	uint32_t name; /* string id of the sink */
	uint32_t domain;
	uint64_t start_ns;
	uint32_t detail; /* for a call of NCCL; 0 = none */
	uint8_t kind;    /* enum tp_span_kind */
};

struct tp_gpu_thread {
	uint32_t tid;
	uint32_t track;
	bool has_task;               /* its task was emitted already, or none exists */
	struct tp_gpu_range *ranges; /* open ranges, innermost last; heap */
	size_t n_ranges;
	size_t ranges_capacity;
};

/* A wait that CUPTI delivered before its call. */
struct tp_gpu_wait {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t link;
	uint32_t sync;
};

/* A kernel of NCCL whose call is not known yet. */
struct tp_gpu_kernel {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t arrived_ns;
	uint32_t track;
	uint32_t name;
	uint32_t link;
	uint32_t blocks;
	uint32_t threads;
};

/* An open range that any thread may end. */
struct tp_gpu_started {
	uint64_t number;
	uint64_t start_ns;
	uint32_t name;
	uint8_t kind;
};

/* The payload that is being received, and its range. */
struct tp_gpu_payload {
	size_t thread;
	bool is_of_push; /* otherwise of the end of a range */
	uint64_t words[TP_GPU_PAYLOAD_WORDS];
};

struct tp_gpu_decoder {
	struct tp_gpu_decoder_config config;
	struct tp_gpu_decode_stats stats;
	uint64_t now_ns;
	uint64_t before_ns;   /* time of the previous drain */
	uint64_t began_ns;    /* time of the first one */
	struct tp_map names;  /* ids of the ring, combined with their use -> strings of the sink */
	struct tp_map places; /* -> track + 1; 0 = there is none */
	struct tp_map thread_ids; /* tid -> index into threads */
	struct tp_gpu_thread *threads;
	size_t n_threads;
	size_t threads_capacity;
	struct tp_map calls; /* link -> index into threads; SYNC_CALL: no separate wait is needed */
	struct tp_gpu_wait *waits;
	size_t n_waits;
	size_t waits_capacity;
	uint64_t closed_ns; /* when collection stopped; 0 = it is active */
	struct tp_gpu_started *started;
	size_t n_started;
	size_t started_capacity;
	struct tp_map domains; /* ids of the ring -> is it NCCL's domain? */
	uint32_t n_numbered;   /* names of ranges with numbers, and the newest of them */
	uint32_t newest_name;
	struct tp_gpu_payload payload;
	struct tp_nccl_match *match;
	struct tp_gpu_kernel *unmatched;
	size_t n_unmatched;
	size_t unmatched_capacity;
};

/* Returns the thread, and emits its track if it is new; NULL: there are too many. Invalidates
 * pointers to other threads. */
struct tp_gpu_thread *tp_gpu_decoder_thread(struct tp_gpu_decoder *decoder, uint32_t tid,
					    unsigned flags, uint64_t time_ns);
/* Names a thread's track, and links it to its task once that exists. */
void tp_gpu_decoder_emit_thread(struct tp_gpu_decoder *decoder, struct tp_gpu_thread *thread,
				uint64_t time_ns);
/* Returns the track of a stream, and emits it if it is new; TP_TRACKS_MAX: there is no such place,
 * or there are too many. */
uint32_t tp_gpu_decoder_emit_stream(struct tp_gpu_decoder *decoder, uint16_t id);
void tp_gpu_decoder_emit_span(struct tp_gpu_decoder *decoder, uint32_t track,
			      enum tp_span_kind kind, uint32_t name, uint64_t start_ns,
			      uint64_t end_ns, uint32_t link, uint32_t detail);

/* ---- ranges --------------------------------------------------------------------------------- */

/* Decodes a PUSH, POP, START, END or PAYLOAD. */
void tp_nvtx_decode_event(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event);
/* Forgets all open ranges, because their ends may have been lost. */
void tp_nvtx_decode_reset(struct tp_gpu_decoder *decoder);

#endif
