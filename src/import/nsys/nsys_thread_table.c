/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the thread and the process of a row of samples or switches. */
#include "nsys_thread_table.h"

void tp_nsys_threads_skip(struct tp_nsys_threads *threads, const char *why)
{
	struct tp_nsys_processes *processes = threads->processes;
	tp_rank_writer_skip(processes->items[processes->first_rank].writer, why);
}

static uint16_t thread_of(struct tp_nsys_threads *threads, struct tp_nsys_process *process,
			  int64_t global)
{
	uint64_t known;
	if (threads->last_global == global && global)
		return threads->last_thread;
	if (!tp_map_get(&threads->known, (uint64_t)global, &known)) {
		uint16_t track = tp_nsys_thread_track(process, global);
		known = tp_thread_emitter_thread(threads->emitter, process->writer, track,
						 tp_nsys_pid(process->key), tp_nsys_tid(global));
		if (known != TP_NO_THREAD)
			tp_map_set(&threads->known, (uint64_t)global, known);
	}
	threads->last_global = global;
	threads->last_thread = (uint16_t)known;
	return threads->last_thread;
}

bool tp_nsys_threads_place(struct tp_nsys_threads *threads, const struct tp_sqlite_cell *owner,
			   const struct tp_sqlite_cell *time, struct tp_nsys_row *out)
{
	bool is_known;
	int64_t earliest_ns = threads->processes->earliest_ns;
	if (owner->type != TP_SQLITE_INTEGER) {
		tp_nsys_threads_skip(threads, "a sample or a switch has no thread");
		return false;
	}
	out->process = tp_nsys_processes_owner(threads->processes, owner, NULL, &is_known);
	if (!out->process)
		return false;
	out->process->info->n_events++;
	/* The times of spans determine the beginning of the clock: earlier rows are not used. */
	if (time->type != TP_SQLITE_INTEGER || time->number < earliest_ns ||
	    time->number > TP_NSYS_TIME_MAX) {
		tp_rank_writer_skip(out->process->writer,
				    "a sample or a switch has a time that cannot be");
		return false;
	}
	out->time_ns = (uint64_t)(time->number - earliest_ns);
	out->thread = thread_of(threads, out->process, owner->number);
	if (out->thread != TP_NO_THREAD)
		return true;
	tp_rank_writer_skip(out->process->writer, "there are too many threads and streams");
	return false;
}
