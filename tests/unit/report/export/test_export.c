/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of a hand-made run with hostile names and known times. */
#include "report/sample.h"
#include <check.h>
#include <stdlib.h>

#include "report/export/span_lanes.h"
#include "report/export/thread_walk.h"
#include "report/export/weights.h"
#include "trainprof/base/json.h"
#include "trainprof/report/export.h"

/* Two steps of 10 ms after a warm-up step, with a gap of 1 ms in the last; the given name replaces
 * the names of the sample. */
struct timed {
	struct sample sample;
	struct tp_segment segments[5];
	struct tp_segment worker[2];
	struct tp_sample samples[1];
	struct tp_timeline timelines[29];
	struct tp_step steps[3];
};

enum { MS = 1000000 };

static const char hostile[] = "=a;b\"c\\d<script>\n\x1b[31m,{e}\xff \u202e'";

static void set_segment(struct tp_segment *out, unsigned from_ms, unsigned to_ms,
			enum tp_state state, enum tp_label label)
{
	*out = (struct tp_segment){.start_ns = (uint64_t)from_ms * MS,
				   .end_ns = (uint64_t)to_ms * MS,
				   .state = state,
				   .cause = state == TP_STATE_BLOCKED ? TP_CAUSE_PIPE
								      : TP_CAUSE_NONE,
				   .sample = state == TP_STATE_RUNNABLE ? TP_NO_SAMPLE : 0,
				   .label = label};
}

static void set_parts(struct tp_profile *profile)
{
	memset(profile->parts, 0, sizeof(profile->parts));
	profile->parts[TP_PART_DATALOADER].time_ns = UINT64_C(8) * MS;
	profile->parts[TP_PART_COMPUTE].time_ns = UINT64_C(9) * MS;
	profile->parts[TP_PART_IDLE].time_ns = UINT64_C(3) * MS;
	profile->total_ns = UINT64_C(20) * MS;
	for (int part = 0; part < TP_N_PARTS; part++)
		profile->parts[part].share = (struct tp_quantity){.missing = "not asked"};
}

static void timed_init(struct timed *t, const char *name)
{
	sample_init(&t->sample);
	struct tp_profile *profile = &t->sample.profile;
	struct tp_trace *trace = &t->sample.trace;
	for (size_t i = 1; i < trace->n_strings; i++)
		trace->strings[i] = name;
	trace->run.label = name;
	trace->run.command[0] = name;
	set_segment(&t->segments[0], 0, 14, TP_STATE_BLOCKED, TP_LABEL_DATALOADER_PREP);
	set_segment(&t->segments[1], 14, 20, TP_STATE_ON_CPU, TP_LABEL_COMPUTE_MATH);
	set_segment(&t->segments[2], 20, 24, TP_STATE_BLOCKED, TP_LABEL_DATALOADER_PREP);
	set_segment(&t->segments[3], 24, 26, TP_STATE_RUNNABLE, TP_LABEL_IDLE_RUNNABLE);
	set_segment(&t->segments[4], 27, 40, TP_STATE_ON_CPU, TP_LABEL_COMPUTE_MATH);
	set_segment(&t->worker[0], 5, 25, TP_STATE_ON_CPU, TP_N_LABELS);
	set_segment(&t->worker[1], 25, 35, TP_STATE_BLOCKED, TP_N_LABELS);
	t->samples[0] = (struct tp_sample){.stack = 1};
	trace->samples = t->samples;
	trace->n_samples = 1;
	memset(t->timelines, 0, sizeof(t->timelines));
	t->timelines[0] = (struct tp_timeline){t->segments, TP_ARRAY_LEN(t->segments)};
	t->timelines[1] = (struct tp_timeline){t->worker, TP_ARRAY_LEN(t->worker)};
	for (size_t i = 0; i < TP_ARRAY_LEN(t->steps); i++)
		t->steps[i] = (struct tp_step){.start_ns = i * 10 * MS,
					       .end_ns = (i + 1) * 10 * MS,
					       .kind = i ? TP_STEP_STEADY : TP_STEP_WARMUP};
	profile->steps = t->steps;
	profile->n_steps = TP_ARRAY_LEN(t->steps);
	profile->is_of_steps = true;
	profile->window_start_ns = UINT64_C(10) * MS;
	profile->window_end_ns = UINT64_C(30) * MS;
	profile->timelines = t->timelines;
	profile->main_timeline = t->timelines[0];
	profile->main_task = 0;
	profile->n_devices = 0;
	set_parts(profile);
}

static char *export_to(const struct tp_report *report, const char *format, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	ck_assert_int_eq(tp_export_find(format)->write(report, out, NULL), TP_OK);
	fclose(out);
	return text;
}

START_TEST(weights_add_up_to_the_parts)
{
	struct timed t;
	struct tp_export_weights weights;
	uint64_t sums[TP_N_PARTS + 1] = {0};
	timed_init(&t, "name");
	tp_export_weights_build(&weights, &t.sample.profile, true);
	for (size_t i = 0; i < weights.n; i++)
		sums[weights.items[i].part] += weights.items[i].time_ns;
	for (int part = 0; part < TP_N_PARTS; part++)
		ck_assert_uint_eq(sums[part], t.sample.profile.parts[part].time_ns);
	/* The worker, from 10 to 30 ms. */
	ck_assert_uint_eq(sums[TP_N_PARTS], UINT64_C(20) * MS);
	tp_export_weights_release(&weights);
	sample_release(&t.sample);
}
END_TEST

struct seen {
	size_t n;
	size_t n_judged;
	uint64_t end_ns;
	bool is_in_order;
};

static void see(void *context, const struct tp_export_piece *piece)
{
	struct seen *seen = context;
	seen->n++;
	seen->n_judged += piece->is_judged;
	seen->is_in_order &= piece->start_ns >= seen->end_ns && piece->end_ns > piece->start_ns;
	seen->end_ns = piece->end_ns;
	if (piece->start_ns == UINT64_C(26) * MS) {
		ck_assert(!piece->is_known);
		ck_assert_int_eq(piece->label, TP_LABEL_IDLE_UNKNOWN);
	}
}

START_TEST(pieces_end_where_steps_end)
{
	struct timed t;
	struct seen seen = {.is_in_order = true};
	timed_init(&t, "name");
	tp_export_walk_thread(&t.sample.profile, 0, see, &seen);
	/* 0-10, 10-14, 14-20, 20-24, 24-26, 26-27, 27-30, 30-40. */
	ck_assert_uint_eq(seen.n, 8);
	ck_assert_uint_eq(seen.n_judged, 6);
	ck_assert_uint_eq(seen.end_ns, UINT64_C(40) * MS);
	ck_assert(seen.is_in_order);
	sample_release(&t.sample);
}
END_TEST

START_TEST(overlapping_spans_get_separate_rows)
{
	const struct tp_span spans[] = {{.start_ns = 0, .end_ns = 10},
					{.start_ns = 2, .end_ns = 4},
					{.start_ns = 3, .end_ns = 12},
					{.start_ns = 4, .end_ns = 10},
					{.start_ns = 10, .end_ns = 11}};
	struct tp_span_lanes lanes;
	tp_span_lanes_build(&lanes, spans, TP_ARRAY_LEN(spans));
	static const uint8_t wanted[] = {0, 0, 1, 0, 0};
	ck_assert_mem_eq(lanes.of_span, wanted, sizeof(wanted));
	ck_assert_uint_eq(lanes.n_lanes, 2);
	tp_span_lanes_release(&lanes);
}
END_TEST

START_TEST(hostile_names_do_not_break_json)
{
	static const char *const formats[] = {"speedscope", "chrome", "otlp",
					      "mlflow",     "wandb",  "firefox"};
	struct timed t;
	timed_init(&t, hostile);
	for (size_t i = 0; i < TP_ARRAY_LEN(formats); i++) {
		struct tp_json_doc *doc = NULL;
		size_t size = 0;
		char *text = export_to(&t.sample.report, formats[i], &size);
		ck_assert_int_eq(tp_json_parse(&doc, text, size, formats[i], NULL), TP_OK);
		ck_assert_ptr_null(strchr(text, '<'));
		tp_json_free(doc);
		free(text);
	}
	sample_release(&t.sample);
}
END_TEST

START_TEST(hostile_names_do_not_break_lines)
{
	struct timed t;
	size_t size = 0;
	timed_init(&t, hostile);
	char *text = export_to(&t.sample.report, "collapsed", &size);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t length = strcspn(line, "\n");
		ck_assert(line[length] == '\n' && length > 2);
		ck_assert(line[length - 1] >= '0' && line[length - 1] <= '9');
	}
	ck_assert_ptr_null(strchr(text, '\x1b'));
	free(text);
	text = export_to(&t.sample.report, "csv-stacks", &size);
	ck_assert_ptr_nonnull(strstr(text, "\"'=a;b\"\"c"));
	free(text);
	text = export_to(&t.sample.report, "openmetrics", &size);
	ck_assert_ptr_nonnull(strstr(text, "label=\"=a;b\\\"c\\\\d<script>\\n"));
	ck_assert_ptr_null(strchr(text, '\x1b'));
	ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
	free(text);
	sample_release(&t.sample);
}
END_TEST

START_TEST(every_format_takes_a_run_of_which_nothing_is_known)
{
	struct timed t;
	timed_init(&t, "name");
	t.sample.profile.timelines = NULL;
	t.sample.profile.main_timeline = (struct tp_timeline){0};
	t.sample.profile.main_task = TP_NO_TASK;
	t.sample.profile.n_steps = 0;
	t.sample.profile.is_of_steps = false;
	t.sample.profile.total_ns = 0;
	t.sample.report.findings = NULL;
	for (const struct tp_export_format *const *f = tp_export_list(); *f; f++) {
		size_t size = 0;
		free(export_to(&t.sample.report, (*f)->name, &size));
	}
	sample_release(&t.sample);
}
END_TEST

START_TEST(a_full_disk_is_an_error_in_every_format)
{
	struct timed t;
	timed_init(&t, "name");
	for (const struct tp_export_format *const *f = tp_export_list(); *f; f++) {
		FILE *full = fopen("/dev/full", "w");
		struct tp_error err = {0};
		ck_assert_ptr_nonnull(full);
		ck_assert_int_eq((*f)->write(&t.sample.report, full, &err), TP_IO);
		fclose(full);
	}
	sample_release(&t.sample);
}
END_TEST

Suite *suite_report_export(void);
Suite *suite_report_export(void)
{
	Suite *suite = suite_create("report_export");
	TCase *tc = tcase_create("formats");
	tcase_add_test(tc, weights_add_up_to_the_parts);
	tcase_add_test(tc, pieces_end_where_steps_end);
	tcase_add_test(tc, overlapping_spans_get_separate_rows);
	tcase_add_test(tc, hostile_names_do_not_break_json);
	tcase_add_test(tc, hostile_names_do_not_break_lines);
	tcase_add_test(tc, every_format_takes_a_run_of_which_nothing_is_known);
	tcase_add_test(tc, a_full_disk_is_an_error_in_every_format);
	suite_add_tcase(suite, tc);
	return suite;
}
