/* SPDX-License-Identifier: Apache-2.0 */
/* Inspects every thread of a program once: state, wait, native and Python stack. */
#include "trainprof/collect/thread_stacks.h"

#include "collect/callstack/python_processes.h"
#include "collect/offcpu/thread_inspect.h"
#include "collect/process/process_access.h"
#include "collect/process/procfs_stat.h"
#include "collect/process/target_attach.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_SIZE = 4096,
	SCHED_SIZE = 512,
	STACK_BYTES = 60 * 1024,
	TRIES = 3, /* for a thread that continues while its stack is copied */
	FILES_KEPT = 64,
};

/* A process is searched for an interpreter when it is found and again this time later; the second
 * call passes a time in the future instead of waiting. */
#define SEARCH_AFTER_NS TP_NS_PER_S

struct reading {
	const struct tp_host *host;
	struct tp_trace_builder builder;
	struct tp_task_tree *tree;
	struct tp_python_processes *pythons;
	struct tp_inspector inspector;
	struct tp_thread_stack *items; /* heap */
	size_t n;
	size_t capacity;
	double clock_ms; /* current time of the scheduler; 0 = unknown */
};

static const char *thread_path(const struct reading *reading, char *out, const struct tp_task *task,
			       const char *name)
{
	char below[96];
	snprintf(below, sizeof(below), "/proc/%d/task/%d/%s", (int)task->pid, (int)task->tid, name);
	return tp_host_path(reading->host, out, PATH_SIZE, below);
}

/* Returns when the thread last ran, on the scheduler's clock, if the kernel provides it
 * (CONFIG_SCHED_DEBUG). It is the first value of the file. 0 = unknown. */
static double last_run_ms(const char *path)
{
	static const char name[] = "se.exec_start";
	char text[SCHED_SIZE];
	if (tp_file_peek(path, text, sizeof(text)) <= 0)
		return 0;
	const char *line = strstr(text, name);
	const char *colon = line ? strchr(line, ':') : NULL;
	return colon ? strtod(colon + 1, NULL) : 0;
}

static void read_waiting_time(const struct reading *reading, struct tp_thread_stack *out,
			      const struct tp_task *task)
{
	char path[PATH_SIZE];
	double ran_ms = last_run_ms(thread_path(reading, path, task, "sched"));
	if (ran_ms <= 0 || reading->clock_ms <= 0 || out->state != TP_STATE_BLOCKED)
		return;
	out->has_waits = true;
	out->waits_ns =
		reading->clock_ms > ran_ms ? (uint64_t)((reading->clock_ms - ran_ms) * 1e6) : 0;
}

static void read_kernel_function(const struct reading *reading, struct tp_thread_stack *out,
				 const struct tp_task *task)
{
	char path[PATH_SIZE];
	if (tp_file_peek(thread_path(reading, path, task, "wchan"), out->kernel,
			 sizeof(out->kernel)) <= 0 ||
	    strcmp(out->kernel, "0") == 0)
		out->kernel[0] = '\0';
}

static void read_thread(struct reading *reading, const struct tp_task_tree_task *task)
{
	struct tp_procfs_stat stat;
	struct tp_inspect_state state = {0};
	struct tp_thread_stack found = {.task = task->info.id};
	bool is_there = false;
	for (int i = 0; i < TRIES && (i == 0 || state.lacks_stack); i++)
		is_there = tp_inspect_thread(&reading->inspector, &state, task, tp_clock_now_ns());
	if (!tp_procfs_stat_read(&stat, reading->host, task->info.pid, task->info.tid))
		return; /* it has ended */
	found.letter = stat.state;
	found.state = stat.state == 'R' ? TP_STATE_RUNNABLE : TP_STATE_BLOCKED;
	if (is_there) {
		found.state = state.sight.state;
		found.cause = state.sight.cause;
		found.target = state.sight.target;
		found.stack = state.sight.stack;
	}
	read_kernel_function(reading, &found, &task->info);
	read_waiting_time(reading, &found, &task->info);
	tp_inspect_state_release(&reading->inspector, &state);
	TP_ARRAY_PUSH(reading->items, reading->n, reading->capacity) = found;
}

static void reading_open(struct reading *reading, const struct tp_host *host)
{
	*reading = (struct reading){.host = host};
	tp_trace_builder_init(&reading->builder);
	reading->tree = tp_task_tree_new(host, &reading->builder.sink);
	reading->pythons = tp_python_processes_new(host, reading->tree);
	tp_inspector_init(&reading->inspector, host, &reading->builder.sink, reading->pythons,
			  STACK_BYTES);
	reading->inspector.shelf.capacity = FILES_KEPT;
}

static void reading_close(struct reading *reading)
{
	tp_inspector_release(&reading->inspector);
	tp_python_processes_free(reading->pythons);
	tp_task_tree_free(reading->tree);
	tp_trace_builder_release(&reading->builder);
}

static int by_process(const void *a, const void *b)
{
	const struct tp_thread_stack *x = a;
	const struct tp_thread_stack *y = b;
	return (x->task > y->task) - (x->task < y->task);
}

static void read_all(struct reading *reading, pid_t pid)
{
	char path[PATH_SIZE];
	uint64_t now_ns = tp_clock_now_ns();
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	tp_task_tree_scan_existing(reading->tree, pid, now_ns);
	tp_python_processes_search(reading->pythons, now_ns);
	tp_python_processes_search(reading->pythons, now_ns + SEARCH_AFTER_NS);
	reading->clock_ms =
		last_run_ms(tp_host_path(reading->host, path, sizeof(path), "/proc/self/sched"));
	while ((task = tp_task_tree_next(reading->tree, &cursor)))
		read_thread(reading, task);
	if (reading->n)
		qsort(reading->items, reading->n, sizeof(*reading->items), by_process);
}

enum tp_status tp_thread_stacks_read(struct tp_thread_stacks *out, const struct tp_host *host,
				     pid_t pid, struct tp_availability *access,
				     struct tp_error *err)
{
	struct tp_target_attachment attachment;
	struct reading reading;
	enum tp_status status = tp_target_attachment_open(&attachment, pid, err);
	if (status)
		return status;
	tp_process_access_probe_pid(host, pid, access);
	reading_open(&reading, host);
	read_all(&reading, pid);
	tp_target_attachment_close(&attachment);
	const struct tp_run_info run = {.mode = TP_MODE_ATTACH, .pid = pid};
	tp_trace_build(&out->trace, &reading.builder, &run);
	out->items = reading.items;
	out->n = reading.n;
	reading_close(&reading);
	return TP_OK;
}

void tp_thread_stacks_release(struct tp_thread_stacks *stacks)
{
	tp_trace_release(&stacks->trace);
	free(stacks->items);
}
