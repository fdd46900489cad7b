/* SPDX-License-Identifier: Apache-2.0 */
/* Compares nice values, groups and weights of programs with those of the target. */
#include "yielding_programs.h"

#include "other_programs.h"
#include "task_tree.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/collect/host_info.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, TEXT_SIZE = 4096 };

/* Each step of nice is a factor of 1.25 in the share of a CPU (sched(7)): at this distance a
 * program gets 4 % of a CPU beside another one. */
enum { NICE_YIELDS = 14 };

/* The kernel's weights: of nice 0, and of SCHED_IDLE whatever its nice value. */
#define WEIGHT_NORMAL 1024.0
#define WEIGHT_IDLE   3.0
#define NICE_FACTOR   1.25

/* All that yield may have together, as a share of what the target has with one thread on each CPU:
 * with more they take from it what a user would notice. Chosen. */
#define WEIGHTS_MAX 0.1

/* The scheduling of the target's processes: the least nice one counts. */
struct target_rank {
	uint32_t nice;
	bool is_idle;
};

static bool is_process(const struct tp_task_tree_task *task)
{
	return task->info.tid == task->info.pid;
}

static struct target_rank rank_of_target(const struct tp_host *host,
					 const struct tp_task_tree *tree)
{
	struct target_rank rank = {.nice = UINT32_MAX, .is_idle = true};
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor))) {
		struct tp_procfs_stat stat;
		if (!is_process(task) || !tp_procfs_stat_read(&stat, host, task->info.pid, 0))
			continue;
		rank.nice = stat.nice < rank.nice ? stat.nice : rank.nice;
		rank.is_idle &= stat.policy == SCHED_IDLE;
	}
	return rank;
}

static bool is_lower(const struct tp_procfs_stat *stat, const struct target_rank *target)
{
	if (target->nice == UINT32_MAX || target->is_idle)
		return false;
	return stat->policy == SCHED_IDLE || stat->nice >= target->nice + NICE_YIELDS;
}

/* ---- groups ------------------------------------------------------------------------------- */

static const char *peek(const struct tp_host *host, pid_t pid, const char *file,
			char text[TEXT_SIZE])
{
	char path[PATH_SIZE];
	char relative[64];
	snprintf(relative, sizeof(relative), "/proc/%d/%s", (int)pid, file);
	if (tp_file_peek(tp_host_path(host, path, sizeof(path), relative), text, TEXT_SIZE) < 0)
		text[0] = '\0';
	return text;
}

static bool is_grouped_by_session(const struct tp_host *host)
{
	char path[PATH_SIZE];
	char text[8];
	return tp_file_peek(tp_host_path(host, path, sizeof(path),
					 "/proc/sys/kernel/sched_autogroup_enabled"),
			    text, sizeof(text)) > 0 &&
	       text[0] == '1';
}

/* True if "cpu" is in a list such as "cpu,cpuacct:/user". */
static bool lists_cpu(const char *controllers)
{
	while (strncmp(controllers, "cpu", 3) != 0 ||
	       (controllers[3] != ',' && controllers[3] != ':')) {
		controllers += strcspn(controllers, ",:");
		if (*controllers != ',')
			return false;
		controllers++;
	}
	return true;
}

/* Hashes the line of the group that shares out CPUs: that of the controller "cpu" where version 1
 * has it, else that of version 2, which lists none. */
static uint64_t hash_cgroup(const char *text)
{
	uint64_t hash = 0;
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *controllers = memchr(text, ':', length);
		if (controllers && lists_cpu(controllers + 1))
			return tp_hash_bytes(text, length);
		if (controllers && controllers[1] == ':')
			hash = tp_hash_bytes(text, length);
		text += length + (text[length] == '\n');
	}
	return hash;
}

static uint64_t group_of(const struct tp_host *host, pid_t pid, bool has_auto)
{
	char text[TEXT_SIZE];
	uint64_t hash = hash_cgroup(peek(host, pid, "cgroup", text));
	if (!has_auto)
		return hash;
	/* "/autogroup-12 nice 0" */
	peek(host, pid, "autogroup", text);
	return tp_hash_mix(hash, tp_hash_bytes(text, strcspn(text, " \n")));
}

static void drop_other_groups(struct tp_other_programs_entry *programs, size_t n,
			      const struct tp_host *host, const struct tp_task_tree *tree)
{
	struct tp_map groups = {0};
	bool has_auto = is_grouped_by_session(host);
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor)))
		if (is_process(task))
			tp_map_set(&groups, group_of(host, task->info.pid, has_auto), 1);
	for (size_t i = 0; i < n; i++)
		programs[i].is_yielding =
			programs[i].is_yielding &&
			tp_map_get(&groups, group_of(host, programs[i].pid, has_auto), NULL);
	tp_map_release(&groups);
}

/* ---- weights ------------------------------------------------------------------------------ */

static double weight_at(uint32_t nice)
{
	return WEIGHT_NORMAL / pow(NICE_FACTOR, nice);
}

/* The state of a process is that of its first thread, which may wait for the others. */
static double runnable_threads(const struct tp_host *host,
			       const struct tp_other_programs_entry *program)
{
	bool is_runnable = program->stat.state == 'R';
	char path[PATH_SIZE];
	char relative[64];
	if (program->stat.n_threads <= 1 || (!is_runnable && !program->used_ns))
		return is_runnable;
	snprintf(relative, sizeof(relative), "/proc/%d/task", (int)program->pid);
	DIR *threads = opendir(tp_host_path(host, path, sizeof(path), relative));
	if (!threads)
		return is_runnable ? program->stat.n_threads : 0;
	double n = 0;
	const struct dirent *entry;
	while ((entry = readdir(threads))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		struct tp_procfs_stat stat;
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		n += tid > 0 && tp_procfs_stat_read(&stat, host, program->pid, tid) &&
		     stat.state == 'R';
	}
	closedir(threads);
	return n;
}

static bool are_too_many(const struct tp_other_programs_entry *programs, size_t n,
			 const struct tp_host *host, const struct target_rank *target)
{
	double n_cpus = host->info.n_cpus ? host->info.n_cpus : 1;
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		if (programs[i].is_yielding)
			sum += runnable_threads(host, &programs[i]) *
			       (programs[i].stat.policy == SCHED_IDLE
					? WEIGHT_IDLE
					: weight_at(programs[i].stat.nice));
	return sum > WEIGHTS_MAX * n_cpus * weight_at(target->nice);
}

void tp_yielding_programs_judge(struct tp_other_programs_entry *programs, size_t n,
				const struct tp_host *host, const struct tp_task_tree *tree)
{
	const struct target_rank target = rank_of_target(host, tree);
	bool is_any = false;
	for (size_t i = 0; i < n; i++) {
		programs[i].is_yielding = is_lower(&programs[i].stat, &target);
		is_any |= programs[i].is_yielding;
	}
	if (!is_any)
		return;
	drop_other_groups(programs, n, host, tree);
	if (!are_too_many(programs, n, host, &target))
		return;
	for (size_t i = 0; i < n; i++)
		programs[i].is_yielding = false;
}
