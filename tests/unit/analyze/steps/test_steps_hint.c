/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the hints for steps that are too short. */
#include "analyze/steps/steps_hint.h"

#include <check.h>
#include <string.h>

enum { NAME = 1, REASON = 2 };

static const char *strings[] = {"", "breakpoints", "all debug registers are taken"};
static const char *command[] = {"./train gpt", "--steps", "20"};
static struct tp_source source;
static struct tp_trace trace;
static struct tp_arena arena;
static struct tp_analysis analysis;

static void setup(void)
{
	source = (struct tp_source){.name = NAME, .reason = REASON};
	trace = (struct tp_trace){.strings = strings, .n_strings = 3, .sources = &source};
	trace.run = (struct tp_run_info){.mode = TP_MODE_RUN,
					 .command = command,
					 .n_command = 3,
					 .pid = 4711,
					 .asked_rate_hz = 99};
	arena = (struct tp_arena){0};
	analysis = (struct tp_analysis){.trace = &trace, .arena = &arena};
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

START_TEST(the_command_can_be_typed)
{
	ck_assert_str_eq(tp_steps_hint_command(&analysis),
			 "trainprof run --rate=400 --max-overhead=5% -- './train gpt' --steps 20");
}
END_TEST

START_TEST(a_program_that_runs_is_attached_to)
{
	trace.run.mode = TP_MODE_ATTACH;
	ck_assert_str_eq(tp_steps_hint_command(&analysis),
			 "trainprof attach --rate=400 --max-overhead=5% 4711");
}
END_TEST

START_TEST(after_a_hint_that_was_followed_the_call_to_add_is_named)
{
	trace.run.asked_rate_hz = 400;
	ck_assert_ptr_nonnull(strstr(tp_steps_hint_command(&analysis), "trainprof_step()"));
}
END_TEST

START_TEST(what_was_not_run_here_has_no_hint)
{
	trace.run.mode = TP_MODE_IMPORT;
	ck_assert_ptr_null(tp_steps_hint_command(&analysis));
	trace.run.mode = TP_MODE_RUN;
	trace.run.n_command = 0;
	ck_assert_ptr_null(tp_steps_hint_command(&analysis));
}
END_TEST

START_TEST(why_nothing_timed_the_steps_is_said)
{
	ck_assert_ptr_nonnull(strstr(tp_steps_hint_no_breakpoint(&analysis), "no hardware"));
	trace.n_sources = 1;
	source.presence = TP_PRESENCE_IN_USE;
	ck_assert_ptr_nonnull(strstr(tp_steps_hint_no_breakpoint(&analysis), strings[REASON]));
	source.presence = TP_PRESENCE_PRESENT;
	ck_assert_ptr_nonnull(strstr(tp_steps_hint_no_breakpoint(&analysis), "once per step"));
}
END_TEST

Suite *suite_analyze_steps_hint(void);
Suite *suite_analyze_steps_hint(void)
{
	Suite *suite = suite_create("analyze/steps_hint");
	TCase *tc = tcase_create("steps_hint");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_command_can_be_typed);
	tcase_add_test(tc, a_program_that_runs_is_attached_to);
	tcase_add_test(tc, after_a_hint_that_was_followed_the_call_to_add_is_named);
	tcase_add_test(tc, what_was_not_run_here_has_no_hint);
	tcase_add_test(tc, why_nothing_timed_the_steps_is_said);
	suite_add_tcase(suite, tc);
	return suite;
}
