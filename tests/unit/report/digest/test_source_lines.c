/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sentences about lines of Python programs. */
#include "report/digest/source_lines.h"

#include "report/sample.h"

#include "trainprof/model/fact.h"
#include "trainprof/report/validate.h"

#include <check.h>
#include <stdlib.h>

static struct sample sample;
static struct tp_report_digest digest;

struct told {
	enum tp_part part;
	bool is_own;
	const char *file;
	const char *symbol;
	unsigned line;
	double share;
	enum tp_label label;
};

enum { SPARE = 32 };

/* The strings of a trace are fixed: the table has spare empty strings, which get a text when one is
 * needed. */
static uint32_t string_id(const char *text)
{
	size_t id = 0;
	while (strcmp(sample.trace.strings[id], text) != 0)
		if (!*sample.trace.strings[++id])
			sample.trace.strings[id] = text;
	return (uint32_t)id;
}

static void grow_strings(void)
{
	struct tp_trace *trace = &sample.trace;
	const char **all = tp_arena_array(&trace->arena, trace->n_strings + SPARE, sizeof(*all));
	memcpy(all, trace->strings, trace->n_strings * sizeof(*all));
	for (size_t i = 0; i < SPARE; i++)
		all[trace->n_strings + i] = "";
	trace->strings = all;
	trace->n_strings += SPARE;
}

static void add_sample_line(const struct told *lines, size_t n, struct tp_source_loop loop)
{
	sample.profile.lines =
		tp_arena_array(&sample.profile.arena, n + 1, sizeof(*sample.profile.lines));
	sample.profile.n_lines = n;
	for (size_t i = 0; i < n; i++)
		sample.profile.lines[i] = (struct tp_line_result){
			.part = lines[i].part,
			.is_own = lines[i].is_own,
			.file = string_id(lines[i].file),
			.symbol = string_id(lines[i].symbol),
			.line = lines[i].line,
			.label = lines[i].label,
			.time_ns = (uint64_t)(lines[i].share * (double)sample.profile.total_ns)};
	sample.profile.loop = loop;
	if (loop.is_known) {
		sample.profile.loop.file = string_id("/home/me/train.py");
		sample.profile.loop.symbol = string_id("main");
	}
	tp_report_digest_make(&digest, &sample.report);
}

static void setup(void)
{
	sample_init(&sample);
	grow_strings();
}

static void teardown(void)
{
	sample_release(&sample);
}

static const struct told usual[] = {
	{TP_PART_COMPUTE, false, "/home/me/train.py", "main", 93, 0.28, TP_LABEL_COMPUTE_MATH},
	{TP_PART_COMPUTE, false, "/home/me/train.py", "main", 91, 0.13, TP_LABEL_COMPUTE_MATH},
	{TP_PART_COMPUTE, true, "/home/me/net.py", "Net.forward", 14, 0.12, TP_LABEL_COMPUTE_MATH},
	{TP_PART_DATALOADER, false, "/home/me/train.py", "main", 88, 0.39,
	 TP_LABEL_DATALOADER_PREP},
	{TP_PART_DATALOADER, true, "/home/me/data.py", "Pictures.__getitem__", 31, 0.3,
	 TP_LABEL_DATALOADER_PREP},
	{TP_PART_HOST, false, "/home/me/train.py", "main", 95, 0.01, TP_LABEL_HOST_LOGGING},
};
static const struct tp_source_loop usual_loop = {.is_known = true,
						 .first_line = 88,
						 .last_line = 95};

static void expect_hottest(const char *text)
{
	struct tp_buf found = {0};
	tp_report_add_top_lines(&found, &digest, 0);
	ck_assert_str_eq(tp_buf_text(&found), text);
	tp_buf_release(&found);
}

static void expect_evidence(enum tp_fact fact, const char *text)
{
	const struct tp_evidence evidence = {.fact = fact};
	const struct tp_finding finding = {.evidence = &evidence, .n_evidence = 1};
	struct tp_buf found = {0};
	tp_report_add_evidence_line(&found, &sample.profile, &finding);
	ck_assert_str_eq(tp_buf_text(&found), text);
	tp_buf_release(&found);
}

START_TEST(the_two_lines_with_most_time_are_named)
{
	add_sample_line(usual, TP_ARRAY_LEN(usual), usual_loop);
	expect_hottest("Most time: train.py:88 in main(), 39 % of each step (dataloader), "
		       "mostly data.py:31 in Pictures.__getitem__(); next :93, 28 % (compute).");
}
END_TEST

START_TEST(items_without_room_are_left_out_whole)
{
	static const struct {
		size_t columns;
		const char *text;
	} rows[] = {
		{200, "Most time: train.py:88 in main(), 39 % of each step (dataloader), mostly "
		      "data.py:31 in Pictures.__getitem__(); next :93, 28 % (compute)."},
		{112, "Most time: train.py:88 in main(), 39 % of each step (dataloader), mostly "
		      "data.py:31 in Pictures.__getitem__()."},
		{100, "Most time: train.py:88 in main(), 39 % (dataloader), mostly data.py:31 in "
		      "Pictures.__getitem__()."},
		{90, "Most time: train.py:88, 39 % (dataloader), mostly data.py:31 in "
		     "Pictures.__getitem__()."},
		{76, "Most time: train.py:88 in main(), 39 % (dataloader), mostly data.py:31."},
		{62, "Most time: train.py:88, 39 % (dataloader), mostly data.py:31."},
		{50, "Most time: train.py:88 in main(), 39 % (dataloader)."},
		{10, "Most time: train.py:88 in main(), 39 % (dataloader)."},
	};
	add_sample_line(usual, TP_ARRAY_LEN(usual), usual_loop);
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct tp_buf found = {0};
		tp_report_add_top_lines(&found, &digest, rows[i].columns);
		ck_assert_str_eq(tp_buf_text(&found), rows[i].text);
		tp_buf_release(&found);
	}
}
END_TEST

START_TEST(if_a_library_loops_the_users_lines_are_shown)
{
	struct tp_source_loop loop = usual_loop;
	loop.is_library = true;
	add_sample_line(usual, TP_ARRAY_LEN(usual), loop);
	expect_hottest("Most time: data.py:31 in Pictures.__getitem__(), 30 % of each step "
		       "(dataloader); next net.py:14 in Net.forward(), 12 % (compute).");
	expect_evidence(TP_FACT_STEP_COMPUTE,
			"net.py:14 in Net.forward() holds 12 % of each step (compute.math)");
	/* a part without an own line has that of the loop */
	expect_evidence(TP_FACT_STEP_LOGGING,
			"train.py:95 in main() holds 1.0 % of each step (host.logging)");
	expect_evidence(TP_FACT_STEP_IDLE, "");
}
END_TEST

START_TEST(without_lines_nothing_is_said)
{
	add_sample_line(NULL, 0, (struct tp_source_loop){0});
	expect_hottest("");
	/* 1 % is too little for the first screen */
	add_sample_line(&usual[5], 1, usual_loop);
	expect_hottest("");
	struct tp_buf text = {0};
	add_sample_line(NULL, 0, (struct tp_source_loop){0});
	tp_report_add_loop(&text, &sample.profile);
	ck_assert_uint_eq(text.len, 0);
	tp_buf_release(&text);
}
END_TEST

START_TEST(the_loop_has_a_place)
{
	struct tp_buf text = {0};
	add_sample_line(usual, TP_ARRAY_LEN(usual), usual_loop);
	tp_report_add_loop(&text, &sample.profile);
	ck_assert_str_eq(tp_buf_text(&text), "the loop in main() at train.py:88–95");
	tp_buf_clear(&text);
	struct tp_source_loop one = {.is_known = true, .first_line = 88, .last_line = 88};
	add_sample_line(usual, TP_ARRAY_LEN(usual), one);
	sample.trace.strings[sample.profile.loop.symbol] = "<module>";
	tp_report_add_loop(&text, &sample.profile);
	ck_assert_str_eq(tp_buf_text(&text), "the loop at train.py:88");
	tp_buf_release(&text);
}
END_TEST

START_TEST(advice_is_about_the_line_of_its_part)
{
	static const struct tp_evidence evidence[] = {{.fact = TP_FACT_LOADER_WORKERS},
						      {.fact = TP_FACT_STEP_PREP}};
	struct tp_finding finding = {.evidence = evidence, .n_evidence = 2};
	struct tp_buf text = {0};
	add_sample_line(usual, TP_ARRAY_LEN(usual), usual_loop);
	tp_report_add_evidence_line(&text, &sample.profile, &finding);
	ck_assert_str_eq(tp_buf_text(&text),
			 "train.py:88 in main() holds 39 % of each step (dataloader.prep), mostly "
			 "data.py:31 in Pictures.__getitem__()");
	tp_buf_clear(&text);
	finding.n_evidence = 1; /* workers are not a part of a step */
	tp_report_add_evidence_line(&text, &sample.profile, &finding);
	ck_assert_uint_eq(text.len, 0);
	tp_buf_release(&text);
}
END_TEST

static void assert_valid(const char *text, size_t size)
{
	struct tp_json_doc *doc = NULL;
	struct tp_buf problems = {0};
	ck_assert_int_eq(tp_json_parse(&doc, text, size, "report.json", NULL), TP_OK);
	ck_assert_msg(tp_report_validate(doc, &problems) == 0, "%s", tp_buf_text(&problems));
	tp_buf_release(&problems);
	tp_json_free(doc);
}

/* The whole screen, JSON and Markdown of such a run. */
START_TEST(every_writer_names_the_line)
{
	static const char *const writers[] = {"text", "json", "markdown"};
	struct tp_report_style style = {.width = 80};
	add_sample_line(usual, TP_ARRAY_LEN(usual), usual_loop);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	ck_assert_int_eq(tp_exporter_find(writers[_i])->write(&sample.report, &style, out, NULL),
			 TP_OK);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, _i == 1 ? "\"/home/me/train.py\"" : "train.py:88"));
	ck_assert(_i != 1 || strstr(text, "\"first_line\": 88"));
	if (_i == 1)
		assert_valid(text, size);
	free(text);
}
END_TEST

Suite *suite_report_source_lines(void);
Suite *suite_report_source_lines(void)
{
	Suite *suite = suite_create("report_sourcelines");
	TCase *tc = tcase_create("sourcelines");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_two_lines_with_most_time_are_named);
	tcase_add_test(tc, items_without_room_are_left_out_whole);
	tcase_add_test(tc, if_a_library_loops_the_users_lines_are_shown);
	tcase_add_test(tc, without_lines_nothing_is_said);
	tcase_add_test(tc, the_loop_has_a_place);
	tcase_add_test(tc, advice_is_about_the_line_of_its_part);
	tcase_add_loop_test(tc, every_writer_names_the_line, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}
