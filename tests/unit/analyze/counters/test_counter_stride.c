/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of variables that grow by the size of a batch. */
#include "analyze/counters/counter_stride.h"

#include <check.h>

enum { N = 60 };

static struct tp_counter_reading readings[N];
static struct tp_counter_series series;

/* Each row: rounds between two readings, in turn. */
static const struct {
	const char *what;
	uint64_t first;
	uint64_t by;
	unsigned n_rounds[4];
	bool is_long; /* each value is read twice */
	uint64_t stride;
} rows[] = {
	{"long rounds", 0, 64, {1, 1, 1, 1}, true, 64},
	{"short rounds", 0, 32, {5, 4, 6, 5}, false, 32},
	{"a first batch of another size", 10, 64, {1, 2, 1, 1}, true, 64},
	{"by one", 0, 1, {1, 1, 1, 1}, true, 1},
	{"by one, in short rounds", 3, 1, {2, 1, 3, 2}, false, 1},
	{"by one, two between readings", 0, 1, {2, 2, 2, 2}, false, 1},
	{"by one, two or four between readings", 0, 1, {2, 4, 2, 2}, false, 1},
	{"a batch of four", 0, 4, {1, 1, 2, 1}, true, 4},
	{"a batch of four, in rounds that may be short", 0, 4, {1, 1, 2, 1}, false, 1},
};

START_TEST(a_round_counts_as_one)
{
	uint64_t value = rows[_i].first;
	uint64_t expected[N];
	series = (struct tp_counter_series){.readings = readings};
	for (uint64_t rounds = 0; series.n < N; value += rows[_i].by * rounds) {
		size_t i = series.n++;
		readings[i] =
			(struct tp_counter_reading){.value = value, .seen_ns = rows[_i].is_long};
		expected[i] = rows[_i].stride == 1 ? value
						   : (value - rows[_i].first) / rows[_i].by +
							     rows[_i].first / rows[_i].by;
		rounds = rows[_i].n_rounds[i % 4];
	}
	tp_counter_stride_divide(&series);
	for (size_t i = 0; i < N; i++)
		ck_assert_msg(readings[i].value == expected[i], "%s: %zu", rows[_i].what, i);
}
END_TEST

/* Epochs of 30 batches: 29 of 64 samples, one of 30. */
START_TEST(a_last_smaller_batch_is_a_round)
{
	series = (struct tp_counter_series){.readings = readings, .n = N};
	for (uint64_t i = 0; i < N; i++)
		readings[i] = (struct tp_counter_reading){.value = i % 30 < 29 ? 64 * (i % 30)
									       : 64 * 28 + 30,
							  .seen_ns = 1};
	tp_counter_stride_divide(&series);
	for (uint64_t i = 0; i < N; i++)
		ck_assert_uint_eq(readings[i].value, i % 30);
}
END_TEST

/* The sum over epochs of 30 batches, 29 of 64 samples and one of 30: each batch is a round, and
 * what hides between two smaller ones is not known. */
START_TEST(a_sum_over_epochs_counts_each_batch_and_is_not_exact)
{
	series = (struct tp_counter_series){.readings = readings, .n = N};
	uint64_t sum = 0;
	for (uint64_t i = 0; i < N; i++) {
		readings[i] = (struct tp_counter_reading){.value = sum, .seen_ns = 1};
		sum += i % 30 < 29 ? 64 : 30;
	}
	tp_counter_stride_divide(&series);
	for (uint64_t i = 0; i < N; i++)
		ck_assert_uint_eq(readings[i].value, i);
	ck_assert_uint_eq(series.n_unknown, 1);
}
END_TEST

/* Epochs of 16 batches: one growth of 16 is smaller, and 8 is in all of them. No such part of a
 * batch is a round. */
START_TEST(a_part_of_a_batch_is_no_round)
{
	series = (struct tp_counter_series){.readings = readings, .n = N};
	for (uint64_t i = 0; i < N; i++)
		readings[i] = (struct tp_counter_reading){.value = i % 16 < 15 ? 64 * (i % 16)
									       : 64 * 14 + 40,
							  .seen_ns = 1};
	tp_counter_stride_divide(&series);
	ck_assert_uint_eq(readings[1].value, 64);
}
END_TEST

START_TEST(numbers_without_a_common_growth_stay)
{
	series = (struct tp_counter_series){.readings = readings, .n = N};
	for (uint64_t i = 0; i < N; i++)
		readings[i].value = i * i + 7 * i;
	readings[30].value++;
	tp_counter_stride_divide(&series);
	ck_assert_uint_eq(readings[3].value, 30);
	ck_assert_uint_eq(readings[59].value, 59 * 59 + 7 * 59);
	series.n = 8; /* too few to show one */
	for (uint64_t i = 0; i < 8; i++)
		readings[i].value = 64 * i;
	tp_counter_stride_divide(&series);
	ck_assert_uint_eq(readings[7].value, 448);
	series.n = 0;
	tp_counter_stride_divide(&series);
}
END_TEST

Suite *suite_analyze_counter_stride(void);
Suite *suite_analyze_counter_stride(void)
{
	Suite *suite = suite_create("analyze/counter_stride");
	TCase *tc = tcase_create("counter_stride");
	tcase_add_loop_test(tc, a_round_counts_as_one, 0, (int)(sizeof(rows) / sizeof(*rows)));
	tcase_add_test(tc, a_last_smaller_batch_is_a_round);
	tcase_add_test(tc, a_sum_over_epochs_counts_each_batch_and_is_not_exact);
	tcase_add_test(tc, a_part_of_a_batch_is_no_round);
	tcase_add_test(tc, numbers_without_a_common_growth_stay);
	suite_add_tcase(suite, tc);
	return suite;
}
