/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading ahead, in memory that counts its reads. */
#include "stack/python/py_read_ahead.h"

#include <check.h>
#include <string.h>

enum { N_WORDS = 512 };

static uint64_t words[N_WORDS];
static size_t n_words_read;
static uint64_t counted_at; /* index + 1 of a word that changes after each call */

static size_t count_reads(struct tp_py_memory *mem, const struct tp_process_range *ranges, size_t n)
{
	mem->n_calls++;
	for (size_t i = 0; i < n; i++) {
		if (ranges[i].address / 8 >= N_WORDS)
			return i;
		memcpy(ranges[i].out, (char *)words + ranges[i].address, ranges[i].size);
		n_words_read++;
	}
	if (counted_at)
		words[counted_at - 1]++;
	return n;
}

static struct tp_py_memory below;
static struct tp_py_read_ahead ahead;

static void begin(void)
{
	below = (struct tp_py_memory){.read = count_reads};
	n_words_read = counted_at = 0;
	for (size_t i = 0; i < N_WORDS; i++)
		words[i] = i * 1000;
	tp_py_read_ahead_init(&ahead, &below);
}

static uint64_t get(size_t index)
{
	uint64_t word = 0;
	ck_assert(tp_py_memory_get_u64(&ahead.mem, index * 8, &word));
	return word;
}

/* Reads the same addresses in the same order. */
static void read_round(size_t from, size_t n)
{
	tp_py_read_ahead_begin(&ahead);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(get(from + i * 7), words[from + i * 7]);
}

START_TEST(a_round_that_was_made_before_is_one_call)
{
	begin();
	read_round(3, 12);
	ck_assert_uint_eq(below.n_calls, 12);
	read_round(3, 12);
	ck_assert_uint_eq(below.n_calls, 13);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(values_are_those_of_this_round)
{
	begin();
	read_round(3, 12);
	for (size_t i = 0; i < N_WORDS; i++)
		words[i] += 5;
	read_round(3, 12);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(nothing_is_read_ahead_beyond_a_round)
{
	begin();
	read_round(3, 6);
	read_round(200, 6);
	n_words_read = 0;
	read_round(3, 6);
	ck_assert_uint_eq(n_words_read, 6);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* A reader that reads a pointer, the object and the pointer again checks if it has changed
 * meanwhile: the second reading of the pointer must not be older than that of the object. */
START_TEST(reads_after_an_unexpected_one_are_not_older)
{
	begin();
	for (int i = 0; i < 2; i++) {
		tp_py_read_ahead_begin(&ahead);
		get(10);
		get(50);
		get(10);
	}
	tp_py_read_ahead_begin(&ahead);
	uint64_t before = get(10);
	counted_at = 11;
	words[10]++; /* it points to another object now */
	get(90);
	counted_at = 0;
	ck_assert_uint_ne(get(10), before);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* A number that is counted up is another object each time; the rest of the path is the same. */
START_TEST(another_object_in_its_place_costs_one_more_call)
{
	begin();
	read_round(3, 12);
	uint64_t n_before = below.n_calls;
	tp_py_read_ahead_begin(&ahead);
	for (size_t i = 0; i < 12; i++)
		get(i == 5 ? 400 : 3 + i * 7);
	ck_assert_uint_eq(below.n_calls - n_before, 2);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* A pointer, three ranges of which the last is the pointer again, and two more. */
static void read_checked(size_t object)
{
	uint64_t out[3];
	const struct tp_process_range ranges[] = {{object * 8, &out[0], 8},
						  {30 * 8, &out[1], 8},
						  {10 * 8, &out[2], 8}};
	tp_py_read_ahead_begin(&ahead);
	get(10);
	ck_assert_uint_eq(ahead.mem.read(&ahead.mem, ranges, 3), 3);
	get(40);
	get(50);
}

START_TEST(a_range_that_a_round_reads_twice_is_not_taken_for_the_first_one)
{
	begin();
	read_checked(20);
	read_checked(20);
	uint64_t n_before = below.n_calls;
	read_checked(21);
	ck_assert_uint_eq(below.n_calls - n_before, 2);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* The reads of the last round, but in reverse order: nothing that was read ahead is used. */
START_TEST(little_is_read_ahead_after_unexpected_reads)
{
	begin();
	read_round(3, 60);
	n_words_read = 0;
	tp_py_read_ahead_begin(&ahead);
	for (size_t i = 60; i > 0; i--)
		get(3 + (i - 1) * 7);
	ck_assert_uint_le(n_words_read, 60 * 8);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(an_unreadable_range_is_reported_and_ends_nothing_else)
{
	uint64_t out[3] = {0};
	struct tp_process_range ranges[] = {{8, &out[0], 8},
					    {N_WORDS * 8, &out[1], 8},
					    {16, &out[2], 8}};
	begin();
	for (int i = 0; i < 3; i++) {
		tp_py_read_ahead_begin(&ahead);
		ck_assert_uint_eq(ahead.mem.read(&ahead.mem, ranges, 3), 1);
		ck_assert_uint_eq(get(2), 2000);
		ck_assert(!tp_py_memory_get_u64(&ahead.mem, N_WORDS * 8, &out[1]));
	}
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* Reads two words by one read. */
static void get_pair(size_t first, size_t second, uint64_t out[2])
{
	const struct tp_process_range ranges[] = {{first * 8, &out[0], 8},
						  {second * 8, &out[1], 8}};
	ck_assert_uint_eq(ahead.mem.read(&ahead.mem, ranges, 2), 2);
}

/* Two words show whether the others are valid: after a read of anything else they are read again.
 */
START_TEST(expected_ranges_are_one_call)
{
	const struct tp_process_range ranges[] = {{80, NULL, 56}, {400, NULL, 8}, {480, NULL, 8}};
	uint64_t pair[2];
	begin();
	tp_py_read_ahead_begin(&ahead);
	tp_py_memory_expect(&ahead.mem, ranges, 3, 2);
	ck_assert_uint_eq(get(11), 11000);
	ck_assert_uint_eq(get(16), 16000);
	get_pair(50, 60, pair);
	ck_assert_uint_eq(pair[0], 50000);
	ck_assert_uint_eq(pair[1], 60000);
	ck_assert_uint_eq(below.n_calls, 1);
	words[50] = words[10] = 1;
	ck_assert_uint_eq(get(17), 17000); /* beyond its end */
	ck_assert_uint_eq(below.n_calls, 2);
	get_pair(50, 60, pair);
	ck_assert_uint_eq(pair[0], 1);
	ck_assert_uint_eq(get(10), 10000);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(expected_ranges_can_be_forgotten)
{
	const struct tp_process_range range = {80, NULL, 8};
	begin();
	tp_py_read_ahead_begin(&ahead);
	tp_py_memory_expect(&ahead.mem, &range, 1, 0);
	words[10] = 1;
	ck_assert_uint_eq(get(10), 10000);
	tp_py_memory_expect(&ahead.mem, NULL, 0, 0);
	ck_assert_uint_eq(get(10), 1);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* A position of the second call is not checked by a word of the first one. */
START_TEST(a_second_expectation_replaces_the_words_that_check_the_first)
{
	const struct tp_process_range first[] = {{80, NULL, 8}, {400, NULL, 8}, {480, NULL, 8}};
	const struct tp_process_range second[] = {{160, NULL, 8}, {400, NULL, 8}};
	uint64_t pair[2];
	begin();
	tp_py_read_ahead_begin(&ahead);
	tp_py_memory_expect(&ahead.mem, first, 3, 2);
	words[50] = words[60] = 1;
	tp_py_memory_expect(&ahead.mem, second, 2, 1);
	ck_assert_uint_eq(get(10), 10000);
	ck_assert_uint_eq(get(20), 20000);
	ck_assert_uint_eq(get(50), 1);
	ck_assert_uint_eq(below.n_calls, 2);
	get_pair(50, 60, pair);
	ck_assert_uint_eq(pair[0], 1);
	ck_assert_uint_eq(pair[1], 1);
	ck_assert_uint_eq(below.n_calls, 3);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(what_was_read_ahead_before_an_expectation_is_not_used_after_it)
{
	const struct tp_process_range range = {80, NULL, 8};
	begin();
	read_round(3, 12);
	tp_py_read_ahead_begin(&ahead);
	get(3); /* reads the next one ahead */
	words[10]++;
	words[17]++;
	tp_py_memory_expect(&ahead.mem, &range, 1, 0);
	ck_assert_uint_eq(get(10), words[10]);
	ck_assert_uint_eq(get(17), words[17]);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* The call for expected ranges also reads what followed them. */
START_TEST(reads_after_an_expectation_are_made_by_the_same_call)
{
	const struct tp_process_range range = {80, NULL, 8};
	begin();
	for (int i = 0; i < 3; i++) {
		uint64_t n_before = below.n_calls;
		tp_py_read_ahead_begin(&ahead);
		get(3);
		get(4);
		tp_py_memory_expect(&ahead.mem, &range, 1, 0);
		words[10]++;
		words[80]++;
		get(10);
		tp_py_memory_expect(&ahead.mem, NULL, 0, 0);
		for (size_t k = 80; k < 90; k++)
			get(k);
		ck_assert_uint_eq(below.n_calls - n_before, i == 0 ? 13 : 2);
	}
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(unreadable_expected_ranges_are_left_out)
{
	const struct tp_process_range ranges[] = {{80, NULL, 8},
						  {8 * N_WORDS, NULL, 8},
						  {400, NULL, 8}};
	uint64_t word;
	begin();
	tp_py_read_ahead_begin(&ahead);
	below.error = 14;
	tp_py_memory_expect(&ahead.mem, ranges, 3, 0);
	ck_assert_int_eq(ahead.mem.error, 14);
	ck_assert_uint_eq(below.n_calls, 2); /* one goes on after it */
	ck_assert_uint_eq(get(10), 10000);
	ck_assert_uint_eq(get(50), 50000);
	ck_assert_uint_eq(below.n_calls, 2);
	ck_assert(!tp_py_memory_get_u64(&ahead.mem, 8 * N_WORDS, &word));
	tp_py_read_ahead_release(&ahead);
}
END_TEST

START_TEST(more_than_may_be_expected_is_not_read)
{
	struct tp_process_range ranges[TP_PY_MEMORY_EXPECT_MAX + 1];
	const struct tp_process_range large = {0, NULL, TP_PY_MEMORY_EXPECT_BYTES + 1};
	begin();
	tp_py_read_ahead_begin(&ahead);
	for (size_t i = 0; i < TP_PY_MEMORY_EXPECT_MAX + 1; i++)
		ranges[i] = (struct tp_process_range){8 * i, NULL, 8};
	tp_py_memory_expect(&ahead.mem, ranges, TP_PY_MEMORY_EXPECT_MAX + 1, 1);
	tp_py_memory_expect(&ahead.mem, &large, 1, 1);
	ck_assert_uint_eq(below.n_calls, 0);
	for (int i = 0; i < 5; i++)
		tp_py_memory_expect(&ahead.mem, ranges, TP_PY_MEMORY_EXPECT_MAX, 1);
	ck_assert_uint_eq(below.n_calls, 5);
	ck_assert_uint_eq(get(10), 10000);
	ck_assert_uint_eq(below.n_calls, 5);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

/* More reads than the log holds. */
START_TEST(the_log_wraps_around)
{
	begin();
	for (size_t i = 0; i < 3000; i++)
		read_round(i % 97, 12);
	tp_py_read_ahead_release(&ahead);
}
END_TEST

Suite *suite_stack_py_read_ahead(void);
Suite *suite_stack_py_read_ahead(void)
{
	Suite *suite = suite_create("stack/py_read_ahead");
	TCase *tc = tcase_create("py_read_ahead");
	tcase_add_test(tc, a_round_that_was_made_before_is_one_call);
	tcase_add_test(tc, values_are_those_of_this_round);
	tcase_add_test(tc, nothing_is_read_ahead_beyond_a_round);
	tcase_add_test(tc, reads_after_an_unexpected_one_are_not_older);
	tcase_add_test(tc, another_object_in_its_place_costs_one_more_call);
	tcase_add_test(tc, an_unreadable_range_is_reported_and_ends_nothing_else);
	tcase_add_test(tc, a_range_that_a_round_reads_twice_is_not_taken_for_the_first_one);
	tcase_add_test(tc, little_is_read_ahead_after_unexpected_reads);
	tcase_add_test(tc, expected_ranges_are_one_call);
	tcase_add_test(tc, expected_ranges_can_be_forgotten);
	tcase_add_test(tc, a_second_expectation_replaces_the_words_that_check_the_first);
	tcase_add_test(tc, what_was_read_ahead_before_an_expectation_is_not_used_after_it);
	tcase_add_test(tc, reads_after_an_expectation_are_made_by_the_same_call);
	tcase_add_test(tc, more_than_may_be_expected_is_not_read);
	tcase_add_test(tc, unreadable_expected_ranges_are_left_out);
	tcase_add_test(tc, the_log_wraps_around);
	suite_add_tcase(suite, tc);
	return suite;
}
