/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/stat of all processes. */
#include "other_programs.h"

#include "procfs_stat.h"
#include "task_tree.h"
#include "yielding_programs.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/collect/host_info.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, KTHREADD = 2, GENERATIONS_MAX = 64 };

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
	free(others->programs);
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

/* ---- list of programs --------------------------------------------------------------------- */

static struct tp_other_programs_entry *find(const struct tp_other_programs *others, pid_t pid)
{
	size_t at;
	TP_FIND_FIRST(at, 0, others->n_programs, others->programs[at].pid >= pid);
	return at < others->n_programs && others->programs[at].pid == pid ? &others->programs[at]
									  : NULL;
}

/* The same process, not a later one with its pid. */
static struct tp_other_programs_entry *find_same(const struct tp_other_programs *others,
						 const struct tp_other_programs_entry *program)
{
	struct tp_other_programs_entry *found = find(others, program->pid);
	return found && found->stat.start_ticks == program->stat.start_ticks ? found : NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct tp_other_programs_entry *one = a;
	const struct tp_other_programs_entry *two = b;
	return (one->pid > two->pid) - (one->pid < two->pid);
}

static uint64_t difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t cpu_ns(const struct tp_other_programs_entry *program)
{
	return program->stat.utime_ns + program->stat.stime_ns;
}

/* A process that started since the last read has used all of its time since then. Of one that is
 * older, but was not seen then, nobody knows when it used its time. */
static void compare(struct tp_other_programs_entry *program, const struct tp_other_programs *before)
{
	const struct tp_other_programs_entry *old = find_same(before, program);
	bool is_new = !old && before->read_ns &&
		      tp_procfs_start_ns(program->stat.start_ticks + 1) >= before->read_ns;
	if (old) {
		program->used_ns = difference(cpu_ns(program), cpu_ns(old));
		program->by_ended_ns = difference(program->stat.children_ns, old->stat.children_ns);
		program->yielded_ns = old->yielded_ns;
		program->last_value_ns = old->last_value_ns;
		program->has_marks = old->has_marks;
	} else if (is_new) {
		program->used_ns = cpu_ns(program);
		program->by_ended_ns = program->stat.children_ns;
	} else {
		program->last_value_ns = cpu_ns(program);
	}
}

/* When a child ends, its parent's children have used all that it used in its life. Takes off what
 * it had used at the last read: from its parent, or from who remains above if that ended, too. */
static void subtract_earlier_time(struct tp_other_programs *others,
				  const struct tp_other_programs *before)
{
	for (size_t i = 0; i < before->n_programs; i++) {
		const struct tp_other_programs_entry *ended = &before->programs[i];
		const struct tp_other_programs_entry *above = ended;
		struct tp_other_programs_entry *heir = find_same(others, ended);
		if (heir)
			continue;
		for (int k = 0; k < GENERATIONS_MAX && above && !heir; k++) {
			above = find(before, above->stat.ppid);
			heir = above ? find_same(others, above) : NULL;
		}
		if (heir)
			heir->by_ended_ns = difference(heir->by_ended_ns,
						       cpu_ns(ended) + ended->stat.children_ns);
	}
}

static bool is_other_program(const struct tp_other_programs *others, pid_t pid)
{
	return pid > 0 && pid != KTHREADD && pid != getpid() &&
	       !tp_task_tree_find(others->tree, pid);
}

/* Excludes what can be neither stopped nor moved: kernel threads, and processes that ended. The
 * latter may be the target's own, because the task tree forgets them at their exit, unless they
 * were seen here before. Their parents have not yet got their time. */
static bool is_listed(const struct tp_other_programs_entry *program,
		      const struct tp_other_programs *before)
{
	const struct tp_procfs_stat *stat = &program->stat;
	return stat->ppid != KTHREADD && stat->state != 'X' &&
	       (stat->state != 'Z' || find_same(before, program));
}

static void list_programs(struct tp_other_programs *others, DIR *proc,
			  const struct tp_other_programs *before)
{
	const struct dirent *entry;
	while ((entry = readdir(proc))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		struct tp_other_programs_entry program = {
			.pid = (pid_t)strtol(entry->d_name, NULL, 10)};
		if (!is_other_program(others, program.pid) ||
		    !tp_procfs_stat_read(&program.stat, others->host, program.pid, 0) ||
		    !is_listed(&program, before))
			continue;
		compare(&program, before);
		TP_ARRAY_PUSH(others->programs, others->n_programs, others->programs_capacity) =
			program;
	}
	if (others->n_programs)
		qsort(others->programs, others->n_programs, sizeof(*others->programs), by_pid);
	subtract_earlier_time(others, before);
}

/* ---- what is emitted ---------------------------------------------------------------------- */

static void put_use(struct tp_other_programs *others, struct tp_other_programs_entry *program,
		    uint64_t before_ns, uint64_t now_ns)
{
	uint64_t value_ns = difference(cpu_ns(program), program->yielded_ns);
	bool is_used = before_ns && program->stat.state != 'Z' &&
		       value_ns > program->last_value_ns &&
		       (double)(value_ns - program->last_value_ns) >=
			       CPUS_MIN * (double)(now_ns - before_ns);
	if (!is_used)
		return;
	if (!program->has_marks)
		put_mark(others, program->pid, program->stat.comm, before_ns,
			 program->last_value_ns);
	put_mark(others, program->pid, program->stat.comm, now_ns, value_ns);
	program->last_value_ns = value_ns;
	program->has_marks = true;
}

/* Compilers come and go between two reads, and then the time of their parents' children has
 * them. */
static void put_programs(struct tp_other_programs *others, uint64_t before_ns, uint64_t now_ns)
{
	for (size_t i = 0; i < others->n_programs; i++) {
		struct tp_other_programs_entry *program = &others->programs[i];
		if (program->is_yielding) {
			program->yielded_ns += program->used_ns;
			others->yielding_ns += program->used_ns + program->by_ended_ns;
		} else {
			put_use(others, program, before_ns, now_ns);
		}
	}
	tp_sink_gauge(others->sink, TP_METRIC_CPU_YIELDING, TP_NO_TASK, now_ns,
		      (double)others->yielding_ns);
}

void tp_other_programs_read(struct tp_other_programs *others, uint64_t now_ns, bool must)
{
	char path[PATH_SIZE];
	if ((!must && now_ns < others->due_ns) || now_ns <= others->read_ns)
		return;
	uint64_t began_ns = tp_clock_self_cpu_ns();
	DIR *proc = opendir(tp_host_path(others->host, path, sizeof(path), "/proc"));
	if (proc) {
		/* Processes that ended are forgotten: builds start thousands of them in an hour. */
		const struct tp_other_programs before = *others;
		others->programs = NULL;
		others->n_programs = others->programs_capacity = 0;
		list_programs(others, proc, &before);
		closedir(proc);
		free(before.programs);
		tp_yielding_programs_judge(others->programs, others->n_programs, others->host,
					   others->tree);
		put_programs(others, before.read_ns, now_ns);
	}
	others->read_ns = now_ns;
	uint64_t pause_ns = (tp_clock_self_cpu_ns() - began_ns) * COST_FACTOR;
	others->due_ns = now_ns + (pause_ns > PERIOD_NS ? pause_ns : PERIOD_NS);
}
