/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the processes of an export that are ranks, and the process that a row belongs to. */
#define TP_LOG_DOMAIN "import"
#include "nsys_process.h"

#include "trainprof/base/log.h"
#include "trainprof/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_OWNER = -1 }; /* in owners: calls of several processes have this link */

/* Returns NULL if there is none. */
static struct tp_nsys_process *process_find(struct tp_nsys_processes *processes, uint64_t key)
{
	uint64_t index;
	if (processes->n > 0 && processes->items[processes->last].key == key)
		return &processes->items[processes->last];
	if (!tp_map_get(&processes->indices, key, &index))
		return NULL;
	processes->last = index;
	return &processes->items[index];
}

/* Creates a process that is new; NULL if there are too many. */
static struct tp_nsys_process *process_get(struct tp_nsys_processes *processes, uint64_t key)
{
	struct tp_nsys_process *found = process_find(processes, key);
	if (found || processes->n >= TP_NSYS_PROCESSES_MAX)
		return found;
	processes->last = processes->n;
	tp_map_set(&processes->indices, key, processes->n);
	TP_ARRAY_PUSH(processes->items, processes->n, processes->capacity) =
		(struct tp_nsys_process){.key = key, .last_track = TP_NO_TRACK};
	return &processes->items[processes->last];
}

/* ---- survey -------------------------------------------------------------------------------- */

static const struct {
	const char *table;
	enum tp_nsys_activity does;
} scanned[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL", TP_NSYS_DEVICE_WORK},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", TP_NSYS_DEVICE_WORK},
	{"CUPTI_ACTIVITY_KIND_MEMSET", TP_NSYS_DEVICE_WORK},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", TP_NSYS_DEVICE_WORK},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", TP_NSYS_CALLS},
	{"CUPTI_ACTIVITY_KIND_DRIVER", TP_NSYS_CALLS},
	{"NVTX_EVENTS", TP_NSYS_RANGES},
	{"MPI_P2P_EVENTS", TP_NSYS_RANGES},
	{"MPI_COLLECTIVES_EVENTS", TP_NSYS_RANGES},
	{"MPI_START_WAIT_EVENTS", TP_NSYS_RANGES},
	{"MPI_OTHER_EVENTS", TP_NSYS_RANGES},
	{"OSRT_API", TP_NSYS_OS_CALLS},
};

static void scan_table(struct tp_nsys_processes *processes, struct tp_sqlite_db *db,
		       const char *table, enum tp_nsys_activity does)
{
	static const char *const columns[] = {"globalPid|globalTid", "start"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, table, columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		struct tp_nsys_process *process = NULL;
		if (cells[0].type == TP_SQLITE_INTEGER)
			process = process_get(processes, tp_nsys_process_key(cells[0].number));
		if (process)
			process->does |= does;
		else if (cells[0].type != TP_SQLITE_INTEGER && does == TP_NSYS_DEVICE_WORK)
			processes->n_ownerless++;
		if (cells[1].number < processes->earliest_ns &&
		    cells[1].number >= -TP_NSYS_TIME_MAX)
			processes->earliest_ns = cells[1].number;
	}
	tp_sqlite_rows_close(rows);
}

/* Maps links to the processes that made the calls, for tables of the device that do not record the
 * process. */
static void owners_find(struct tp_nsys_processes *processes, struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"globalTid|globalPid", "correlationId"};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		uint64_t link = (uint64_t)cells[1].number;
		uint64_t known;
		if (cells[0].type != TP_SQLITE_INTEGER || cells[1].type != TP_SQLITE_INTEGER)
			continue;
		if (!process_get(processes, tp_nsys_process_key(cells[0].number)))
			continue;
		if (!tp_map_get(&processes->owners, link, &known))
			tp_map_set(&processes->owners, link, processes->last);
		else if (known != processes->last)
			tp_map_set(&processes->owners, link, (uint64_t)NO_OWNER);
	}
	tp_sqlite_rows_close(rows);
}

static int by_key(const void *a, const void *b)
{
	const struct tp_nsys_process *x = a;
	const struct tp_nsys_process *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* Rows come in any order; ranks have the same order every time the file is read. */
static void processes_sort(struct tp_nsys_processes *processes)
{
	if (processes->n > 0)
		qsort(processes->items, processes->n, sizeof(*processes->items), by_key);
	for (size_t i = 0; i < processes->n; i++)
		tp_map_set(&processes->indices, processes->items[i].key, i);
	processes->last = 0;
}

/* Returns the activity that makes a process a rank. */
static unsigned rank_has_activity(const struct tp_nsys_processes *processes)
{
	static const enum tp_nsys_activity order[] = {TP_NSYS_DEVICE_WORK, TP_NSYS_CALLS,
						      TP_NSYS_RANGES};
	for (size_t i = 0; i < TP_ARRAY_LEN(order); i++)
		for (size_t j = 0; j < processes->n; j++)
			if (processes->items[j].does & order[i])
				return order[i];
	return 0;
}

/* Assigns device work without a process to the processes that make calls, or to a nameless one. */
static void assign_without_owner(struct tp_nsys_processes *processes, struct tp_sqlite_db *db)
{
	size_t n_callers = 0;
	for (size_t i = 0; i < processes->n; i++) {
		struct tp_nsys_process *process = &processes->items[i];
		if (process->does & TP_NSYS_CALLS || processes->n == 1) {
			process->does |= TP_NSYS_DEVICE_WORK;
			n_callers++;
		}
	}
	if (n_callers > 1)
		owners_find(processes, db);
	else if (n_callers == 0 && !(rank_has_activity(processes) & TP_NSYS_DEVICE_WORK)) {
		struct tp_nsys_process *nameless = process_get(processes, 0);
		if (nameless)
			nameless->does |= TP_NSYS_DEVICE_WORK;
	}
}

void tp_nsys_processes_scan(struct tp_nsys_processes *processes, struct tp_sqlite_db *db,
			    struct tp_import_reader *import)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(scanned); i++)
		scan_table(processes, db, scanned[i].table, scanned[i].does);
	processes_sort(processes);
	if (processes->n_ownerless > 0)
		assign_without_owner(processes, db);
	unsigned does = rank_has_activity(processes);
	for (size_t i = 0; i < processes->n; i++) {
		struct tp_nsys_process *process = &processes->items[i];
		if (!(process->does & does) || !(process->writer = tp_rank_writer_begin(import)))
			continue;
		process->info = tp_rank_info(process->writer);
		process->info->pid = tp_nsys_pid(process->key);
		if (processes->n_ranks++ == 0)
			processes->first_rank = i;
	}
	tp_info("%zu of %zu processes are ranks", processes->n_ranks, processes->n);
}

void tp_nsys_processes_release(struct tp_nsys_processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		struct tp_nsys_process *process = &processes->items[i];
		tp_nsys_naming_release(&process->naming);
		tp_map_release(&process->tracks);
		tp_map_release(&process->wide_links);
		free(process->copy_names);
	}
	free(processes->items);
	tp_map_release(&processes->indices);
	tp_map_release(&processes->owners);
	*processes = (struct tp_nsys_processes){0};
}

/* ---- rows ---------------------------------------------------------------------------------- */

struct tp_nsys_process *tp_nsys_processes_owner(struct tp_nsys_processes *processes,
						const struct tp_sqlite_cell *owner,
						const struct tp_sqlite_cell *link, bool *is_known)
{
	struct tp_nsys_process *process = NULL;
	uint64_t index;
	if (owner->type == TP_SQLITE_INTEGER) {
		/* A process without rows in the scanned tables is not a rank. */
		process = process_find(processes, tp_nsys_process_key(owner->number));
		*is_known = true;
		return process && process->writer ? process : NULL;
	}
	if (processes->n_ranks == 1)
		process = &processes->items[processes->first_rank];
	else if (link && link->type == TP_SQLITE_INTEGER &&
		 tp_map_get(&processes->owners, (uint64_t)link->number, &index) &&
		 index < processes->n)
		process = &processes->items[index];
	*is_known = process != NULL;
	return process && process->writer ? process : NULL;
}

static uint16_t track_find(struct tp_nsys_process *process, uint64_t key, int32_t device,
			   int64_t number)
{
	uint64_t track;
	if (process->last_track_key == key && process->last_track != TP_NO_TRACK)
		return process->last_track;
	if (!tp_map_get(&process->tracks, key, &track)) {
		track = tp_rank_writer_track(process->writer, device, number);
		if (track == TP_NO_TRACK)
			return TP_NO_TRACK;
		tp_map_set(&process->tracks, key, track);
		if (device != TP_TRACK_THREAD) {
			char name[32];
			int len = snprintf(name, sizeof(name), "stream %" PRId64, number);
			tp_rank_writer_name_track(process->writer, (uint16_t)track,
						  tp_rank_writer_string(process->writer, name,
									(size_t)len));
		}
	}
	process->last_track_key = key;
	process->last_track = (uint16_t)track;
	return process->last_track;
}

uint16_t tp_nsys_thread_track(struct tp_nsys_process *process, int64_t global)
{
	return track_find(process, tp_nsys_thread_key(global), TP_TRACK_THREAD,
			  tp_nsys_tid(global));
}

uint16_t tp_nsys_stream_track(struct tp_nsys_process *process, int32_t device, int64_t stream)
{
	return track_find(process, tp_nsys_stream_key(device, stream), device, stream);
}

uint32_t tp_nsys_link(struct tp_nsys_process *process, int64_t correlation)
{
	uint64_t link;
	if (correlation <= 0)
		return 0;
	if (correlation <= UINT32_MAX)
		return (uint32_t)correlation;
	if (!tp_map_get(&process->wide_links, (uint64_t)correlation, &link)) {
		link = UINT32_MAX - process->wide_links.n;
		tp_map_set(&process->wide_links, (uint64_t)correlation, link);
	}
	return (uint32_t)link;
}
