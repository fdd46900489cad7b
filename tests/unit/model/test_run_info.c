/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run information: a copy shares nothing with the original. */
#include "trainprof/model/run_info.h"

#include <check.h>
#include <string.h>

START_TEST(a_copy_survives_its_original)
{
	char text[] = "train";
	const char *command[] = {text, NULL};
	struct tp_env_var variables[] = {{text, text}};
	struct tp_run_info run = {.id = text,
				  .label = text,
				  .command = command,
				  .n_command = 1,
				  .directory = text,
				  .commit = text,
				  .host = {.name = text, .kernel = text, .cpu_model = text},
				  .environment = variables,
				  .n_environment = 1,
				  .written_by = text,
				  .pid = 42,
				  .started_ns = 7};
	struct tp_arena arena = {0};
	struct tp_run_info copy;
	tp_run_info_copy(&copy, &run, &arena);
	memset(text, 'X', strlen(text));
	memset(&run, 0, sizeof(run));
	memset(variables, 0, sizeof(variables));
	command[0] = NULL;
	const char *const texts[] = {copy.id,
				     copy.label,
				     copy.command[0],
				     copy.directory,
				     copy.commit,
				     copy.host.name,
				     copy.host.kernel,
				     copy.host.cpu_model,
				     copy.environment[0].name,
				     copy.environment[0].value,
				     copy.written_by};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_str_eq(texts[i], "train");
	ck_assert_int_eq(copy.pid, 42);
	ck_assert_uint_eq(copy.started_ns, 7);
	ck_assert_ptr_null(copy.command[1]); /* as execv() requires */
	tp_arena_release(&arena);
}
END_TEST

START_TEST(nothing_known_is_copied_as_nothing)
{
	struct tp_arena arena = {0};
	struct tp_run_info copy;
	tp_run_info_copy(&copy, &(struct tp_run_info){0}, &arena);
	ck_assert_ptr_null(copy.id);
	ck_assert_uint_eq(copy.n_command, 0);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(tiers_and_ends_have_the_names_of_the_report)
{
	ck_assert_str_eq(tp_tier_name(TP_TIER_FULL), "full");
	ck_assert_str_eq(tp_tier_name(TP_TIER_BARE), "bare");
	ck_assert_str_eq(tp_tier_name(TP_N_TIERS), "bare");
	ck_assert_str_eq(tp_end_name(TP_END_UNKNOWN), "unknown");
	ck_assert_str_eq(tp_end_name(TP_END_EXITED), "exited");
	ck_assert_str_eq(tp_end_name(TP_END_SIGNALED), "signaled");
	ck_assert_str_eq(tp_end_name(TP_END_RUNNING), "still_running");
}
END_TEST

Suite *suite_model_run_info(void);
Suite *suite_model_run_info(void)
{
	Suite *suite = suite_create("model/run_info");
	TCase *tc = tcase_create("run_info");
	tcase_add_test(tc, a_copy_survives_its_original);
	tcase_add_test(tc, nothing_known_is_copied_as_nothing);
	tcase_add_test(tc, tiers_and_ends_have_the_names_of_the_report);
	suite_add_tcase(suite, tc);
	return suite;
}
