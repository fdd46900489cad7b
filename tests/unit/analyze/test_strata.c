/* Claims about which sampled stay stands for one that nobody saw. */
#include "analyze/strata.h"

#include "analyze/analysis.h"

#include <check.h>

enum { US = 1000, MS = 1000000 };

/* Samples 1 to 5; the border lies at 50 ms. */
static void fill(struct tp_strata *strata)
{
	*strata = (struct tp_strata){.border_ns = 50 * MS};
	tp_strata_add(strata, TP_STAY_WAITS, 10 * MS, 100 * US, 1);
	tp_strata_add(strata, TP_STAY_WAITS, 40 * MS, 20 * MS, 2);
	tp_strata_add(strata, TP_STAY_WAITS, 60 * MS, 110 * US, 3);
	tp_strata_add(strata, TP_STAY_WAITS, 90 * MS, 105 * US, 4);
	tp_strata_add(strata, TP_STAY_RUNS, 95 * MS, 5 * MS, 5);
}

static const struct {
	enum tp_stay_kind kind;
	uint64_t at_ms;
	uint64_t length_ns;
	uint32_t sample;
} rows[] = {
	{TP_STAY_WAITS, 70, 100 * US, 3},            /* the nearest of its length */
	{TP_STAY_WAITS, 80, 100 * US, 4},            /* the same, later */
	{TP_STAY_WAITS, 45, 90 * US, 1},             /* nearer ones lie behind the border */
	{TP_STAY_WAITS, 12, 30 * MS, 2},             /* length comes before nearness */
	{TP_STAY_WAITS, 55, 25 * MS, 3},             /* and the border before length */
	{TP_STAY_RUNS, 55, 10 * US, 5},              /* whatever its length, where it is alone */
	{TP_STAY_RUNS, 45, 5 * MS, NO_SAMPLE},       /* what follows says nothing of before */
	{TP_STAY_WAITS_BARE, 55, 5 * MS, NO_SAMPLE}, /* none of the kind */
	{TP_STAY_WAITS, 50, 100 * US, 3},            /* at the border itself is after it */
};

START_TEST(the_stay_most_like_another_stands_for_it)
{
	struct tp_strata strata;
	fill(&strata);
	uint32_t found =
		tp_strata_like(&strata, rows[_i].kind, rows[_i].at_ms * MS, rows[_i].length_ns);
	ck_assert_msg(found == rows[_i].sample, "row %d: %u", _i, found);
	tp_strata_release(&strata);
}
END_TEST

START_TEST(what_was_before_the_border_speaks_where_nothing_else_does)
{
	struct tp_strata strata = {.border_ns = 50 * MS};
	tp_strata_add(&strata, TP_STAY_RUNS, 10 * MS, 1 * MS, 7);
	ck_assert_uint_eq(tp_strata_like(&strata, TP_STAY_RUNS, 60 * MS, 1 * MS), 7);
	tp_strata_release(&strata);
	ck_assert_uint_eq(tp_strata_like(&strata, TP_STAY_RUNS, 60 * MS, 1 * MS), NO_SAMPLE);
}
END_TEST

START_TEST(preempted_stays_speak_for_others_that_run)
{
	ck_assert_uint_eq(tp_stay_other(TP_STAY_RUNS), TP_STAY_RUNS_PREEMPTED);
	ck_assert_uint_eq(tp_stay_other(TP_STAY_RUNS_PREEMPTED), TP_STAY_RUNS);
	ck_assert_uint_eq(tp_stay_other(TP_STAY_WAITS), TP_STAY_WAITS_BARE);
	ck_assert_uint_eq(tp_stay_other(TP_STAY_WAITS_BARE), TP_STAY_WAITS);
}
END_TEST

Suite *suite_analyze_strata(void);
Suite *suite_analyze_strata(void)
{
	Suite *suite = suite_create("analyze/strata");
	TCase *tc = tcase_create("likeness");
	tcase_add_loop_test(tc, the_stay_most_like_another_stands_for_it, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, what_was_before_the_border_speaks_where_nothing_else_does);
	tcase_add_test(tc, preempted_stays_speak_for_others_that_run);
	suite_add_tcase(suite, tc);
	return suite;
}
