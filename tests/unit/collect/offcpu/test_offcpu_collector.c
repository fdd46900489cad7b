/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the collector "proc", on a program whose threads wait for known things. */
#include "collect/process/task_tree.h"
#include "collect/registry.h"
#include "collect/slower.h"

#include "proof.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The running blocker program and the collector that polls it. */
struct rig {
	pid_t pid;
	int in_fd;
	char said[8192]; /* lines of the blocker's output: NAME TID DETAIL */
	char directory[64];
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_collect_config config;
	struct tp_collect_config actual;
	struct tp_collect_context context;
	struct tp_collector *collector;
	uint64_t looked_ns; /* the collector's time at the last simulated poll, see rig_look() */
};

static void program_path(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);
	ck_assert_int_gt(len, 0);
	out[len] = '\0';
	char *slash = strrchr(out, '/');
	snprintf(slash, size - (size_t)(slash - out), "/programs/blocker");
}

static void blocker_start(struct rig *rig)
{
	char path[4096];
	int to[2];
	int from[2];
	program_path(path, sizeof(path));
	ck_assert_msg(access(path, X_OK) == 0, "%s is not built", path);
	snprintf(rig->directory, sizeof(rig->directory), "/tmp/trainprof-poll-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->directory));
	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	rig->pid = fork();
	if (rig->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		execl(path, path, rig->directory, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	rig->in_fd = to[1];
	size_t len = 0;
	while (!strstr(rig->said, "ready\n")) {
		ssize_t got = read(from[0], rig->said + len, sizeof(rig->said) - 1 - len);
		ck_assert_int_gt(got, 0);
		len += (size_t)got;
	}
	close(from[0]);
}

/* Returns the thread id and the detail of a named thread. */
static pid_t said_tid(const struct rig *rig, const char *name, char *detail, size_t size)
{
	char key[64];
	int tid = 0;
	snprintf(key, sizeof(key), "%s ", name);
	const char *at = rig->said;
	while (at && strncmp(at, key, strlen(key)) != 0)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	ck_assert_msg(at != NULL, "no thread '%s'", name);
	detail[0] = '\0';
	if (sscanf(at + strlen(key), "%d", &tid) == 1) {
		const char *blank = strchr(at + strlen(key), ' ');
		snprintf(detail, size, "%.*s", (int)strcspn(blank + 1, "\n"), blank + 1);
	}
	return tid;
}

/* Opens the collector for the running program. */
static void rig_begin(struct rig *rig, double rate_hz)
{
	tp_host_open(&rig->host, "");
	tp_trace_builder_init(&rig->builder);
	struct tp_task_tree *tree = tp_task_tree_new(&rig->host, &rig->builder.sink);
	rig->config = (struct tp_collect_config){.poll_rate_hz = rate_hz,
						 .stack_bytes = 32768,
						 .max_overhead_ratio = 1};
	rig->actual = rig->config;
	rig->looked_ns = tp_clock_now_ns();
	rig->context = (struct tp_collect_context){.host = &rig->host,
						   .config = &rig->config,
						   .actual = &rig->actual,
						   .sink = &rig->builder.sink,
						   .tree = tree};
	tp_task_tree_scan(tree, rig->pid, tp_clock_now_ns());
	ck_assert_int_eq(tp_offcpu_collector.open(&rig->collector, &rig->context, NULL), TP_OK);
	ck_assert_int_eq(tp_offcpu_collector.start(rig->collector, rig->pid, NULL), TP_OK);
}

static void rig_open(struct rig *rig, double rate_hz)
{
	memset(rig, 0, sizeof(*rig));
	blocker_start(rig);
	rig_begin(rig, rate_hz);
	ck_assert_uint_ge(tp_task_tree_alive(rig->context.tree), 18);
}

static void rig_close(struct rig *rig)
{
	char path[128];
	close(rig->in_fd);
	waitpid(rig->pid, NULL, 0);
	tp_offcpu_collector.close(rig->collector);
	tp_task_tree_free(rig->context.tree);
	tp_trace_builder_release(&rig->builder);
	tp_host_close(&rig->host);
	snprintf(path, sizeof(path), "%s/fifo", rig->directory);
	unlink(path);
	rmdir(rig->directory);
}

/* Runs the collector as the sampler does. Returns the CPU time it used. */
static uint64_t rig_run(struct rig *rig, uint64_t duration_ns)
{
	uint64_t end_ns = tp_clock_now_ns() + duration_ns;
	uint64_t cpu_ns = tp_clock_self_cpu_ns();
	uint64_t now_ns;
	while ((now_ns = tp_clock_now_ns()) < end_ns) {
		if (now_ns >= rig->collector->due_ns)
			ck_assert_int_eq(tp_offcpu_collector.sample(rig->collector, now_ns, NULL),
					 TP_OK);
		else
			usleep((useconds_t)((rig->collector->due_ns - now_ns) / 1000 + 1));
	}
	return tp_clock_self_cpu_ns() - cpu_ns;
}

/* Polls n times at intervals of 10 ms of the collector's time, without waiting in between. */
static void rig_look(struct rig *rig, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rig->looked_ns += 10 * TP_NS_PER_MS;
		ck_assert_int_eq(tp_offcpu_collector.sample(rig->collector, rig->looked_ns, NULL),
				 TP_OK);
	}
}

static struct tp_task_tree_task *find_task(struct rig *rig, const char *name, char *detail,
					   size_t size)
{
	struct tp_task_tree_task *task =
		tp_task_tree_find(rig->context.tree, said_tid(rig, name, detail, size));
	ck_assert_ptr_nonnull(task);
	return task;
}

static const struct {
	const char *name;
	enum tp_cause cause;
	const char *target;   /* prefix of the target; NULL = the detail that the blocker printed */
	const char *function; /* must be in the stack */
} truths[] = {
	{"pipe", TP_CAUSE_PIPE, "pipe:[", "wait_pipe"},
	{"fifo", TP_CAUSE_PIPE, NULL, "wait_fifo"},
	{"socket", TP_CAUSE_SOCKET, "socket:[", "wait_socket"},
	{"poll_one", TP_CAUSE_PIPE, "pipe:[", "wait_poll_one"},
	{"poll_many", TP_CAUSE_POLL, "", "wait_poll_many"},
	{"poll_none", TP_CAUSE_SLEEP, "", "wait_poll_none"},
	{"select_one", TP_CAUSE_SOCKET, "socket:[", "wait_select_one"},
	{"epoll", TP_CAUSE_POLL, "anon_inode:[eventpoll]", "wait_epoll"},
	{"sleep", TP_CAUSE_SLEEP, "", "wait_sleep"},
	{"mutex", TP_CAUSE_FUTEX, "", "wait_mutex"},
	{"sem", TP_CAUSE_FUTEX, "", "wait_sem"},
	{"child", TP_CAUSE_CHILD, "", "wait_child"},
	{"terminal", TP_CAUSE_TERMINAL, NULL, "wait_terminal"},
	{"file", TP_CAUSE_FILE, NULL, "wait_file"},
	{"fault", TP_CAUSE_PAGE_FAULT, "", "wait_fault"},
};

static bool stack_shows(const struct tp_trace *trace, uint32_t id, const char *function)
{
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (strcmp(tp_trace_string(trace, frame->symbol), function) == 0)
			return true;
	}
	return false;
}

/* Counts of one thread's samples. */
struct tally {
	unsigned n_blocked;
	unsigned n_right;  /* cause and target are correct */
	unsigned n_stacks; /* stacks that contain the function */
	unsigned n_walked;
	unsigned n_other; /* on a CPU or runnable */
};

static struct tally tally_of(struct rig *rig, const struct tp_trace *trace, size_t truth)
{
	struct tally tally = {0};
	char detail[1024];
	uint32_t id = find_task(rig, truths[truth].name, detail, sizeof(detail))->info.id;
	const char *target = truths[truth].target ? truths[truth].target : detail;
	for (size_t i = trace->sample_index[id]; i < trace->sample_index[id + 1]; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		if (sample->state != TP_STATE_BLOCKED) {
			tally.n_other++;
			continue;
		}
		const char *got = tp_trace_string(trace, sample->target);
		bool target_good =
			target[0] ? strncmp(got, target, strlen(target)) == 0 : got[0] == '\0';
		tally.n_blocked++;
		tally.n_right += sample->cause == truths[truth].cause && target_good;
		tally.n_walked += sample->stack != 0;
		tally.n_stacks +=
			sample->stack && stack_shows(trace, sample->stack, truths[truth].function);
	}
	return tally;
}

static void build_trace(struct rig *rig, struct tp_trace *trace)
{
	struct tp_run_info run = {0};
	tp_trace_build(trace, &rig->builder, &run);
}

/* Number of polls so far that have found the thread in a wait. */
static unsigned count_seen(struct rig *rig, const char *name)
{
	char detail[1024];
	uint32_t id = find_task(rig, name, detail, sizeof(detail))->info.id;
	unsigned n = 0;
	for (size_t i = 0; i < rig->builder.n_samples; i++)
		n += rig->builder.samples[i].task == id &&
		     rig->builder.samples[i].state == TP_STATE_BLOCKED;
	return n;
}

/* A poll may find a thread in its wait late: a fast disk ends a wait within 100 us, and the first
 * polls read symbols. */
static void run_until_seen(struct rig *rig, const char *name, unsigned least)
{
	enum { MOST_TIMES = 100 };
	for (int i = 0; i < MOST_TIMES && count_seen(rig, name) < least; i++)
		rig_run(rig, TP_NS_PER_S / 5);
}

/* The same, without waiting. */
static void look_until_met(struct rig *rig, const char *name, unsigned least)
{
	for (int i = 0; i < 10000 && count_seen(rig, name) < least; i++)
		rig_look(rig, 1);
}

static bool reads_disk(size_t truth)
{
	return truths[truth].cause == TP_CAUSE_FILE || truths[truth].cause == TP_CAUSE_PAGE_FAULT;
}

static unsigned min_seen(size_t truth)
{
	return reads_disk(truth) ? 1 : 30;
}

/* Covers threads that stay in their wait. Those that read a disk are in it only for moments, see
 * below. */
START_TEST(every_cause_that_lasts_is_named_at_each_look)
{
	struct rig rig;
	struct tp_trace trace;
	rig_open(&rig, 100);
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++)
		if (!reads_disk(i))
			look_until_met(&rig, truths[i].name, min_seen(i));
	ck_assert_int_eq(tp_offcpu_collector.stop(rig.collector, tp_clock_now_ns(), NULL), TP_OK);
	build_trace(&rig, &trace);
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		struct tally tally = tally_of(&rig, &trace, i);
		if (reads_disk(i))
			continue;
		ck_assert_msg(tally.n_blocked >= min_seen(i), "%s: blocked in %u samples only",
			      truths[i].name, tally.n_blocked);
		ck_assert_msg(tally.n_right * 100 >= tally.n_blocked * 90,
			      "%s: %u of %u samples name the cause", truths[i].name, tally.n_right,
			      tally.n_blocked);
		ck_assert_msg(tally.n_stacks == tally.n_blocked,
			      "%s: %u of %u stacks show the function", truths[i].name,
			      tally.n_stacks, tally.n_blocked);
	}
	tp_trace_release(&trace);
	rig_close(&rig);
}
END_TEST

START_TEST(every_cause_is_named_without_switch_records)
{
	struct rig rig;
	struct tp_trace trace;
	rig_open(&rig, 100);
	rig_run(&rig, 1500 * TP_NS_PER_MS);
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++)
		run_until_seen(&rig, truths[i].name, min_seen(i));
	ck_assert_int_eq(tp_offcpu_collector.stop(rig.collector, tp_clock_now_ns(), NULL), TP_OK);
	build_trace(&rig, &trace);
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		struct tally tally = tally_of(&rig, &trace, i);
		ck_assert_msg(tally.n_blocked >= min_seen(i), "%s: blocked in %u samples only",
			      truths[i].name, tally.n_blocked);
		ck_assert_msg(tally.n_right * 100 >= tally.n_blocked * 90,
			      "%s: %u of %u samples name the cause", truths[i].name, tally.n_right,
			      tally.n_blocked);
		if (!reads_disk(i))
			ck_assert_msg(tally.n_stacks == tally.n_blocked,
				      "%s: %u of %u stacks show the function", truths[i].name,
				      tally.n_stacks, tally.n_blocked);
		else
			ck_assert_msg(tally.n_stacks * 100 >= tally.n_walked * 95,
				      "%s: %u of %u stacks show the function", truths[i].name,
				      tally.n_stacks, tally.n_walked);
	}
	tp_trace_release(&trace);
	rig_close(&rig);
}
END_TEST

START_TEST(futex_address_is_that_of_the_lock)
{
	struct rig rig;
	struct tp_trace trace;
	char detail[1024];
	rig_open(&rig, 100);
	look_until_met(&rig, "mutex", 1);
	build_trace(&rig, &trace);
	uint32_t id = find_task(&rig, "mutex", detail, sizeof(detail))->info.id;
	uint64_t address = strtoull(detail, NULL, 16);
	ck_assert_uint_lt(trace.sample_index[id], trace.sample_index[id + 1]);
	ck_assert_uint_eq(trace.samples[trace.sample_index[id]].address, address);
	tp_trace_release(&trace);
	rig_close(&rig);
}
END_TEST

/* Increase of a task's counter between its first and its last reading. */
static double growth(const struct rig *rig, enum tp_metric metric, uint32_t task)
{
	const struct tp_record *first = NULL;
	const struct tp_record *last = NULL;
	for (size_t i = 0; i < rig->builder.n_records; i++) {
		const struct tp_record *record = &rig->builder.records[i];
		if (record->kind != TP_RECORD_GAUGE || record->of.gauge.metric != metric ||
		    record->of.gauge.task != task)
			continue;
		first = first ? first : record;
		last = record;
	}
	ck_assert_ptr_ne(first, last);
	return last->of.gauge.value - first->of.gauge.value;
}

/* A thread's time according to the polls, and according to the kernel's accounting. A poll counts
 * for the time since the previous one, which is longer when the CPUs are busy. */
struct times {
	size_t n;
	double on_ns;
	double blocked_ns;
	double all_ns;
	double ran_ns;
	double waited_ns;
};

/* Stops the collector and sums up the thread's times. */
static struct times times_of(struct rig *rig, const char *name)
{
	struct tp_trace trace;
	char detail[1024];
	uint32_t id = find_task(rig, name, detail, sizeof(detail))->info.id;
	ck_assert_int_eq(tp_offcpu_collector.stop(rig->collector, tp_clock_now_ns(), NULL), TP_OK);
	struct times times = {.ran_ns = growth(rig, TP_METRIC_TASK_RUN, id),
			      .waited_ns = growth(rig, TP_METRIC_TASK_DELAY, id)};
	build_trace(rig, &trace);
	for (size_t i = trace.sample_index[id] + 1; i < trace.sample_index[id + 1]; i++) {
		const struct tp_sample *sample = &trace.samples[i];
		double since_ns = (double)(sample->time_ns - sample[-1].time_ns);
		times.n++;
		times.on_ns += sample->state == TP_STATE_ON_CPU ? since_ns : 0;
		times.blocked_ns += sample->state == TP_STATE_BLOCKED ? since_ns : 0;
		times.all_ns += since_ns;
	}
	tp_trace_release(&trace);
	return times;
}

START_TEST(spinning_thread_is_never_blocked)
{
	struct rig rig;
	rig_open(&rig, 100);
	rig_run(&rig, 2 * TP_NS_PER_S);
	struct times times = times_of(&rig, "spin");
	ck_assert_uint_ge(times.n, 10);
	/* Time that the host took from the CPU is in neither account, like waits. */
	double stolen_ns = fmax(times.all_ns - times.ran_ns - times.waited_ns, 0);
	ck_assert_double_le(times.blocked_ns, 0.05 * times.all_ns + stolen_ns);
	rig_close(&rig);
}
END_TEST

/* Two threads on one CPU: each has it half of the time, and the polls must show that. */
START_TEST(looks_on_a_cpu_add_up_to_the_time_it_ran)
{
	struct rig rig;
	char detail[1024];
	cpu_set_t one;
	rig_open(&rig, 100);
	struct tp_task_tree_task *spin = find_task(&rig, "spin", detail, sizeof(detail));
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ck_assert_int_eq(sched_setaffinity(spin->info.tid, sizeof(one), &one), 0);
	pid_t rival = fork();
	if (rival == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(one), &one);
		for (;;)
			continue;
	}
	rig_run(&rig, 2 * TP_NS_PER_S);
	struct times times = times_of(&rig, "spin");
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
	/* Time that the host took from the CPU is in neither account. */
	double truth = times.ran_ns / (times.ran_ns + times.waited_ns);
	ck_assert_double_lt(truth, 0.8); /* the rival took its share */
	ck_assert_double_eq_tol(times.on_ns / times.all_ns, truth, 0.06);
	rig_close(&rig);
}
END_TEST

static unsigned count_samples(const struct rig *rig, uint32_t task)
{
	unsigned n = 0;
	for (size_t i = 0; i < rig->builder.n_samples; i++)
		n += rig->builder.samples[i].task == task;
	return n;
}

static const struct tp_sample *nth_sample(const struct rig *rig, uint32_t task, unsigned n)
{
	for (size_t i = 0; i < rig->builder.n_samples; i++)
		if (rig->builder.samples[i].task == task && n-- == 0)
			return &rig->builder.samples[i];
	ck_abort_msg("fewer samples than expected");
	return NULL;
}

/* Polls until a sample of the task was emitted. */
static void look_until_put(struct rig *rig, uint32_t task)
{
	for (int i = 0; i < 1000 && count_samples(rig, task) < 1; i++)
		rig_look(rig, 1);
	ck_assert_uint_ge(count_samples(rig, task), 1);
}

/* Runs the collector until n samples of the task were emitted, however long that takes. */
static void run_until_stored(struct rig *rig, uint32_t task, unsigned n)
{
	for (int i = 0; i < 1000 && count_samples(rig, task) < n; i++)
		rig_run(rig, 20 * TP_NS_PER_MS);
	ck_assert_uint_ge(count_samples(rig, task), n);
}

START_TEST(a_wait_is_put_once_a_second_when_switches_are_recorded)
{
	struct rig rig;
	char detail[1024];
	rig_open(&rig, 100);
	struct tp_task_tree_task *task = find_task(&rig, "pipe", detail, sizeof(detail));
	uint32_t id = task->info.id;
	task->where = TP_TASK_TREE_BLOCKED;
	task->n_runs = 5;
	run_until_stored(&rig, id, 1);
	unsigned n = count_samples(&rig, id);
	task->n_runs = 6; /* it has run, and waits again */
	run_until_stored(&rig, id, n + 3);
	/* Once immediately, and after that not more than once per second. */
	for (unsigned i = n; i < n + 2; i++)
		ck_assert_uint_ge(nth_sample(&rig, id, i + 1)->time_ns,
				  nth_sample(&rig, id, i)->time_ns + TP_NS_PER_S);
	task->where = TP_TASK_TREE_PREEMPTED; /* the switch records are exact already */
	task->n_runs = 7;
	n = count_samples(&rig, id);
	rig_run(&rig, 200 * TP_NS_PER_MS);
	ck_assert_uint_eq(count_samples(&rig, id), n);
	rig_close(&rig);
}
END_TEST

/* Shared with the program that waits, runs and waits again. */
struct runner {
	int may_run; /* it runs as long as this is set */
	int is_running;
};

/* Waits and runs until it is killed. */
static void wait_and_run(int end, struct runner *runner)
{
	char byte;
	while (read(end, &byte, 1) == 1) {
		__atomic_store_n(&runner->is_running, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(&runner->may_run, __ATOMIC_RELAXED))
			continue;
	}
	_exit(0);
}

static void wait_until_it_reads(pid_t pid)
{
	char path[64];
	char text[64];
	char call[16];
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	snprintf(call, sizeof(call), "%d 0x", (int)SYS_read);
	for (int i = 0; i < 20000; i++, usleep(1000)) {
		FILE *file = fopen(path, "r");
		bool is_read = file && fgets(text, sizeof(text), file);
		if (file)
			fclose(file);
		if (is_read && strncmp(text, call, strlen(call)) == 0)
			return;
	}
	ck_abort_msg("%d does not read", (int)pid);
}

static void start_runner(struct rig *rig, struct runner *runner)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	runner->may_run = 1;
	rig->pid = fork();
	if (rig->pid == 0) {
		close(ends[1]);
		wait_and_run(ends[0], runner);
	}
	close(ends[0]);
	rig->in_fd = ends[1];
	wait_until_it_reads(rig->pid);
	rig_begin(rig, 100);
}

/* A poll that finds the thread running does not cover the wait that follows the same run. */
START_TEST(a_wait_is_looked_at_though_its_run_was)
{
	struct rig rig = {.directory = "/nonexistent"};
	struct runner *runner = mmap(NULL, sizeof(*runner), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(runner, MAP_FAILED);
	start_runner(&rig, runner);
	struct tp_task_tree_task *task = tp_task_tree_find(rig.context.tree, rig.pid);
	ck_assert_ptr_nonnull(task);
	uint32_t id = task->info.id;
	task->where = TP_TASK_TREE_BLOCKED;
	task->n_runs = 5;
	look_until_put(&rig, id);
	unsigned n = count_samples(&rig, id);
	ck_assert_int_eq(write(rig.in_fd, "", 1), 1);
	while (!__atomic_load_n(&runner->is_running, __ATOMIC_RELAXED))
		usleep(1000);
	task->where = TP_TASK_TREE_ON_CPU;
	task->n_runs = 6;
	rig_look(&rig, 10);
	ck_assert_uint_eq(count_samples(&rig, id), n);
	__atomic_store_n(&runner->may_run, 0, __ATOMIC_RELAXED);
	wait_until_it_reads(rig.pid);
	task->where = TP_TASK_TREE_BLOCKED;
	/* A wait is emitted again after one second anyway: time does not advance that far here. */
	const struct tp_sample first = *nth_sample(&rig, id, n - 1);
	for (int i = 0; i < 100 && count_samples(&rig, id) == n; i++)
		ck_assert_int_eq(tp_offcpu_collector.sample(rig.collector, first.time_ns, NULL),
				 TP_OK);
	ck_assert_uint_eq(count_samples(&rig, id), n + 1);
	const struct tp_sample *second = nth_sample(&rig, id, n);
	ck_assert_int_eq(second->state, TP_STATE_BLOCKED);
	ck_assert_int_eq(second->cause, TP_CAUSE_PIPE);
	ck_assert_int_eq(second->syscall, first.syscall);
	ck_assert_uint_eq(second->target, first.target);
	ck_assert_uint_eq(second->stack, first.stack);
	rig_close(&rig);
	munmap(runner, sizeof(*runner));
}
END_TEST

/* Returns the last value of a gauge, or NAN if there is none. */
static double last_gauge(const struct rig *rig, enum tp_metric metric, uint32_t task)
{
	for (size_t i = rig->builder.n_records; i-- > 0;) {
		const struct tp_record *record = &rig->builder.records[i];
		if (record->kind == TP_RECORD_GAUGE && record->of.gauge.metric == metric &&
		    record->of.gauge.task == task)
			return record->of.gauge.value;
	}
	return NAN;
}

START_TEST(books_agree_with_what_the_kernel_charges_at_the_end)
{
	struct rig rig;
	char detail[1024];
	rig_open(&rig, 50);
	struct tp_task_tree_task *leader = tp_task_tree_find(rig.context.tree, rig.pid);
	struct tp_task_tree_task *spin = find_task(&rig, "spin", detail, sizeof(detail));
	rig_run(&rig, 600 * TP_NS_PER_MS);
	for (int i = 0; i < 100; i++) { /* until its CPU time shows in the accounting */
		if (last_gauge(&rig, TP_METRIC_TASK_RUN, spin->info.id) > 10e6)
			break;
		rig_run(&rig, 200 * TP_NS_PER_MS);
	}
	/* Ended but not yet reaped: its accounting is final, and the threads are gone from
	 * /proc. */
	siginfo_t info;
	close(rig.in_fd);
	ck_assert_int_eq(waitid(P_PID, (id_t)rig.pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(tp_offcpu_collector.stop(rig.collector, tp_clock_now_ns(), NULL), TP_OK);
	double utime_ns = last_gauge(&rig, TP_METRIC_PROC_UTIME, leader->info.id);
	double stime_ns = last_gauge(&rig, TP_METRIC_PROC_STIME, leader->info.id);
	double spin_ns = last_gauge(&rig, TP_METRIC_TASK_RUN, spin->info.id);
	uint64_t told_ns = leader->info.utime_ns + leader->info.stime_ns;
	struct rusage usage;
	ck_assert_int_eq(wait4(rig.pid, NULL, 0, &usage), rig.pid);
	double truth_ns = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
			  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
	/* stat counts ticks of 10 ms; the blocker's killed child is not reaped and not counted. */
	ck_assert_double_eq_tol(utime_ns + stime_ns, truth_ns, 21e6);
	ck_assert_double_eq_tol((double)told_ns, truth_ns, 21e6);
	ck_assert_double_gt(spin_ns, 10e6);
	ck_assert_double_le(spin_ns, truth_ns + 1e6);
	rig.in_fd = -1;
	rig_close(&rig);
}
END_TEST

START_TEST(polling_goes_on_with_few_descriptors)
{
	struct rig rig;
	struct tp_trace trace;
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	rig_open(&rig, 100);
	struct rlimit few = {.rlim_cur = 12, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	look_until_met(&rig, truths[0].name, 8);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	build_trace(&rig, &trace);
	struct tally tally = tally_of(&rig, &trace, 0);
	ck_assert_uint_ge(tally.n_blocked, 8);
	ck_assert_uint_eq(tally.n_right, tally.n_blocked);
	tp_trace_release(&trace);
	rig_close(&rig);
}
END_TEST

static void set_where(struct rig *rig, const char *name, enum tp_task_tree_where where)
{
	char detail[1024];
	find_task(rig, name, detail, sizeof(detail))->where = where;
}

/* The threads that cause cost: all; all except those that run or read a disk; none, with switch
 * records. */
static const struct {
	const char *what;
	bool without_busy;
	bool has_switches;
} costs[] = {
	{"without switch records, 3 of them busy", false, false},
	{"without switch records, all of them waiting", true, false},
	{"with switch records, all of them waiting", true, true},
};

START_TEST(poll_costs_little_cpu)
{
	static const char *const busy[] = {"spin", "file", "fault"};
	struct rig rig;
	rig_open(&rig, 50);
	size_t cursor = 0;
	for (struct tp_task_tree_task *task; (task = tp_task_tree_next(rig.context.tree, &cursor));)
		task->where = costs[_i].has_switches ? TP_TASK_TREE_BLOCKED : TP_TASK_TREE_UNKNOWN;
	for (size_t i = 0; i < 3 && costs[_i].without_busy; i++)
		set_where(&rig, busy[i], TP_TASK_TREE_PREEMPTED); /* not polled */
	rig_run(&rig, 200 * TP_NS_PER_MS);                        /* opens files, reads symbols */
	uint64_t began_ns = tp_clock_now_ns();
	uint64_t cpu_ns = rig_run(&rig, 2 * TP_NS_PER_S);
	double ratio = (double)cpu_ns / (double)(tp_clock_now_ns() - began_ns);
	if (getenv("TRAINPROF_TEST_VERBOSE"))
		printf("poll: %.2f %% of one CPU for %zu threads at 50 Hz %s\n", ratio * 100,
		       tp_task_tree_alive(rig.context.tree), costs[_i].what);
	ck_assert_double_le(ratio, 0.03 * SLOWER); /* the benchmark checks the real limit */
	rig_close(&rig);
}
END_TEST

Suite *suite_collect_offcpu_collector(void);
Suite *suite_collect_offcpu_collector(void)
{
	Suite *suite = suite_create("collect/poll");
	TCase *tc = tcase_create("poll");
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, every_cause_that_lasts_is_named_at_each_look);
	tcase_add_test(tc, futex_address_is_that_of_the_lock);
	tcase_add_test(tc, a_wait_is_looked_at_though_its_run_was);
	tcase_add_test(tc, polling_goes_on_with_few_descriptors);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "watched programs");
	tcase_set_timeout(proofs, 30);
	tcase_add_test(proofs, every_cause_is_named_without_switch_records);
	tcase_add_test(proofs, a_wait_is_put_once_a_second_when_switches_are_recorded);
	tcase_add_test(proofs, spinning_thread_is_never_blocked);
	tcase_add_test(proofs, looks_on_a_cpu_add_up_to_the_time_it_ran);
	tcase_add_test(proofs, books_agree_with_what_the_kernel_charges_at_the_end);
	tcase_add_loop_test(proofs, poll_costs_little_cpu, 0, sizeof(costs) / sizeof(costs[0]));
	return suite;
}
