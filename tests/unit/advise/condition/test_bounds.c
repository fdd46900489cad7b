/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of implications and contradictions between conditions. */
#include "advise/condition/bounds.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <math.h>

static struct tp_arena arena;

static const struct tp_expr *parsed(const char *text)
{
	const struct tp_expr *expr = NULL;
	struct tp_error err = {0};
	struct tp_expr_scope place = {.file = "t", .line = 1, .arena = &arena};
	static const struct tp_thresholds none;
	place.thresholds = &none;
	ck_assert_msg(!tp_expr_parse(&expr, text, TP_EXPR_CONDITION, &place, &err), "%s", err.text);
	return expr;
}

START_TEST(one_condition_decides_another_or_does_not)
{
	static const struct {
		const char *given;
		const char *asked;
		enum tp_bounds_truth truth;
	} rows[] = {
		{"loader.workers >= 1", "loader.workers < 1", TP_NEVER},
		{"loader.workers >= 1", "loader.workers > 0", TP_ALWAYS},
		{"loader.workers >= 1", "loader.workers > 1", TP_SOMETIMES},
		{"loader.workers > 1", "loader.workers <= 1",
		 TP_SOMETIMES}, /* the bound 1 may be included */
		{"1 <= loader.workers", "loader.workers < 0.5", TP_NEVER},
		{"not (loader.workers < 1)", "loader.workers < 1", TP_NEVER},
		{"loader.workers == 2", "loader.workers * 2 == 4", TP_ALWAYS},
		{"loader.workers == 2", "loader.workers != 2", TP_NEVER},
		{"loader.workers != 2", "loader.workers == 2", TP_SOMETIMES},
		{"loader.workers < 1 or cpu.idle_cpus < 1", "loader.workers > 2", TP_SOMETIMES},
		{"not (loader.workers < 1 or cpu.idle_cpus < 1)", "loader.workers < 1", TP_NEVER},
		{"loader.workers < 1 and cpu.idle_cpus < 1", "loader.workers + cpu.idle_cpus > 2",
		 TP_NEVER},
		{"loader.workers < 1 and cpu.idle_cpus < 1", "loader.workers * cpu.idle_cpus > 1",
		 TP_NEVER},
		{"loader.workers > 3", "cpu.idle_cpus / loader.workers < 0", TP_NEVER},
		{"sure(step.compute_ratio > 50%)", "step.compute_ratio < 40%", TP_NEVER},
		{"step.compute_ratio > 50%", "sure(step.compute_ratio > 40%)", TP_SOMETIMES},
		{"not sure(step.compute_ratio > 50%)", "step.compute_ratio > 60%", TP_SOMETIMES},
		{"step.time_ns > 2ms", "step.time_ns < 1000us", TP_NEVER},
		{"cpu.preemptions_per_s > 100/s", "cpu.preemptions_per_s < 50/s", TP_NEVER},
		{"cpu.preemptions_per_s > 100/s", "cpu.preemptions_per_s > 50/s", TP_ALWAYS},
		{"env.is_python", "not env.is_python", TP_NEVER},
		{"not env.is_python", "env.is_python or loader.workers < 0", TP_NEVER},
		{"true", "env.is_python", TP_SOMETIMES},
		{"true", "env.is_python or not env.is_python",
		 TP_SOMETIMES}, /* the inference is not complete */
		{"true", "loader.workers < 0", TP_NEVER},
		{"true", "known(loader.workers)", TP_SOMETIMES},
		{"true", "not known(loader.workers)", TP_SOMETIMES},
		{"loader.workers == 0", "1 / loader.workers > 1",
		 TP_SOMETIMES}, /* the second condition is unknown */
		{"true", "false", TP_NEVER},
		{"loader.workers > 3 and loader.workers < 2", "true", TP_NEVER}, /* an empty set */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_bounds bounds;
		tp_arena_init(&arena);
		tp_bounds_init(&bounds);
		tp_bounds_apply(&bounds, parsed(rows[i].given));
		ck_assert_msg(tp_bounds_truth(&bounds, parsed(rows[i].asked)) == rows[i].truth,
			      "%s: %s", rows[i].given, rows[i].asked);
		tp_arena_release(&arena);
	}
}
END_TEST

/* Any point of the box at which the condition is false refutes "always", and any point at which it
 * is true refutes "never". */
START_TEST(no_point_of_the_box_refutes_what_is_said)
{
	static const char *const given[] = {
		"loader.workers > 1 and loader.workers < 3",
		"cpu.idle_cpus >= 2 and loader.workers <= 1",
		"loader.workers + cpu.idle_cpus > 2",
		"not (loader.workers > 2 or cpu.idle_cpus < 1)",
	};
	static const char *const asked[] = {
		"loader.workers * cpu.idle_cpus >= 2",
		"loader.workers - cpu.idle_cpus < 1",
		"cpu.idle_cpus / loader.workers > 1",
		"max(loader.workers, cpu.idle_cpus) < 3",
		"ceil(loader.workers) == floor(cpu.idle_cpus)",
		"loader.workers < 3 and not (cpu.idle_cpus > 5)",
	};
	tp_arena_init(&arena);
	int n_decided = 0;
	for (size_t g = 0; g < sizeof(given) / sizeof(given[0]); g++) {
		for (size_t a = 0; a < sizeof(asked) / sizeof(asked[0]); a++) {
			const struct tp_expr *condition = parsed(given[g]);
			const struct tp_expr *question = parsed(asked[a]);
			struct tp_bounds bounds;
			tp_bounds_init(&bounds);
			tp_bounds_apply(&bounds, condition);
			enum tp_bounds_truth truth = tp_bounds_truth(&bounds, question);
			n_decided += truth != TP_SOMETIMES;
			for (int i = 0; i < 30 * 30; i++) {
				struct tp_quantity facts[TP_N_FACTS] = {0};
				facts[TP_FACT_LOADER_WORKERS] =
					(struct tp_quantity){.is_known = true,
							     .value = i % 30 * 0.25};
				facts[TP_FACT_CPU_IDLE] =
					(struct tp_quantity){.is_known = true,
							     .value = floor(i / 30.0) * 0.25};
				if (tp_expr_truth(condition, facts).value != TP_YES)
					continue;
				enum tp_truth_value here = tp_expr_truth(question, facts).value;
				ck_assert_msg(!(truth == TP_NEVER && here == TP_YES) &&
						      !(truth == TP_ALWAYS && here == TP_NO),
					      "%s: %s", given[g], asked[a]);
			}
		}
	}
	ck_assert_int_gt(n_decided, 0);
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_advise_bounds(void);
Suite *suite_advise_bounds(void)
{
	Suite *suite = suite_create("advise_bounds");
	TCase *tcase = tcase_create("bounds");
	tcase_add_test(tcase, one_condition_decides_another_or_does_not);
	tcase_add_test(tcase, no_point_of_the_box_refutes_what_is_said);
	suite_add_tcase(suite, tcase);
	return suite;
}
