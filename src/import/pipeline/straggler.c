/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the data that ByteDance published about jobs in pipeline stages, with "Understanding
 * Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025): each operation of each
 * rank and step.
 *
 * Format: ByteDance-Seed/StragglerAnalysis, readme.md at 04aede5, analyzer/to_timeline.py and
 * analysis_util.py at cc8af9f, read 2026-11-22. Two forms of it can be read:
 *
 * - the trace, a Parquet table that pandas turns into CSV: dp_rank, stage, rank, step, optype,
 *   start_ts and duration in seconds, seq_id, mc (chunk of the model in the stage), gmc, mb_id. The
 *   length of a communication includes the wait for the others. Intermediate tables of the analyzer
 *   have the same columns, and the times of each step count from its own begin.
 * - the timeline, a bare list of Chrome events in microseconds: pid is dp_rank, tid is 5 x rank +
 *   the kind of operation, args.step. to_timeline.py has subtracted the waits, and with
 *   --reset-step-start it has invented the time between steps.
 */
#include "import/json/json_scan.h"
#include "import/reader/csv_rows.h"
#include "import/reader/importer.h"
#include "pipeline.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS_OF_ROWS = 5 }; /* number of rows in which a timeline shows the operations of a rank */

struct straggler_reader {
	struct tp_pipeline *job;
	struct tp_pipeline_rank stray; /* counts operations without a known rank */
	struct tp_buf scratch;
};

/* ---- both forms ---- */

/* Sets the rank's position, unless it is known already. */
static void place_rank(struct tp_pipeline_rank *rank, const struct tp_json_slice *pipeline,
		       const struct tp_json_slice *stage, const struct tp_json_slice *tensor)
{
	int64_t number;
	if (rank->pipeline < 0 && tp_json_slice_integer(pipeline, &number) && number >= 0)
		rank->pipeline = number;
	if (rank->stage < 0 && tp_json_slice_integer(stage, &number) && number >= 0)
		rank->stage = number;
	if (rank->tensor < 0 && tp_json_slice_integer(tensor, &number) && number >= 0)
		rank->tensor = number;
}

/* Returns the rank and counts an event of it; `stray` for an operation without a rank number, or
 * with one too many. */
static struct tp_pipeline_rank *rank_of(struct straggler_reader *reader, bool has_number,
					int64_t number)
{
	struct tp_pipeline_rank *rank = NULL;
	if (has_number && number >= 0)
		rank = tp_pipeline_rank(reader->job, number);
	if (!rank)
		rank = &reader->stray;
	rank->n_events++;
	if (rank == &reader->stray)
		tp_pipeline_skip(rank, "an operation without the number of its rank");
	return rank;
}

struct operation {
	struct tp_json_slice type, step, order, start, length;
	bool (*time_ns)(const struct tp_json_slice *piece, uint64_t *out);
};

static void add_operation(struct straggler_reader *reader, struct tp_pipeline_rank *rank,
			  const struct operation *from)
{
	struct tp_pipeline_op op = {.order = UINT32_MAX};
	int64_t step;
	int64_t order;
	uint64_t length_ns;
	size_t len;
	const char *name = tp_json_slice_text(&from->type, &reader->scratch, &len);
	if (!len) {
		tp_pipeline_skip(rank, "an operation without a type");
		return;
	}
	if (!tp_json_slice_integer(&from->step, &step)) {
		tp_pipeline_skip(rank, "an operation of no step");
		return;
	}
	if (!from->time_ns(&from->start, &op.start_ns) ||
	    !from->time_ns(&from->length, &length_ns)) {
		tp_pipeline_skip(rank, "an operation without times that make sense");
		return;
	}
	if (tp_json_slice_integer(&from->order, &order) && order >= 0 && order < UINT32_MAX)
		op.order = (uint32_t)order;
	op.end_ns = op.start_ns + length_ns; /* both are below 2^63 */
	op.type = (uint16_t)tp_pipeline_type(reader->job, name, len);
	tp_pipeline_add(reader->job, rank, step, &op);
}

/* ---- the table ---- */

enum column {
	COLUMN_RANK,
	COLUMN_STEP,
	COLUMN_OP_TYPE,
	COLUMN_START,
	COLUMN_DURATION,
	COLUMN_PIPELINE,
	COLUMN_STAGE,
	N_NEEDED_COLUMNS,
	COLUMN_TENSOR = N_NEEDED_COLUMNS,
	COLUMN_ORDER,
	COLUMN_CHUNK,
	N_COLUMNS
};

static const char *const column_names[N_COLUMNS] = {
	"rank",    "step",  "optype",  "start_ts", "duration",
	"dp_rank", "stage", "tp_rank", "seq_id",   "mc",
};

/* Finds the index of each column; -1 if it is missing. Returns false if a required one is
 * missing. */
static bool columns_find(int places[N_COLUMNS], const struct tp_csv *csv)
{
	bool are_there = true;
	for (size_t c = 0; c < N_COLUMNS; c++) {
		size_t len = strlen(column_names[c]);
		places[c] = -1;
		for (size_t i = 0; i < csv->n_fields && places[c] < 0; i++)
			if (csv->fields[i].len == len &&
			    memcmp(csv->fields[i].text, column_names[c], len) == 0)
				places[c] = (int)i;
		are_there &= places[c] >= 0 || c >= N_NEEDED_COLUMNS;
	}
	return are_there;
}

static struct tp_json_slice field_at(const struct tp_csv *csv, int place)
{
	if (place < 0 || (size_t)place >= csv->n_fields)
		return (struct tp_json_slice){.text = ""};
	return csv->fields[place];
}

static void add_row(struct straggler_reader *reader, const struct tp_csv *csv,
		    const int places[N_COLUMNS])
{
	struct tp_json_slice fields[N_COLUMNS];
	int64_t number = 0;
	for (size_t c = 0; c < N_COLUMNS; c++)
		fields[c] = field_at(csv, places[c]);
	bool has_number = tp_json_slice_integer(&fields[COLUMN_RANK], &number);
	struct tp_pipeline_rank *rank = rank_of(reader, has_number, number);
	if (rank == &reader->stray)
		return;
	place_rank(rank, &fields[COLUMN_PIPELINE], &fields[COLUMN_STAGE], &fields[COLUMN_TENSOR]);
	/* Without the column it is unknown. For communication it may be empty. */
	if (places[COLUMN_CHUNK] < 0 ||
	    (tp_json_slice_integer(&fields[COLUMN_CHUNK], &number) && number > 0))
		reader->job->has_chunks = true;
	const struct operation operation = {.type = fields[COLUMN_OP_TYPE],
					    .step = fields[COLUMN_STEP],
					    .order = fields[COLUMN_ORDER],
					    .start = fields[COLUMN_START],
					    .length = fields[COLUMN_DURATION],
					    .time_ns = tp_json_slice_seconds_ns};
	add_operation(reader, rank, &operation);
}

static void read_table(struct straggler_reader *reader, struct tp_stream *stream)
{
	struct tp_csv csv;
	int places[N_COLUMNS];
	enum tp_csv_item item;
	tp_csv_init(&csv, stream);
	bool has_header = tp_csv_next(&csv) == TP_CSV_ROW && columns_find(places, &csv);
	while (has_header && (item = tp_csv_next(&csv)) != TP_CSV_END) {
		if (item == TP_CSV_ROW) {
			add_row(reader, &csv, places);
			continue;
		}
		reader->stray.n_events++;
		tp_pipeline_skip(&reader->stray, "a line that is no row");
	}
	reader->job->has_waits = true;
	tp_csv_release(&csv);
}

static bool table_probe(const unsigned char *head, size_t size)
{
	struct tp_csv csv = {0};
	int places[N_COLUMNS];
	char line[TP_STREAM_HEAD_BYTES];
	size_t len = 0;
	while (len < size && head[len] != '\n')
		len++;
	if (len == size || len >= sizeof(line))
		return false;
	memcpy(line, head, len);
	len -= len && line[len - 1] == '\r';
	return tp_csv_cut(&csv, line, len) && columns_find(places, &csv);
}

/* ---- the timeline ---- */

struct straggler_event {
	struct tp_json_slice ph, name, pid, tid, ts, dur, args;
};

static bool event_read(struct straggler_event *event, const struct tp_json_slice *text)
{
	const struct {
		const char *key;
		struct tp_json_slice *value;
	} members[] = {
		{"ph", &event->ph},     {"name", &event->name}, {"pid", &event->pid},
		{"tid", &event->tid},   {"ts", &event->ts},     {"dur", &event->dur},
		{"args", &event->args},
	};
	struct tp_json_walk walk = tp_json_walk_init(text);
	struct tp_json_slice key;
	struct tp_json_slice value;
	while (tp_json_walk_next(&walk, &key, &value))
		for (size_t i = 0; i < TP_ARRAY_LEN(members); i++)
			if (strlen(members[i].key) == key.len &&
			    memcmp(members[i].key, key.text, key.len) == 0)
				*members[i].value = value;
	return !walk.is_malformed;
}

/* Returns the number after a word of "PP rank 3, TP rank 0, compute". */
static struct tp_json_slice number_after(const struct tp_json_slice *text, const char *word)
{
	struct tp_json_slice number = {.text = "", .type = TP_JSON_SLICE_TEXT};
	const char *at = text->len ? memmem(text->text, text->len, word, strlen(word)) : NULL;
	if (!at)
		return number;
	const char *end = text->text + text->len;
	number.text = at + strlen(word);
	while (number.text + number.len < end && number.text[number.len] >= '0' &&
	       number.text[number.len] <= '9')
		number.len++;
	return number;
}

static void add_name(struct straggler_reader *reader, const struct straggler_event *event,
		     int64_t tid)
{
	struct tp_json_slice name = tp_json_slice_find(&event->args, "name");
	struct tp_json_slice stage = number_after(&name, "PP rank ");
	struct tp_json_slice tensor = number_after(&name, "TP rank ");
	if (!TP_JSON_SLICE_IS(&event->name, "thread_name") || tid < 0)
		return;
	struct tp_pipeline_rank *rank = tp_pipeline_rank(reader->job, tid / KINDS_OF_ROWS);
	if (rank)
		place_rank(rank, &event->pid, &stage, &tensor);
}

static void add_event(struct straggler_reader *reader, const struct tp_json_slice *text)
{
	struct straggler_event event = {0};
	int64_t tid = -1;
	if (!event_read(&event, text)) {
		reader->stray.n_events++;
		tp_pipeline_skip(&reader->stray, "a malformed event");
		return;
	}
	bool has_tid = tp_json_slice_integer(&event.tid, &tid);
	if (TP_JSON_SLICE_IS(&event.ph, "M"))
		add_name(reader, &event, tid);
	if (!TP_JSON_SLICE_IS(&event.ph, "X"))
		return;
	struct tp_pipeline_rank *rank = rank_of(reader, has_tid && tid >= 0, tid / KINDS_OF_ROWS);
	if (rank == &reader->stray)
		return;
	const struct tp_json_slice none = {.text = ""};
	place_rank(rank, &event.pid, &none, &none);
	const struct operation operation = {.type = event.name,
					    .step = tp_json_slice_find(&event.args, "step"),
					    .order = tp_json_slice_find(&event.args, "seq_id"),
					    .start = event.ts,
					    .length = event.dur,
					    .time_ns = tp_json_slice_time_ns};
	add_operation(reader, rank, &operation);
}

static void read_timeline(struct straggler_reader *reader, struct tp_stream *stream)
{
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	tp_json_scan_init(&scan, stream);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_JSON_SCAN_END) {
		if (item == TP_JSON_SCAN_EVENT) {
			add_event(reader, &value);
		} else if (item != TP_JSON_SCAN_MEMBER) {
			reader->stray.n_events++;
			tp_pipeline_skip(&reader->stray, "an entry that is no event");
		}
	}
	reader->job->is_cut = scan.is_cut;
	tp_json_scan_release(&scan);
}

static bool timeline_probe(const unsigned char *head, size_t size)
{
	static const char *const keys[] = {"\"model_chunk\"", "\"mb_id\"", "\"seq_id\"",
					   "\"step\""};
	bool is_it = tp_json_scan_probe(head, size);
	for (size_t i = 0; i < TP_ARRAY_LEN(keys); i++)
		is_it = is_it && memmem(head, size, keys[i], strlen(keys[i]));
	return is_it;
}

/* ---- the whole file ---- */

/* Counts operations without a rank as skipped in the first rank. */
static void skip_in_first(struct straggler_reader *reader)
{
	struct tp_pipeline_rank *first = &reader->job->ranks[0];
	first->n_events += reader->stray.n_events;
	if (!first->n_skipped)
		first->skipped_because = reader->stray.skipped_because;
	first->n_skipped += reader->stray.n_skipped;
}

static enum tp_status straggler_read(struct tp_import_reader *import,
				     const struct tp_import_source *source, struct tp_error *err)
{
	struct tp_pipeline *job = tp_alloc(sizeof(*job));
	struct straggler_reader reader = {.job = job};
	const unsigned char *head;
	size_t size = tp_stream_peek(source->stream, &head);
	tp_pipeline_init(job);
	if (timeline_probe(head, size))
		read_timeline(&reader, source->stream);
	else
		read_table(&reader, source->stream);
	skip_in_first(&reader);
	const char *name = source->member ? source->member : source->path;
	enum tp_status status = tp_pipeline_emit(job, import, name, err);
	tp_pipeline_release(job);
	free(job);
	tp_buf_release(&reader.scratch);
	return status;
}

static bool straggler_probe(const unsigned char *head, size_t size)
{
	return table_probe(head, size) || timeline_probe(head, size);
}

const struct tp_importer tp_importer_straggler = {
	.info =
		{
			.name = "straggler",
			.summary = "timelines of jobs in pipeline stages (ByteDance, OSDI 2025): "
				   "timeline-*.json.gz, and trace-*.parquet as CSV: python3 -c "
				   "\"import pandas; pandas.read_parquet('trace-ST.parquet')"
				   ".to_csv('trace-ST.csv', index=False)\"",
			.keeps = "steps; operations of ranks with stage and times; of CSV also who "
				 "waited for whom",
			.loses = "launches, bytes, micro-batches, ranks that were not recorded; "
				 "time between steps, but for neighbours in CSV; waits of "
				 "timeline-*.json.gz, which its writer took off",
		},
	.recognises = straggler_probe,
	.read = straggler_read,
};
