/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of an export that samples and switches belong to, found by their global number. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_THREAD_TABLE_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_THREAD_TABLE_H

#include "import/reader/thread_emit.h"
#include "nsys_process.h"

struct tp_nsys_threads {
	struct tp_nsys_processes *processes;
	const struct tp_nsys_names *names;
	struct tp_sqlite_db *db;
	struct tp_thread_emitter *emitter;
	struct tp_map known; /* globalTid -> thread of the thread emitter */
	int64_t last_global; /* global number found last; 0 = none */
	uint16_t last_thread;
};

struct tp_nsys_row {
	struct tp_nsys_process *process;
	uint16_t thread;
	uint64_t time_ns;
};

/* Returns the process, thread and time of a row in `out`. Returns false for a row of a process that
 * is not a rank, and for one without a thread or a valid time, which is counted as skipped. Counts
 * the row as an event. */
bool tp_nsys_threads_place(struct tp_nsys_threads *threads, const struct tp_sqlite_cell *owner,
			   const struct tp_sqlite_cell *time, struct tp_nsys_row *out);
/* Counts a row that belongs to no rank, or to several, as skipped in the first one. */
void tp_nsys_threads_skip(struct tp_nsys_threads *threads, const char *why);

#endif
