/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kernel_details.csv of torch_npu and op_summary_*.csv of msprof. They contain the computing
 * and the communication of the NPU, and nothing of the host. Columns are found by their heading,
 * which differs between levels. A time may be followed by a tab. */
#include "ascend_folder.h"
#include "hccl_name.h"

#include "import/json/json_walk.h"
#include "import/reader/csv_rows.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum { NAME, START, LENGTH, DEVICE, STREAM, N_COLUMNS };
enum { FIRST_GROUP = 1 << 20, HEADINGS_MAX = 4, ABSENT = TP_CSV_FIELDS_MAX };

static const char *const headings[N_COLUMNS][HEADINGS_MAX] = {
	[NAME] = {"Name", "Op Name"},
	[START] = {"Start Time(us)", "Task Start Time(us)"},
	[LENGTH] = {"Duration(us)", "Task Duration(us)"},
	[DEVICE] = {"Device_id"},
	[STREAM] = {"Stream ID", "Stream Id"},
};

static bool is_heading(const struct tp_json_slice *field, size_t column)
{
	for (size_t i = 0; i < HEADINGS_MAX && headings[column][i]; i++)
		if (strlen(headings[column][i]) == field->len &&
		    memcmp(headings[column][i], field->text, field->len) == 0)
			return true;
	return false;
}

static void columns_find(const struct tp_csv *csv, size_t places[N_COLUMNS])
{
	for (size_t c = 0; c < N_COLUMNS; c++) {
		places[c] = ABSENT;
		for (size_t i = 0; i < csv->n_fields; i++)
			if (is_heading(&csv->fields[i], c))
				places[c] = i;
	}
}

static struct tp_json_slice field_of(const struct tp_csv *csv, size_t place)
{
	struct tp_json_slice field = {0};
	if (place < csv->n_fields)
		field = csv->fields[place];
	while (field.len && (field.text[field.len - 1] == '\t' || field.text[field.len - 1] == ' '))
		field.len--;
	return field;
}

static void row_read(struct tp_rank_writer *writer, const struct tp_csv *csv,
		     const size_t places[N_COLUMNS])
{
	struct tp_json_slice name = field_of(csv, places[NAME]);
	struct tp_json_slice start = field_of(csv, places[START]);
	struct tp_json_slice length = field_of(csv, places[LENGTH]);
	struct tp_json_slice device = field_of(csv, places[DEVICE]);
	struct tp_json_slice stream = field_of(csv, places[STREAM]);
	struct tp_span span = {.kind = TP_SPAN_KERNEL};
	struct tp_detail detail = {0};
	uint64_t length_ns;
	tp_rank_info(writer)->n_events++;
	if (!tp_json_slice_time_ns(&start, &span.start_ns) ||
	    !tp_json_slice_time_ns(&length, &length_ns)) {
		tp_rank_writer_skip(writer, "a row without times that make sense");
		return;
	}
	span.end_ns = span.start_ns + length_ns;
	bool is_collective = tp_hccl_name_read(writer, name.text, name.len, &detail);
	int64_t number =
		is_collective ? FIRST_GROUP : (int64_t)tp_json_slice_count(&stream, UINT32_MAX);
	span.track = tp_rank_writer_track(writer, (int32_t)tp_json_slice_count(&device, INT32_MAX),
					  number);
	if (is_collective)
		span.detail = tp_rank_writer_detail(writer, &detail);
	span.name = tp_rank_writer_string(writer, name.text, name.len);
	tp_rank_writer_span(writer, &span);
}

static enum tp_status csv_read(struct tp_import_reader *import,
			       const struct tp_import_source *source, struct tp_error *err)
{
	size_t places[N_COLUMNS];
	struct tp_csv csv;
	struct tp_rank_writer *writer = tp_rank_writer_begin(import);
	enum tp_csv_item item;
	enum tp_status status = TP_OK;
	if (!writer)
		return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	tp_csv_init(&csv, source->stream);
	bool has_heading = tp_csv_next(&csv) == TP_CSV_ROW;
	columns_find(&csv, places);
	while (has_heading && (item = tp_csv_next(&csv)) != TP_CSV_END) {
		if (item == TP_CSV_ROW)
			row_read(writer, &csv, places);
		else
			tp_rank_writer_skip(writer, "a row that cannot be read");
	}
	tp_csv_release(&csv);
	tp_ascend_folder_rank(writer, source);
	if (!tp_rank_info(writer)->n_kept)
		status = tp_fail(err, TP_PARSE, "'%s' has no row with times",
				 source->member ? source->member : source->path);
	tp_rank_writer_end(writer, false);
	return status;
}

/* Both headings of times are in the first line. */
static bool csv_probe(const unsigned char *head, size_t size)
{
	const unsigned char *line = memchr(head, '\n', size);
	size_t len = line ? (size_t)(line - head) : size;
	return size && head[0] != '{' && head[0] != '[' &&
	       memmem(head, len, "Start Time(us)", 14) && memmem(head, len, "Duration(us)", 12);
}

const struct tp_importer tp_importer_ascend_csv = {
	.info =
		{
			.name = "ascend-csv",
			.summary = "Ascend's profiler, kernel_details.csv or op_summary_*.csv",
			.keeps = "computing and collectives of the NPU",
			.loses = "the host, copies, steps: why the NPU idles is unknown",
		},
	.recognises = csv_probe,
	.read = csv_read,
};
