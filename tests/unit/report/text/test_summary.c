/* SPDX-License-Identifier: Apache-2.0 */
/* The summary equals the expected screens in every width; GOLDEN=1 rewrites them. */
#include "report/golden.h"
#include "report/jobsample.h"

#include "trainprof/base/text.h"

#include <check.h>
#include <stdlib.h>

/* The text exporter's output; the caller frees it. */
static char *render(const struct tp_report *report, const struct tp_report_style *style)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	ck_assert_int_eq(tp_exporter_find("text")->write(report, style, out, NULL), TP_OK);
	fclose(out);
	return text;
}

static void assert_fits(const char *text, unsigned width)
{
	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');
		char *copy = tp_strndup(line, (size_t)(end - line));
		ck_assert_msg(tp_text_width(copy) <= width, "wider than %u: %s", width, copy);
		free(copy);
		line = end + 1;
	}
}

static void check_screen(struct sample *s, const char *name, struct tp_report_style style)
{
	char *text = render(&s->report, &style);
	if (!style.has_colour)
		assert_fits(text, style.width);
	sample_golden(text, name);
	free(text);
}

static void crash(struct sample *s)
{
	s->trace.run.end = TP_END_SIGNALED;
	s->trace.run.end_code = 11;
	s->trace.end_ns = UINT64_C(12400000000);
	s->profile.n_steps = 96;
	s->profile.n_steady = 56;
	s->trace.is_partial = true;
	s->findings.verdict = "too_short";
	s->findings.verdict_title = "Too short to judge";
	s->findings.verdict_sentence = "96 steps, of which 40 are warm-up; a verdict needs 100.";
	s->findings.n_fired = 0;
	s->findings.n_not_judged = 0;
	s->report.is_after_run = true;
}

static void nothing_left(struct sample *s)
{
	s->findings.n_fired = 0;
	s->findings.verdict = "compute_bound";
	s->findings.verdict_title = "COMPUTING";
	s->findings.verdict_sentence =
		"Little is left here: the trainer computes 93 % of each step.";
}

static void no_steps(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	p->is_of_steps = false;
	p->steps_found_by = TP_STEPS_NONE;
	p->steps_reason = "no repeating step found in 61 s; the report covers the whole run";
	p->n_steps = p->n_steady = 0;
	p->step_time.n = 0;
}

static void no_rules(struct sample *s)
{
	s->report.findings = NULL;
	s->report.no_findings_because = "rules/: no such directory";
}

static void hostile_texts(struct sample *s)
{
	s->findings.items[0].headline =
		"Raise \x1b[31mred\x1b[0m and \xff broken bytes, and a headline that is much too "
		"long for the line that it stands on, whatever the width";
	s->findings.items[1].kind = TP_ADVICE_SEMANTIC;
	s->findings.items[1].price = "batch statistics change: compare the validation accuracy";
	static const char *command[] = {"./train\n\x1b]0;owned\a",
					"--a-very-long-option=with-a-value",
					"--another-very-long-option=with-another-value"};
	s->trace.run.command = command;
}

static const struct {
	const char *name;
	void (*change)(struct sample *s);
	struct tp_report_style style;
} screens[] = {
	{"80", NULL, {.width = 80}},
	{"120", NULL, {.width = 120}},
	{"44", NULL, {.width = 44}},
	{"80-ascii", NULL, {.width = 80, .is_ascii = true}},
	{"44-ascii", NULL, {.width = 44, .is_ascii = true}},
	{"80-colour", NULL, {.width = 80, .has_colour = true}},
	{"80-full", NULL, {.width = 80, .is_full = true}},
	{"44-full", NULL, {.width = 44, .is_full = true}},
	{"120-full-ascii", NULL, {.width = 120, .is_full = true, .is_ascii = true}},
	{"80-crash", crash, {.width = 80}},
	{"44-crash", crash, {.width = 44}},
	{"80-nothing-left", nothing_left, {.width = 80}},
	{"80-no-steps", no_steps, {.width = 80}},
	{"80-no-rules", no_rules, {.width = 80}},
	{"80-reduced", sample_reduce, {.width = 80}},
	{"44-reduced", sample_reduce, {.width = 44}},
	{"80-hostile", hostile_texts, {.width = 80}},
	{"44-hostile", hostile_texts, {.width = 44}},
	{"80-python", sample_python, {.width = 80}},
	{"80-python-full", sample_python, {.width = 80, .is_full = true}},
	{"44-python-full", sample_python, {.width = 44, .is_full = true}},
};

START_TEST(screen_equals_its_golden_file)
{
	struct sample s;
	sample_init(&s);
	if (screens[_i].change)
		screens[_i].change(&s);
	check_screen(&s, screens[_i].name, screens[_i].style);
	sample_release(&s);
}
END_TEST

static void nothing_lost(struct sample *s)
{
	s->profile.largest_loss = TP_N_PARTS;
	s->findings.n_fired = 0;
}

static void not_joined(struct sample *s)
{
	s->profile.not_joined = "their collectives do not match: 8 and 7 all-reduces";
	s->trace.run.label = "nightly";
}

static const struct {
	const char *name;
	void (*init)(struct sample *s);
	void (*change)(struct sample *s);
	struct tp_report_style style;
} imports[] = {
	{"job-80", job_init, NULL, {.width = 80}},
	{"job-120", job_init, NULL, {.width = 120}},
	{"job-44", job_init, NULL, {.width = 44}},
	{"job-80-full", job_init, NULL, {.width = 80, .is_full = true}},
	{"job-44-full", job_init, NULL, {.width = 44, .is_full = true}},
	{"job-80-not-joined", job_init, not_joined, {.width = 80}},
	{"alone-80", job_alone_init, NULL, {.width = 80}},
	{"alone-80-full", job_alone_init, NULL, {.width = 80, .is_full = true}},
	{"alone-80-nothing-lost", job_alone_init, nothing_lost, {.width = 80}},
};

START_TEST(screen_of_an_import_equals_its_golden_file)
{
	struct sample s;
	imports[_i].init(&s);
	if (imports[_i].change)
		imports[_i].change(&s);
	check_screen(&s, imports[_i].name, imports[_i].style);
	sample_release(&s);
}
END_TEST

static int count_lines(const char *text)
{
	int lines = 0;
	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

START_TEST(import_fits_21_lines_of_any_width)
{
	struct sample s;
	job_init(&s);
	for (unsigned width = 40; width <= 200; width++)
		for (int flags = 0; flags < 4; flags++) {
			struct tp_report_style style = {.width = width,
							.is_ascii = flags & 1,
							.is_full = flags & 2};
			char *text = render(&s.report, &style);
			assert_fits(text, width);
			if (!style.is_full && width >= 64)
				ck_assert_int_le(count_lines(text), 21);
			ck_assert_ptr_null(strstr(text, "exited"));
			ck_assert_ptr_null(strstr(text, "Overhead"));
			free(text);
		}
	sample_release(&s);
}
END_TEST

START_TEST(no_line_is_wider_than_asked)
{
	struct sample s;
	sample_init(&s);
	hostile_texts(&s);
	for (unsigned width = 40; width <= 200; width++)
		for (int flags = 0; flags < 4; flags++) {
			struct tp_report_style style = {.width = width,
							.is_ascii = flags & 1,
							.is_full = flags & 2};
			char *text = render(&s.report, &style);
			assert_fits(text, width);
			ck_assert_ptr_null(strchr(text, '\x1b'));
			free(text);
		}
	sample_release(&s);
}
END_TEST

START_TEST(summary_fits_21_lines)
{
	struct sample s;
	sample_init(&s);
	for (unsigned width = 64; width <= 200; width++) {
		struct tp_report_style style = {.width = width};
		char *text = render(&s.report, &style);
		ck_assert_int_le(count_lines(text), 21);
		free(text);
	}
	sample_release(&s);
}
END_TEST

/* A command that does not fit is two lines that the shell joins. */
START_TEST(a_command_to_find_steps_is_never_cut)
{
	static const char *const lines[] = {
		"next: trainprof run --rate=400 -- ./loop\n",
		"next: trainprof run --rate=400 --max-overhead=5% -- \\\n"
		"  /home/me/venv/bin/python train.py --epochs 2\n",
	};
	struct sample s;
	struct tp_report_style style = {.width = 80};
	sample_init(&s);
	s.profile.steps_found_by = TP_STEPS_NONE;
	s.profile.n_steps = s.profile.n_steady = 0;
	s.profile.steps_reason = "too short";
	s.profile.steps_next = _i ? "trainprof run --rate=400 --max-overhead=5% -- "
				    "/home/me/venv/bin/python train.py --epochs 2"
				  : "trainprof run --rate=400 -- ./loop";
	char *text = render(&s.report, &style);
	ck_assert_msg(strstr(text, lines[_i]), "%s", text);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(the_viewer_is_named_where_a_terminal_can_show_it)
{
	static const struct {
		bool can_view, is_last;
		const char *expected;
	} cases[] = {
		{false, true, "Next: trainprof explain 1 | report --full"},
		{true, true, "Next: trainprof view | explain 1 | report --full"},
		{true, false, "Next: trainprof view .trainprof/1120-140311\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample s;
		sample_init(&s);
		s.report.can_view = cases[i].can_view;
		s.report.is_last = cases[i].is_last;
		const struct tp_report_style style = {.width = 100};
		char *text = render(&s.report, &style);
		ck_assert_ptr_nonnull(strstr(text, cases[i].expected));
		free(text);
		sample_release(&s);
	}
}
END_TEST

Suite *suite_report_summary(void);
Suite *suite_report_summary(void)
{
	Suite *suite = suite_create("report_summary");
	TCase *tc = tcase_create("summary");
	tcase_add_loop_test(tc, screen_equals_its_golden_file, 0,
			    (int)(sizeof(screens) / sizeof(screens[0])));
	tcase_add_loop_test(tc, screen_of_an_import_equals_its_golden_file, 0,
			    (int)(sizeof(imports) / sizeof(imports[0])));
	tcase_add_test(tc, import_fits_21_lines_of_any_width);
	tcase_add_test(tc, no_line_is_wider_than_asked);
	tcase_add_test(tc, summary_fits_21_lines);
	tcase_add_loop_test(tc, a_command_to_find_steps_is_never_cut, 0, 2);
	tcase_add_test(tc, the_viewer_is_named_where_a_terminal_can_show_it);
	suite_add_tcase(suite, tc);
	return suite;
}
