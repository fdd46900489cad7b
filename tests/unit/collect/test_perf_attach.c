/* Claims about joining a tree of threads that runs already, on real programs. */
#include "collect/perf_attach.h"

#include "lacks_perf.h"
#include "measured.h"
#include "skip.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static struct measured m;

static void setup(void)
{
	measured_init(&m);
}

/* CPU time of a process, ended threads included; of children only those that it waited for. */
static double cpu_s(pid_t pid)
{
	clockid_t clock;
	struct timespec now = {0};
	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	measured_release(&m);
}

static void end_family(pid_t pid)
{
	char command[80];
	snprintf(command, sizeof(command), "pkill -KILL -P %d", (int)pid);
	ck_assert_int_ge(system(command), 0);
	end(pid);
}

static double window_s(void)
{
	return (double)(m.result.measure_until_ns - m.result.measure_from_ns) * 1e-9;
}

/* Stays of all threads on one CPU: two at a time cannot be. */
static void check_cpus(void)
{
	uint64_t busy_ns[64] = {0};
	for (size_t i = 0; i < m.trace.n_runs; i++) {
		const struct tp_run *run = &m.trace.runs[i];
		ck_assert_uint_lt(run->cpu, 64);
		busy_ns[run->cpu] += run->end_ns - run->start_ns;
	}
	for (size_t i = 0; i < 64; i++)
		ck_assert_double_le((double)busy_ns[i] * 1e-9, window_s() * 1.01 + 0.05);
}

/* A thread's way to its end, after its events are gone, is in no stay: that much of 1.3 ms. */
static const double most_missing = 0.12;

START_TEST(threads_that_never_last_are_met_and_counted_once)
{
	struct tp_collect_config *config = &m.config;
	config->sample_rate_hz = 2000; /* so that threads of 1.3 ms are met at all */
	m.sampler.duration_ns = 1500 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("thread_chains 12 20");
	usleep(300000);
	double stolen_before_s = measured_stolen_s();
	double before_s = cpu_s(pid);
	uint64_t before_ns = tp_clock_now_ns();
	measured_attach(&m, pid);
	double used_s = cpu_s(pid) - before_s;
	double elapsed_s = (double)(tp_clock_now_ns() - before_ns) * 1e-9;
	double most_s = used_s * 1.01 + measured_most_stolen_s(stolen_before_s);
	ck_assert_int_eq(m.status, TP_OK);
	ck_assert_int_eq(m.result.end.kind, TP_END_DETACHED);
	double runs_s = measured_runs_s(&m);
	/* The chains want CPUs all the time, also while we come and go. */
	double least_s = used_s * window_s() / elapsed_s * (1 - most_missing);
	ck_assert_msg(runs_s <= most_s && runs_s >= least_s,
		      "stays of %.3f s, used %.3f s in %.3f s of which %.3f s count", runs_s,
		      used_s, elapsed_s, window_s());
	check_cpus();
	/* A sample stands for a period: told twice, they would be more than there is time. */
	double sampled_s = (double)measured_samples(&m) / 2000;
	ck_assert_msg(sampled_s < used_s * 1.1, "samples of %.3f s, used %.3f s", sampled_s,
		      used_s);
	ck_assert_uint_eq(m.trace.n_dropped, 0);
	end(pid);
}
END_TEST

START_TEST(threads_and_processes_of_the_past_have_stacks_and_names)
{
	m.sampler.duration_ns = 1200 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sh -c 'while :; do :; done & while :; do :; done'");
	usleep(200000);
	measured_attach(&m, pid);
	ck_assert_uint_eq(m.trace.n_tasks, 2);
	ck_assert_uint_eq(m.trace.tasks[1].parent, m.trace.tasks[0].id);
	size_t n_named = 0;
	size_t n = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_sample *sample = &m.trace.samples[i];
		if (sample->state != TP_STATE_ON_CPU || (sample->flags & TP_SAMPLE_POLLED))
			continue;
		n++;
		n_named += sample->stack != 0;
	}
	ck_assert_uint_gt(n, 30);
	ck_assert_uint_eq(n_named, n);
	ck_assert_msg(strstr(measured_text(&m, m.trace.tasks[0].exe), "sh"), "%s",
		      measured_text(&m, m.trace.tasks[0].exe));
	end_family(pid);
}
END_TEST

START_TEST(sleepers_of_the_past_are_known_to_sleep)
{
	m.sampler.duration_ns = 600 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sleep 20");
	usleep(200000);
	measured_attach(&m, pid);
	size_t n_polled = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++)
		n_polled += (m.trace.samples[i].flags & TP_SAMPLE_POLLED) != 0;
	/* Looked at once and not some thirty times: it has not run since. */
	ck_assert_uint_ge(n_polled, 1);
	ck_assert_uint_le(n_polled, 3);
	end(pid);
}
END_TEST

START_TEST(births_after_the_attach_are_told_by_events)
{
	m.sampler.duration_ns = 1500 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sh -c 'sleep 0.7; sleep 0.5; sleep 20'");
	usleep(200000);
	measured_attach(&m, pid);
	size_t n_born = 0;
	for (size_t i = 0; i < m.trace.n_tasks; i++)
		n_born += m.trace.tasks[i].start_ns > 0 && m.trace.tasks[i].exec_ns > 0;
	ck_assert_uint_eq(n_born, 2);
	end_family(pid);
}
END_TEST

/* What everything else keeps open, and the reserve; then descriptors per process and CPU. */
static const struct {
	rlim_t base;
	rlim_t each;
	const char *says;
} limits[] = {
	{120, 3, ""},
	{60, 2, "no switch records: too few file descriptors"},
	{100, 0, "of 42 threads have events: too few file descriptors"},
};

START_TEST(few_descriptors_leave_switches_out_and_then_idle_threads)
{
	rlim_t n_cpus = (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
	rlim_t n = limits[_i].base + n_cpus * 42 * limits[_i].each;
	const struct rlimit limit = {.rlim_cur = n, .rlim_max = n};
	m.sampler.duration_ns = 1000 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sh -c 'for i in $(seq 40); do sleep 20 & done; "
				   "while :; do :; done & wait'");
	usleep(500000);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	measured_attach(&m, pid);
	const char *reason = measured_row(&m, "perf")->availability.reason;
	ck_assert_msg(limits[_i].says[0] ? strstr(reason, limits[_i].says) != NULL
					 : strstr(reason, "descriptors") == NULL,
		      "limit %llu: '%s'", (unsigned long long)n, reason);
	/* Only the one that computes has any, however busy the machine is. */
	ck_assert_uint_ge(measured_samples(&m), 3);
	end_family(pid);
}
END_TEST

Suite *suite_collect_perf_attach(void);
Suite *suite_collect_perf_attach(void)
{
	Suite *suite = suite_create("collect/perf_attach");
	TCase *tc = tcase_create("perf_attach");
	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, threads_that_never_last_are_met_and_counted_once, 0, 3);
	tcase_add_test(tc, threads_and_processes_of_the_past_have_stacks_and_names);
	tcase_add_test(tc, sleepers_of_the_past_are_known_to_sleep);
	tcase_add_test(tc, births_after_the_attach_are_told_by_events);
	tcase_add_loop_test(tc, few_descriptors_leave_switches_out_and_then_idle_threads, 0,
			    TP_ARRAY_LEN(limits));
	suite_add_tcase(suite, tc);
	return suite;
}
