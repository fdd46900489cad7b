/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about rounds of counters that readings show, imply or leave open. */
#include "analyze/steps/counter_readings.h"

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

/* A sample each 10 ms, up to then. */
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

/* Rounds of 20 ms, read at their ends, from first to last. */
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
	ck_assert_uint_eq(list.n, 1);
	return &list.items[0];
}

static void end(void)
{
	tp_counter_list_release(&list);
	sim_release(&sim);
}

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

START_TEST(of_a_short_epoch_the_end_is_that_of_the_others)
{
	begin();
	count("_num_yielded of the for loop at line 7", 1, 20);
	count("_num_yielded of the for loop at line 7", 1, 20);
	count("_num_yielded of the for loop at line 7", 1, 18);
	sim.next_sample_ns += 40000000; /* nobody looked */
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
START_TEST(an_epoch_that_began_anew_went_to_its_end)
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

START_TEST(what_may_be_missing_is_said)
{
	begin();
	look_until(100);
	count("i", 0, 39);
	sim.next_sample_ns += 200000000;
	look_until((double)sim.now_ns / 1e6 + 250);
	const struct tp_counter_series *series = collect();
	ck_assert_uint_eq(series->n_borders, 40);
	ck_assert_uint_ge(series->n_unknown, 9);
	ck_assert_uint_le(series->n_unknown, 11);
	end();
}
END_TEST

Suite *suite_analyze_counter_readings(void);
Suite *suite_analyze_counter_readings(void)
{
	Suite *suite = suite_create("analyze/counter_readings");
	TCase *tc = tcase_create("counter_readings");
	tcase_add_test(tc, rounds_are_as_many_as_a_loop_gave);
	tcase_add_test(tc, a_variable_has_a_round_more_than_its_value);
	tcase_add_test(tc, of_a_short_epoch_the_end_is_that_of_the_others);
	tcase_add_test(tc, an_epoch_that_began_anew_went_to_its_end);
	tcase_add_test(tc, what_may_be_missing_is_said);
	suite_add_tcase(suite, tc);
	return suite;
}
