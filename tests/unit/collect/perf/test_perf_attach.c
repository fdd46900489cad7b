/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of attaching to a tree of threads that is already running, on real programs. */
#include "collect/perf/perf_attach.h"

#include "collect/lacks_perf.h"
#include "collect/measured.h"
#include "proof.h"
#include "skip.h"

#include "trainprof/base/memory.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static struct measured m;

static void setup(void)
{
	measured_init(&m);
}

/* CPU time of a process including ended threads, but only of children that it has waited for. */
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

/* Checks each CPU's runs: two threads cannot be on one CPU at a time. */
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

/* CPU time that a program had used at a moment, which is known to be between two readings of our
 * clock. */
struct moment {
	uint64_t before_ns;
	uint64_t after_ns;
	double used_s;
};

/* The first poll of the measurement, and the last one so far. */
static struct {
	int time_fd;
	size_t n;
	struct moment first;
	struct moment last;
} looks;

static bool note_use(void *unused, uint64_t now_ns)
{
	struct moment *moment = looks.n++ ? &looks.last : &looks.first;
	(void)unused;
	(void)now_ns;
	moment->before_ns = tp_clock_now_ns();
	moment->used_s = cputruth_read(looks.time_fd) * 1e-9;
	moment->after_ns = tp_clock_now_ns();
	return true;
}

/* Time of the runs between two moments. */
static double runs_between_s(uint64_t from_ns, uint64_t until_ns)
{
	uint64_t sum_ns = 0;
	from_ns -= m.result.started_ns;
	until_ns -= m.result.started_ns;
	for (size_t i = 0; i < m.trace.n_runs; i++) {
		uint64_t start_ns = m.trace.runs[i].start_ns;
		uint64_t end_ns = m.trace.runs[i].end_ns;
		start_ns = start_ns > from_ns ? start_ns : from_ns;
		end_ns = end_ns < until_ns ? end_ns : until_ns;
		sum_ns += end_ns > start_ns ? end_ns - start_ns : 0;
	}
	return (double)sum_ns * 1e-9;
}

START_TEST(threads_that_never_last_are_met_and_counted_once)
{
	struct tp_collect_config *config = &m.config;
	config->sample_rate_hz = 2000; /* so that threads of 1.3 ms are sampled at all */
	config->stack_bytes = 1024;    /* the ring takes longer to fill */
	m.sampler.duration_ns = 1500 * TP_NS_PER_MS;
	m.sampler.tick = note_use;
	m.sampler.tick_period_ns = 100 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("thread_chains 12 60", &looks.time_fd);
	while (cpu_s(pid) < 0.1)
		usleep(1000);
	measured_attach(&m, pid);
	ck_assert_int_eq(m.status, TP_OK);
	ck_assert_int_eq(m.result.end.kind, TP_END_DETACHED);
	ck_assert_uint_ge(looks.n, 2);
	/* If our process lost the CPU between the two clock readings, the moment is less exact. */
	const struct moment *first = &looks.first;
	const struct moment *last = &looks.last;
	double used_s = last->used_s - first->used_s;
	double least_s = runs_between_s(first->after_ns, last->before_ns);
	double most_s = runs_between_s(first->before_ns, last->after_ns);
	/* On each CPU; lost records are reported. */
	double lost_s = measured_lost_s(&m) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	ck_assert_double_gt(used_s, 0.05);
	/* A thread lives for 1.3 ms, and its events are opened one after the other. */
	ck_assert_msg(least_s <= used_s * 1.01 && most_s + lost_s >= used_s * 0.95,
		      "stays of %.3f to %.3f s, used %.3f s, %.3f s lost", least_s, most_s, used_s,
		      lost_s);
	check_cpus();
	/* A sample stands for a period: if samples were counted twice, they would exceed the CPU
	 * time. */
	double sampled_s = (double)measured_samples(&m) / 2000;
	double runs_s = measured_runs_s(&m) + lost_s;
	ck_assert_msg(sampled_s < runs_s * 1.1, "samples of %.3f s, stays of %.3f s", sampled_s,
		      runs_s);
	ck_assert_uint_eq(m.trace.n_dropped, 0);
	end(pid);
}
END_TEST

/* Polls often, and ends the measurement when the process has used that much CPU time since the
 * first poll. */
static struct {
	pid_t pid;
	double seconds;
	double from_s;
} goal;

static bool wants_more(void *unused, uint64_t now_ns)
{
	(void)unused;
	(void)now_ns;
	if (!(goal.from_s > 0))
		goal.from_s = cpu_s(goal.pid);
	return cpu_s(goal.pid) < goal.from_s + goal.seconds;
}

static void measure_for_cpu(pid_t pid, double seconds)
{
	goal.pid = pid;
	goal.seconds = seconds;
	m.sampler.tick = wants_more;
	m.sampler.tick_period_ns = 50 * TP_NS_PER_MS;
}

/* Waits until the process has n children; returns the first. */
static pid_t wait_for_children(pid_t pid, unsigned n)
{
	char path[64];
	int first = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	for (int i = 0; i < 20000; i++, usleep(2000)) {
		FILE *file = fopen(path, "r");
		unsigned n_now = 0;
		int child;
		while (file && fscanf(file, "%d", &child) == 1)
			first = n_now++ ? first : child;
		if (file)
			fclose(file);
		if (n_now >= n)
			return first;
	}
	ck_abort_msg("fewer than %u children", n);
	return 0;
}

START_TEST(threads_and_processes_of_the_past_have_stacks_and_names)
{
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sh -c 'while :; do :; done & while :; do :; done'", NULL);
	pid_t child = wait_for_children(pid, 1);
	while (cpu_s(child) < 0.05) /* long after its fork */
		usleep(1000);
	measure_for_cpu(child, 1);
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

static bool says(pid_t pid, const char *file, const char *text)
{
	char path[64];
	char line[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	FILE *about = fopen(path, "r");
	bool is_read = about && fgets(line, sizeof(line), about);
	if (about)
		fclose(about);
	return is_read && strncmp(line, text, strlen(text)) == 0;
}

/* Waits until the process is in the long nanosleep call. */
static void wait_until_asleep(pid_t pid)
{
	char number[16];
	snprintf(number, sizeof(number), "%d ", (int)SYS_clock_nanosleep);
	for (int i = 0; i < 20000; i++, usleep(2000))
		if (says(pid, "comm", "sleep\n") && says(pid, "syscall", number))
			return;
	ck_abort_msg("%d does not sleep", (int)pid);
}

START_TEST(sleepers_of_the_past_are_known_to_sleep)
{
	m.sampler.duration_ns = 600 * TP_NS_PER_MS;
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sleep 600", NULL);
	wait_until_asleep(pid);
	measured_attach(&m, pid);
	size_t n_polled = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++)
		n_polled += (m.trace.samples[i].flags & TP_SAMPLE_POLLED) != 0;
	/* Polled once and not some thirty times: it has not run since. */
	ck_assert_uint_ge(n_polled, 1);
	ck_assert_uint_le(n_polled, 3);
	end(pid);
}
END_TEST

/* Lets the program continue at the first poll, and ends the measurement when both children were
 * born. */
static bool let_two_be_born(void *context, uint64_t now_ns)
{
	int *go = context;
	uint64_t over = 0; /* one bit for each task that was born, did an exec and has ended */
	(void)now_ns;
	if (*go >= 0)
		close(*go);
	*go = -1;
	for (size_t i = 0; i < m.builder.n_records; i++) {
		const struct tp_record *record = &m.builder.records[i];
		const struct tp_task *task = &record->of.task;
		if (record->kind == TP_RECORD_TASK && task->end_ns && task->exec_ns)
			over |= UINT64_C(1) << task->id % 64;
	}
	return __builtin_popcountll(over) < 2;
}

START_TEST(births_after_the_attach_are_told_by_events)
{
	int gate[2];
	char call[16];
	if (lacks_perf())
		return;
	ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(gate[0], 0), 0);
	pid_t pid = measured_start("sh -c 'read line; sleep 0.1; sleep 0.1; sleep 600'", NULL);
	snprintf(call, sizeof(call), "%d 0x0 ", (int)SYS_read);
	while (!says(pid, "syscall", call))
		usleep(1000);
	m.sampler.tick = let_two_be_born;
	m.sampler.tick_period_ns = 50 * TP_NS_PER_MS;
	m.sampler.context = &gate[1];
	measured_attach(&m, pid);
	size_t n_born = 0;
	for (size_t i = 0; i < m.trace.n_tasks; i++)
		n_born += m.trace.tasks[i].start_ns > 0 && m.trace.tasks[i].exec_ns > 0 &&
			  m.trace.tasks[i].end_ns > 0;
	ck_assert_uint_eq(n_born, 2);
	end_family(pid);
}
END_TEST

/* Descriptors that everything else keeps open, plus the reserve; then descriptors per process and
 * CPU. */
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
	if (lacks_perf())
		return;
	pid_t pid = measured_start("sh -c 'while :; do :; done & "
				   "for i in $(seq 40); do sleep 600 & done; wait'",
				   NULL);
	pid_t busy = wait_for_children(pid, 41);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	measure_for_cpu(busy, 0.2);
	measured_attach(&m, pid);
	const char *reason = measured_row(&m, "perf")->availability.reason;
	ck_assert_msg(limits[_i].says[0] ? strstr(reason, limits[_i].says) != NULL
					 : strstr(reason, "descriptors") == NULL,
		      "limit %llu: '%s'", (unsigned long long)n, reason);
	/* Only the computing thread has samples: some 20. */
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
	tcase_add_test(tc, births_after_the_attach_are_told_by_events);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "measured programs");
	tcase_set_timeout(proofs, 30);
	tcase_add_checked_fixture(proofs, setup, NULL);
	tcase_add_loop_test(proofs, threads_that_never_last_are_met_and_counted_once, 0, 3);
	tcase_add_test(proofs, threads_and_processes_of_the_past_have_stacks_and_names);
	tcase_add_test(proofs, sleepers_of_the_past_are_known_to_sleep);
	tcase_add_loop_test(proofs, few_descriptors_leave_switches_out_and_then_idle_threads, 0,
			    TP_ARRAY_LEN(limits));
	return suite;
}
