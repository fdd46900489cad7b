/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the interpreters of the target's processes and keeps them open. */
#include "python_processes.h"

#include "collect/machine/stage_clock.h"
#include "counting_thread.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/host_info.h"

#include <stdio.h>
#include <stdlib.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

/* Delays between searches of a process: the first when the loader has mapped the libraries, then
 * increasingly rare. */
#define DELAY_MIN_NS     (20 * TP_NS_PER_MS)
#define DELAY_MAX_NS     (16 * TP_NS_PER_S)
#define SEARCH_PERIOD_NS (10 * TP_NS_PER_MS)

struct interpreter_process {
	uint32_t task; /* of its leader */
	pid_t pid;
	uint64_t exec_ns;
	struct tp_python *python; /* NULL = not found so far */
	uint64_t number;          /* of the interpreter, from 1 on */
	uint64_t due_ns;
	uint64_t delay_ns;
	uint64_t seen_in; /* the last search that found it */
	struct tp_counting_thread counting;
};

struct tp_python_processes {
	const struct tp_host *host;
	struct tp_task_tree *tree;
	struct interpreter_process *processes;
	size_t n;
	size_t capacity;
	struct tp_map by_pid; /* pid -> index */
	uint64_t searched_ns;
	uint64_t n_searches;
	struct tp_python_processes_stats counts;
	uint64_t charged_ns;
	tp_python_counters_fn *listen;
	void *listener;
	char refusal[240];
};

struct tp_python_processes *tp_python_processes_new(const struct tp_host *host,
						    struct tp_task_tree *tree)
{
	struct tp_python_processes *pythons = tp_alloc(sizeof(*pythons));
	pythons->host = host;
	pythons->tree = tree;
	return pythons;
}

static void add_counts(struct tp_python_processes_stats *sum, const struct tp_python_counts *counts)
{
	sum->n_read += counts->n[TP_PYTHON_READ];
	sum->n_unknown += counts->n[TP_PYTHON_MOVING] + counts->n[TP_PYTHON_LOST];
}

static void process_close(struct tp_python_processes *pythons, struct interpreter_process *process)
{
	if (!process->python)
		return;
	add_counts(&pythons->counts, tp_python_counts(process->python));
	tp_python_close(process->python);
	process->python = NULL;
}

void tp_python_processes_free(struct tp_python_processes *pythons)
{
	for (size_t i = 0; i < pythons->n; i++)
		process_close(pythons, &pythons->processes[i]);
	tp_map_release(&pythons->by_pid);
	free(pythons->processes);
	free(pythons);
}

static struct interpreter_process *process_of(const struct tp_python_processes *pythons, pid_t pid)
{
	uint64_t at;
	if (!tp_map_get(&pythons->by_pid, (uint64_t)pid, &at))
		return NULL;
	return &pythons->processes[at];
}

static void process_begin(struct interpreter_process *process, const struct tp_task *info,
			  uint64_t now_ns)
{
	*process = (struct interpreter_process){.task = info->id,
						.pid = info->pid,
						.exec_ns = info->exec_ns,
						.due_ns = now_ns + DELAY_MIN_NS,
						.delay_ns = DELAY_MIN_NS};
}

static void process_try(struct tp_python_processes *pythons, struct interpreter_process *process,
			uint64_t now_ns)
{
	struct tp_error why = {0};
	char path[4096];
	const char *proc = tp_host_path(pythons->host, path, sizeof(path), "/proc");
	enum tp_status status = tp_python_open(&process->python, proc, process->pid, &why);
	process->delay_ns *= 2;
	process->due_ns =
		now_ns + (process->delay_ns < DELAY_MAX_NS ? process->delay_ns : DELAY_MAX_NS);
	if (status == TP_OK) {
		const struct tp_python_info *about = tp_python_info(process->python);
		process->number = ++pythons->counts.n_found;
		tp_info("process %d runs Python %u.%u", (int)process->pid, about->major,
			about->minor);
	} else if (status != TP_ABSENT) {
		tp_info("process %d: %s", (int)process->pid, why.text);
		pythons->counts.n_refused++;
		process->due_ns = UINT64_MAX;
		if (!pythons->refusal[0])
			snprintf(pythons->refusal, sizeof(pythons->refusal), "%s", why.text);
	}
}

static void process_check(struct tp_python_processes *pythons, const struct tp_task *info,
			  uint64_t now_ns)
{
	struct interpreter_process *process = process_of(pythons, info->pid);
	if (!process) {
		tp_map_set(&pythons->by_pid, (uint64_t)info->pid, pythons->n);
		process = &TP_ARRAY_PUSH(pythons->processes, pythons->n, pythons->capacity);
		process_begin(process, info, now_ns);
	} else if (process->task != info->id || process->exec_ns != info->exec_ns) {
		process_close(pythons, process);
		process_begin(process, info, now_ns);
	}
	process->seen_in = pythons->n_searches;
	if (!process->python && now_ns >= process->due_ns)
		process_try(pythons, process, now_ns);
}

/* Removes the entries of processes that are gone. */
static void remove_ended(struct tp_python_processes *pythons)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < pythons->n; i++) {
		struct interpreter_process *process = &pythons->processes[i];
		if (process->seen_in != pythons->n_searches) {
			process_close(pythons, process);
			tp_map_remove(&pythons->by_pid, (uint64_t)process->pid);
			continue;
		}
		tp_map_set(&pythons->by_pid, (uint64_t)process->pid, n_kept);
		pythons->processes[n_kept++] = *process;
	}
	pythons->n = n_kept;
}

void tp_python_processes_search(struct tp_python_processes *pythons, uint64_t now_ns)
{
	if (now_ns - pythons->searched_ns < SEARCH_PERIOD_NS)
		return;
	pythons->searched_ns = now_ns;
	pythons->n_searches++;
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(pythons->tree, &cursor)))
		if (task->info.tid == task->info.pid)
			process_check(pythons, &task->info, now_ns);
	remove_ended(pythons);
}

bool tp_python_processes_has(const struct tp_python_processes *pythons,
			     const struct tp_task_tree_task *task)
{
	const struct interpreter_process *process = process_of(pythons, task->info.pid);
	return process && process->python;
}

bool tp_python_processes_read(struct tp_python_processes *pythons,
			      const struct tp_task_tree_task *task, struct tp_python_places *out)
{
	out->n = 0;
	out->is_unknown = false;
	struct interpreter_process *process = process_of(pythons, task->info.pid);
	if (!process || !process->python)
		return false;
	struct tp_stage_clock *stages = tp_task_tree_stages(pythons->tree);
	enum tp_stage before = tp_stage_enter(stages, TP_STAGE_PYTHON);
	out->owner = process->number;
	size_t cut; /* a very deep recursion: its middle is missing */
	enum tp_python_outcome outcome = tp_python_read(process->python, task->info.tid, out->items,
							TP_ARRAY_LEN(out->items), &out->n, &cut);
	tp_stage_enter(stages, before);
	out->is_unknown = outcome != TP_PYTHON_READ && outcome != TP_PYTHON_NONE;
	if (outcome != TP_PYTHON_READ)
		out->n = 0;
	return out->n > 0;
}

bool tp_python_processes_is_counting(struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task, bool is_sample)
{
	bool is_first = task->info.tid == task->info.pid;
	struct interpreter_process *process = process_of(pythons, task->info.pid);
	if (!process)
		return false;
	if (is_sample)
		tp_counting_thread_add(&process->counting, task->info.tid, is_first);
	return is_first || tp_counting_thread_is(&process->counting, task->info.tid);
}

size_t tp_python_processes_count_loops(struct tp_python_processes *pythons,
				       const struct tp_task_tree_task *task,
				       struct tp_python_counter *out, size_t max)
{
	struct interpreter_process *process = process_of(pythons, task->info.pid);
	if (!process || !process->python)
		return 0;
	struct tp_stage_clock *stages = tp_task_tree_stages(pythons->tree);
	enum tp_stage before = tp_stage_enter(stages, TP_STAGE_COUNTERS);
	size_t n = tp_python_count(process->python, out, max);
	tp_stage_enter(stages, before);
	return n;
}

bool tp_python_processes_count_is_at(const struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task, uint64_t address)
{
	const struct interpreter_process *process = process_of(pythons, task->info.pid);
	return process && process->python && tp_python_count_is_at(process->python, address);
}

void tp_python_processes_listen(struct tp_python_processes *pythons, tp_python_counters_fn *listen,
				void *context)
{
	pythons->listen = listen;
	pythons->listener = context;
}

void tp_python_processes_notify(const struct tp_python_processes *pythons,
				const struct tp_task_tree_task *task,
				const struct tp_python_counter *counters, const uint32_t *names,
				size_t n, uint64_t now_ns)
{
	if (pythons->listen)
		pythons->listen(pythons->listener, task, counters, names, n, now_ns);
}

bool tp_python_processes_is_gil(struct tp_python_processes *pythons,
				const struct tp_task_tree_task *task, uint64_t futex_address)
{
	struct interpreter_process *process = process_of(pythons, task->info.pid);
	return process && process->python && futex_address &&
	       tp_python_is_gil_wait(process->python, futex_address);
}

pid_t tp_python_processes_gil_holder(struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task)
{
	struct interpreter_process *process = process_of(pythons, task->info.pid);
	return process && process->python ? tp_python_gil_holder(process->python) : 0;
}

void tp_python_processes_add_cost(struct tp_python_processes *pythons, uint64_t cpu_ns)
{
	pythons->charged_ns += cpu_ns;
}

uint64_t tp_python_processes_cost_ns(const struct tp_python_processes *pythons)
{
	return pythons->charged_ns;
}

void tp_python_processes_get_stats(const struct tp_python_processes *pythons,
				   struct tp_python_processes_stats *out)
{
	*out = pythons->counts;
	for (size_t i = 0; i < pythons->n; i++)
		if (pythons->processes[i].python)
			add_counts(out, tp_python_counts(pythons->processes[i].python));
}

const char *tp_python_processes_first_error(const struct tp_python_processes *pythons)
{
	return pythons->refusal;
}
