/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of examples: the run's own command and numbers, ready to type. */
#include "advise/judge/example.h"

#include "trainprof/model/fact.h"

#include <check.h>

static struct tp_quantity facts[TP_MAX_FACTS];
static struct tp_arena arena;

static const char *filled(const struct tp_run_info *run, const char *example)
{
	const struct tp_rule_context context = {.facts = facts, .run = run, .arena = &arena};
	const struct tp_rule_action action = {.example = example};
	return tp_example_of(&context, &action);
}

START_TEST(command_and_cpus_are_those_of_the_run)
{
	const char *command[] = {"python3", "my train.py", "--epochs=2 or 3", "-v", "--"};
	const struct tp_run_info run = {.command = command, .n_command = 5};
	facts[TP_FACT_CPU_ALLOWED] = (struct tp_quantity){.is_known = true, .value = 2};
	ck_assert_str_eq(filled(&run, "OMP_NUM_THREADS=%CPUS %COMMAND"),
			 "OMP_NUM_THREADS=2 python3 'my train.py' '--epochs=2 or 3' -v --");
	ck_assert_str_eq(filled(&run, "OMP_NUM_THREADS=%FEWER"), "OMP_NUM_THREADS=1");
	ck_assert_str_eq(filled(&run, "100 % of %C"), "100 % of %C");
	ck_assert_ptr_null(filled(&run, NULL));
}
END_TEST

START_TEST(what_can_be_applied_stands_behind_variables_of_env)
{
	const char *command[] = {"env", "OMP_NUM_THREADS=8", "./train"};
	const struct tp_run_info run = {.command = command, .n_command = 3};
	const struct tp_rule_context context = {.facts = facts, .run = &run, .arena = &arena};
	struct tp_rule_action action = {.example = "OMP_NUM_THREADS=2 %COMMAND"};
	ck_assert_ptr_null(tp_example_prefix(&context, &action));
	ck_assert_str_eq(tp_example_of(&context, &action),
			 "OMP_NUM_THREADS=2 env OMP_NUM_THREADS=8 ./train");
	action.can_apply = true;
	ck_assert_str_eq(tp_example_prefix(&context, &action), "OMP_NUM_THREADS=2 ");
	ck_assert_str_eq(tp_example_of(&context, &action),
			 "env OMP_NUM_THREADS=8 OMP_NUM_THREADS=2 ./train");
}
END_TEST

START_TEST(unknown_values_stay_placeholders)
{
	facts[TP_FACT_CPU_ALLOWED] = (struct tp_quantity){0};
	ck_assert_str_eq(filled(NULL, "num_workers=%CPUS, %COMMAND"),
			 "num_workers=N, YOUR_COMMAND");
}
END_TEST

START_TEST(more_is_recorded_with_the_tool_that_wrote_the_trace)
{
	const struct tp_rank_info rank = {.format = "kineto"};
	const struct tp_run_info run = {.ranks = &rank, .n_ranks = 1};
	ck_assert_str_eq(filled(&run, "%CAPTURE_STACKS; or: %COMMAND"),
			 "torch.profiler.profile(with_stack=True); or: YOUR_COMMAND");
}
END_TEST

START_TEST(one_cpu_is_never_made_none)
{
	facts[TP_FACT_CPU_ALLOWED] = (struct tp_quantity){.is_known = true, .value = 1};
	ck_assert_str_eq(filled(NULL, "%FEWER"), "1");
}
END_TEST

Suite *suite_advise_example(void);
Suite *suite_advise_example(void)
{
	Suite *suite = suite_create("advise_example");
	TCase *tc = tcase_create("example");
	tcase_add_test(tc, command_and_cpus_are_those_of_the_run);
	tcase_add_test(tc, what_can_be_applied_stands_behind_variables_of_env);
	tcase_add_test(tc, unknown_values_stay_placeholders);
	tcase_add_test(tc, more_is_recorded_with_the_tool_that_wrote_the_trace);
	tcase_add_test(tc, one_cpu_is_never_made_none);
	suite_add_tcase(suite, tc);
	return suite;
}
