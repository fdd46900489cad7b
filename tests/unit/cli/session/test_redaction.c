/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what --redact removes from a loaded recording and its analysis. */
#include "cli/session/redaction.h"

#include "trainprof/base/memory.h"

#include <check.h>

enum { NAME_OF_OTHER = 1, NAME_OF_COUNTER, N_NAMES };

static const char *names[N_NAMES];
static struct tp_mark marks[] = {
	{.kind = TP_MARK_OTHER, .name = NAME_OF_OTHER, .task = TP_NO_TASK},
	{.kind = TP_MARK_COUNTER, .name = NAME_OF_COUNTER},
	{.kind = TP_MARK_OTHER, .name = NAME_OF_OTHER, .task = TP_NO_TASK},
};
static struct tp_other_program other;
static struct tp_trace trace;
static struct tp_profile profile;

static void begin(void)
{
	names[0] = "";
	names[NAME_OF_OTHER] = "811 secret";
	names[NAME_OF_COUNTER] = "12 epoch";
	other = (struct tp_other_program){.pid = 811, .name = NAME_OF_OTHER, .comm = "secret"};
	trace = (struct tp_trace){.strings = names,
				  .n_strings = N_NAMES,
				  .marks = marks,
				  .n_marks = 3};
	tp_profile_init(&profile, &trace);
	profile.others = &other;
	profile.n_others = 1;
}

static void end(void)
{
	tp_profile_release(&profile);
	tp_arena_release(&trace.arena);
}

START_TEST(other_programs_keep_their_ids_without_names)
{
	tp_redaction_apply(TP_REDACT_COMMAND, &trace, &profile);
	ck_assert_str_eq(names[NAME_OF_OTHER], "811 ***");
	ck_assert_str_eq(names[NAME_OF_COUNTER], "12 epoch");
	ck_assert_str_eq(other.comm, "***");
	ck_assert_int_eq(other.pid, 811);
}
END_TEST

START_TEST(other_words_leave_other_programs_alone)
{
	tp_redaction_apply(TP_REDACT_PATHS | TP_REDACT_HOSTS | TP_REDACT_ENV, &trace, &profile);
	ck_assert_str_eq(names[NAME_OF_OTHER], "811 secret");
	ck_assert_str_eq(other.comm, "secret");
}
END_TEST

Suite *suite_cli_redaction(void);

Suite *suite_cli_redaction(void)
{
	Suite *s = suite_create("cli_redaction");
	TCase *tc = tcase_create("all");
	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, other_programs_keep_their_ids_without_names);
	tcase_add_test(tc, other_words_leave_other_programs_alone);
	suite_add_tcase(s, tc);
	return s;
}
