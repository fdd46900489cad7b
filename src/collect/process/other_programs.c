/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/stat of all processes. */
#include "other_programs.h"

#include "procfs_stat.h"
#include "task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, KTHREADD = 2, HAS_MARKS = 1 };

/* Each step of nice is a factor of 1.25 in the share of a CPU (sched(7)): at this distance a
 * program gets 4 % of a CPU beside another one. */
enum { NICE_YIELDS = 14 };

#define PERIOD_NS   (4 * TP_NS_PER_S)
#define COST_FACTOR 5000 /* this takes at most a five-thousandth of one CPU */
#define CPUS_MIN    0.03 /* three ticks per second; accounting is too coarse for less */

void tp_other_programs_init(struct tp_other_programs *others, const struct tp_host *host,
			    struct tp_sink *sink, const struct tp_task_tree *tree)
{
	*others = (struct tp_other_programs){.host = host, .sink = sink, .tree = tree};
}

void tp_other_programs_release(struct tp_other_programs *others)
{
	tp_map_release(&others->known);
}

static void put_mark(struct tp_other_programs *others, pid_t pid, const char *comm,
		     uint64_t time_ns, uint64_t cpu_ns)
{
	char name[96];
	snprintf(name, sizeof(name), "%d %s", (int)pid, comm);
	const struct tp_mark mark = {.task = TP_NO_TASK,
				     .kind = TP_MARK_OTHER,
				     .name = tp_sink_string(others->sink, name),
				     .time_ns = time_ns,
				     .value = cpu_ns};
	tp_sink_mark(others->sink, &mark);
	others->n_put++;
}

/* A process that started since the last read has used all of its time since then. Of one that is
 * older, but was not seen then, nobody knows when it used its time. */
static void read_one(struct tp_other_programs *others, struct tp_map *seen, pid_t pid,
		     const struct tp_procfs_stat *stat, uint64_t now_ns)
{
	uint64_t key = tp_hash_mix((uint64_t)pid, stat->start_ticks);
	uint64_t cpu_ns = stat->utime_ns + stat->stime_ns;
	uint64_t before = 0;
	bool is_first = !others->read_ns;
	if (!tp_map_get(&others->known, key, &before) &&
	    (is_first || tp_procfs_start_ns(stat->start_ticks + 1) < others->read_ns))
		before = cpu_ns << 1;
	uint64_t before_ns = before >> 1;
	bool is_used =
		!is_first && cpu_ns > before_ns &&
		(double)(cpu_ns - before_ns) >= CPUS_MIN * (double)(now_ns - others->read_ns);
	if (is_used) {
		if (!(before & HAS_MARKS))
			put_mark(others, pid, stat->comm, others->read_ns, before_ns);
		put_mark(others, pid, stat->comm, now_ns, cpu_ns);
		before = cpu_ns << 1 | HAS_MARKS;
	}
	tp_map_set(seen, key, before);
}

/* Excludes what can be neither stopped nor moved: kernel threads, and processes that ended. The
 * latter may be the target's own, because the task tree forgets them at their exit. */
static bool is_running(const struct tp_procfs_stat *stat)
{
	return stat->ppid != KTHREADD && stat->state != 'Z' && stat->state != 'X';
}

/* How the target's processes are scheduled: the least nice one counts. */
struct target_rank {
	uint32_t nice;
	bool is_idle;
};

static struct target_rank rank_of_target(const struct tp_other_programs *others)
{
	struct target_rank rank = {.nice = UINT32_MAX, .is_idle = true};
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(others->tree, &cursor))) {
		struct tp_procfs_stat stat;
		if (task->info.tid != task->info.pid ||
		    !tp_procfs_stat_read(&stat, others->host, task->info.pid, 0))
			continue;
		rank.nice = stat.nice < rank.nice ? stat.nice : rank.nice;
		rank.is_idle &= stat.policy == SCHED_IDLE;
	}
	return rank;
}

static bool yields_to(const struct target_rank *target, const struct tp_procfs_stat *stat)
{
	if (target->nice == UINT32_MAX || target->is_idle)
		return false;
	return stat->policy == SCHED_IDLE || stat->nice >= target->nice + NICE_YIELDS;
}

/* Compilers come and go between two reads, and then the time of their parents' children has them.
 * The sum falls when the last one that knew of them ends. */
static void put_yielding(struct tp_other_programs *others, uint64_t sum_ns, uint64_t now_ns)
{
	if (others->read_ns && sum_ns > others->yielding_sum_ns)
		others->yielding_ns += sum_ns - others->yielding_sum_ns;
	others->yielding_sum_ns = sum_ns;
	tp_sink_gauge(others->sink, TP_METRIC_CPU_YIELDING, TP_NO_TASK, now_ns,
		      (double)others->yielding_ns);
}

static bool is_other_program(const struct tp_other_programs *others, pid_t pid)
{
	return pid > 0 && pid != KTHREADD && pid != getpid() &&
	       !tp_task_tree_find(others->tree, pid);
}

void tp_other_programs_read(struct tp_other_programs *others, uint64_t now_ns, bool must)
{
	char path[PATH_SIZE];
	if ((!must && now_ns < others->due_ns) || now_ns <= others->read_ns)
		return;
	uint64_t began_ns = tp_clock_self_cpu_ns();
	DIR *proc = opendir(tp_host_path(others->host, path, sizeof(path), "/proc"));
	const struct dirent *entry;
	struct tp_map seen = {0};
	const struct target_rank target = rank_of_target(others);
	uint64_t yielding_ns = 0;
	while (proc && (entry = readdir(proc))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct tp_procfs_stat stat;
		if (!is_other_program(others, pid) ||
		    !tp_procfs_stat_read(&stat, others->host, pid, 0) || !is_running(&stat))
			continue;
		if (yields_to(&target, &stat))
			yielding_ns += stat.utime_ns + stat.stime_ns + stat.children_ns;
		else
			read_one(others, &seen, pid, &stat, now_ns);
	}
	if (proc) {
		closedir(proc);
		put_yielding(others, yielding_ns, now_ns);
		/* Processes that ended are forgotten: builds start thousands of them in an hour. */
		tp_map_release(&others->known);
		others->known = seen;
	}
	others->read_ns = now_ns;
	uint64_t pause_ns = (tp_clock_self_cpu_ns() - began_ns) * COST_FACTOR;
	others->due_ns = now_ns + (pause_ns > PERIOD_NS ? pause_ns : PERIOD_NS);
}
