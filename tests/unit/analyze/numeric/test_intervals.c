/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the exact partition: example A of the model's definition, and random lanes. */
#include "analyze/numeric/intervals.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ONE(part, s, e)                                                                            \
	{                                                                                          \
		part, false, &(struct tp_interval){s, e}, 1                                        \
	}

START_TEST(toy_overlap_gives_the_published_parts)
{
	/* compute [0,60), collective [40,80), copy [75,85), loader [70,100); device first */
	struct tp_lane lanes[] = {
		ONE(TP_PART_COMPUTE, 0, 60),
		ONE(TP_PART_COMMUNICATION, 40, 80),
		ONE(TP_PART_MEMORY, 75, 85),
		ONE(TP_PART_DATALOADER, 70, 100),
	};
	struct tp_interval window = {0, 100};
	struct tp_lane_times t;
	tp_lanes_partition(&t, lanes, 4, &window, 1, TP_PART_IDLE);
	static const struct {
		enum tp_part part;
		uint64_t exposed, hidden;
	} expected[] = {
		{TP_PART_COMPUTE, 60, 0}, {TP_PART_COMMUNICATION, 20, 20},
		{TP_PART_MEMORY, 5, 5},   {TP_PART_DATALOADER, 15, 15},
		{TP_PART_HOST, 0, 0},     {TP_PART_IDLE, 0, 0},
	};
	for (size_t i = 0; i < 6; i++) {
		enum tp_part part = expected[i].part;
		ck_assert_uint_eq(t.exposed_ns[part], expected[i].exposed);
		ck_assert_uint_eq(t.total_ns[part] - t.exposed_ns[part], expected[i].hidden);
	}
	ck_assert_uint_eq(t.solo_ns[TP_PART_DATALOADER], 15);
	ck_assert_uint_eq(t.solo_ns[TP_PART_COMMUNICATION], 10);
	ck_assert_uint_eq(t.window_ns, 100);
}
END_TEST

/* Second method: checks every single ns. */
static void brute_force(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n,
			const struct tp_interval *windows, size_t n_windows)
{
	memset(out, 0, sizeof(*out));
	for (size_t w = 0; w < n_windows; w++) {
		for (uint64_t t = windows[w].start_ns; t < windows[w].end_ns; t++) {
			int active[TP_N_PARTS] = {0};
			int exposed = -1;
			for (size_t i = 0; i < n; i++) {
				for (size_t k = 0; k < lanes[i].n; k++) {
					if (t < lanes[i].intervals[k].start_ns ||
					    t >= lanes[i].intervals[k].end_ns)
						continue;
					active[lanes[i].part] = 1;
					if (exposed < 0 && !lanes[i].is_background)
						exposed = (int)lanes[i].part;
				}
			}
			if (exposed < 0)
				exposed = TP_PART_IDLE;
			active[exposed] = 1;
			out->exposed_ns[exposed]++;
			out->window_ns++;
			int sum = 0;
			for (int p = 0; p < TP_N_PARTS; p++)
				sum += active[p];
			for (int p = 0; p < TP_N_PARTS; p++) {
				out->total_ns[p] += (uint64_t)active[p];
				out->solo_ns[p] += (uint64_t)(active[p] && sum == 1);
			}
		}
	}
}

START_TEST(random_lanes_equal_counting_every_nanosecond)
{
	srand(7);
	for (int round = 0; round < 300; round++) {
		struct tp_interval intervals[5][6];
		struct tp_lane lanes[5];
		size_t n = (size_t)(rand() % 6);
		for (size_t i = 0; i < n; i++) {
			lanes[i].part = (enum tp_part)(rand() % TP_N_PARTS);
			lanes[i].is_background = rand() % 3 == 0;
			lanes[i].intervals = intervals[i];
			lanes[i].n = (size_t)(rand() % 7);
			for (size_t k = 0; k < lanes[i].n; k++) {
				uint64_t start = (uint64_t)(rand() % 200);
				intervals[i][k].start_ns = start;
				intervals[i][k].end_ns = start + (uint64_t)(rand() % 40);
			}
		}
		struct tp_interval windows[] = {{10, 80}, {80, 120}, {150, 190}};
		struct tp_lane_times fast;
		struct tp_lane_times slow;
		tp_lanes_partition(&fast, lanes, n, windows, 3, TP_PART_IDLE);
		brute_force(&slow, lanes, n, windows, 3);
		ck_assert_mem_eq(&fast, &slow, sizeof(fast));
		ck_assert_uint_eq(fast.window_ns, 150);
	}
}
END_TEST

/* Start times that need one, several or all digits, and lists that are already sorted. */
static const struct {
	size_t n;
	uint64_t lowest;
	uint64_t range;
} lists[] = {
	{0, 0, 1},    {1, 5, 1},          {2, 7, 2},
	{100, 3, 10}, {100, 0, 3000},     {1000, UINT64_C(1661203462598738000), 100000},
	{5000, 1, 1}, {5000, 9, 1 << 20}, {5000, 0, UINT64_C(1) << 62},
};

START_TEST(a_union_is_ascending_and_covers_the_same)
{
	struct tp_intervals list = {0};
	size_t n = lists[_i].n;
	struct tp_interval *all = calloc(n + 1, sizeof(*all));
	uint64_t seed = 1;
	for (size_t i = 0; i < n; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		all[i].start_ns = lists[_i].lowest + (seed >> 1) % lists[_i].range;
		all[i].end_ns = all[i].start_ns + (seed >> 40) % 50;
		tp_intervals_add(&list, all[i].start_ns, all[i].end_ns);
	}
	tp_intervals_merge(&list);
	for (size_t i = 0; i < list.n; i++) {
		ck_assert_uint_lt(list.items[i].start_ns, list.items[i].end_ns);
		if (i)
			ck_assert_uint_lt(list.items[i - 1].end_ns, list.items[i].start_ns);
	}
	uint64_t sum = 0;
	for (size_t i = 0; i < list.n; i++)
		sum += list.items[i].end_ns - list.items[i].start_ns;
	ck_assert_uint_eq(sum, tp_intervals_sum(&list));
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(tp_intervals_covered(&list, all[i].start_ns, all[i].end_ns),
				  all[i].end_ns - all[i].start_ns);
	free(all);
	free(list.items);
}
END_TEST

Suite *suite_analyze_intervals(void);
Suite *suite_analyze_intervals(void)
{
	Suite *suite = suite_create("analyze/lanes");
	TCase *tc = tcase_create("lanes");
	tcase_add_test(tc, toy_overlap_gives_the_published_parts);
	tcase_add_test(tc, random_lanes_equal_counting_every_nanosecond);
	tcase_add_loop_test(tc, a_union_is_ascending_and_covers_the_same, 0,
			    sizeof(lists) / sizeof(lists[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
