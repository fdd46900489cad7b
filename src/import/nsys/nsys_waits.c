/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the waits for devices of an export. */
#include "nsys_waits.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/span.h"

#include <string.h>

static const char table[] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";

enum { START, END, OWNER, LINK, TYPE, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"start", "end", "globalPid|globalTid",
					       "correlationId", "syncType|deprecatedSyncType"};

/* Values in `calls` besides tracks. */
enum { NO_CALL = 1 << 17, IS_SYNC_CALL };

/* The CUPTI types in which a thread waits; in type 2 a stream waits. */
static const char *name_of(const struct tp_sqlite_cell *type)
{
	enum { EVENT = 1, STREAM = 3, CONTEXT = 4 };
	switch (type->number) {
	case EVENT:
		return "EventSynchronize";
	case STREAM:
		return "StreamSynchronize";
	case CONTEXT:
		return "ContextSynchronize";
	default:
		return NULL;
	}
}

static uint64_t call_key(const struct tp_nsys_processes *processes,
			 const struct tp_nsys_process *process, uint32_t link)
{
	return (uint64_t)(process - processes->items) << 32 | link;
}

/* Returns the rank's process; NULL for rows of others, and for those in which no thread waits. */
static struct tp_nsys_process *process_of(struct tp_nsys_processes *processes,
					  const struct tp_sqlite_cell *cells)
{
	bool is_known;
	if (!name_of(&cells[TYPE]))
		return NULL;
	return tp_nsys_processes_owner(processes, &cells[OWNER], &cells[LINK], &is_known);
}

void tp_nsys_waits_find(struct tp_nsys_waits *waits, struct tp_nsys_processes *processes,
			struct tp_sqlite_db *db)
{
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, table, columns, N_COLUMNS);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		struct tp_nsys_process *process = process_of(processes, cells);
		uint32_t link = process ? tp_nsys_link(process, cells[LINK].number) : 0;
		if (link)
			tp_map_set(&waits->calls, call_key(processes, process, link), NO_CALL);
	}
	tp_sqlite_rows_close(rows);
}

void tp_nsys_waits_add_call(struct tp_nsys_waits *waits, const struct tp_nsys_processes *processes,
			    const struct tp_nsys_process *process, const struct tp_span *call,
			    const char *name, size_t len)
{
	static const char word[] = "Synchronize";
	uint64_t seen;
	uint64_t key = call_key(processes, process, call->link);
	if (!waits->calls.n || !call->link || !tp_map_get(&waits->calls, key, &seen))
		return;
	if (memmem(name, len, word, strlen(word)))
		seen = IS_SYNC_CALL;
	else if (seen == NO_CALL && call->track != TP_NO_TRACK)
		seen = call->track;
	tp_map_set(&waits->calls, key, seen);
}

/* Returns the track of an artificial thread, for waits whose call is unknown. */
static uint16_t track_without_name(struct tp_nsys_process *process)
{
	static const char name[] = "waits of unknown threads";
	uint16_t track = tp_nsys_thread_track(process, (int64_t)(process->key << 24));
	if (track != TP_NO_TRACK)
		tp_rank_writer_name_track(process->writer, track,
					  tp_rank_writer_string(process->writer, name,
								strlen(name)));
	return track;
}

static bool are_times(const struct tp_nsys_processes *processes, const struct tp_sqlite_cell *cells)
{
	return cells[START].type == TP_SQLITE_INTEGER && cells[END].type == TP_SQLITE_INTEGER &&
	       cells[START].number >= processes->earliest_ns &&
	       cells[END].number >= cells[START].number && cells[END].number <= TP_NSYS_TIME_MAX;
}

static void emit_wait(struct tp_nsys_waits *waits, struct tp_nsys_processes *processes,
		      struct tp_nsys_process *process, const struct tp_sqlite_cell *cells)
{
	struct tp_span span = {.kind = TP_SPAN_CALL};
	const char *name = name_of(&cells[TYPE]);
	uint64_t seen = NO_CALL;
	uint32_t link = tp_nsys_link(process, cells[LINK].number);
	if (link)
		(void)tp_map_get(&waits->calls, call_key(processes, process, link), &seen);
	if (seen == IS_SYNC_CALL)
		return;
	process->info->n_events++;
	span.track = seen == NO_CALL ? track_without_name(process) : (uint16_t)seen;
	if (!are_times(processes, cells) || span.track == TP_NO_TRACK) {
		tp_rank_writer_skip(process->writer,
				    "a wait for the device has no times that make sense");
		return;
	}
	span.start_ns = (uint64_t)(cells[START].number - processes->earliest_ns);
	span.end_ns = (uint64_t)(cells[END].number - processes->earliest_ns);
	span.name = tp_rank_writer_string(process->writer, name, strlen(name));
	tp_rank_writer_span(process->writer, &span);
}

void tp_nsys_waits_emit(struct tp_nsys_waits *waits, struct tp_nsys_processes *processes,
			struct tp_sqlite_db *db)
{
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, table, columns, N_COLUMNS);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		struct tp_nsys_process *process = process_of(processes, cells);
		if (process)
			emit_wait(waits, processes, process, cells);
	}
	tp_sqlite_rows_close(rows);
}

void tp_nsys_waits_release(struct tp_nsys_waits *waits)
{
	tp_map_release(&waits->calls);
}
