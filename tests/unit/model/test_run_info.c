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

/* Sets every word of the structure to a text, then the members that are no texts to 0. A new member
 * that is a text and is not copied stays equal to the original's. */
START_TEST(no_text_of_a_copy_is_the_original_s)
{
	static const char text[] = "train";
	union {
		struct tp_run_info run;
		const char *words[sizeof(struct tp_run_info) / sizeof(char *)];
	} from, copy;
	struct tp_arena arena = {0};
	const size_t n = sizeof(from.words) / sizeof(from.words[0]);
	for (size_t i = 0; i < n; i++)
		from.words[i] = text + 1;
	struct tp_run_info *run = &from.run;
	run->command = NULL;
	run->environment = NULL;
	run->ranks = NULL;
	run->n_command = run->n_environment = run->n_ranks = 0;
	run->keeps_arguments = false;
	run->mode = TP_MODE_RUN;
	run->tier = TP_TIER_FULL;
	run->pid = 0;
	run->attached_after_ns = run->started_wall_ns = run->started_ns = run->ended_ns = 0;
	run->measure_from_ns = run->measure_until_ns = 0;
	run->end = TP_END_UNKNOWN;
	run->end_code = 0;
	run->sample_rate_hz = run->asked_rate_hz = run->poll_rate_hz = 0;
	run->job = (struct tp_job_place){0};
	run->host =
		(struct tp_host_info){.name = text + 1, .kernel = text + 1, .cpu_model = text + 1};
	tp_run_info_copy(&copy.run, run, &arena);
	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_ne(copy.words[i], text + 1);
	ck_assert_str_eq(copy.run.commit, "rain");
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

struct prefixed {
	const char *words[6]; /* the command, NULL-terminated */
	const char *prefix;
	const char *line;
	const char *overrides; /* NULL = none */
};

static const struct prefixed prefixed[] = {
	{{"./train", "-n", "2"}, "A=1 ", "A=1 ./train -n 2", NULL},
	{{"env", "A=8", "./train"}, "A=1 ", "env A=8 A=1 ./train", NULL},
	{{"/usr/bin/env", "-i", "-u", "B", "A=8", "./train"},
	 "A=1 B=2 numactl -i all ",
	 "/usr/bin/env -i -u B A=8 A=1 B=2 numactl -i all ./train",
	 NULL},
	{{"env", "-S", "A=8 ./train"}, "A=1 ", "A=1 env -S 'A=8 ./train'", "A"},
	{{"env", "A=8"}, "A=1 ", "A=1 env A=8", "A"},
	{{"sh", "-c", "exec env A=8 ./train"}, "A=1 ", "A=1 sh -c 'exec env A=8 ./train'", "A"},
	{{"sh", "-c", "A=8 ./train"}, "env -u A ", "env -u A sh -c 'A=8 ./train'", "A"},
	{{"sh", "-c", "BA=8 ./train"}, "A=1 ", "A=1 sh -c 'BA=8 ./train'", NULL},
	{{"mpirun", "-x", "A=8", "./train"}, "B=1 A=1 ", "B=1 A=1 mpirun -x A=8 ./train", "A"},
	{{"./train", "--A=8"}, "A=1 ", "A=1 ./train --A=8", NULL},
};

START_TEST(a_prefix_stands_where_it_reaches_the_program)
{
	struct prefixed copy = prefixed[_i];
	const struct prefixed *row = &copy;
	struct tp_run_info run = {.command = copy.words};
	struct tp_buf line = {0};
	struct tp_arena arena = {0};
	while (run.n_command < 6 && row->words[run.n_command])
		run.n_command++;
	tp_run_info_add_command(&line, &run, row->prefix);
	ck_assert_str_eq(tp_buf_text(&line), row->line);
	const char *overrides = tp_run_info_overrides(&run, row->prefix, &arena);
	ck_assert_pstr_eq(overrides, row->overrides);
	tp_buf_release(&line);
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_model_run_info(void);
Suite *suite_model_run_info(void)
{
	Suite *suite = suite_create("model/run_info");
	TCase *tc = tcase_create("run_info");
	tcase_add_test(tc, a_copy_survives_its_original);
	tcase_add_test(tc, no_text_of_a_copy_is_the_original_s);
	tcase_add_test(tc, nothing_known_is_copied_as_nothing);
	tcase_add_loop_test(tc, a_prefix_stands_where_it_reaches_the_program, 0,
			    (int)(sizeof(prefixed) / sizeof(prefixed[0])));
	tcase_add_test(tc, tiers_and_ends_have_the_names_of_the_report);
	suite_add_tcase(suite, tc);
	return suite;
}
