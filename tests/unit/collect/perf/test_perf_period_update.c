/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of when sampling periods are drawn again. */
#include "collect/perf/perf_period_update.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <unistd.h>

enum { N_CPUS = 1024 };

/* This process, which runs while it looks at itself, on whatever CPU, with three new samples. */
struct rig {
	struct tp_trace_builder sink;
	struct tp_host host;
	struct tp_perf_dispatch feed;
	struct tp_perf_events events;
	struct tp_perf_period_update redraw;
	struct tp_task_tree_task *self;
	uint32_t cpus[N_CPUS];
	int fds[N_CPUS]; /* none: only whether a period was drawn counts */
};

static struct rig rig;

static void setup(void)
{
	rig = (struct rig){.host = {.root = ""}};
	tp_trace_builder_init(&rig.sink);
	for (uint32_t i = 0; i < N_CPUS; i++) {
		rig.cpus[i] = i;
		rig.fds[i] = -1;
	}
	rig.events.n_cpus = N_CPUS;
	rig.events.cpus = rig.cpus;
	rig.events.sample_fds = rig.fds;
	rig.events.setup.period_ns = TP_NS_PER_S / 99;
	rig.feed.target = getpid();
	rig.feed.tree = tp_task_tree_new(&rig.host, &rig.sink.sink);
	rig.self = tp_task_tree_fork(rig.feed.tree, getpid(), getpid(), 0, 1);
	tp_perf_period_update_start(&rig.redraw, &rig.host, &rig.events, &rig.feed,
				    tp_clock_now_ns());
}

static void teardown(void)
{
	tp_perf_period_update_release(&rig.redraw);
	tp_task_tree_free(rig.feed.tree);
	tp_trace_builder_release(&rig.sink);
}

/* Returns the number of periods drawn by a poll that finds three samples since the last draw, which
 * was `age_ns` ago. A poll that lost its CPU on the way is repeated: it was later than that. */
static uint32_t n_drawn(uint64_t age_ns)
{
	for (;;) {
		uint64_t began_ns = tp_clock_now_ns();
		uint32_t n_before = rig.redraw.pace.n_drawn;
		rig.feed.n_target_samples = 3;
		rig.redraw.pace.n_samples = 0;
		rig.redraw.pace.drawn_ns = began_ns - age_ns;
		tp_perf_period_update_on_poll(&rig.redraw);
		if (tp_clock_now_ns() - began_ns < 10 * TP_NS_PER_MS)
			return rig.redraw.pace.n_drawn - n_before;
	}
}

START_TEST(a_period_is_drawn_after_three_samples)
{
	ck_assert_uint_eq(n_drawn(100 * TP_NS_PER_MS), 1);
	ck_assert_uint_eq(n_drawn(1 * TP_NS_PER_MS), 0);
}
END_TEST

/* Its samples come from an event of its own; later threads still begin with other periods. */
START_TEST(of_a_followed_thread_periods_are_drawn_each_second)
{
	rig.self->followed_ns = 1;
	ck_assert_uint_eq(n_drawn(100 * TP_NS_PER_MS), 0);
	ck_assert_uint_eq(n_drawn(2 * TP_NS_PER_S), 1);
	rig.self->followed_ns = 0;
	ck_assert_uint_eq(n_drawn(100 * TP_NS_PER_MS), 1);
}
END_TEST

/* These events sample whatever runs on a CPU. */
START_TEST(periods_of_cpus_are_drawn_also_where_the_thread_is_followed)
{
	rig.self->followed_ns = 1;
	rig.events.setup.is_wide = true;
	rig.redraw.n_before = 1e6; /* enough periods */
	ck_assert_uint_eq(n_drawn(100 * TP_NS_PER_MS), 1);
}
END_TEST

Suite *suite_collect_perf_period_update(void);
Suite *suite_collect_perf_period_update(void)
{
	Suite *s = suite_create("collect/perf_period_update");
	TCase *c = tcase_create("all");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_period_is_drawn_after_three_samples);
	tcase_add_test(c, of_a_followed_thread_periods_are_drawn_each_second);
	tcase_add_test(c, periods_of_cpus_are_drawn_also_where_the_thread_is_followed);
	suite_add_tcase(s, c);
	return s;
}
