/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells what other tools know of threads beside spans: stays on CPUs, and samples with stacks. They
 * become what a live recording has. One teller for a file, whatever the number of its ranks, so
 * that equal stacks are one; like the writers of ranks it meets other readers only when a batch is
 * handed over.
 */
#ifndef TRAINPROF_SRC_IMPORT_READER_THREAD_EMIT_H
#define TRAINPROF_SRC_IMPORT_READER_THREAD_EMIT_H

#include "rank_writer.h"

#include "trainprof/model/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_thread_emitter;

/* What was asked for and cannot be: there are too many. */
enum { TP_NO_THREAD = UINT16_MAX };
/* Distinct callers that a file's stacks may have, and distinct functions: up to 200 bytes each. */
enum { TP_THREAD_EMITTER_NODES_MAX = 1 << 20, TP_THREAD_EMITTER_FRAMES_MAX = 1 << 18 };

struct tp_thread_emitter *tp_thread_emitter_new(struct tp_import_reader *import);
/* Hand over what is left, and tell each thread once more: until when it was watched. The ranks'
 * writers still have to be there. NULL is allowed. */
void tp_thread_emitter_free(struct tp_thread_emitter *teller);

/* The thread of that track, the same at each call. */
uint16_t tp_thread_emitter_thread(struct tp_thread_emitter *teller, struct tp_rank_writer *writer,
				  uint16_t track, int64_t pid, int64_t tid);
/* The writer's string, its name. */
void tp_thread_emitter_name(struct tp_thread_emitter *teller, uint16_t thread, const char *name,
			    size_t len);

/* Times are those of the trace, ns, as in tp_rank_writer_span(). */
void tp_thread_emitter_run(struct tp_thread_emitter *teller, uint16_t thread, uint64_t start_ns,
			   uint64_t end_ns, enum tp_run_end how, uint32_t cpu);
/* stack: of tp_thread_emitter_caller(); 0 = unknown. */
void tp_thread_emitter_sample(struct tp_thread_emitter *teller, uint16_t thread, uint64_t time_ns,
			      enum tp_state state, uint32_t flags, uint32_t stack, uint32_t cpu);

/* A frame; texts are those of the trace. Equal ones are one; 0 when there are too many. */
uint32_t tp_thread_emitter_frame(struct tp_thread_emitter *teller, enum tp_frame_kind kind,
				 const char *module, size_t module_len, const char *symbol,
				 size_t symbol_len);
/*
 * The stack that `inner` becomes with the function around it; `inner` 0 begins one with its
 * innermost frame. Frame 0 says that what is further out is unknown. `inner` itself where there are
 * too many or it ended so, and then *is_full is set (never cleared).
 */
uint32_t tp_thread_emitter_caller(struct tp_thread_emitter *teller, uint32_t inner, uint32_t frame,
				  bool *is_full);

#endif
