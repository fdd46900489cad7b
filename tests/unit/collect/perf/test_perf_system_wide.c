/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of system-wide events: for which targets they are suitable, who may open them, and what
 * they report. */
#include "collect/lacks_perf.h"
#include "collect/madehost.h"
#include "collect/perf/perf_decode.h"
#include "collect/perf/perf_system_wide.h"

#include "proof.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tp_host host = {.root = "", .is_live = true};
static const struct tp_perf_setup wish = {
	.has_switches = true,
	.has_leaves = true,
	.stack_bytes = 4096,
	.ring_pages = 64,
	.period_ns = 2 * TP_NS_PER_MS,
};
static struct tp_perf_system_wide wide;
static struct tp_perf_events threads;
static struct tp_perf_events cpus;
static uint64_t seed = 1;

static void lay_busy(const char *root, unsigned ticks)
{
	char text[200];
	snprintf(text, sizeof(text), "cpu  1 2 3 4\ncpu0 %u 0 0 9 0 0 0 0\ncpu7 50 0 0 9 0 0 0 0\n",
		 ticks);
	madehost_lay(root, "/proc/stat", text);
}

START_TEST(they_fit_who_uses_most_of_the_machine)
{
	char root[] = "/tmp/perf-wide-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(root));
	const struct tp_host made = {.root = root};
	ck_assert(!tp_perf_system_wide_fits(&wide, &made, 0)); /* nothing is known yet */
	lay_busy(root, 100);
	(void)tp_perf_system_wide_fits(&wide, &made, 0);
	/* All programs ran for one second, the target for 0.9 s of it; then for 0.4 s of one more
	 * second. */
	lay_busy(root, 200);
	ck_assert(tp_perf_system_wide_fits(&wide, &made, 900 * TP_NS_PER_MS));
	lay_busy(root, 300);
	ck_assert(!tp_perf_system_wide_fits(&wide, &made, 1300 * TP_NS_PER_MS));
	lay_busy(root, 400);
	ck_assert(tp_perf_system_wide_fits(&wide, &made, 1900 * TP_NS_PER_MS));
	madehost_remove(root);
}
END_TEST

START_TEST(used_is_what_the_processes_of_the_target_used)
{
	struct tp_trace_builder sink;
	tp_trace_builder_init(&sink);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &sink.sink);
	ck_assert_uint_eq(tp_perf_system_wide_used_ns(tree), 0);
	tp_task_tree_fork(tree, getpid(), getpid(), 0, 1);
	uint64_t before_ns = tp_clock_self_cpu_ns();
	uint64_t used_ns = tp_perf_system_wide_used_ns(tree);
	ck_assert_uint_ge(used_ns, before_ns);
	ck_assert_uint_le(used_ns, tp_clock_self_cpu_ns());
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}
END_TEST

/* Opens both on ourselves. Returns false if system-wide events are refused even to root; the test
 * counts as skipped. */
static bool open_both(void)
{
	if (lacks_perf())
		return false;
	ck_assert_int_eq(tp_perf_events_open(&threads, &host, getpid(), &wish, &seed, NULL), TP_OK);
	if (tp_perf_system_wide_open(&wide, &cpus, &host, &threads, &seed))
		return true;
	tp_perf_events_close(&threads);
	test_skip("events of CPUs are refused here");
	return false;
}

/* Counts the records of a type about a process and consumes all records. */
static unsigned count(uint32_t type, pid_t pid)
{
	const struct tp_perf_layout layout = tp_perf_events_layout(&cpus.setup);
	struct tp_perf_record record;
	unsigned n = 0;
	for (uint32_t i = 0; i < cpus.n_cpus; i++) {
		const void *bytes;
		size_t size;
		tp_perf_ring_refresh(&cpus.rings[i]);
		while ((bytes = tp_perf_ring_next(&cpus.rings[i], &size))) {
			ck_assert(tp_perf_record_decode(&record, bytes, size, &layout));
			n += record.type == type && record.pid == pid;
		}
		tp_perf_ring_consume(&cpus.rings[i]);
	}
	return n;
}

/* Runs a child that had no events before: it switches, runs, and ends. */
static pid_t run_child(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		uint64_t until_ns = tp_clock_now_ns() + 30 * TP_NS_PER_MS;
		while (tp_clock_now_ns() < until_ns)
			;
		for (int i = 0; i < 5; i++)
			usleep(1000);
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

START_TEST(they_tell_of_all_and_of_switches_only_when_asked)
{
	if (!open_both())
		return;
	tp_perf_events_close(&threads);
	ck_assert_uint_ge(count(PERF_RECORD_SAMPLE, run_child()), 1);
	ck_assert_uint_eq(count(PERF_RECORD_SWITCH, run_child()), 0);
	for (int round = 0; round < 2; round++) {
		ck_assert(tp_perf_events_prepare_switches(&cpus));
		tp_perf_events_switches(&cpus, true);
		ck_assert_uint_ge(count(PERF_RECORD_SWITCH, run_child()), 10);
		tp_perf_events_switches(&cpus, false);
		count(PERF_RECORD_SWITCH, 0);
		ck_assert_uint_eq(count(PERF_RECORD_SWITCH, run_child()), 0);
	}
	ck_assert_uint_eq(count(PERF_RECORD_EXIT, run_child()), 1);
	tp_perf_events_close(&cpus);
}
END_TEST

/* So that a switch costs nothing: with an event that is only disabled the kernel still looks for
 * readers. */
START_TEST(no_switch_event_is_open_while_they_are_off)
{
	if (!open_both())
		return;
	for (uint32_t i = 0; i < cpus.n_cpus; i++)
		ck_assert_int_lt(cpus.switch_fds[i], 0);
	ck_assert(tp_perf_events_prepare_switches(&cpus));
	for (uint32_t i = 0; i < cpus.n_cpus; i++)
		ck_assert_int_ge(cpus.switch_fds[i], 0);
	tp_perf_events_switches(&cpus, false);
	for (uint32_t i = 0; i < cpus.n_cpus; i++)
		ck_assert_int_lt(cpus.switch_fds[i], 0);
	tp_perf_events_close(&cpus);
	tp_perf_events_close(&threads);
}
END_TEST

START_TEST(refusal_is_remembered_and_leaves_all_as_it_was)
{
	if (getuid() != 0) {
		test_skip("only root can become another user");
		return;
	}
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	prctl(PR_SET_DUMPABLE, 1);
	if (lacks_perf())
		return;
	struct tp_perf_setup setup = wish;
	setup.ring_pages = 16;
	ck_assert_int_eq(tp_perf_events_open(&threads, &host, getpid(), &setup, &seed, NULL),
			 TP_OK);
	tp_host_open(&host, "");
	bool is_allowed = host.perf_paranoid <= 0;
	ck_assert_int_eq(tp_perf_system_wide_open(&wide, &cpus, &host, &threads, &seed),
			 is_allowed);
	ck_assert_int_eq(wide.is_refused, !is_allowed);
	if (is_allowed)
		tp_perf_events_close(&cpus);
	tp_perf_events_samples(&threads, true);
	tp_perf_events_close(&threads);
	tp_host_close(&host);
}
END_TEST

Suite *suite_collect_perf_system_wide(void);
Suite *suite_collect_perf_system_wide(void)
{
	Suite *suite = suite_create("collect/perf_wide");
	TCase *tc = tcase_create("perf_wide");
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, they_fit_who_uses_most_of_the_machine);
	tcase_add_test(tc, used_is_what_the_processes_of_the_target_used);
	tcase_add_test(tc, no_switch_event_is_open_while_they_are_off);
	tcase_add_test(tc, refusal_is_remembered_and_leaves_all_as_it_was);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "live events");
	tcase_set_timeout(proofs, 20);
	tcase_add_test(proofs, they_tell_of_all_and_of_switches_only_when_asked);
	return suite;
}
