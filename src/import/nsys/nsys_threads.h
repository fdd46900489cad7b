/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what an export records about threads besides spans: their stays on CPUs (SCHED_EVENTS), and
 * their samples (COMPOSITE_EVENTS with the frames of SAMPLING_CALLCHAINS). Threads of ranks only.
 *
 * Columns: "SQLite Export Schema Reference" of 2020.1 and 2021.5, schemas of exports of 2024.6 and
 * 2026.2; meaning of cpuCycles: "SQLite Schema Pitfalls" of the Analysis Guide. All of
 * docs.nvidia.com/nsight-systems, read 2026-11-22.
 */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_THREADS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_THREADS_H

#include "nsys_process.h"

struct tp_import_reader;
struct tp_sqlite_db;
struct tp_nsys_names;

/* Reads all of it; nothing if there are no such tables. Runs after spans, before writers end. */
void tp_nsys_threads_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			  struct tp_sqlite_db *db, struct tp_import_reader *import);

#endif
