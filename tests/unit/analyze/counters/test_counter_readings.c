/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rounds of counters that readings show, imply or leave open. */
#include "analyze/counters/counter_rounds.h"

#include "analyze/pyscene.h"
#include "analyze/sim.h"

#include "trainprof/base/memory.h"

#define LINE "train.py><module>:120 train.py>main:111 libtorch.so!item:1"

static struct sim sim;
static struct tp_counter_list list;

static void begin(void)
{
	sim_init(&sim, 99, 50, 5);
}

/* Works until this time, with a sample every 10 ms. */
static void look_until(double ms)
{
	uint64_t until_ns = (uint64_t)(ms * 1e6);
	sim_work(&sim, LINE, until_ns - sim.now_ns);
}

static void put(enum tp_mark_kind kind, const char *label, uint64_t value)
{
	char name[96];
	snprintf(name, sizeof(name), "train.py:100 main() %s", label);
	struct tp_sink *sink = &sim.builder.sink;
	tp_sink_mark(sink, &(struct tp_mark){.kind = kind,
					     .time_ns = 1 + sim.now_ns,
					     .name = tp_sink_string(sink, name),
					     .value = value});
}

/* Rounds of 20 ms from first to last, each read at its end. */
static void count(const char *label, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last; i++) {
		look_until((double)sim.now_ns / 1e6 + 20);
		put(TP_MARK_COUNTER, label, i);
	}
}

static const struct tp_counter_series *collect(void)
{
	sim_finish(&sim);
	tp_counter_list_collect(&list, &sim.analysis);
	tp_counter_rounds_find(&list, &sim.analysis);
	ck_assert_uint_eq(list.n, 1);
	return &list.items[0];
}

static void end(void)
{
	tp_counter_list_release(&list);
	sim_release(&sim);
}

/* A coroutine is on the stack at each tenth round only. */
START_TEST(rounds_between_two_far_readings_are_spread)
{
	begin();
	for (uint64_t i = 1; i <= 200; i++) {
		look_until((double)sim.now_ns / 1e6 + 20);
		if (i % 10 == 0 || i < 3)
			put(TP_MARK_COUNTER, "for loop over a range at line 7, variable i", i);
	}
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 200);
	for (size_t i = 4; i < series->n_borders; i++) {
		double gap_ns = (double)(series->borders[i] - series->borders[i - 1]);
		ck_assert_double_eq_tol(gap_ns, 20e6, 6e6);
	}
	end();
}
END_TEST

START_TEST(rounds_are_as_many_as_a_loop_gave)
{
	begin();
	count("for loop at line 7", 1, 40);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 40);
	ck_assert_uint_eq(series->n_inferred, 0);
	ck_assert_uint_eq(series->n_odd, 0);
	end();
}
END_TEST

START_TEST(a_variable_has_a_round_more_than_its_value)
{
	begin();
	count("i", 0, 39);
	ck_assert_uint_eq(collect()->n_borders, 40);
	end();
}
END_TEST

START_TEST(a_short_epoch_ends_like_the_others)
{
	begin();
	count("_num_yielded of the for loop at line 7", 1, 20);
	count("_num_yielded of the for loop at line 7", 1, 20);
	count("_num_yielded of the for loop at line 7", 1, 18);
	sim.next_sample_ns += 40000000; /* no samples for a while */
	look_until((double)sim.now_ns / 1e6 + 40);
	count("_num_yielded of the for loop at line 7", 1, 20);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_restarts, 3);
	ck_assert_uint_eq(series->n_borders, 80);
	ck_assert_uint_eq(series->n_inferred, 2);
	end();
}
END_TEST

/* Steps are shorter on a machine that has just become free. */
START_TEST(an_epoch_followed_by_another_was_complete)
{
	begin();
	count("_num_yielded of the for loop at line 7", 1, 20);
	count("_num_yielded of the for loop at line 7", 1, 20);
	count("_num_yielded of the for loop at line 7", 1, 17); /* the rest in 20 ms */
	count("_num_yielded of the for loop at line 7", 1, 20);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 80);
	ck_assert_uint_eq(series->n_inferred, 3);
	end();
}
END_TEST

START_TEST(possibly_missing_steps_are_reported)
{
	begin();
	look_until(100);
	count("i", 0, 39);
	sim.next_sample_ns += 200000000;
	look_until((double)sim.now_ns / 1e6 + 250);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 40);
	/* In 0.2 s there are at least as many rounds of 20 ms, and not twice as many. */
	ck_assert_uint_ge(series->n_unknown, 9);
	ck_assert_uint_le(series->n_unknown, 18);
	end();
}
END_TEST

/* Emits a reading of a loop every 10 ms until this time, whether or not it has counted. */
static void look_at(const char *label, uint64_t value, double ms)
{
	while ((double)sim.now_ns / 1e6 < ms) {
		look_until((double)sim.now_ns / 1e6 + 10);
		put(TP_MARK_COUNTER, label, value);
	}
}

START_TEST(a_loop_that_was_seen_at_its_end_is_counted_exactly)
{
	begin();
	count("for loop at line 7", 1, 40);
	put(TP_MARK_TOTAL, "for loop at line 7", 40);
	look_until((double)sim.now_ns / 1e6 + 500);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 40);
	ck_assert_uint_eq(series->n_unknown, 0);
	end();
}
END_TEST

START_TEST(a_loop_without_a_total_is_exact_where_a_look_saw_it_over)
{
	begin();
	count("for loop at line 7", 1, 40);
	look_at("for loop at line 7", 40, (double)sim.now_ns / 1e6 + 10);
	look_until((double)sim.now_ns / 1e6 + 10);
	put(TP_MARK_LOOP_END, "for loop at line 7", 40);
	look_until((double)sim.now_ns / 1e6 + 500);
	ck_assert_uint_eq(collect()->n_unknown, 0);
	end();
}
END_TEST

/* The program ended 60 ms after the last sample: three rounds of 20 ms may have run since. */
START_TEST(rounds_that_a_program_may_have_ended_with_leave_the_count_open)
{
	begin();
	count("for loop at line 7", 1, 40);
	sim.next_sample_ns += 100000000;
	look_until((double)sim.now_ns / 1e6 + 60);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 40);
	ck_assert_uint_eq(series->n_unknown, 3);
	end();
}
END_TEST

/* Readings after the last value failed: the known time is too short for a round of 20 ms. */
START_TEST(a_loop_without_an_observed_end_has_no_exact_count)
{
	begin();
	count("for loop at line 7", 1, 39);
	put(TP_MARK_TOTAL, "for loop at line 7", 40);
	look_until((double)sim.now_ns / 1e6 + 10);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 39);
	ck_assert_uint_eq(series->n_unknown, 1);
	end();
}
END_TEST

START_TEST(a_loop_that_was_left_early_is_not_counted_to_its_total)
{
	begin();
	count("for loop at line 7", 1, 30);
	put(TP_MARK_TOTAL, "for loop at line 7", 40);
	look_until((double)sim.now_ns / 1e6 + 10);
	put(TP_MARK_LOOP_END, "for loop at line 7", 30);
	look_until((double)sim.now_ns / 1e6 + 1000);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 30);
	ck_assert_uint_eq(series->n_unknown, 0);
	end();
}
END_TEST

/* From 3.12 on a range shows its next number, and range(1, 41) begins at one. */
START_TEST(the_begin_of_a_range_is_unknown)
{
	static const char *const labels[] = {"for loop over a range of numbers at line 7",
					     "for loop over a range at line 7"};
	begin();
	look_until(100);
	count(labels[_i], 2, 41);
	put(TP_MARK_TOTAL, labels[_i], 41);
	ck_assert_uint_eq(collect()->n_unknown, _i == 0);
	end();
}
END_TEST

/* It changed in the middle of the last round, or at its end. */
START_TEST(a_variable_may_have_one_round_too_many)
{
	begin();
	count("i", 0, 40);
	look_until((double)sim.now_ns / 1e6 + (_i ? 200 : 10));
	ck_assert_uint_ge(collect()->n_unknown, 1);
	end();
}
END_TEST

START_TEST(rounds_without_time_between_them_are_counted)
{
	begin();
	count("for loop at line 7", 1, 20);
	put(TP_MARK_COUNTER, "for loop at line 7", 23); /* at the same instant */
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 23);
	for (size_t i = 1; i < series->n_borders; i++)
		ck_assert_uint_gt(series->borders[i], series->borders[i - 1]);
	end();
}
END_TEST

/* Epochs of 20 rounds that no iterator knows: the reading at one end was missed by a round. */
START_TEST(an_epoch_without_an_observed_end_leaves_the_count_open)
{
	static const char *const label = "_num_yielded of the for loop at line 7";
	begin();
	count(label, 1, 20);
	count(label, 1, 19);
	sim.next_sample_ns += 20000000;
	look_until((double)sim.now_ns / 1e6 + 30);
	count(label, 1, 15);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 55);
	ck_assert_uint_ge(series->n_unknown, 1);
	end();
}
END_TEST

/* Both epochs of 21 rounds were last read in round 20, 30 ms before they were over. */
START_TEST(epochs_that_were_cut_alike_have_no_exact_count)
{
	static const char *const label = "_num_yielded of the for loop at line 7";
	begin();
	for (int epoch = 0; epoch < 2; epoch++) {
		count(label, 1, 20);
		sim.next_sample_ns += 30000000;
		look_until((double)sim.now_ns / 1e6 + 30);
		put(TP_MARK_LOOP_END, label, 20);
	}
	ck_assert_uint_ge(collect()->n_unknown, 1);
	end();
}
END_TEST

/* Ten rounds per epoch; one epoch passes between two readings that are equal, or the second of
 * which is higher. */
START_TEST(an_epoch_between_two_readings_leaves_the_count_open)
{
	begin();
	for (int epoch = 0; epoch < 4; epoch++)
		count("i", 0, 9);
	count("i", 0, 5);
	sim.next_sample_ns += 180000000;
	look_until((double)sim.now_ns / 1e6 + 180);
	count("i", 5 + (uint64_t)_i, 9);
	for (int epoch = 0; epoch < 4; epoch++)
		count("i", 0, 9);
	ck_assert_uint_ge(collect()->n_unknown, 9);
	end();
}
END_TEST

/* Two epochs of ten rounds pass without a look: the work between the readings is theirs. A sleep of
 * that length is none. */
START_TEST(epochs_that_no_look_saw_are_inferred_from_their_work)
{
	begin();
	for (int epoch = 0; epoch < 4; epoch++)
		count("i", 0, 9);
	count("i", 0, 5);
	if (_i) {
		sim_block(&sim, LINE, TP_CAUSE_SLEEP, 400000000);
		look_until((double)sim.now_ns / 1e6 + 20);
	} else {
		sim.next_sample_ns = sim.cpu_ns + 419000000;
		look_until((double)sim.now_ns / 1e6 + 420);
	}
	put(TP_MARK_COUNTER, "i", 6);
	count("i", 7, 9);
	for (int epoch = 0; epoch < 4; epoch++)
		count("i", 0, 9);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, _i ? 90 : 110);
	ck_assert_uint_eq(series->n_unknown, 23); /* as the time between them has room for */
	end();
}
END_TEST

/* The first reading shows the second round, and the look before it was a moment ago: it may have
 * missed the counter. */
START_TEST(a_first_value_that_nothing_explains_leaves_the_count_open)
{
	begin();
	look_until(100);
	sim.next_sample_ns = sim.cpu_ns + 1000000;
	look_until(105);
	put(TP_MARK_COUNTER, "for loop at line 7", 2);
	count("for loop at line 7", 3, 40);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 39);
	ck_assert_uint_eq(series->n_unknown, 1);
	end();
}
END_TEST

/* Rounds of 20 ms of work that take 50 ms on a crowded machine: one that gets a CPU at once fits
 * into the 30 ms before the end. */
START_TEST(a_round_that_got_a_cpu_at_once_may_be_hidden)
{
	static const char *const label = "for loop at line 7";
	begin();
	for (uint64_t i = 1; i <= 40; i++) {
		look_until((double)sim.now_ns / 1e6 + 20);
		put(TP_MARK_COUNTER, label, i);
		if (i < 40)
			sim_preempt(&sim, 30000000);
	}
	sim.next_sample_ns += 25000000;
	look_until((double)sim.now_ns / 1e6 + 25);
	put(TP_MARK_LOOP_END, label, 40);
	look_until((double)sim.now_ns / 1e6 + 200);
	ck_assert_uint_ge(collect()->n_unknown, 1);
	end();
}
END_TEST

/* The counters of a thread are read after it was found to train, those of the first thread from the
 * start. */
START_TEST(a_thread_may_have_counted_before_it_was_read)
{
	begin();
	struct tp_task task = {.id = 0, .tid = _i ? 101 : 100, .pid = 100, .parent = TP_NO_TASK};
	task.start_ns = 1;
	tp_sink_task(&sim.builder.sink, &task);
	look_until(98);
	sim.next_sample_ns = sim.now_ns; /* samples are dense at the start of a program */
	look_until(100);
	count("for loop at line 7", 6, 40);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, _i ? 40 : 35);
	if (!_i)
		ck_assert_uint_gt(series->n_unknown, 0);
	end();
}
END_TEST

/* A second thread is not read while another one seems to work: what it counted then is unknown. */
START_TEST(a_thread_that_was_not_read_for_a_while_has_no_exact_count)
{
	const char *label = "for loop at line 7";
	begin();
	struct tp_task task = {.id = 0, .tid = 101, .pid = 100, .parent = TP_NO_TASK};
	tp_sink_task(&sim.builder.sink, &task);
	count(label, 1, 40);
	look_until((double)sim.now_ns / 1e6 + (_i ? 300 : 10));
	put(TP_MARK_COUNTER, label, 40);
	look_until((double)sim.now_ns / 1e6 + 10);
	put(TP_MARK_LOOP_END, label, 40);
	look_until((double)sim.now_ns / 1e6 + 20);
	ck_assert_int_eq(collect()->n_unknown > 0, _i);
	end();
}
END_TEST

/* The work of a thread after its loops, such as writing a checkpoint, puts nothing; a loop that
 * still runs would be put. */
START_TEST(work_after_the_last_loop_of_a_thread_leaves_its_count_exact)
{
	const char *label = "for loop at line 7";
	begin();
	struct tp_task task = {.id = 0, .tid = 101, .pid = 100, .parent = TP_NO_TASK};
	tp_sink_task(&sim.builder.sink, &task);
	count(label, 1, 40);
	look_until((double)sim.now_ns / 1e6 + 10);
	put(TP_MARK_COUNTER, label, 40);
	look_until((double)sim.now_ns / 1e6 + 10);
	if (_i == 1)
		put(TP_MARK_COUNTER, "for loop at line 3", 1);
	put(TP_MARK_LOOP_END, label, 40);
	if (_i == 2)
		put(TP_MARK_COUNTER, "for loop at line 3", 1);
	look_until((double)sim.now_ns / 1e6 + 100);
	sim_finish(&sim);
	tp_counter_list_collect(&list, &sim.analysis);
	tp_counter_rounds_find(&list, &sim.analysis);
	ck_assert_int_eq(list.items[0].n_unknown > 0, _i > 0);
	end();
}
END_TEST

Suite *suite_analyze_counter_readings(void);
Suite *suite_analyze_counter_readings(void)
{
	Suite *suite = suite_create("analyze/counter_readings");
	TCase *tc = tcase_create("counter_readings");
	tcase_add_loop_test(tc, a_thread_may_have_counted_before_it_was_read, 0, 2);
	tcase_add_loop_test(tc, a_thread_that_was_not_read_for_a_while_has_no_exact_count, 0, 2);
	tcase_add_loop_test(tc, work_after_the_last_loop_of_a_thread_leaves_its_count_exact, 0, 3);
	tcase_add_test(tc, rounds_are_as_many_as_a_loop_gave);
	tcase_add_test(tc, rounds_between_two_far_readings_are_spread);
	tcase_add_test(tc, a_variable_has_a_round_more_than_its_value);
	tcase_add_test(tc, a_short_epoch_ends_like_the_others);
	tcase_add_test(tc, an_epoch_followed_by_another_was_complete);
	tcase_add_test(tc, possibly_missing_steps_are_reported);
	tcase_add_test(tc, a_loop_that_was_seen_at_its_end_is_counted_exactly);
	tcase_add_test(tc, a_loop_without_a_total_is_exact_where_a_look_saw_it_over);
	tcase_add_test(tc, rounds_that_a_program_may_have_ended_with_leave_the_count_open);
	tcase_add_test(tc, a_loop_without_an_observed_end_has_no_exact_count);
	tcase_add_test(tc, a_loop_that_was_left_early_is_not_counted_to_its_total);
	tcase_add_loop_test(tc, the_begin_of_a_range_is_unknown, 0, 2);
	tcase_add_loop_test(tc, a_variable_may_have_one_round_too_many, 0, 2);
	tcase_add_test(tc, rounds_without_time_between_them_are_counted);
	tcase_add_test(tc, an_epoch_without_an_observed_end_leaves_the_count_open);
	tcase_add_test(tc, epochs_that_were_cut_alike_have_no_exact_count);
	tcase_add_test(tc, a_first_value_that_nothing_explains_leaves_the_count_open);
	tcase_add_test(tc, a_round_that_got_a_cpu_at_once_may_be_hidden);
	tcase_add_loop_test(tc, an_epoch_between_two_readings_leaves_the_count_open, 0, 2);
	tcase_add_loop_test(tc, epochs_that_no_look_saw_are_inferred_from_their_work, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
