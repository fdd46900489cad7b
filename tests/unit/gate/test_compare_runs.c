/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the comparison of two groups of runs. */
#include "sheet.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { RUNS_MAX = 4 };

struct made {
	struct tp_arena arena;
	const struct tp_run_values *base[RUNS_MAX];
	const struct tp_run_values *now[RUNS_MAX];
	struct tp_run_diff diff;
};

/* Makes runs of these steps in ms, ended by 0. */
static void make(struct made *made, struct sheet base, const double *base_ms, struct sheet now,
		 const double *now_ms)
{
	*made = (struct made){0};
	struct tp_diff_request request = {.base = made->base,
					  .now = made->now,
					  .has_gate = true,
					  .margin_ratio = TP_GATE_DEFAULT_MARGIN};
	for (; base_ms[request.n_base] > 0; request.n_base++) {
		base.step_ns = 1e6 * base_ms[request.n_base];
		made->base[request.n_base] = sheet_run(&base, "base", &made->arena);
	}
	for (; now_ms[request.n_now] > 0; request.n_now++) {
		now.step_ns = 1e6 * now_ms[request.n_now];
		made->now[request.n_now] = sheet_run(&now, "now", &made->arena);
	}
	tp_run_diff_make(&made->diff, &request, &made->arena);
}

static enum tp_gate_answer judge(const double *base_ms, const double *now_ms)
{
	struct made made;
	make(&made, (struct sheet){0}, base_ms, (struct sheet){0}, now_ms);
	enum tp_gate_answer out = made.diff.answer;
	ck_assert((out == TP_GATE_UNDECIDED) == (made.diff.undecided_because != NULL));
	tp_arena_release(&made.arena);
	return out;
}

START_TEST(one_run_per_side_is_judged_only_beyond_the_noise)
{
	ck_assert_int_eq(judge((double[]){10, 0}, (double[]){10, 0}), TP_GATE_UNDECIDED);
	ck_assert_int_eq(judge((double[]){10, 0}, (double[]){10.5, 0}), TP_GATE_UNDECIDED);
	ck_assert_int_eq(judge((double[]){10, 0}, (double[]){12, 0}), TP_GATE_FAIL);
	ck_assert_int_eq(judge((double[]){10, 0}, (double[]){8, 0}), TP_GATE_PASS);
}
END_TEST

START_TEST(several_runs_detect_smaller_changes)
{
	const double base[] = {10, 10.02, 9.98, 0};
	ck_assert_int_eq(judge(base, (double[]){10.01, 9.99, 10, 0}), TP_GATE_PASS);
	ck_assert_int_eq(judge(base, (double[]){10.5, 10.48, 10.52, 0}), TP_GATE_FAIL);
	/* Very different runs on one side leave the comparison undecided. */
	ck_assert_int_eq(judge(base, (double[]){8, 10.5, 13, 0}), TP_GATE_UNDECIDED);
}
END_TEST

START_TEST(a_program_that_failed_never_passes)
{
	struct made made;
	make(&made, (struct sheet){0}, (double[]){10, 0}, (struct sheet){.exit_code = 3},
	     (double[]){5, 0});
	ck_assert_int_eq(made.diff.answer, TP_GATE_UNDECIDED);
	ck_assert_uint_eq(made.diff.n_warnings, 1);
	tp_arena_release(&made.arena);
}
END_TEST

/* The usual step is half as long in each case; the gate is about the whole loop. */
START_TEST(more_time_in_special_steps_never_passes)
{
	static const struct {
		double base;
		double now;
		enum tp_gate_answer answer;
	} rows[] = {{0.50, 0.86, TP_GATE_UNDECIDED},
		    {0.90, 0.94, TP_GATE_UNDECIDED},
		    {0.86, 0.50, TP_GATE_PASS},
		    {0.05, 0.06, TP_GATE_PASS}};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct made made;
		char base[80];
		char now[80];
		snprintf(base, sizeof(base), ", \"run.outside_ratio\": {\"value\": %g}",
			 rows[i].base);
		snprintf(now, sizeof(now), ", \"run.outside_ratio\": {\"value\": %g}", rows[i].now);
		make(&made, (struct sheet){.metrics = base}, (double[]){10, 0},
		     (struct sheet){.metrics = now}, (double[]){5, 0});
		ck_assert_int_eq(made.diff.answer, rows[i].answer);
		ck_assert((made.diff.answer == TP_GATE_UNDECIDED) ==
			  (made.diff.undecided_because != NULL));
		tp_arena_release(&made.arena);
	}
}
END_TEST

START_TEST(incomparable_runs_never_pass)
{
	struct made made;
	make(&made, (struct sheet){0}, (double[]){10, 0}, (struct sheet){.cpu = "Other"},
	     (double[]){5, 0});
	ck_assert_int_eq(made.diff.answer, TP_GATE_UNDECIDED);
	ck_assert(strstr(made.diff.undecided_because, "--ignore=machine"));
	/* The difference itself is still shown. */
	ck_assert(made.diff.ratio.is_known);
	tp_arena_release(&made.arena);
}
END_TEST

START_TEST(only_parts_that_changed_beyond_chance_are_sure)
{
	struct made made;
	make(&made, (struct sheet){.dataloader = 0.5}, (double[]){10, 0},
	     (struct sheet){.dataloader = 0.1}, (double[]){6, 0});
	const struct tp_change *loader = &made.diff.parts[TP_PART_DATALOADER];
	ck_assert(loader->is_sure);
	ck_assert_double_eq_tol(loader->difference, 0.6e6 - 5e6, 1e3);
	ck_assert(!made.diff.parts[TP_PART_COMPUTE].is_sure);
	tp_arena_release(&made.arena);
}
END_TEST

#define WAITS_FIRED                                                                                \
	"{\"rule\": \"input/waits\", \"state\": \"fired\", \"level\": \"high\", \"title\": "       \
	"\"Waits\","                                                                               \
	"\"gain\": {\"speedup\": {\"value\": 1.5}, \"bracket\": [1.3, 1.9]},"                      \
	"\"verify\": \"step.dataloader_ratio should fall below 5 %.\"}"

static size_t n_promises(const char *findings, double dataloader)
{
	struct made made;
	make(&made, (struct sheet){.dataloader = 0.5, .findings = WAITS_FIRED}, (double[]){10, 0},
	     (struct sheet){.dataloader = dataloader, .findings = findings}, (double[]){6, 0});
	size_t n = made.diff.n_promises;
	if (n) {
		ck_assert(made.diff.promises[0].is_reached);
		ck_assert_uint_eq(made.diff.promises[0].fact, TP_FACT_STEP_DATALOADER);
	}
	tp_arena_release(&made.arena);
	return n;
}

START_TEST(followed_advice_is_quiet_and_moved_its_fact)
{
	ck_assert_uint_eq(n_promises("{\"rule\": \"input/waits\", \"state\": \"quiet\"}", 0.1), 1);
	ck_assert_uint_eq(n_promises("{\"rule\": \"input/waits\", \"state\": \"quiet\"}", 0.49), 0);
	ck_assert_uint_eq(n_promises("{\"rule\": \"input/waits\", \"state\": \"not_judged\"}", 0.1),
			  0);
	ck_assert_uint_eq(n_promises("", 0.1), 0);
}
END_TEST

/* The usual step is 1.67 times as fast in both rows, and special steps take half of the base's
 * loop: all of them are gone in the first row, in the second they take four fifths. */
START_TEST(a_gain_of_the_loop_is_compared_with_the_loop)
{
	static const struct {
		double outside;
		double measured;
		bool hides;
	} rows[] = {{0, 10 / 3.0, false}, {0.8, 2 / 3.0, true}};
	static const char of_loop[] =
		"{\"rule\": \"input/waits\", \"state\": \"fired\", \"level\": \"high\", \"title\": "
		"\"Waits\", \"gain\": {\"speedup\": {\"value\": 2}, \"bracket\": [1.8, 2.5], "
		"\"of\": \"loop\"}, \"verify\": \"step.dataloader_ratio should fall below 5 %.\"}";
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct made made;
		char now[80];
		snprintf(now, sizeof(now), ", \"run.outside_ratio\": {\"value\": %g}",
			 rows[i].outside);
		make(&made,
		     (struct sheet){.dataloader = 0.5,
				    .findings = of_loop,
				    .metrics = ", \"run.outside_ratio\": {\"value\": 0.5}"},
		     (double[]){10, 0},
		     (struct sheet){.dataloader = 0.1,
				    .findings = "{\"rule\": \"input/waits\", \"state\": \"quiet\"}",
				    .metrics = now},
		     (double[]){6, 0});
		ck_assert_uint_eq(made.diff.n_promises, 1);
		ck_assert_double_eq_tol(made.diff.promises[0].measured, rows[i].measured, 0.01);
		ck_assert(made.diff.promises[0].is_reached == !rows[i].hides);
		ck_assert(made.diff.hides_special == rows[i].hides);
		tp_arena_release(&made.arena);
	}
}
END_TEST

static size_t n_items(enum tp_item_kind kind, struct sheet base, struct sheet now)
{
	struct made made;
	size_t n = 0;
	make(&made, base, (double[]){10, 0}, now, (double[]){10, 0});
	for (size_t i = 0; i < made.diff.n_items; i++)
		n += made.diff.items[i].kind == kind;
	tp_arena_release(&made.arena);
	return n;
}

#define BOTH_PARTS                                                                                 \
	"{\"part\": \"host\", \"file\": \"/a/t.py\", \"line\": 9, \"function\": \"g\","            \
	"\"time_ns\": 200000000},"                                                                 \
	"{\"part\": \"compute\", \"file\": \"/a/t.py\", \"line\": 9, \"function\": \"g\","         \
	"\"time_ns\": 190000000}"

START_TEST(new_and_vanished_settings_and_places_are_listed)
{
	const char *two = ", \"loader.workers\": {\"value\": 2}";
	const char *four = ", \"loader.workers\": {\"value\": 4}";
	const char *old = "{\"part\": \"host\", \"file\": \"/a/t.py\", \"line\": 4, "
			  "\"function\": \"f\", \"time_ns\": 200000000}";
	const char *new = "{\"part\": \"host\", \"file\": \"/a/t.py\", \"line\": 9, "
			  "\"function\": \"g\", \"time_ns\": 200000000}";
	ck_assert_uint_eq(n_items(TP_ITEM_SETTING, (struct sheet){.metrics = two},
				  (struct sheet){.metrics = two}),
			  0);
	ck_assert_uint_eq(n_items(TP_ITEM_SETTING, (struct sheet){.metrics = two},
				  (struct sheet){.metrics = four}),
			  1);
	ck_assert_uint_eq(n_items(TP_ITEM_PLACE, (struct sheet){.lines = old},
				  (struct sheet){.lines = new}),
			  2);
	/* A line that is listed for two parts has two items with different names. */
	struct tp_arena arena = {0};
	const struct sheet quiet = {.lines = old};
	const struct sheet twice = {.lines = BOTH_PARTS};
	const struct tp_run_values *base = sheet_run(&quiet, "base", &arena);
	const struct tp_run_values *now = sheet_run(&twice, "now", &arena);
	const struct tp_diff_request request = {.base = &base,
						.n_base = 1,
						.now = &now,
						.n_now = 1};
	struct tp_run_diff diff;
	tp_run_diff_make(&diff, &request, &arena);
	const char *names[2] = {NULL, NULL};
	size_t n = 0;
	for (size_t i = 0; i < diff.n_items && n < 2; i++)
		if (diff.items[i].kind == TP_ITEM_PLACE && diff.items[i].now)
			names[n++] = diff.items[i].name;
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(names[0], "t.py:9 (g), host");
	ck_assert_str_eq(names[1], "t.py:9 (g), compute");
	tp_arena_release(&arena);
	/* If a run has no lines, no line is known to be gone. */
	ck_assert_uint_eq(n_items(TP_ITEM_PLACE, (struct sheet){.lines = old}, (struct sheet){0}),
			  0);
}
END_TEST

START_TEST(a_run_without_steps_leaves_steps_undecided)
{
	struct made made = {0};
	made.base[0] = sheet_run(&(struct sheet){.step_ns = 1e7}, "base", &made.arena);
	made.now[0] = sheet_run(&(struct sheet){.step_ns = 0}, "now", &made.arena);
	const struct tp_diff_request request = {
		.base = made.base, .n_base = 1, .now = made.now, .n_now = 1, .has_gate = true};
	tp_run_diff_make(&made.diff, &request, &made.arena);
	ck_assert(!made.diff.ratio.is_known);
	ck_assert_int_eq(made.diff.answer, TP_GATE_UNDECIDED);
	ck_assert(strstr(made.diff.undecided_because, "no steps are known of now"));
	tp_arena_release(&made.arena);
}
END_TEST

static bool warns_of_short_runs(double base_ns, double now_ns)
{
	struct made made = {0};
	struct tp_run_values base = *sheet_run(&(struct sheet){0}, "base", &made.arena);
	struct tp_run_values now = *sheet_run(&(struct sheet){0}, "now", &made.arena);
	bool is_warned = false;
	base.mode = now.mode = "run";
	base.facts[TP_FACT_RUN_DURATION] = (struct tp_quantity){.is_known = true, .value = base_ns};
	now.facts[TP_FACT_RUN_DURATION] = (struct tp_quantity){.is_known = true, .value = now_ns};
	made.base[0] = &base;
	made.now[0] = &now;
	const struct tp_diff_request request = {.base = made.base,
						.n_base = 1,
						.now = made.now,
						.n_now = 1};
	tp_run_diff_make(&made.diff, &request, &made.arena);
	ck_assert(!made.diff.is_of_steps && made.diff.ratio.is_known);
	for (size_t i = 0; i < made.diff.n_warnings; i++)
		is_warned |= strstr(made.diff.warnings[i], "runs below half a second") != NULL;
	tp_arena_release(&made.arena);
	return is_warned;
}

START_TEST(runs_that_are_mostly_a_start_are_warned_of)
{
	ck_assert(warns_of_short_runs(4e8, 4.9e8));
	ck_assert(!warns_of_short_runs(4e8, 5e8));
	ck_assert(!warns_of_short_runs(6e8, 4e8));
}
END_TEST

Suite *suite_gate_compare_runs(void);

Suite *suite_gate_compare_runs(void)
{
	Suite *s = suite_create("gate_compare_runs");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, one_run_per_side_is_judged_only_beyond_the_noise);
	tcase_add_test(tc, several_runs_detect_smaller_changes);
	tcase_add_test(tc, a_program_that_failed_never_passes);
	tcase_add_test(tc, a_gain_of_the_loop_is_compared_with_the_loop);
	tcase_add_test(tc, more_time_in_special_steps_never_passes);
	tcase_add_test(tc, incomparable_runs_never_pass);
	tcase_add_test(tc, only_parts_that_changed_beyond_chance_are_sure);
	tcase_add_test(tc, followed_advice_is_quiet_and_moved_its_fact);
	tcase_add_test(tc, new_and_vanished_settings_and_places_are_listed);
	tcase_add_test(tc, a_run_without_steps_leaves_steps_undecided);
	tcase_add_test(tc, runs_that_are_mostly_a_start_are_warned_of);
	suite_add_tcase(s, tc);
	return s;
}
