/* SPDX-License-Identifier: Apache-2.0 */
/* Turns rows of tables into spans of ranks. */
#include "tables.h"

#include "import/reader/rank_name.h"
#include "import/reader/span_store.h"
#include "import/sqlite/sqlite_db.h"
#include "table_faults.h"
#include "table_types.h"
#include "table_values.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/range_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_CACHED_MAX = 1 << 20, DEVICES_MAX = 256 };

struct process {
	size_t set;
	int64_t pid;
	struct tp_rank_writer *writer;
	struct tp_rank_info *info;
	struct tp_span_store spans;
	struct tp_maker_sums sums;
	uint32_t *names; /* the writer's string, plus one, by id of a text; heap */
	size_t n_names;
	struct tp_table_value device; /* of the last row that has one */
	bool has_device_work;
};

struct tables_reader {
	const struct tp_table_dialect *dialect;
	struct tp_import_reader *import;
	struct tp_sqlite_db *db;
	struct tp_table_values values; /* of the current set */
	size_t set;
	struct process *processes; /* heap */
	size_t n_processes;
	size_t processes_capacity;
	size_t first_of_set;
	bool has_more_ranks;          /* than can be imported */
	bool has_sums;                /* of the maker's */
	const struct tp_table *table; /* current table */
	struct tp_table_value row[TP_TABLE_ROLES];
	struct tp_table_types named;
	struct tp_table_types typed;
	const char *skipped_because; /* the first row; NULL = none was */
	struct tp_buf scratch;
};

/* ---- processes ---- */

static struct process *process_of(struct tables_reader *reader, int64_t pid)
{
	for (size_t i = reader->n_processes; i-- > reader->first_of_set;)
		if (reader->processes[i].pid == pid)
			return &reader->processes[i];
	struct process added = {.set = reader->set, .pid = pid};
	added.writer = tp_rank_writer_begin(reader->import);
	if (!added.writer) {
		reader->has_more_ranks = true;
		return NULL;
	}
	added.info = tp_rank_info(added.writer);
	added.info->pid = pid > 0 && pid <= INT32_MAX ? pid : 0;
	TP_ARRAY_PUSH(reader->processes, reader->n_processes, reader->processes_capacity) = added;
	return &reader->processes[reader->n_processes - 1];
}

/* A row without a process belongs to the first one: most files have only one. */
static struct process *process_of_row(struct tables_reader *reader)
{
	const struct tp_table_value *pid = &reader->row[TP_TABLE_PROCESS];
	if (!pid->is_known && reader->n_processes > reader->first_of_set)
		return &reader->processes[reader->first_of_set];
	return process_of(reader, pid->is_known ? pid->number : 0);
}

/* ---- one row ---- */

static void resolve(struct tables_reader *reader, const struct tp_table_column *column,
		    const struct tp_sqlite_cell *cell, struct tp_table_value *value)
{
	tp_table_value_of_cell(cell, value);
	if (!value->is_known && column->by_track) {
		*value = reader->row[TP_TABLE_TRACK];
		tp_table_values_resolve(&reader->values, column->by_track, value);
	}
	for (size_t i = 0; i < TP_TABLE_REFS && column->refs[i]; i++)
		tp_table_values_resolve(&reader->values, column->refs[i], value);
}

/* Resolves the cells of a row: `cells` by role, `others` is the alternative cell for roles that
 * have one. Roles without a column are nothing from table_read() on. */
static void row_resolve(struct tables_reader *reader, const struct tp_sqlite_cell *cells,
			const struct tp_sqlite_cell *others)
{
	const struct tp_table_column *columns = reader->table->columns;
	tp_table_value_of_cell(&cells[TP_TABLE_TRACK], &reader->row[TP_TABLE_TRACK]);
	for (size_t i = 0; i < TP_TABLE_TRACK; i++) {
		if (!columns[i].names)
			continue;
		resolve(reader, &columns[i], &cells[i], &reader->row[i]);
		if (columns[i].other && !reader->row[i].is_known)
			resolve(reader, &columns[i], others, &reader->row[i]);
	}
}

static uint32_t name_intern(struct process *process, const struct tp_table_value *value)
{
	if (!value->text_id || value->text_id > TEXTS_CACHED_MAX)
		return tp_rank_writer_string(process->writer, value->text, value->len);
	if (value->text_id >= process->n_names) {
		size_t n = 2 * (size_t)value->text_id + 64;
		process->names = tp_realloc(process->names, n * sizeof(*process->names));
		memset(process->names + process->n_names, 0,
		       (n - process->n_names) * sizeof(*process->names));
		process->n_names = n;
	}
	uint32_t *known = &process->names[value->text_id];
	if (!*known)
		*known = tp_rank_writer_string(process->writer, value->text, value->len) + 1;
	return *known - 1;
}

static uint32_t name_of(struct tables_reader *reader, struct process *process,
			const struct tp_table_type *type, struct tp_span *span)
{
	struct tp_table_value value = reader->row[TP_TABLE_NAME];
	bool is_operator = false;
	if (type && type->name)
		return tp_rank_writer_string(process->writer, type->name, strlen(type->name));
	if (type && type->takes_text && reader->row[TP_TABLE_TEXT].len)
		value = reader->row[TP_TABLE_TEXT];
	else if (!value.text || !value.len)
		value = value.is_known && reader->table->counted_as ? value
								    : reader->row[TP_TABLE_TYPE];
	if (!value.text) {
		tp_buf_clear(&reader->scratch);
		tp_buf_printf(&reader->scratch, "%s%lld",
			      reader->table->counted_as ? reader->table->counted_as : "",
			      (long long)value.number);
		return tp_rank_writer_string(process->writer, reader->scratch.data,
					     reader->scratch.len);
	}
	if (!reader->table->is_refined || span->kind != TP_SPAN_ANNOTATION)
		return name_intern(process, &value);
	size_t len = tp_range_name_len(value.text, value.len, &is_operator);
	if (is_operator)
		span->kind = TP_SPAN_OPERATOR;
	return tp_rank_writer_string(process->writer, value.text, len);
}

static uint16_t track_of(struct tables_reader *reader, struct process *process)
{
	const struct tp_table_value *row = reader->row;
	if (reader->table->is_device)
		return tp_rank_writer_track(process->writer,
					    (int32_t)tp_table_value_in_range(&row[TP_TABLE_DEVICE],
									     INT32_MAX),
					    tp_table_value_in_range(&row[TP_TABLE_STREAM],
								    UINT32_MAX) +
						    reader->table->first_stream);
	/* Without a thread it is the process's main thread, whose id is the pid. */
	int64_t tid = row[TP_TABLE_THREAD].is_known
			      ? row[TP_TABLE_THREAD].number & (int64_t)UINT32_MAX
			      : process->info->pid;
	return tp_rank_writer_track(process->writer, TP_TRACK_THREAD, tid);
}

/* Returns why the row's device is not known; NULL if it is. */
static const char *device_find(struct tables_reader *reader, struct process *process)
{
	struct tp_table_value *device = &reader->row[TP_TABLE_DEVICE];
	if (device->is_known)
		process->device = *device;
	else if (reader->table->columns[TP_TABLE_DEVICE].may_lack)
		*device = process->device;
	else
		return "work of a device that is not described";
	return NULL;
}

/* Returns the kind of the row, and the row of types that determined it, if any. */
static uint8_t kind_of(struct tables_reader *reader, const struct tp_table_type **type)
{
	const struct tp_table *table = reader->table;
	const struct tp_table_value *row = reader->row;
	*type = tp_table_types_find(&reader->named, table->named, table->n_named,
				    &row[TP_TABLE_NAME]);
	if (*type)
		return (*type)->kind;
	if (!table->n_types || (table->name_decides && row[TP_TABLE_NAME].is_known))
		return table->kind;
	struct tp_table_value member = row[TP_TABLE_MEMBER];
	if (table->absent_from)
		tp_table_values_resolve(&reader->values, table->absent_from, &member);
	if (table->absent_from && member.is_known)
		return TP_TABLE_LEFT_OUT;
	*type = tp_table_types_find(&reader->typed, table->types, table->n_types,
				    &row[TP_TABLE_TYPE]);
	if (!*type)
		return TP_TABLE_DEFAULT;
	return (*type)->kind == TP_TABLE_DEFAULT ? table->kind : (*type)->kind;
}

static void detail_fill(struct tables_reader *reader, struct process *process, struct tp_span *span)
{
	const struct tp_table_value *name = &reader->row[TP_TABLE_NAME];
	const struct tp_table_value *type = &reader->row[TP_TABLE_TYPE];
	uint64_t number =
		(uint64_t)tp_table_value_in_range(&reader->row[TP_TABLE_BYTES], INT64_MAX);
	if (reader->table->detail)
		span->detail = reader->table->detail(process->writer, name->text ? name->text : "",
						     type->text ? type->text : "", number);
	else if (number)
		span->detail = tp_rank_writer_detail(process->writer,
						     &(struct tp_detail){.bytes = number});
}

static void row_read(struct tables_reader *reader)
{
	const struct tp_table_type *type;
	struct process *process = process_of_row(reader);
	if (!process)
		return;
	process->info->n_events++;
	struct tp_span span = {.kind = kind_of(reader, &type)};
	if (span.kind == TP_TABLE_LEFT_OUT)
		return;
	if (span.kind == TP_TABLE_DEFAULT) {
		tp_rank_writer_skip(process->writer, "work of a kind that is not known");
		return;
	}
	const char *why =
		tp_table_values_times(&reader->row[TP_TABLE_START], &reader->row[TP_TABLE_END],
				      &span.start_ns, &span.end_ns);
	if (!why && reader->table->is_device)
		why = device_find(reader, process);
	span.track = why ? TP_NO_TRACK : track_of(reader, process);
	if (!why && span.track == TP_NO_TRACK)
		why = "there are too many threads and streams";
	if (why) {
		reader->skipped_because = reader->skipped_because ? reader->skipped_because : why;
		tp_rank_writer_skip(process->writer, why);
		return;
	}
	span.name = name_of(reader, process, type, &span);
	span.link = (uint32_t)tp_table_value_in_range(&reader->row[TP_TABLE_LINK], UINT32_MAX);
	detail_fill(reader, process, &span);
	process->has_device_work |= reader->table->is_device;
	if (reader->has_sums && span.kind == TP_SPAN_KERNEL)
		tp_maker_sums_add(&process->sums, reader->table->sum, span.start_ns, span.end_ns);
	TP_ARRAY_PUSH(process->spans.items, process->spans.n, process->spans.capacity) = span;
}

/* ---- tables ---- */

static void refs_load(struct tables_reader *reader, const struct tp_table *table)
{
	for (size_t i = 0; i < TP_TABLE_ROLES; i++) {
		const struct tp_table_column *column = &table->columns[i];
		for (size_t r = 0; r < TP_TABLE_REFS && column->refs[r]; r++)
			tp_table_values_load(&reader->values, column->refs[r]);
		if (column->by_track)
			tp_table_values_load(&reader->values, column->by_track);
	}
	if (table->absent_from)
		tp_table_values_load(&reader->values, table->absent_from);
}

static void table_read(struct tables_reader *reader, const struct tp_table *table)
{
	const char *columns[TP_TABLE_ROLES + 1];
	const char *name = tp_table_values_table(&reader->values, table->name);
	if (!name || (table->unless && tp_table_values_table(&reader->values, table->unless)))
		return;
	refs_load(reader, table);
	columns[TP_TABLE_ROLES] = "";
	for (size_t i = 0; i < TP_TABLE_ROLES; i++) {
		columns[i] = table->columns[i].names ? table->columns[i].names : "";
		if (table->columns[i].other)
			columns[TP_TABLE_ROLES] = table->columns[i].other;
	}
	reader->table = table;
	memset(reader->row, 0, sizeof(reader->row));
	reader->named = (struct tp_table_types){0};
	reader->typed = (struct tp_table_types){0};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(reader->db, name, columns, TP_TABLE_ROLES + 1);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		row_resolve(reader, cells, &cells[TP_TABLE_ROLES]);
		row_read(reader);
	}
	tp_sqlite_rows_close(rows);
}

/* ---- facts besides spans ---- */

static void fact_read(struct tables_reader *reader, const struct tp_table_fact *fact,
		      void (*use)(struct process *process, const struct tp_sqlite_cell *cell))
{
	const char *table =
		fact->table ? tp_table_values_table(&reader->values, fact->table) : NULL;
	struct tp_sqlite_rows *rows =
		table ? tp_sqlite_rows_open(reader->db, table, &fact->column, 1) : NULL;
	const struct tp_sqlite_cell *cell = rows ? tp_sqlite_rows_next(rows) : NULL;
	for (size_t i = reader->first_of_set; cell && i < reader->n_processes; i++)
		use(&reader->processes[i], cell);
	tp_sqlite_rows_close(rows);
}

static void use_rank(struct process *process, const struct tp_sqlite_cell *cell)
{
	if (cell->type == TP_SQLITE_INTEGER && cell->number >= 0)
		process->info->number = cell->number;
}

static void use_host(struct process *process, const struct tp_sqlite_cell *cell)
{
	if (cell->type == TP_SQLITE_TEXT && cell->len)
		process->info->host = tp_rank_writer_text(process->writer, cell->text, cell->len);
}

/* The sums are those of the only process: a file of several has no such table. */
static void sums_read(struct tables_reader *reader)
{
	enum { START, END, TYPE, N_COLUMNS };
	const struct tp_table_sums *sums = reader->dialect->sums;
	if (!reader->has_sums || reader->n_processes != 1)
		return;
	struct process *process = &reader->processes[0];
	const char *columns[N_COLUMNS] = {sums->start, sums->end, sums->type};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(reader->db, sums->table, columns, N_COLUMNS);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		struct tp_table_value start;
		struct tp_table_value end;
		tp_table_value_of_cell(&cells[START], &start);
		tp_table_value_of_cell(&cells[END], &end);
		int64_t type = cells[TYPE].number;
		if (cells[TYPE].type == TP_SQLITE_INTEGER && type >= 0 && type < TP_MAKER_SUMS &&
		    start.number > 0 && end.number > start.number &&
		    end.number <= TP_TABLE_TIME_MAX_NS)
			process->sums.written_ns[sums->by_type[type]] +=
				(uint64_t)(end.number - start.number);
	}
	tp_sqlite_rows_close(rows);
	tp_maker_sums_set(&process->sums, process->info);
}

static void environment_read(struct tables_reader *reader)
{
	const struct tp_table_ref *ref = reader->dialect->environment;
	if (ref)
		tp_table_values_load(&reader->values, ref);
	for (size_t i = reader->first_of_set; ref && i < reader->n_processes; i++) {
		struct process *process = &reader->processes[i];
		struct tp_table_value text = {.is_known = true, .number = process->pid};
		tp_table_values_resolve(&reader->values, ref, &text);
		if (text.text && process->info->number < 0)
			process->info->number = tp_rank_environment_number(text.text, text.len);
	}
}

static void devices_read(struct tables_reader *reader)
{
	enum { NUMBER, NAME, TYPE, N_COLUMNS };
	const struct tp_table_dialect *dialect = reader->dialect;
	const char *columns[N_COLUMNS] = {dialect->device_number, dialect->device_name, "type"};
	struct tp_device_info devices[DEVICES_MAX];
	struct tp_arena arena = {0};
	size_t n = 0;
	const char *table =
		dialect->devices ? tp_table_values_table(&reader->values, dialect->devices) : NULL;
	struct tp_sqlite_rows *rows =
		table ? tp_sqlite_rows_open(reader->db, table, columns, N_COLUMNS) : NULL;
	const struct tp_sqlite_cell *cells;
	while (rows && n < DEVICES_MAX && (cells = tp_sqlite_rows_next(rows))) {
		if (cells[NUMBER].type != TP_SQLITE_INTEGER || cells[NUMBER].number < 0 ||
		    cells[NUMBER].number > INT32_MAX ||
		    (dialect->device_only && (cells[TYPE].type != TP_SQLITE_TEXT ||
					      strcmp(cells[TYPE].text, dialect->device_only) != 0)))
			continue;
		devices[n] = (struct tp_device_info){.number = (int32_t)cells[NUMBER].number};
		if (cells[NAME].type == TP_SQLITE_TEXT)
			devices[n].name =
				tp_arena_strndup(&arena, cells[NAME].text, cells[NAME].len);
		n++;
	}
	tp_sqlite_rows_close(rows);
	for (size_t i = reader->first_of_set; i < reader->n_processes; i++)
		tp_rank_writer_devices(reader->processes[i].writer, devices, n);
	tp_arena_release(&arena);
}

/* ---- sets of tables ---- */

static void set_read(struct tables_reader *reader, const char *suffix)
{
	reader->values = (struct tp_table_values){.db = reader->db, .suffix = suffix};
	reader->first_of_set = reader->n_processes;
	reader->has_sums = reader->dialect->sums &&
			   tp_table_values_table(&reader->values, reader->dialect->sums->table);
	for (size_t i = 0; i < reader->dialect->n_tables; i++)
		table_read(reader, &reader->dialect->tables[i]);
	sums_read(reader);
	fact_read(reader, &reader->dialect->rank, use_rank);
	fact_read(reader, &reader->dialect->host, use_host);
	environment_read(reader);
	devices_read(reader);
	tp_table_values_release(&reader->values);
	reader->set++;
}

static void sets_read(struct tables_reader *reader)
{
	const char *prefix = reader->dialect->suffixed;
	if (!prefix) {
		set_read(reader, "");
		return;
	}
	const char *name;
	for (size_t i = 0; (name = tp_sqlite_db_table_at(reader->db, i)); i++)
		if (strncmp(name, prefix, strlen(prefix)) == 0)
			set_read(reader, name + strlen(prefix));
}

/* ---- the whole database ---- */

static bool has_device_work(const struct tables_reader *reader)
{
	for (size_t i = 0; i < reader->n_processes; i++)
		if (reader->processes[i].has_device_work)
			return true;
	return false;
}

/* Ranks are the processes with work on a device; if there are none, all processes. */
static uint64_t ranks_end(struct tables_reader *reader, const struct tp_import_source *source)
{
	const char *damage = tp_sqlite_db_error(reader->db);
	bool is_any = !has_device_work(reader);
	uint64_t n_kept = 0;
	for (size_t i = 0; i < reader->n_processes; i++) {
		struct process *process = &reader->processes[i];
		if (is_any || process->has_device_work)
			tp_span_store_emit(&process->spans, process->writer,
					   tp_import_options(reader->import)->keeps_python);
		if (damage) {
			process->info->is_cut = true;
			tp_rank_writer_skip(process->writer, damage);
		}
		if (reader->dialect->complete)
			reader->dialect->complete(process->writer, source);
		n_kept += process->info->n_kept;
		tp_rank_writer_end(process->writer, false);
		tp_span_store_release(&process->spans);
		tp_maker_sums_release(&process->sums);
		free(process->names);
	}
	free(reader->processes);
	return n_kept;
}

static enum tp_status fail_empty(struct tables_reader *reader, const char *path,
				 struct tp_error *err)
{
	struct tp_buf *why = &reader->scratch;
	tp_buf_clear(why);
	tp_table_faults_add(why, reader->db, reader->dialect);
	if (reader->skipped_because)
		tp_buf_printf(why, "%s %s", why->len ? "," : ":", reader->skipped_because);
	return tp_fail(err, TP_PARSE, "'%s': no event can be read%s", path, tp_buf_text(why));
}

enum tp_status tp_tables_read(const struct tp_table_dialect *dialect,
			      struct tp_import_reader *import,
			      const struct tp_import_source *source, struct tp_error *err)
{
	struct tables_reader reader = {.dialect = dialect, .import = import};
	enum tp_status status = tp_sqlite_db_open(&reader.db, source->path, err);
	if (status)
		return status;
	sets_read(&reader);
	uint64_t n_kept = ranks_end(&reader, source);
	if (reader.has_more_ranks)
		status = tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	else if (!n_kept)
		status = fail_empty(&reader, source->path, err);
	if (status)
		tp_error_next(err, "%s", dialect->remedy);
	tp_sqlite_db_close(reader.db);
	tp_buf_release(&reader.scratch);
	return status;
}
