/* SPDX-License-Identifier: Apache-2.0 */
/* Emits what other tools record about threads besides spans: stays on CPUs, and samples with
 * stacks. They become the same records as in a live recording. One emitter per file, whatever the
 * number of its ranks, so that equal stacks are stored once; like the writers of ranks it shares
 * the session with other readers only while a batch is emitted. */
#ifndef TRAINPROF_SRC_IMPORT_READER_THREAD_EMIT_H
#define TRAINPROF_SRC_IMPORT_READER_THREAD_EMIT_H

#include "rank_writer.h"

#include "trainprof/model/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_thread_emitter;

/* Returned if there are too many threads. */
enum { TP_NO_THREAD = UINT16_MAX };
/* Maximum number of distinct callers in a file's stacks, and of distinct functions: up to 200 bytes
 * each. */
enum { TP_THREAD_EMITTER_NODES_MAX = 1 << 20, TP_THREAD_EMITTER_FRAMES_MAX = 1 << 18 };

struct tp_thread_emitter *tp_thread_emitter_new(struct tp_import_reader *import);
/* Emits the remaining records, and each thread again with the end of its observation. The ranks'
 * writers still have to exist. NULL is allowed. */
void tp_thread_emitter_free(struct tp_thread_emitter *emitter);

/* Returns the thread of that track, the same one for each call. */
uint16_t tp_thread_emitter_thread(struct tp_thread_emitter *emitter, struct tp_rank_writer *writer,
				  uint16_t track, int64_t pid, int64_t tid);
/* Sets the thread's name. */
void tp_thread_emitter_name(struct tp_thread_emitter *emitter, uint16_t thread, const char *name,
			    size_t len);

/* Times are those of the trace, in ns, as in tp_rank_writer_span(). */
void tp_thread_emitter_run(struct tp_thread_emitter *emitter, uint16_t thread, uint64_t start_ns,
			   uint64_t end_ns, enum tp_run_end how, uint32_t cpu);
/* stack: from tp_thread_emitter_caller(); 0 = unknown. */
void tp_thread_emitter_sample(struct tp_thread_emitter *emitter, uint16_t thread, uint64_t time_ns,
			      enum tp_state state, uint32_t flags, uint32_t stack, uint32_t cpu);

/* Returns a frame for texts of the trace. Equal frames are one; 0 if there are too many. */
uint32_t tp_thread_emitter_frame(struct tp_thread_emitter *emitter, enum tp_frame_kind kind,
				 const char *module, size_t module_len, const char *symbol,
				 size_t symbol_len);
/* Returns the stack that `inner` becomes with its calling function; `inner` 0 begins a stack with
 * its innermost frame. Frame 0 means that everything further out is unknown. Returns `inner` itself
 * if there are too many or if it has ended so, and then sets *is_full (never cleared). */
uint32_t tp_thread_emitter_caller(struct tp_thread_emitter *emitter, uint32_t inner, uint32_t frame,
				  bool *is_full);

#endif
