/*
 * What an export tells of threads beside spans: when they were on a CPU (SCHED_EVENTS), and where
 * samples found them (COMPOSITE_EVENTS with the frames of SAMPLING_CALLCHAINS). Threads of ranks
 * only.
 *
 * Columns: "SQLite Export Schema Reference" of 2020.1 and 2021.5, schemas of exports of 2024.6 and
 * 2026.2; what cpuCycles means: "SQLite Schema Pitfalls" of the Analysis Guide. All of
 * docs.nvidia.com/nsight-systems, read 2026-11-22.
 */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_THREADS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_THREADS_H

#include "import/reader/thread_emit.h"
#include "nsys_process.h"

struct tp_nsys_threads {
	struct tp_nsys_processes *processes;
	const struct tp_nsys_names *names;
	struct tp_nsys_db *db;
	struct tp_thread_teller *teller;
	struct tp_map known; /* globalTid -> the teller's number */
	int64_t last_global; /* found; 0: none */
	uint16_t last_thread;
};

/* All of it; nothing where there are no such tables. After spans, before writers end. */
void tp_nsys_threads_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			  struct tp_nsys_db *db, struct tp_import *import);

/* The rest is for the tables' own readers. */

struct tp_nsys_row {
	struct tp_nsys_process *process;
	uint16_t thread;
	uint64_t time_ns;
};

/*
 * Whose row that is, and when; false for one of a process that is no rank, and for one that tells
 * no thread or time, which is counted as skipped. Counts it as an event.
 */
bool tp_nsys_threads_place(struct tp_nsys_threads *threads, const struct tp_nsys_cell *owner,
			   const struct tp_nsys_cell *time, struct tp_nsys_row *out);
/* A row that is of no rank, or of several, counted with the first. */
void tp_nsys_threads_skip(struct tp_nsys_threads *threads, const char *why);

#endif
