/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of matching device work to its launch calls. */
#include "trainprof/model/launch_index.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>

enum { MAIN, OTHER, N_TRACKS };

static struct tp_span calls[] = {
	{.start_ns = 100, .end_ns = 110, .link = 7, .kind = TP_SPAN_CALL},
	{.start_ns = 200, .end_ns = 210, .link = 8, .kind = TP_SPAN_CALL},
	{.start_ns = 205, .end_ns = 206, .link = 9, .kind = TP_SPAN_ANNOTATION},
	{.start_ns = 500, .end_ns = 510, .link = 7, .kind = TP_SPAN_CALL},
	{.start_ns = 600, .end_ns = 610, .link = 0, .kind = TP_SPAN_CALL},
};
static struct tp_span other_calls[] = {
	{.start_ns = 300, .end_ns = 310, .link = 7, .kind = TP_SPAN_CALL},
	{.start_ns = 505, .end_ns = 507, .link = 10, .kind = TP_SPAN_CALL},
};
static struct tp_track_spans spans[N_TRACKS] = {
	[MAIN] = {.items = calls, .n = TP_ARRAY_LEN(calls)},
	[OTHER] = {.items = other_calls, .n = TP_ARRAY_LEN(other_calls)},
};

static const struct tp_trace trace = {.spans = spans, .n_tracks = N_TRACKS};

static uint64_t start_of(const struct tp_launch_index *index, uint32_t link, uint64_t at_ns,
			 uint32_t *track)
{
	*track = UINT32_MAX;
	const struct tp_span *call = tp_launch_index_find(index, link, at_ns, track);
	return call ? call->start_ns : 0;
}

START_TEST(a_link_that_comes_again_means_the_last_call_before)
{
	static const struct {
		uint32_t link;
		uint64_t at_ns;
		uint64_t start_ns; /* 0 = none */
		uint32_t track;
	} cases[] = {
		{8, 250, 200, MAIN},  {8, 150, 200, MAIN}, /* the clocks differ: no other call */
		{7, 120, 100, MAIN},  {7, 100, 100, MAIN},  {7, 299, 100, MAIN},
		{7, 300, 300, OTHER}, {7, 499, 300, OTHER}, {7, 500, 500, MAIN},
		{7, 9999, 500, MAIN}, {7, 50, 100, MAIN},   {10, 510, 505, OTHER},
		{9, 300, 0, 0},       {0, 700, 0, 0},       {11, 700, 0, 0},
	};
	static const uint32_t orders[][N_TRACKS] = {{MAIN, OTHER}, {OTHER, MAIN}};
	for (size_t k = 0; k < TP_ARRAY_LEN(orders); k++) {
		struct tp_launch_index index;
		tp_launch_index_build(&index, &trace, orders[k], N_TRACKS);
		for (size_t i = 0; i < TP_ARRAY_LEN(cases); i++) {
			uint32_t track;
			ck_assert_uint_eq(start_of(&index, cases[i].link, cases[i].at_ns, &track),
					  cases[i].start_ns);
			if (cases[i].start_ns)
				ck_assert_uint_eq(track, cases[i].track);
		}
		tp_launch_index_release(&index);
	}
}
END_TEST

START_TEST(tracks_that_are_not_asked_for_hold_no_calls)
{
	static const uint32_t only[] = {OTHER};
	struct tp_launch_index index;
	uint32_t track;
	tp_launch_index_build(&index, &trace, only, 1);
	ck_assert_uint_eq(start_of(&index, 7, 9999, &track), 300);
	ck_assert_uint_eq(start_of(&index, 8, 9999, &track), 0);
	tp_launch_index_release(&index);
	tp_launch_index_build(&index, &trace, NULL, 0);
	ck_assert_uint_eq(start_of(&index, 7, 9999, &track), 0);
	tp_launch_index_release(&index);
}
END_TEST

/* A trace in which all calls have the same number must not take quadratic time. */
START_TEST(one_link_for_all_is_found_by_halving)
{
	enum { N = 200000 };
	struct tp_span *many = tp_alloc(N * sizeof(*many));
	struct tp_track_spans only = {.items = many, .n = N};
	const struct tp_trace hostile = {.spans = &only, .n_tracks = 1};
	static const uint32_t first[] = {0};
	struct tp_launch_index index;
	uint32_t track;
	for (uint64_t i = 0; i < N; i++)
		many[i] = (struct tp_span){.start_ns = 10 * i + 10,
					   .end_ns = 10 * i + 11,
					   .link = 1,
					   .kind = TP_SPAN_CALL};
	tp_launch_index_build(&index, &hostile, first, 1);
	for (uint64_t i = 0; i < N; i++)
		ck_assert_uint_eq(start_of(&index, 1, 10 * i + 15, &track), 10 * i + 10);
	tp_launch_index_release(&index);
	free(many);
}
END_TEST

Suite *suite_model_launch_index(void);
Suite *suite_model_launch_index(void)
{
	Suite *s = suite_create("model/launchindex");
	TCase *tc = tcase_create("launchindex");
	suite_add_tcase(s, tc);
	tcase_add_test(tc, a_link_that_comes_again_means_the_last_call_before);
	tcase_add_test(tc, tracks_that_are_not_asked_for_hold_no_calls);
	tcase_add_test(tc, one_link_for_all_is_found_by_halving);
	return s;
}
