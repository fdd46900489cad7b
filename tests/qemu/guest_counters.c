/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters: counts, groups, multiplexing, inheritance, overflow, and the whole collector.
 */
#include "guest.h"

#include "collect/perf/perf_ring.h"
#include "collect/pmu/pmu_event_alias.h"
#include "collect/pmu/pmu_group.h"
#include "collect/pmu/pmu_probe.h"
#include "collect/process/task_tree.h"
#include "collect/registry.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 3000000, INSTRUCTIONS = 2 * TURNS };

static const struct tp_pmu_event basic[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0}, /* not on this CPU */
};

/* Replaces the real tree, which needs libdw that the guest does not have. It holds the attached
 * threads. */
enum { N_RUNNING = 2 };
struct tp_task_tree {
	struct tp_task_tree_task tasks[N_RUNNING];
};

struct tp_task_tree_task *tp_task_tree_next(const struct tp_task_tree *tree, size_t *cursor)
{
	struct tp_task_tree *own = (struct tp_task_tree *)tree;
	return *cursor < N_RUNNING ? &own->tasks[(*cursor)++] : NULL;
}

static bool is_near(double got, double want, double tolerance)
{
	return fabs(got - want) <= tolerance * want;
}

static void check_group(void)
{
	struct tp_pmu_group group;
	struct tp_pmu_counts counts;
	struct tp_pmu_group_options options = {.n_required = 2};
	int error = tp_pmu_group_open(&group, basic, 3, &options);
	guest_check(error == 0, "cycles and instructions open", "errno %d", error);
	if (error)
		return;
	guest_check(!tp_pmu_group_has(&group, 2), "an event that the CPU lacks is left out", "%s",
		    tp_pmu_group_has(&group, 2) ? "it is there" : "it is");
	guest_loop(TURNS);
	bool good = tp_pmu_group_read(&group, &counts);
	tp_pmu_group_close(&group);
	double instructions = (double)counts.values[1];
	guest_check(good && is_near(instructions, INSTRUCTIONS, 0.01),
		    "a loop of 6 M instructions counts as such", "%.0f", instructions);
	guest_check(good && is_near((double)counts.values[0], INSTRUCTIONS, 0.02),
		    "one cycle an instruction here", "%.0f", (double)counts.values[0]);
	guest_check(counts.enabled_ns == counts.running_ns, "a group alone runs all the time",
		    "%llu of %llu ns", (unsigned long long)counts.running_ns,
		    (unsigned long long)counts.enabled_ns);
	guest_check(counts.values[2] == 0, "what is not counted is no number of another", "%llu",
		    (unsigned long long)counts.values[2]);
	options.n_required = 3;
	error = tp_pmu_group_open(&group, basic, 3, &options);
	guest_check(error == ENOENT || error == EOPNOTSUPP, "a required one that lacks is an error",
		    "errno %d", error);
}

/* More groups than the CPU has counters: each runs a part of the time. */
static void check_multiplexing(void)
{
	enum { N_GROUPS = 12, N_READINGS = 10 };
	/* INST_RETIRED by number, so that each needs a separate counter. */
	static const struct tp_pmu_event retired = {PERF_TYPE_RAW, 0x08, 0};
	struct tp_pmu_group groups[N_GROUPS];
	struct tp_pmu_counts_sum sums[N_GROUPS];
	struct tp_pmu_counts counts = {.enabled_ns = 0};
	struct tp_pmu_group_options options = {.n_required = 1};
	memset(sums, 0, sizeof(sums));
	for (int i = 0; i < N_GROUPS; i++) {
		int error = tp_pmu_group_open(&groups[i], &retired, 1, &options);
		if (error) {
			guest_check(false, "twelve groups open", "group %d: errno %d", i, error);
			return;
		}
	}
	/* 20 slices of the 4 ms after which the kernel rotates the groups. */
	for (int reading = 0; reading < N_READINGS; reading++) {
		guest_loop(4 * TURNS);
		for (int i = 0; i < N_GROUPS; i++) {
			if (tp_pmu_group_read(&groups[i], &counts))
				tp_pmu_counts_add(&sums[i], &counts, 1, 1);
		}
	}
	double least = 1;
	double worst = 0;
	for (int i = 0; i < N_GROUPS; i++) {
		tp_pmu_group_read(&groups[i], &counts);
		least = fmin(least, tp_pmu_counts_running_ratio(&counts, 1));
		double ratio = sums[i].values[0] / (4.0 * N_READINGS * INSTRUCTIONS);
		worst = fmax(worst, fabs(ratio - 1));
		tp_pmu_group_close(&groups[i]);
	}
	guest_check(least > 0.3 && least < 0.75, "twelve groups share six counters",
		    "the least ran %.0f %%", least * 100);
	guest_check(worst < 0.05, "shared counts scale to the truth", "worst off by %.1f %%",
		    worst * 100);
}

static void *loop_thread(void *unused)
{
	guest_loop(TURNS);
	return unused;
}

static void check_inheritance(void)
{
	struct tp_pmu_group group;
	struct tp_pmu_counts counts = {.enabled_ns = 0};
	struct tp_pmu_group_options options = {.inherit = true, .n_required = 2};
	if (tp_pmu_group_open(&group, basic, 2, &options) != 0)
		return;
	pthread_t thread;
	pthread_create(&thread, NULL, loop_thread, NULL);
	pthread_join(thread, NULL);
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			guest_loop(TURNS);
			_exit(0);
		}
		guest_loop(TURNS);
		wait(NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	tp_pmu_group_read(&group, &counts);
	tp_pmu_group_close(&group);
	guest_check(is_near((double)counts.values[1], 3.0 * INSTRUCTIONS, 0.05),
		    "a thread, a child and a grandchild are counted", "%.2f of 3 loops",
		    (double)counts.values[1] / INSTRUCTIONS);
}

void guest_check_counters(void)
{
	check_group();
	check_multiplexing();
	check_inheritance();
}

static int open_overflow(uint64_t period)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void guest_check_sampling(void)
{
	enum { PERIOD = 1000000, WANTED = 100 };
	struct tp_perf_ring ring;
	size_t size;
	int n = 0;
	int fd = open_overflow(PERIOD);
	int error = fd < 0 ? errno : tp_perf_ring_map(&ring, fd, 8);
	guest_check(error == 0, "an event that overflows opens and maps", "errno %d", error);
	if (error)
		return;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	guest_loop((uint64_t)WANTED * PERIOD / 2);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	tp_perf_ring_refresh(&ring);
	const struct perf_event_header *header;
	while ((header = tp_perf_ring_next(&ring, &size)))
		n += header->type == PERF_RECORD_SAMPLE;
	guest_check(abs(n - WANTED) <= 2, "overflows are samples", "%d samples in %d M cycles", n,
		    WANTED);
	tp_perf_ring_unmap(&ring);
	close(fd);
}

static double last_gauge(const struct tp_trace_builder *builder, enum tp_metric metric)
{
	for (size_t i = builder->n_records; i-- > 0;) {
		const struct tp_record *record = &builder->records[i];
		if (record->kind == TP_RECORD_GAUGE && record->of.gauge.metric == metric)
			return record->of.gauge.value;
	}
	return NAN;
}

/* Starts this program again, held before its exec. Returns the pipe end that releases it. */
static int hold_loop(pid_t *pid)
{
	int ends[2];
	char turns[32];
	if (pipe(ends) != 0)
		return -1;
	snprintf(turns, sizeof(turns), "%d", 10 * TURNS);
	*pid = fork();
	if (*pid == 0) {
		char go;
		close(ends[1]);
		if (read(ends[0], &go, 1) == 1)
			execl("/proc/self/exe", "init", "loop", turns, (char *)NULL);
		_exit(1);
	}
	close(ends[0]);
	return ends[1];
}

void guest_check_collector(void)
{
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_collect_config config = {.sample_rate_hz = 0};
	struct tp_collector *collector;
	struct tp_error err = {TP_OK, "", ""};
	struct tp_availability availability;
	pid_t pid = -1;
	tp_host_open(&host, "");
	tp_trace_builder_init(&builder);
	struct tp_collect_context context = {.host = &host,
					     .config = &config,
					     .sink = &builder.sink};
	tp_pmu_probe(&host, &availability);
	guest_check(availability.presence == TP_PRESENCE_DEGRADED,
		    "the probe counts, and misses top-down", "%d, '%s'", (int)availability.presence,
		    availability.reason);
	int release = hold_loop(&pid);
	bool good = tp_pmu_collector.open(&collector, &context, &err) == TP_OK;
	guest_check(good, "the collector opens", "%s", err.text);
	if (!good)
		return;
	good = tp_pmu_collector.start(collector, pid, &err) == TP_OK;
	guest_check(good, "the collector starts", "%s", err.text);
	guest_loop(TURNS); /* this process's work, which must not count */
	if (write(release, "", 1) != 1)
		return;
	close(release);
	waitpid(pid, NULL, 0);
	if (tp_pmu_collector.stop(collector, tp_clock_now_ns(), &err) != TP_OK)
		return;
	double instructions = last_gauge(&builder, TP_METRIC_PMU_INSTRUCTIONS);
	guest_check(is_near(instructions, 10.0 * INSTRUCTIONS, 0.05),
		    "the collector counts the program and not us", "%.2f of 10 loops",
		    instructions / INSTRUCTIONS);
	guest_check(isnan(last_gauge(&builder, TP_METRIC_PMU_LLC_MISSES)),
		    "what is not counted has no figure", "%s", "LLC misses");
	guest_check(last_gauge(&builder, TP_METRIC_PMU_RUNNING) > 0.99, "it ran all the time",
		    "%.3f", last_gauge(&builder, TP_METRIC_PMU_RUNNING));
	tp_pmu_collector.close(collector);
	tp_trace_builder_release(&builder);
	tp_host_close(&host);
}

/* A process with two threads: it writes their ids, waits for one byte each, and loops in both; then
 * its main thread starts a third one. */
struct running {
	int said[2];
	int go[2];
};

static void *wait_and_loop(void *context)
{
	struct running *running = context;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char go;
	guest_loop(TURNS); /* before counting starts */
	if (write(running->said[1], &tid, sizeof(tid)) != sizeof(tid) ||
	    read(running->go[0], &go, 1) != 1)
		_exit(1);
	guest_loop(10 * TURNS);
	return NULL;
}

static void *loop_long(void *unused)
{
	guest_loop(10 * TURNS);
	return unused;
}

static void be_running(struct running *running)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_and_loop, running);
	wait_and_loop(running);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, loop_long, NULL);
	pthread_join(thread, NULL);
	_exit(0);
}

/* Counts from the attach to the end. Returns NAN if the collector refuses. */
static double count_attached(struct tp_task_tree *tree, struct running *running, pid_t pid)
{
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_collect_config config = {.sample_rate_hz = 0, .is_attaching = true};
	struct tp_collector *collector = NULL;
	struct tp_error err = {TP_OK, "", ""};
	double instructions = NAN;
	tp_host_open(&host, "");
	tp_trace_builder_init(&builder);
	struct tp_collect_context context = {.host = &host,
					     .config = &config,
					     .sink = &builder.sink,
					     .tree = tree};
	bool good = tp_pmu_collector.open(&collector, &context, &err) == TP_OK &&
		    tp_pmu_collector.start(collector, pid, &err) == TP_OK;
	good = write(running->go[1], "..", N_RUNNING) == N_RUNNING && good;
	waitpid(pid, NULL, 0);
	good = good && tp_pmu_collector.stop(collector, tp_clock_now_ns(), &err) == TP_OK;
	guest_check(good, "the collector attaches", "%s", err.text);
	if (good)
		instructions = last_gauge(&builder, TP_METRIC_PMU_INSTRUCTIONS);
	if (collector)
		tp_pmu_collector.close(collector);
	tp_trace_builder_release(&builder);
	tp_host_close(&host);
	return instructions;
}

void guest_check_attached(void)
{
	struct tp_task_tree tree = {.tasks = {{.is_alive = true}}};
	struct running running;
	if (pipe(running.said) != 0 || pipe(running.go) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0)
		be_running(&running);
	for (size_t i = 0; i < N_RUNNING; i++)
		if (read(running.said[0], &tree.tasks[i].info.tid, sizeof(pid_t)) != sizeof(pid_t))
			return;
	double instructions = count_attached(&tree, &running, pid);
	guest_check(is_near(instructions, 30.0 * INSTRUCTIONS, 0.05),
		    "threads that run already, and what they start, are counted from the attach",
		    "%.2f of 30 loops", instructions / INSTRUCTIONS);
	for (size_t i = 0; i < 2; i++) {
		close(running.said[i]);
		close(running.go[i]);
	}
}
