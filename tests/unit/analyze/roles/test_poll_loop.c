/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which sleeps belong to a polling loop. */
#include "analyze/roles/poll_loop.h"

#include "trainprof/base/clock.h"

#include <check.h>

enum { MAX_PIECES = 5 };

/* Consecutive pieces: S sleeps 1 ms, F waits for a futex, r runs 20 us, R runs 2 ms, q waits for a
 * CPU for 2 ms. The middle one is tested. */
static const struct {
	const char *pieces;
	bool polls;
} rows[] = {
	{"SrSrS", true},                   /* polls and sleeps */
	{"FrSrS", true},                   /* the first sleep */
	{"SrSrF", true},                   /* the last one: the other thread was done */
	{"SRSRS", false},                  /* works between its sleeps */
	{"FrSrF", false},                  /* a single sleep */
	{"RqSqR", false}, {"SqSqS", true}, /* losing the CPU is not work */
	{"SrFrS", false},                  /* no sleep at all */
};

START_TEST(sleeps_without_work_between_them_poll)
{
	struct tp_segment pieces[MAX_PIECES] = {0};
	uint64_t at = 0;
	for (size_t i = 0; i < MAX_PIECES; i++) {
		char kind = rows[_i].pieces[i];
		pieces[i].start_ns = at;
		at += kind == 'S' || kind == 'F' ? TP_NS_PER_MS : kind == 'r' ? 20000 : 2000000;
		pieces[i].end_ns = at;
		pieces[i].state = kind == 'r' || kind == 'R' ? TP_STATE_ON_CPU
				  : kind == 'q'              ? TP_STATE_RUNNABLE
							     : TP_STATE_BLOCKED;
		pieces[i].cause = kind == 'S'   ? TP_CAUSE_SLEEP
				  : kind == 'F' ? TP_CAUSE_FUTEX
						: TP_CAUSE_NONE;
	}
	struct tp_timeline timeline = {pieces, MAX_PIECES};
	ck_assert_msg(tp_poll_loop_is_sleep(&timeline, &pieces[2]) == rows[_i].polls, "%s",
		      rows[_i].pieces);
}
END_TEST

Suite *suite_analyze_poll_loop(void);
Suite *suite_analyze_poll_loop(void)
{
	Suite *suite = suite_create("analyze/polling");
	TCase *tc = tcase_create("sleeps");
	tcase_add_loop_test(tc, sleeps_without_work_between_them_poll, 0,
			    sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
