/* SPDX-License-Identifier: Apache-2.0 */
/* Reads schedstat, stat, io and status of threads and processes into gauges. */
#include "task_accounting.h"

#include "collect/machine/host_file.h"
#include "collect/machine/host_stat.h"
#include "collect/process/procfs.h"
#include "collect/process/procfs_stat.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_SIZE = 4096,
	N_PEEKED = 4,
	MANY_TASKS = 16, /* of more than these, light threads are read more rarely */
	FACTOR_MAX = 16,
};

#define PERIOD_NS   TP_NS_PER_S
#define LIGHT_RATIO 0.01 /* share of the time on a CPU or queueing for one */

/* In the order of `values`. */
static const enum tp_metric task_metrics[] = {
	TP_METRIC_TASK_RUN,    TP_METRIC_TASK_DELAY, TP_METRIC_TASK_MINFLT,
	TP_METRIC_TASK_MAJFLT, TP_METRIC_TASK_UTIME, TP_METRIC_TASK_STIME,
};

static const enum tp_metric process_metrics[] = {
	TP_METRIC_PROC_UTIME,   TP_METRIC_PROC_STIME, TP_METRIC_PROC_MINFLT, TP_METRIC_PROC_MAJFLT,
	TP_METRIC_PROC_THREADS, TP_METRIC_PROC_RSS,   TP_METRIC_PROC_SWAP,   TP_METRIC_IO_RCHAR,
	TP_METRIC_IO_WCHAR,     TP_METRIC_IO_SYSCR,   TP_METRIC_IO_SYSCW,    TP_METRIC_IO_READ,
	TP_METRIC_IO_WRITE,
};

_Static_assert(TP_ARRAY_LEN(process_metrics) == TP_TASK_ACCOUNT_VALUES_MAX, "room for all values");

struct account_process {
	uint32_t leader; /* task id: gauges of a process belong to its leader */
	uint64_t start_ns;
	struct tp_task_account account;
	/* A later peek at the first four values, emitted when the process ends. */
	double glance[N_PEEKED];
	uint64_t glance_ns;
	uint64_t glance_runs; /* run count of the leader in the tree */
};

static struct account_process *process_of(uint64_t number)
{
	return (struct account_process *)(uintptr_t)number;
}

void tp_task_accounting_init(struct tp_task_accounting *accounts, const struct tp_host *host,
			     struct tp_sink *sink, struct tp_task_tree *tree, uint64_t now_ns)
{
	memset(accounts, 0, sizeof(*accounts));
	accounts->host = host;
	accounts->sink = sink;
	accounts->tree = tree;
	accounts->started_ns = now_ns;
}

void tp_task_accounting_release(struct tp_task_accounting *accounts)
{
	size_t cursor = 0;
	uint64_t pid;
	uint64_t process;
	while (tp_map_next(&accounts->processes, &cursor, &pid, &process))
		free(process_of(process));
	tp_map_release(&accounts->processes);
	tp_buf_release(&accounts->text);
}

/* A new reading. NAN = could not be read. */
struct account_reading {
	const enum tp_metric *metrics;
	size_t n;
	uint32_t task;
	uint64_t born_ns;
	uint64_t now_ns;
	double values[TP_TASK_ACCOUNT_VALUES_MAX];
};

static void emit_values(struct tp_task_accounting *accounts, const struct account_reading *reading,
			const double *values, uint64_t time_ns)
{
	for (size_t i = 0; i < reading->n; i++) {
		if (isnan(values[i]))
			continue;
		tp_sink_gauge(accounts->sink, reading->metrics[i], reading->task, time_ns,
			      values[i]);
		accounts->n_put++;
	}
}

/* The counters of a task that was born during the measurement began at zero. */
static void emit_task_start(struct tp_task_accounting *accounts,
			    const struct account_reading *reading)
{
	double zeros[TP_TASK_ACCOUNT_VALUES_MAX];
	for (size_t i = 0; i < reading->n; i++) {
		const struct tp_metric_desc *desc = tp_metric_desc(reading->metrics[i]);
		zeros[i] = desc->kind == TP_METRIC_KIND_COUNTER && !isnan(reading->values[i])
				   ? 0
				   : (double)NAN;
	}
	emit_values(accounts, reading, zeros, reading->born_ns);
}

static bool is_same(const struct tp_task_account *account, const struct account_reading *reading)
{
	for (size_t i = 0; i < reading->n; i++) {
		bool is_known = !isnan(reading->values[i]);
		if (is_known && !(reading->values[i] == account->values[i]))
			return false;
	}
	return true;
}

/* Emits a reading unless it repeats the last one. When values change again after such a pause, the
 * end of the pause is emitted first: growth between two readings is assumed to be even. */
static void account_update(struct tp_task_accounting *accounts, struct tp_task_account *account,
			   const struct account_reading *reading, bool is_last)
{
	bool is_first = account->read_ns == 0;
	if (is_first && reading->born_ns > accounts->started_ns)
		emit_task_start(accounts, reading);
	if (!is_first && !is_last && is_same(account, reading)) {
		account->read_ns = reading->now_ns;
		account->is_put = false;
		return;
	}
	if (!is_first && !account->is_put)
		emit_values(accounts, reading, account->values, account->read_ns);
	emit_values(accounts, reading, reading->values, reading->now_ns);
	memcpy(account->values, reading->values, sizeof(account->values));
	account->read_ns = reading->now_ns;
	account->is_put = true;
}

static bool read_schedstat(const struct tp_task_accounting *accounts, const struct tp_task *info,
			   struct tp_procfs_schedstat *out)
{
	char below[96];
	char path[PATH_SIZE];
	char text[128];
	snprintf(below, sizeof(below), "/proc/%d/task/%d/schedstat", (int)info->pid,
		 (int)info->tid);
	return tp_file_peek(tp_host_path(accounts->host, path, sizeof(path), below), text,
			    sizeof(text)) > 0 &&
	       tp_procfs_schedstat(out, text);
}

/* If a thread's CPU time has not changed, the rest of its accounting has not either. */
static bool read_task(struct tp_task_accounting *accounts, struct tp_task_account *account,
		      struct tp_task_tree_task *task, struct account_reading *reading, bool is_last)
{
	struct tp_procfs_schedstat sched;
	struct tp_procfs_stat stat;
	reading->values[0] = reading->values[1] = (double)NAN;
	if (read_schedstat(accounts, &task->info, &sched)) {
		reading->values[0] = (double)sched.run_ns;
		reading->values[1] = (double)sched.delay_ns;
		if (!is_last && account->read_ns && account->values[0] == reading->values[0] &&
		    account->values[1] == reading->values[1]) {
			memcpy(reading->values, account->values, sizeof(reading->values));
			return true;
		}
	}
	if (!tp_procfs_stat_read(&stat, accounts->host, task->info.pid, task->info.tid))
		return false;
	reading->values[2] = (double)stat.minor_faults;
	reading->values[3] = (double)stat.major_faults;
	reading->values[4] = (double)stat.utime_ns;
	reading->values[5] = (double)stat.stime_ns;
	if (task->info.tid != task->info.pid) {
		task->info.utime_ns = stat.utime_ns;
		task->info.stime_ns = stat.stime_ns;
	}
	return true;
}

/* Returns how long a reading lasts. Of many threads most hardly run, and to read each once per
 * second would take more than all the rest; one that runs or queues for a CPU is read once per
 * second. */
static uint64_t task_period_ns(const struct tp_task_accounting *accounts,
			       const struct tp_task_account *account, const struct tp_task *info,
			       const struct account_reading *reading)
{
	double time_ns = (double)(reading->now_ns - account->read_ns);
	double used_ns =
		reading->values[0] - account->values[0] + reading->values[1] - account->values[1];
	bool is_light =
		account->read_ns && info->tid != info->pid && used_ns < LIGHT_RATIO * time_ns;
	uint64_t factor = is_light ? tp_task_tree_alive(accounts->tree) / MANY_TASKS : 1;
	return PERIOD_NS * (factor < 1 ? 1 : factor > FACTOR_MAX ? FACTOR_MAX : factor);
}

static double delay_ratio(const struct tp_task_account *account,
			  const struct account_reading *reading)
{
	double time_ns = (double)(reading->now_ns - account->read_ns);
	if (account->read_ns == 0 || time_ns <= 0 || isnan(reading->values[1]))
		return 0;
	return (reading->values[1] - account->values[1]) / time_ns;
}

/* Returns a number from a text file of the process, times `unit`; NAN if it is missing. */
static double field_value(const struct tp_task_accounting *accounts, const char *name, double unit)
{
	uint64_t value;
	return tp_host_stat_field(&value, tp_buf_text(&accounts->text), name) ? (double)value * unit
									      : (double)NAN;
}

static bool read_text(struct tp_task_accounting *accounts, pid_t pid, const char *name)
{
	char below[64];
	snprintf(below, sizeof(below), "/proc/%d/%s", (int)pid, name);
	if (tp_host_file_read(&accounts->text, accounts->host, below))
		return true;
	tp_buf_clear(&accounts->text);
	return false;
}

/* Reads the first values, followed by the number of threads. */
static bool read_process_stat(const struct tp_task_accounting *accounts, pid_t pid, double *values)
{
	struct tp_procfs_stat stat;
	if (!tp_procfs_stat_read(&stat, accounts->host, pid, 0))
		return false;
	values[0] = (double)stat.utime_ns;
	values[1] = (double)stat.stime_ns;
	values[2] = (double)stat.minor_faults;
	values[3] = (double)stat.major_faults;
	values[N_PEEKED] = (double)stat.n_threads;
	return true;
}

static bool read_process(struct tp_task_accounting *accounts, pid_t pid,
			 struct account_reading *reading)
{
	static const char *const io_names[] = {"rchar:", "wchar:",      "syscr:",
					       "syscw:", "read_bytes:", "write_bytes:"};
	double *values = reading->values;
	if (!read_process_stat(accounts, pid, values))
		return false;
	values += N_PEEKED + 1;
	read_text(accounts, pid, "status"); /* a zombie has no memory and no such lines */
	*values++ = field_value(accounts, "VmRSS:", 1024);
	*values++ = field_value(accounts, "VmSwap:", 1024);
	read_text(accounts, pid, "io");
	for (size_t i = 0; i < TP_ARRAY_LEN(io_names); i++)
		*values++ = field_value(accounts, io_names[i], 1);
	return true;
}

/* Returns the process of a thread; a process with a reused pid starts with zero values. */
static struct account_process *find_process(struct tp_task_accounting *accounts,
					    const struct tp_task *info)
{
	const struct tp_task_tree_task *leader = tp_task_tree_find(accounts->tree, info->pid);
	struct account_process *process;
	uint64_t number;
	if (tp_map_get(&accounts->processes, (uint64_t)info->pid, &number)) {
		process = process_of(number);
		if (!leader || leader->info.id == process->leader)
			return process;
	} else {
		process = tp_alloc(sizeof(*process));
		tp_map_set(&accounts->processes, (uint64_t)info->pid, (uint64_t)(uintptr_t)process);
	}
	/* If a leader has ended before its threads, the first of them represents the process. */
	*process = (struct account_process){.leader = leader ? leader->info.id : info->id,
					    .start_ns = leader ? leader->info.start_ns : 0};
	return process;
}

static void store_cpu_times(struct tp_task_accounting *accounts, pid_t pid, const double *values)
{
	struct tp_task_tree_task *leader = tp_task_tree_find(accounts->tree, pid);
	if (!leader)
		return;
	leader->info.utime_ns = (uint64_t)values[0];
	leader->info.stime_ns = (uint64_t)values[1];
}

static void account_process(struct tp_task_accounting *accounts, const struct tp_task *info,
			    uint64_t now_ns, bool is_last)
{
	struct account_process *process = find_process(accounts, info);
	struct account_reading reading = {.metrics = process_metrics,
					  .n = TP_ARRAY_LEN(process_metrics),
					  .task = process->leader,
					  .born_ns = process->start_ns};
	if (now_ns < process->account.due_ns && !(is_last && info->tid == info->pid))
		return;
	process->account.due_ns = now_ns + PERIOD_NS;
	if (!read_process(accounts, info->pid, &reading))
		return;
	reading.now_ns = tp_clock_now_ns();
	account_update(accounts, &process->account, &reading, is_last);
	store_cpu_times(accounts, info->pid, reading.values);
}

void tp_task_accounting_read(struct tp_task_accounting *accounts, struct tp_task_account *account,
			     struct tp_task_tree_task *task, uint64_t now_ns, bool is_last)
{
	struct account_reading reading = {.metrics = task_metrics,
					  .n = TP_ARRAY_LEN(task_metrics),
					  .task = task->info.id,
					  .born_ns = task->info.start_ns};
	bool has_rested = account->read_ns && task->where != TP_TASK_TREE_UNKNOWN &&
			  task->where != TP_TASK_TREE_ON_CPU && task->n_runs == account->n_runs;
	account->due_ns = now_ns + PERIOD_NS;
	account->n_runs = task->n_runs;
	if (has_rested && !is_last) {
		account->read_ns = now_ns;
		account->is_put = false;
		account->delay_ratio = 0;
	} else if (read_task(accounts, account, task, &reading, is_last)) {
		reading.now_ns = tp_clock_now_ns();
		account->due_ns = now_ns + task_period_ns(accounts, account, &task->info, &reading);
		account->delay_ratio = delay_ratio(account, &reading);
		account_update(accounts, account, &reading, is_last);
	}
	account_process(accounts, &task->info, now_ns, is_last);
}

bool tp_task_accounting_peek(struct tp_task_accounting *accounts,
			     const struct tp_task_tree_task *leader)
{
	double values[N_PEEKED + 1];
	struct account_process *process = find_process(accounts, &leader->info);
	bool is_alone = process->account.values[N_PEEKED] == 1;
	if (is_alone && leader->where != TP_TASK_TREE_UNKNOWN &&
	    leader->where != TP_TASK_TREE_ON_CPU && leader->n_runs == process->glance_runs)
		return false;
	process->glance_runs = leader->n_runs;
	if (!read_process_stat(accounts, leader->info.pid, values))
		return true;
	memcpy(process->glance, values, sizeof(process->glance));
	process->glance_ns = tp_clock_now_ns();
	store_cpu_times(accounts, leader->info.pid, values);
	return true;
}

/* Emits the values of the last peek if it was after the last reading. */
static void emit_peek(struct tp_task_accounting *accounts, const struct account_process *process)
{
	struct account_reading reading = {.metrics = process_metrics,
					  .n = N_PEEKED,
					  .task = process->leader,
					  .born_ns = process->start_ns};
	if (process->glance_ns <= process->account.read_ns)
		return;
	if (process->account.read_ns == 0 && process->start_ns > accounts->started_ns)
		emit_task_start(accounts, &reading);
	emit_values(accounts, &reading, process->glance, process->glance_ns);
}

void tp_task_accounting_remove(struct tp_task_accounting *accounts, pid_t pid)
{
	uint64_t number;
	if (!tp_map_get(&accounts->processes, (uint64_t)pid, &number))
		return;
	emit_peek(accounts, process_of(number));
	free(process_of(number));
	tp_map_remove(&accounts->processes, (uint64_t)pid);
}
