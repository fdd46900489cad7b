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
	struct tp_thread_emitter *teller;
	struct tp_map known; /* globalTid -> the teller's number */
	int64_t last_global; /* found; 0: none */
	uint16_t last_thread;
};

struct tp_nsys_row {
	struct tp_nsys_process *process;
	uint16_t thread;
	uint64_t time_ns;
};

/*
 * Whose row that is, and when; false for one of a process that is no rank, and for one that tells
 * no thread or time, which is counted as skipped. Counts it as an event.
 */
bool tp_nsys_threads_place(struct tp_nsys_threads *threads, const struct tp_sqlite_cell *owner,
			   const struct tp_sqlite_cell *time, struct tp_nsys_row *out);
/* A row that is of no rank, or of several, counted with the first. */
void tp_nsys_threads_skip(struct tp_nsys_threads *threads, const char *why);

#endif
