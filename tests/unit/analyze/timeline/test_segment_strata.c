/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which sampled run represents one without a sample. */
#include "analyze/timeline/segment_strata.h"

#include "analyze/analysis.h"
#include "trainprof/base/memory.h"

#include <check.h>

enum { US = 1000, MS = 1000000 };

/* Samples 1 to 7; the border is at 50 ms. */
static void fill(struct tp_strata *strata)
{
	static const struct tp_segment_key stays[] = {
		{TP_SEGMENT_WAIT, 0, 10 * MS, 100 * US}, {TP_SEGMENT_WAIT, 0, 40 * MS, 20 * MS},
		{TP_SEGMENT_WAIT, 0, 60 * MS, 110 * US}, {TP_SEGMENT_WAIT, 0, 90 * MS, 105 * US},
		{TP_SEGMENT_RUN, 0, 95 * MS, 5 * MS},    {TP_SEGMENT_WAIT, 1, 62 * MS, 100 * US},
		{TP_SEGMENT_WAIT, 1, 64 * MS, 3 * MS},
	};
	*strata = (struct tp_strata){.border_ns = 50 * MS};
	for (size_t i = 0; i < TP_ARRAY_LEN(stays); i++)
		tp_strata_add(strata, &stays[i], (uint32_t)i + 1);
}

static const struct {
	struct tp_segment_key stay;
	uint32_t sample;
} rows[] = {
	/* the nearest of its length */
	{{TP_SEGMENT_WAIT, 0, 70 * MS, 100 * US}, 3},
	/* the same, later */
	{{TP_SEGMENT_WAIT, 0, 80 * MS, 100 * US}, 4},
	/* nearer ones are beyond the border */
	{{TP_SEGMENT_WAIT, 0, 45 * MS, 90 * US}, 1},
	/* length has priority over nearness */
	{{TP_SEGMENT_WAIT, 0, 12 * MS, 30 * MS}, 2},
	/* and the border over length */
	{{TP_SEGMENT_WAIT, 0, 55 * MS, 250 * US}, 3},
	/* of any length if it is the only one */
	{{TP_SEGMENT_RUN, 0, 55 * MS, 10 * US}, 5},
	/* later runs do not represent earlier ones */
	{{TP_SEGMENT_RUN, 0, 45 * MS, 5 * MS}, TP_NO_SAMPLE},
	/* none of the kind */
	{{TP_SEGMENT_WAIT_NO_STACK, 0, 55 * MS, 5 * MS}, TP_NO_SAMPLE},
	/* a run exactly at the border is after it */
	{{TP_SEGMENT_WAIT, 0, 50 * MS, 100 * US}, 3},
	/* the group has priority over nearness */
	{{TP_SEGMENT_WAIT, 1, 90 * MS, 100 * US}, 6},
	/* and over a slightly different length */
	{{TP_SEGMENT_WAIT, 0, 64 * MS, 500 * US}, 3},
	/* but not over a very different one */
	{{TP_SEGMENT_WAIT, 0, 64 * MS, 3 * MS}, 7},
	/* any group */
	{{TP_SEGMENT_WAIT, TP_ANY_SEGMENT_GROUP, 61 * MS, 100 * US}, 6},
	{{TP_SEGMENT_WAIT, TP_ANY_SEGMENT_GROUP, 90 * MS, 100 * US}, 4},
};

START_TEST(the_stay_most_like_another_stands_for_it)
{
	struct tp_strata strata;
	fill(&strata);
	uint32_t found = tp_strata_find_similar(&strata, &rows[_i].stay);
	ck_assert_msg(found == rows[_i].sample, "row %d: %u", _i, found);
	tp_strata_release(&strata);
}
END_TEST

START_TEST(segments_before_the_border_are_the_fallback)
{
	struct tp_strata strata = {.border_ns = 50 * MS};
	struct tp_segment_key before = {TP_SEGMENT_RUN, 0, 10 * MS, 1 * MS};
	struct tp_segment_key after = {TP_SEGMENT_RUN, 0, 60 * MS, 1 * MS};
	tp_strata_add(&strata, &before, 7);
	ck_assert_uint_eq(tp_strata_find_similar(&strata, &after), 7);
	tp_strata_release(&strata);
	ck_assert_uint_eq(tp_strata_find_similar(&strata, &after), TP_NO_SAMPLE);
}
END_TEST

START_TEST(preempted_stays_speak_for_others_that_run)
{
	ck_assert_uint_eq(tp_segment_kind_other(TP_SEGMENT_RUN), TP_SEGMENT_RUN_PREEMPTED);
	ck_assert_uint_eq(tp_segment_kind_other(TP_SEGMENT_RUN_PREEMPTED), TP_SEGMENT_RUN);
	ck_assert_uint_eq(tp_segment_kind_other(TP_SEGMENT_WAIT), TP_SEGMENT_WAIT_NO_STACK);
	ck_assert_uint_eq(tp_segment_kind_other(TP_SEGMENT_WAIT_NO_STACK), TP_SEGMENT_WAIT);
}
END_TEST

Suite *suite_analyze_segment_strata(void);
Suite *suite_analyze_segment_strata(void)
{
	Suite *suite = suite_create("analyze/strata");
	TCase *tc = tcase_create("likeness");
	tcase_add_loop_test(tc, the_stay_most_like_another_stands_for_it, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, segments_before_the_border_are_the_fallback);
	tcase_add_test(tc, preempted_stays_speak_for_others_that_run);
	suite_add_tcase(suite, tc);
	return suite;
}
