/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the progress of a program: rates of events that recur in each step. */
#include "collect/gpu/trace/progress_rate.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>

#define MS TP_NS_PER_MS
#define T0 (1000 * TP_NS_PER_S)

static struct tp_trace_builder sink;
static struct tp_progress progress;

static void watch(void *context, const struct tp_record *record)
{
	(void)context;
	tp_progress_add_record(&progress, record);
}

static void setup(void)
{
	tp_trace_builder_init(&sink);
	tp_sink_watch(&sink.sink, watch, NULL);
}

static void teardown(void)
{
	tp_progress_release(&progress);
	tp_trace_builder_release(&sink);
}

static void step(uint64_t at_ns)
{
	tp_sink_mark(&sink.sink, &(struct tp_mark){.kind = TP_MARK_STEP, .time_ns = at_ns});
}

static void count(const char *name, uint64_t value, uint64_t at_ns)
{
	tp_sink_mark(&sink.sink, &(struct tp_mark){.kind = TP_MARK_COUNTER,
						   .name = tp_sink_string(&sink.sink, name),
						   .value = value,
						   .time_ns = at_ns});
}

static struct tp_progress_rate pace(size_t series, uint64_t from_ms, uint64_t to_ms)
{
	struct tp_progress_rate found = {0};
	(void)tp_progress_typical_rate(&progress.series[series], T0 + from_ms * MS, T0 + to_ms * MS,
				       &found);
	return found;
}

START_TEST(steps_have_their_length)
{
	for (uint64_t i = 0; i < 50; i++)
		step(T0 + i * 20 * MS);
	struct tp_progress_rate all = pace(0, 0, 2000);
	ck_assert_double_eq_tol(all.count_ns, 20e6, 1);
	ck_assert_double_eq_tol(all.spread_ratio, 0, 1e-9);
	ck_assert_double_eq_tol(all.n, 49, 1e-9);
	ck_assert_uint_eq(progress.n, 1);
	/* 110 to 190: borders at 120, 140, 160, 180. */
	ck_assert_double_eq_tol(pace(0, 110, 190).n, 3, 1e-9);
	ck_assert_uint_eq(pace(0, 110, 190).from_ns, T0 + 120 * MS);
	ck_assert_ptr_eq(tp_progress_steps(&progress), &progress.series[0]);
}
END_TEST

START_TEST(two_whole_steps_are_needed)
{
	struct tp_progress_rate found;
	for (uint64_t i = 0; i < 4; i++)
		step(T0 + i * 100 * MS);
	ck_assert(!tp_progress_typical_rate(&progress.series[0], T0 + 50 * MS, T0 + 250 * MS,
					    &found));
	ck_assert(
		tp_progress_typical_rate(&progress.series[0], T0 + 50 * MS, T0 + 300 * MS, &found));
}
END_TEST

/* Old steps are thinned out, not forgotten; of an hour only the last seconds are kept in full. */
START_TEST(short_steps_are_all_counted)
{
	for (uint64_t i = 0; i < 1000000; i++)
		step(T0 + i * MS / 4);
	struct tp_progress_rate last = pace(0, 245000, 250000);
	ck_assert_double_eq_tol(last.count_ns, 0.25e6, 1);
	ck_assert_double_eq_tol(last.n, 20000, 100);
	ck_assert_double_le(pace(0, 0, 1000).n, 0); /* too long ago */
}
END_TEST

START_TEST(a_checkpoint_is_no_measure_of_the_pace)
{
	uint64_t at_ns = T0;
	for (uint64_t i = 0; i < 100; i++) {
		step(at_ns);
		at_ns += (i == 40 ? 3000 : 20) * MS;
	}
	ck_assert_double_eq_tol(pace(0, 0, 10000).count_ns, 20e6, 1);
	struct tp_progress_rate all;
	ck_assert(tp_progress_total_rate(&progress.series[0], T0 + 790 * MS, T0 + 3890 * MS, &all));
	ck_assert_uint_eq(all.from_ns, T0 + 780 * MS);
	ck_assert_uint_eq(all.to_ns, T0 + 3900 * MS);
	ck_assert_double_eq_tol(all.n, 7, 1e-9); /* but the total rate includes it */
}
END_TEST

START_TEST(across_needs_both_ends)
{
	struct tp_progress_rate all;
	for (uint64_t i = 0; i < 10; i++)
		step(T0 + i * 100 * MS);
	ck_assert(!tp_progress_total_rate(&progress.series[0], T0 - 1, T0 + 300 * MS, &all));
	ck_assert(!tp_progress_total_rate(&progress.series[0], T0 + 300 * MS, T0 + 901 * MS, &all));
	ck_assert(tp_progress_total_rate(&progress.series[0], T0, T0 + 900 * MS, &all));
	ck_assert_double_eq_tol(all.n, 9, 1e-9);
}
END_TEST

/* Each variable has its own series; one that restarted has not gone back. */
START_TEST(counters_are_told_apart)
{
	for (uint64_t i = 0; i < 100; i++) {
		count("train.py:5 main() step", i % 50, T0 + i * 20 * MS);
		count("train.py:9 epoch() #1", 1000 + 8 * i, T0 + i * 20 * MS);
	}
	ck_assert_uint_eq(progress.n, 2);
	ck_assert_double_eq_tol(pace(0, 0, 900).count_ns, 20e6, 1);
	ck_assert_double_eq_tol(pace(1, 0, 1900).count_ns, 2.5e6, 1);
	ck_assert_double_eq_tol(progress.series[0].count, 98, 1e-9);
	ck_assert_ptr_null(tp_progress_steps(&progress));
}
END_TEST

/* Their number depends on whether the GPU is traced. */
START_TEST(spans_are_not_counted)
{
	for (uint64_t i = 0; i < 60; i++)
		tp_sink_span(&sink.sink, &(struct tp_span){.start_ns = T0 + i * 50 * MS,
							   .end_ns = T0 + i * 50 * MS + 49 * MS,
							   .kind = TP_SPAN_ANNOTATION});
	ck_assert_uint_eq(progress.n, 0);
}
END_TEST

START_TEST(ranges_of_one_name_are_one_whatever_their_number)
{
	char name[32];
	for (uint64_t i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "ProfilerStep#%u", (unsigned)i);
		tp_progress_add_range(&progress, name, 7, T0 + i * 50 * MS + 49 * MS);
	}
	ck_assert_uint_eq(progress.n, 1);
	ck_assert_int_eq(progress.series[0].kind, TP_PROGRESS_RANGES);
	ck_assert_double_eq_tol(pace(0, 0, 3000).count_ns, 50e6, 1);
}
END_TEST

/* Half of the time at 0.6, then at 0.2: a third of the rate. */
START_TEST(traffic_is_counted_by_its_time)
{
	for (uint64_t i = 0; i < 40; i++)
		tp_sink_gauge(&sink.sink, TP_METRIC_GPU_DRAM, 4, T0 + i * 500 * MS,
			      i <= 20 ? 0.6 : 0.2);
	double fast = pace(0, 1000, 10000).count_ns;
	double slow = pace(0, 10000, 19500).count_ns;
	ck_assert_double_eq_tol(slow / fast, 3, 1e-6);
	/* There was no reading for a minute: that minute does not count. */
	double before = progress.series[0].count;
	tp_sink_gauge(&sink.sink, TP_METRIC_GPU_DRAM, 4, T0 + 80000 * MS, 0.5);
	ck_assert_double_eq_tol(progress.series[0].count, before, 1e-12);
}
END_TEST

/* Ranges with a thousand names leave room for steps. */
START_TEST(there_is_room_for_so_many_series_of_each_kind)
{
	char name[32];
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "aten::op%uf", i);
		tp_progress_add_range(&progress, name, 7, T0);
	}
	ck_assert_uint_eq(progress.n, TP_PROGRESS_SERIES / TP_N_PROGRESS_KINDS);
	step(T0);
	ck_assert_uint_eq(progress.n, TP_PROGRESS_SERIES / TP_N_PROGRESS_KINDS + 1);
	ck_assert_ptr_nonnull(tp_progress_steps(&progress));
}
END_TEST

Suite *suite_collect_progress_rate(void);
Suite *suite_collect_progress_rate(void)
{
	Suite *suite = suite_create("collect/progress");
	TCase *tc = tcase_create("progress");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, steps_have_their_length);
	tcase_add_test(tc, two_whole_steps_are_needed);
	tcase_add_test(tc, short_steps_are_all_counted);
	tcase_add_test(tc, a_checkpoint_is_no_measure_of_the_pace);
	tcase_add_test(tc, across_needs_both_ends);
	tcase_add_test(tc, counters_are_told_apart);
	tcase_add_test(tc, spans_are_not_counted);
	tcase_add_test(tc, ranges_of_one_name_are_one_whatever_their_number);
	tcase_add_test(tc, traffic_is_counted_by_its_time);
	tcase_add_test(tc, there_is_room_for_so_many_series_of_each_kind);
	suite_add_tcase(suite, tc);
	return suite;
}
