/* SPDX-License-Identifier: Apache-2.0 */
/* Turns rows of nsys's tables into spans. */
#include "nsys_tables.h"

#include "nsys_waits.h"
#include "nsys_words.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/span.h"

#include <string.h>

/* The first cells of every table; the following ones are specific to the table. */
enum { START, END, OWNER, LINK, NAME, COMMON };
enum { DEVICE = COMMON, STREAM, DEVICE_COMMON };
enum { GRID = DEVICE_COMMON, BLOCK = GRID + 3 };
enum { COPY_BYTES = DEVICE_COMMON, COPY_KIND, COPY_SOURCE, COPY_TARGET };
enum { SET_BYTES = DEVICE_COMMON, SET_MEMORY };
enum { RANGE_TEXT = COMMON, RANGE_TYPE };

static const char *const kernel_columns[] = {
	"start",
	"end",
	"globalPid|globalTid",
	"correlationId", /* kernels of a graph have that of its launch */
	"demangledName|shortName|mangledName|name",
	"deviceId",
	"streamId",
	"gridX",
	"gridY",
	"gridZ",
	"blockX",
	"blockY",
	"blockZ"};
static const char *const copy_columns[] = {"start",         "end",    "globalPid|globalTid",
					   "correlationId", "",       "deviceId",
					   "streamId",      "bytes",  "copyKind",
					   "srcKind",       "dstKind"};
static const char *const set_columns[] = {"start",         "end",   "globalPid|globalTid",
					  "correlationId", "",      "deviceId",
					  "streamId",      "bytes", "memKind|memoryKind"};
static const char *const graph_columns[] = {"start",         "end", "globalPid|globalTid",
					    "correlationId", "",    "deviceId",
					    "streamId"};
static const char *const call_columns[] = {"start", "end", "globalTid|globalPid", "correlationId",
					   "nameId|name"};
/* MPI calls: "MPI_Allreduce"; a wait for several requests has one row for each. */
static const char *const mpi_columns[] = {"start", "end", "globalTid|globalPid", "",
					  "textId|nameId|name"};
/* Numbers that correlate anything else than launches are not read. */
static const char *const os_call_columns[] = {"start", "end", "globalTid|globalPid", "",
					      "nameId|name"};
static const char *const range_columns[] = {"start",    "end",    "globalTid|globalPid",
					    "",         "textId", "text",
					    "eventType"};

struct db_reading {
	struct tp_nsys_processes *processes;
	const struct tp_nsys_names *names;
	struct tp_sqlite_db *db;
	const struct db_table *table;
	struct tp_map
		graphs; /* process and link of a graph's launch -> true if its work is known */
	struct tp_nsys_waits waits;
};

/* Fills in a span. Returns NULL, or the reason why the row is not a span; not_needed if the row
 * does not count as skipped. */
typedef const char *fill_function(struct db_reading *reading, struct tp_nsys_process *process,
				  const struct tp_sqlite_cell *cells, struct tp_span *span);

static const char not_needed[] = "";

struct db_table {
	const char *name;
	enum tp_span_kind kind;
	fill_function *fill;
	const char *const *columns;
	size_t n_columns;
};

/* ---- parts of a span ----------------------------------------------------------------------- */

static const char *times_fill(const struct db_reading *reading, const struct tp_sqlite_cell *cells,
			      struct tp_span *span)
{
	int64_t start = cells[START].number;
	int64_t end = cells[END].number;
	if (cells[START].type != TP_SQLITE_INTEGER)
		return "an event has no start";
	if (cells[END].type != TP_SQLITE_INTEGER)
		return "an event has no end";
	if (end < start)
		return "an event ends before it starts";
	if (start < -TP_NSYS_TIME_MAX || end > TP_NSYS_TIME_MAX)
		return "an event has a time that cannot be";
	/* All ranks of a file have one clock, so all are shifted if any time is negative. */
	span->start_ns = (uint64_t)(start - reading->processes->earliest_ns);
	span->end_ns = (uint64_t)(end - reading->processes->earliest_ns);
	return NULL;
}

static uint64_t graph_key(const struct db_reading *reading, const struct tp_nsys_process *process,
			  uint32_t link)
{
	return (uint64_t)(process - reading->processes->items) << 32 | link;
}

static const char *device_fill(struct db_reading *reading, struct tp_nsys_process *process,
			       const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	int64_t device = cells[DEVICE].number;
	int64_t stream = cells[STREAM].number;
	if (cells[DEVICE].type != TP_SQLITE_INTEGER || device < 0 || device > INT32_MAX)
		return "device work has no device";
	if (stream < 0 || stream > UINT32_MAX)
		return "device work has no stream";
	/* CUPTI's documentation of its records: both are 0 if no times could be taken. */
	if (cells[START].number == 0 && cells[END].number == 0)
		return "device work has no times";
	span->track = tp_nsys_stream_track(process, (int32_t)device, stream);
	span->link = tp_nsys_link(process, cells[LINK].number);
	if (reading->graphs.n > 0 && span->link &&
	    tp_map_get(&reading->graphs, graph_key(reading, process, span->link), NULL))
		tp_map_set(&reading->graphs, graph_key(reading, process, span->link), true);
	return NULL;
}

static void thread_fill(struct tp_nsys_process *process, const struct tp_sqlite_cell *cells,
			struct tp_span *span)
{
	span->track = tp_nsys_thread_track(process, cells[OWNER].number);
	span->link = tp_nsys_link(process, cells[LINK].number);
}

static void name_fill(const struct db_reading *reading, struct tp_nsys_process *process,
		      enum tp_nsys_use use, const struct tp_sqlite_cell *cell, struct tp_span *span)
{
	bool is_operator;
	span->name = tp_nsys_names_find(reading->names, &process->naming, process->writer, use,
					cell, &is_operator);
	if (is_operator)
		span->kind = TP_SPAN_OPERATOR;
}

/* Returns the product of three dimensions; 0 if one is unknown or impossible. */
static uint64_t volume(const struct tp_sqlite_cell *cells)
{
	uint64_t product = 1;
	for (int i = 0; i < 3; i++) {
		int64_t n = cells[i].number;
		/* 2^31 - 1 times 65535 times 65535 is the largest grid (CUDA C++ Programming Guide,
		 * table of compute capabilities), so this cannot overflow. */
		if (n < 1 || n > INT32_MAX || product > UINT64_MAX / (uint64_t)n)
			return 0;
		product *= (uint64_t)n;
	}
	return product;
}

static uint64_t bytes_of(const struct tp_sqlite_cell *cell)
{
	return cell->number > 0 ? (uint64_t)cell->number : 0;
}

static uint32_t detail_of(struct tp_nsys_process *process, const struct tp_detail *detail)
{
	if (detail->bytes || detail->blocks || detail->threads)
		return tp_rank_writer_detail(process->writer, detail);
	return 0;
}

/* ---- rows of each table -------------------------------------------------------------------- */

static const char *kernel_fill(struct db_reading *reading, struct tp_nsys_process *process,
			       const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	const char *why = device_fill(reading, process, cells, span);
	if (why)
		return why;
	uint64_t threads = volume(&cells[BLOCK]);
	struct tp_detail detail = {.blocks = volume(&cells[GRID]),
				   .threads = threads <= UINT32_MAX ? (uint32_t)threads : 0};
	span->detail = detail_of(process, &detail);
	name_fill(reading, process, TP_NSYS_KERNEL, &cells[NAME], span);
	return NULL;
}

enum { COPY_KINDS = 16, MEMORY_KINDS = 9 };

/* Returns a number that names a kind, or the last index for any other number. */
static size_t kind_index(const struct tp_sqlite_cell *cell, size_t n)
{
	return cell->type == TP_SQLITE_INTEGER && cell->number >= 0 && cell->number < (int64_t)n
		       ? (size_t)cell->number
		       : n - 1;
}

static const char *copy_fill(struct db_reading *reading, struct tp_nsys_process *process,
			     const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	const char *why = device_fill(reading, process, cells, span);
	if (why)
		return why;
	size_t kind = kind_index(&cells[COPY_KIND], COPY_KINDS);
	size_t source = kind_index(&cells[COPY_SOURCE], MEMORY_KINDS);
	size_t target = kind_index(&cells[COPY_TARGET], MEMORY_KINDS);
	if (!process->copy_names)
		process->copy_names = tp_alloc(sizeof(*process->copy_names) * COPY_KINDS *
					       MEMORY_KINDS * MEMORY_KINDS);
	uint32_t *name =
		&process->copy_names[(kind * MEMORY_KINDS + source) * MEMORY_KINDS + target];
	if (!*name) {
		char text[TP_NSYS_WORDS_MAX];
		tp_nsys_copy_name(text, sizeof(text), (int64_t)kind, (int64_t)source,
				  (int64_t)target);
		*name = tp_rank_writer_string(process->writer, text, strlen(text));
	}
	span->name = *name;
	span->detail =
		detail_of(process, &(struct tp_detail){.bytes = bytes_of(&cells[COPY_BYTES])});
	return NULL;
}

static const char *set_fill(struct db_reading *reading, struct tp_nsys_process *process,
			    const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	char text[TP_NSYS_WORDS_MAX];
	const char *why = device_fill(reading, process, cells, span);
	if (why)
		return why;
	tp_nsys_set_name(text, sizeof(text), (int64_t)kind_index(&cells[SET_MEMORY], MEMORY_KINDS));
	span->name = tp_rank_writer_string(process->writer, text, strlen(text));
	span->detail =
		detail_of(process, &(struct tp_detail){.bytes = bytes_of(&cells[SET_BYTES])});
	return NULL;
}

/* The device's time in a graph as a whole, used only if the graph's own work was not recorded. */
static const char *graph_fill(struct db_reading *reading, struct tp_nsys_process *process,
			      const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	static const char name[] = "CUDA graph";
	uint64_t is_known = 0;
	uint32_t link = tp_nsys_link(process, cells[LINK].number);
	if (link && tp_map_get(&reading->graphs, graph_key(reading, process, link), &is_known) &&
	    is_known)
		return not_needed;
	span->name = tp_rank_writer_string(process->writer, name, strlen(name));
	return device_fill(reading, process, cells, span);
}

static const char *call_fill(struct db_reading *reading, struct tp_nsys_process *process,
			     const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	thread_fill(process, cells, span);
	name_fill(reading, process, TP_NSYS_CALL, &cells[NAME], span);
	if (reading->waits.calls.n > 0) {
		size_t len;
		const char *name = tp_nsys_names_text(reading->names, &cells[NAME], &len);
		tp_nsys_waits_add_call(&reading->waits, reading->processes, process, span, name,
				       len);
	}
	return NULL;
}

static const char *named_fill(struct db_reading *reading, struct tp_nsys_process *process,
			      const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	thread_fill(process, cells, span);
	name_fill(reading, process, TP_NSYS_KERNEL, &cells[NAME], span);
	return NULL;
}

static const char *range_fill(struct db_reading *reading, struct tp_nsys_process *process,
			      const struct tp_sqlite_cell *cells, struct tp_span *span)
{
	bool has_text = cells[RANGE_TEXT].type == TP_SQLITE_TEXT && cells[RANGE_TEXT].len > 0;
	thread_fill(process, cells, span);
	name_fill(reading, process, TP_NSYS_RANGE, &cells[has_text ? RANGE_TEXT : NAME], span);
	return NULL;
}

/* Among NVTX events only ranges have a length (ENUM_NSYS_EVENT_TYPE): marks, names and domains are
 * not spans. */
static bool is_span(const struct db_reading *reading, const struct tp_sqlite_cell *cells)
{
	enum { PUSH_POP = 59, START_END = 60, TEXT_PUSH_POP = 70, TEXT_START_END = 71 };
	const struct tp_sqlite_cell *type = &cells[RANGE_TYPE];
	if (reading->table->fill != range_fill || type->type == TP_SQLITE_NULL)
		return true;
	return type->number == PUSH_POP || type->number == START_END ||
	       type->number == TEXT_PUSH_POP || type->number == TEXT_START_END;
}

/* Read in this order: the work of graphs before graphs. */
static const struct db_table tables[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL", TP_SPAN_KERNEL, kernel_fill, kernel_columns,
	 TP_ARRAY_LEN(kernel_columns)},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", TP_SPAN_COPY, copy_fill, copy_columns,
	 TP_ARRAY_LEN(copy_columns)},
	{"CUPTI_ACTIVITY_KIND_MEMSET", TP_SPAN_SET, set_fill, set_columns,
	 TP_ARRAY_LEN(set_columns)},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", TP_SPAN_KERNEL, graph_fill, graph_columns,
	 TP_ARRAY_LEN(graph_columns)},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", TP_SPAN_CALL, call_fill, call_columns,
	 TP_ARRAY_LEN(call_columns)},
	{"CUPTI_ACTIVITY_KIND_DRIVER", TP_SPAN_CALL, call_fill, call_columns,
	 TP_ARRAY_LEN(call_columns)},
	{"NVTX_EVENTS", TP_SPAN_ANNOTATION, range_fill, range_columns, TP_ARRAY_LEN(range_columns)},
	{"MPI_P2P_EVENTS", TP_SPAN_ANNOTATION, named_fill, mpi_columns, TP_ARRAY_LEN(mpi_columns)},
	{"MPI_COLLECTIVES_EVENTS", TP_SPAN_ANNOTATION, named_fill, mpi_columns,
	 TP_ARRAY_LEN(mpi_columns)},
	{"MPI_START_WAIT_EVENTS", TP_SPAN_ANNOTATION, named_fill, mpi_columns,
	 TP_ARRAY_LEN(mpi_columns)},
	{"MPI_OTHER_EVENTS", TP_SPAN_ANNOTATION, named_fill, mpi_columns,
	 TP_ARRAY_LEN(mpi_columns)},
	{"OSRT_API", TP_SPAN_OS_CALL, named_fill, os_call_columns, TP_ARRAY_LEN(os_call_columns)},
};

/* ---- reading ------------------------------------------------------------------------------- */

static void row_read(struct db_reading *reading, struct tp_nsys_process *process,
		     const struct tp_sqlite_cell *cells)
{
	struct tp_span span = {.kind = (uint8_t)reading->table->kind};
	process->info->n_events++;
	if (!is_span(reading, cells))
		return;
	const char *why = times_fill(reading, cells, &span);
	if (!why)
		why = reading->table->fill(reading, process, cells, &span);
	if (!why && span.track == TP_NO_TRACK)
		why = "there are too many threads and streams";
	if (!why)
		tp_rank_writer_span(process->writer, &span);
	else if (why != not_needed)
		tp_rank_writer_skip(process->writer, why);
}

/* Counts rows that belong to no rank as skipped in the first one. */
static void skip_of_none(struct tp_nsys_processes *processes, const char *why)
{
	tp_rank_writer_skip(processes->items[processes->first_rank].writer, why);
}

static void table_read(struct db_reading *reading)
{
	struct tp_nsys_processes *processes = reading->processes;
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(reading->db, reading->table->name, reading->table->columns,
				    reading->table->n_columns);
	const struct tp_sqlite_cell *cells;
	if (tp_sqlite_db_has_view(reading->db, reading->table->name))
		skip_of_none(processes, "a table is a view, and code of a file is not run");
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		bool is_known;
		struct tp_nsys_process *process =
			tp_nsys_processes_owner(processes, &cells[OWNER], &cells[LINK], &is_known);
		if (process)
			row_read(reading, process, cells);
		else if (!is_known && is_span(reading, cells))
			skip_of_none(processes, "an event has no process");
	}
	tp_sqlite_rows_close(rows);
}

/* Finds launches of whole graphs: few, compared with what they launch. */
static void graphs_find(struct db_reading *reading)
{
	static const char *const columns[] = {"globalPid|globalTid", "correlationId"};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(reading->db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		bool is_known;
		struct tp_nsys_process *process =
			tp_nsys_processes_owner(reading->processes, &cells[0], &cells[1],
						&is_known);
		uint32_t link = process ? tp_nsys_link(process, cells[1].number) : 0;
		if (link)
			tp_map_set(&reading->graphs, graph_key(reading, process, link), false);
	}
	tp_sqlite_rows_close(rows);
}

void tp_nsys_tables_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			 struct tp_sqlite_db *db)
{
	struct db_reading reading = {.processes = processes, .names = names, .db = db};
	graphs_find(&reading);
	tp_nsys_waits_find(&reading.waits, processes, db);
	for (size_t i = 0; i < TP_ARRAY_LEN(tables); i++) {
		reading.table = &tables[i];
		table_read(&reading);
	}
	tp_nsys_waits_emit(&reading.waits, processes, db);
	tp_nsys_waits_release(&reading.waits);
	tp_map_release(&reading.graphs);
}

bool tp_nsys_tables_any(const struct tp_sqlite_db *db)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(tables); i++)
		if (tp_sqlite_db_table(db, tables[i].name))
			return true;
	return false;
}
