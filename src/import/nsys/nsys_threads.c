/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an export records about threads besides spans. */
#include "nsys_threads.h"

#include "nsys_samples.h"
#include "nsys_stacks.h"
#include "nsys_switches.h"
#include "nsys_thread_table.h"

#include "trainprof/base/memory.h"

/* Reads names of threads that have samples or switches; threads with spans already have theirs. */
static void names_read(struct tp_nsys_threads *threads)
{
	static const char *const columns[] = {"globalTid", "nameId|name"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(threads->db, "ThreadNames", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		uint64_t thread;
		bool is_known;
		size_t len;
		if (cells[0].type != TP_SQLITE_INTEGER ||
		    !tp_map_get(&threads->known, (uint64_t)cells[0].number, &thread))
			continue;
		const char *name = tp_nsys_names_text(threads->names, &cells[1], &len);
		tp_thread_emitter_name(threads->emitter, (uint16_t)thread, name, len);
		struct tp_nsys_process *process =
			tp_nsys_processes_owner(threads->processes, &cells[0], NULL, &is_known);
		tp_rank_writer_name_track(process->writer,
					  tp_nsys_thread_track(process, cells[0].number),
					  tp_nsys_names_find(threads->names, &process->naming,
							     process->writer, TP_NSYS_KERNEL,
							     &cells[1], &is_known));
	}
	tp_sqlite_rows_close(rows);
}

void tp_nsys_threads_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			  struct tp_sqlite_db *db, struct tp_import_reader *import)
{
	static const char *const tables[] = {"SCHED_EVENTS", "COMPOSITE_EVENTS",
					     "SAMPLING_CALLCHAINS"};
	struct tp_nsys_stacks stacks = {0};
	struct tp_nsys_threads threads = {.processes = processes,
					  .names = names,
					  .db = db,
					  .emitter = tp_thread_emitter_new(import)};
	for (size_t i = 0; i < TP_ARRAY_LEN(tables); i++)
		if (tp_sqlite_db_has_view(db, tables[i]))
			tp_nsys_threads_skip(&threads,
					     "a table is a view, and code of a file is not run");
	tp_nsys_switches_read(&threads);
	tp_nsys_stacks_read(&stacks, &threads);
	tp_nsys_samples_read(&stacks, &threads);
	names_read(&threads);
	tp_nsys_stacks_release(&stacks);
	tp_thread_emitter_free(threads.emitter);
	tp_map_release(&threads.known);
}
