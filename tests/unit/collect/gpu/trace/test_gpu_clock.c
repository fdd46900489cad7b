/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of converting times of CUPTI's clock to ours. */
#include "collect/gpu/trace/gpu_clock.h"

#include "proof.h"

#include <check.h>
#include <time.h>

#define S UINT64_C(1000000000)

static struct tp_gpu_clocks clocks;

static void teardown(void)
{
	tp_gpu_clocks_release(&clocks);
}

static void add(uint64_t host_ns, uint64_t cupti_ns)
{
	tp_gpu_clocks_add(&clocks, &(struct tp_gpu_clock){host_ns, cupti_ns, 0, 0});
}

static uint64_t host(uint64_t cupti_ns)
{
	uint64_t out = 0;
	ck_assert(tp_gpu_clocks_host(&clocks, cupti_ns, &out));
	return out;
}

/* CPU time of many conversions of this time and the ones after it. Returns the lowest of several
 * measurements: time that the host takes from a virtual CPU may be accounted as ours. */
static double cpu_of_many_s(uint64_t from_ns)
{
	double least_s = 1e9;
	for (int attempt = 0; attempt < 5; attempt++) {
		uint64_t sum = 0;
		clock_t begun = clock();
		for (uint64_t i = 0; i < 100000; i++)
			sum += host(from_ns + i);
		ck_assert_uint_gt(sum, 0);
		double took_s = (double)(clock() - begun) / CLOCKS_PER_SEC;
		least_s = took_s < least_s ? took_s : least_s;
	}
	return least_s;
}

START_TEST(without_a_pair_no_time_is_known)
{
	uint64_t out = 7;
	ck_assert(!tp_gpu_clocks_host(&clocks, 5 * S, &out));
	ck_assert_uint_eq(out, 7);
}
END_TEST

START_TEST(one_pair_gives_a_constant_difference)
{
	add(10 * S, 1000 * S);
	ck_assert_uint_eq(host(1000 * S), 10 * S);
	ck_assert_uint_eq(host(1002 * S), 12 * S);
	ck_assert_uint_eq(host(995 * S), 5 * S);
}
END_TEST

START_TEST(between_two_pairs_the_difference_is_interpolated)
{
	add(10 * S, 1000 * S);
	add(11 * S + 400, 1001 * S); /* 400 ns of drift in one second */
	ck_assert_uint_eq(host(1000 * S + S / 2), 10 * S + S / 2 + 200);
	ck_assert_uint_eq(host(1001 * S), 11 * S + 400);
	ck_assert_uint_eq(host(1003 * S), 13 * S + 400);
}
END_TEST

/* Simulates a user who sets the machine's date an hour back or ahead. */
START_TEST(a_clock_that_was_set_is_not_interpolated)
{
	add(10 * S, 1000 * S);
	add(11 * S, 1001 * S + 3600 * S);
	ck_assert_uint_eq(host(1000 * S + S / 2), 10 * S + S / 2);
	ck_assert_uint_eq(host(4601 * S + S / 2), 11 * S + S / 2);
}
END_TEST

START_TEST(pairs_are_kept_for_a_quarter_of_an_hour_and_no_longer)
{
	for (uint64_t i = 0; i < 100000; i++)
		add(10 * S + i * S / 5, 1000 * S + i * S / 5);
	ck_assert_uint_le(clocks.n, 8192);
	ck_assert_uint_ge(clocks.n, 4096);
	uint64_t last = 10 * S + UINT64_C(99999) * S / 5;
	ck_assert_uint_eq(host(last + 990 * S), last);
}
END_TEST

/* The last pair that is not later is used, whatever the date was set to in between. */
START_TEST(the_last_pair_that_is_not_behind_is_the_one)
{
	enum { PAIRS = 200 };
	uint64_t at[PAIRS];
	uint64_t random = 12345;
	for (size_t i = 0; i < PAIRS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		at[i] = (random >> 33) % 50 * S + 100 * S;
		add((i + 1000) * S * 10, at[i]);
	}
	for (uint64_t time = 99 * S; time < 152 * S; time += S) {
		size_t i = PAIRS - 1;
		while (i && at[i] > time)
			i--;
		ck_assert_uint_eq(host(time), (i + 1000) * S * 10 + time - at[i]);
	}
}
END_TEST

/* A ring may be full of events of the year 1970. */
START_TEST(times_long_before_all_pairs_cost_no_more_than_others)
{
	for (uint64_t i = 0; i < 8000; i++)
		add(10000 * S + i * S / 5, 20000 * S + i * S / 5);
	double usual_s = cpu_of_many_s(20000 * S + 7999 * S / 5);
	/* A search pair by pair would take thousands of times as long. */
	ck_assert_double_lt(cpu_of_many_s(11000 * S), 50 * usual_s);
}
END_TEST

/* Uses numbers that no clock has. */
START_TEST(hostile_pairs_give_no_time_or_some_time)
{
	static const uint64_t wild[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX};
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 5; k++)
			add(wild[i], wild[k]);
	for (size_t i = 0; i < 5; i++) {
		uint64_t out = 0;
		if (tp_gpu_clocks_host(&clocks, wild[i], &out))
			ck_assert_uint_gt(out, 0);
	}
}
END_TEST

Suite *suite_collect_gpu_clock(void);
Suite *suite_collect_gpu_clock(void)
{
	Suite *suite = suite_create("collect/gpuclock");
	TCase *tc = tcase_create("gpuclock");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, without_a_pair_no_time_is_known);
	tcase_add_test(tc, one_pair_gives_a_constant_difference);
	tcase_add_test(tc, between_two_pairs_the_difference_is_interpolated);
	tcase_add_test(tc, a_clock_that_was_set_is_not_interpolated);
	tcase_add_test(tc, pairs_are_kept_for_a_quarter_of_an_hour_and_no_longer);
	tcase_add_test(tc, the_last_pair_that_is_not_behind_is_the_one);
	tcase_add_test(tc, hostile_pairs_give_no_time_or_some_time);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "speed");
	tcase_add_checked_fixture(proofs, NULL, teardown);
	tcase_add_test(proofs, times_long_before_all_pairs_cost_no_more_than_others);
	return suite;
}
