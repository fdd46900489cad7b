/* SPDX-License-Identifier: Apache-2.0 */
/* Inspects a thread that is off CPU: system call, descriptor, kernel function, native stack. */
#include "thread_inspect.h"

#include "collect/callstack/loop_counter.h"
#include "collect/machine/stage_clock.h"
#include "collect/process/procfs.h"
#include "collect/process/procfs_stat.h"
#include "syscall_table.h"
#include "wait_cause.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/process_memory.h"
#include "trainprof/stack/unwind.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAPS_AGE_NS (5 * TP_NS_PER_S)

enum { PATH_SIZE = 4096, SELECT_MAX = 1024 };

void tp_inspector_init(struct tp_inspector *looker, const struct tp_host *host,
		       struct tp_sink *sink, struct tp_python_processes *pythons,
		       uint32_t stack_bytes)
{
	enum { LIMIT = (TP_PROCESS_MEMORY_MAX_PAGES - 1) * TP_PROCESS_MEMORY_PAGE };
	memset(looker, 0, sizeof(*looker));
	looker->host = host;
	looker->sink = sink;
	looker->pythons = pythons;
	looker->stack_bytes = stack_bytes < LIMIT ? stack_bytes : LIMIT;
	looker->stack = tp_alloc(looker->stack_bytes + 1);
	tp_stack_intern_init(&looker->stackput, sink);
}

void tp_inspector_release(struct tp_inspector *looker)
{
	tp_stack_intern_release(&looker->stackput);
	tp_map_release(&looker->maps_read_ns);
	free(looker->stack);
}

void tp_inspect_state_release(struct tp_inspector *looker, struct tp_inspect_state *looked)
{
	tp_fd_cache_drop(&looker->shelf, &looked->call_file);
	free(looked->frames);
	looked->frames = NULL;
}

/* Data collected about one thread. */
struct inspection {
	struct tp_inspector *looker;
	const struct tp_task_tree_task *task;
	pid_t pid;
	pid_t tid;
	struct tp_wait_facts facts;
	char link[PATH_SIZE];
	char wchan[128];
};

/* The large buffers are not zeroed: that would cost more than most inspections. */
static void inspection_init(struct inspection *inspection, struct tp_inspector *looker,
			    const struct tp_task_tree_task *task)
{
	inspection->looker = looker;
	inspection->task = task;
	inspection->pid = task->info.pid;
	inspection->tid = task->info.tid;
	inspection->facts =
		(struct tp_wait_facts){.link = inspection->link, .wchan = inspection->wchan};
	inspection->link[0] = '\0';
	inspection->wchan[0] = '\0';
}

static const char *task_path(const struct inspection *inspection, char *out, size_t size,
			     const char *name)
{
	char below[96];
	snprintf(below, sizeof(below), "/proc/%d/task/%d/%s", (int)inspection->pid,
		 (int)inspection->tid, name);
	return tp_host_path(inspection->looker->host, out, size, below);
}

/* Reads the syscall file into out. Returns false with errno if it cannot be read. */
static bool read_call_text(struct inspection *inspection, struct tp_inspect_state *looked,
			   char *out, size_t size)
{
	char path[PATH_SIZE];
	path[0] = '\0';
	if (!looked->call_file.is_open)
		task_path(inspection, path, sizeof(path), "syscall");
	return tp_fd_cache_read(&inspection->looker->shelf, &looked->call_file, path, out, size);
}

/* Returns the one descriptor that is polled; -1 if there are several or it is unknown. */
static int polled_fd(struct inspection *inspection)
{
	const struct tp_procfs_syscall *call = &inspection->facts.call;
	struct pollfd one;
	inspection->facts.is_timeout_only = call->args[1] == 0;
	if (call->args[1] != 1 ||
	    !tp_process_memory_read(inspection->pid, call->args[0], &one, sizeof(one)))
		return -1;
	return one.fd;
}

/* The same for select(): the only bit in all three sets. */
static int selected_fd(struct inspection *inspection)
{
	const struct tp_procfs_syscall *call = &inspection->facts.call;
	uint64_t n_bits = call->args[0];
	int found = -1;
	inspection->facts.is_timeout_only =
		n_bits == 0 || (!call->args[1] && !call->args[2] && !call->args[3]);
	if (n_bits > SELECT_MAX)
		return -1;
	for (int set = 1; set <= 3; set++) {
		uint64_t words[SELECT_MAX / 64] = {0};
		size_t size = (n_bits + 63) / 64 * 8;
		if (!call->args[set])
			continue;
		if (!tp_process_memory_read(inspection->pid, call->args[set], words, size))
			return -1;
		for (uint64_t bit = 0; bit < n_bits; bit++) {
			if (!(words[bit / 64] >> (bit % 64) & 1))
				continue;
			if (found >= 0 && found != (int)bit)
				return -1;
			found = (int)bit;
		}
	}
	return found;
}

static int waited_fd(struct inspection *inspection)
{
	const struct tp_wait_facts *facts = &inspection->facts;
	if (!facts->row)
		return -1;
	if (facts->row->kind == TP_SYSCALL_POLL)
		return polled_fd(inspection);
	if (facts->row->kind == TP_SYSCALL_SELECT)
		return selected_fd(inspection);
	return facts->row->fd >= 0 ? (int)facts->call.args[facts->row->fd] : -1;
}

static void read_link(struct inspection *inspection)
{
	char below[64];
	char path[PATH_SIZE];
	int fd = waited_fd(inspection);
	if (fd < 0)
		return;
	snprintf(below, sizeof(below), "/proc/%d/fd/%d", (int)inspection->pid, fd);
	ssize_t len = readlink(tp_host_path(inspection->looker->host, path, sizeof(path), below),
			       inspection->link, sizeof(inspection->link) - 1);
	inspection->link[len > 0 ? len : 0] = '\0';
}

static void read_state(struct inspection *inspection)
{
	struct tp_procfs_stat stat;
	if (tp_procfs_stat_read(&stat, inspection->looker->host, inspection->pid, inspection->tid))
		inspection->facts.state = stat.state;
}

static void read_wchan(struct inspection *inspection)
{
	char path[PATH_SIZE];
	tp_file_peek(task_path(inspection, path, sizeof(path), "wchan"), inspection->wchan,
		     sizeof(inspection->wchan));
}

/* Reads only what the decision depends on: to open, read and close a file costs 5 us (stat: 10),
 * which dominates the cost of polling if two threads read files. */
static void read_facts(struct inspection *inspection, const struct tp_inspect_state *looked)
{
	struct tp_wait_facts *facts = &inspection->facts;
	if (facts->has_call && facts->call.is_running)
		return;
	const struct tp_syscall *row = facts->has_call ? facts->row : NULL;
	if (row) {
		read_link(inspection);
		if (row->kind != TP_SYSCALL_FD && row->kind != TP_SYSCALL_OTHER)
			return;
		bool is_path = inspection->link[0] == '/';
		if (row->kind == TP_SYSCALL_FD && inspection->link[0] && !is_path)
			return;
		/* The path was not a named pipe last time and still is not. */
		if (is_path && looked->sight.cause == TP_CAUSE_FILE &&
		    looked->sight.target ==
			    tp_sink_string(inspection->looker->sink, inspection->link))
			return;
	}
	read_wchan(inspection);
	if (!row && !(facts->has_call && facts->call.number < 0 &&
		      tp_wait_cause_of_wchan(inspection->wchan) == TP_CAUSE_DISK))
		read_state(inspection);
}

/* Reads the Python position into the inspector's places; empty if Python is unknown. */
static bool read_places(struct inspection *inspection)
{
	struct tp_inspector *looker = inspection->looker;
	looker->places.n = 0;
	return looker->pythons &&
	       tp_python_processes_read(looker->pythons, inspection->task, &looker->places);
}

/* A thread that passes its steps to another one is hardly ever found on a CPU, so its loop counters
 * are read here as well. */
static void read_python(struct inspection *inspection)
{
	struct tp_inspector *looker = inspection->looker;
	if (read_places(inspection))
		tp_loop_counter_emit(looker->sink, looker->pythons, inspection->task, false);
}

/* Copies the stack of a waiting thread: it does not move, so its registers are those at the call.
 * This is the first step, because a wait for a fast disk lasts 100 us. Returns the size; 0 if the
 * thread continued meanwhile: then the copy mixes two stacks. */
static size_t copy_stack(struct inspection *inspection, struct tp_inspect_state *looked)
{
	struct tp_inspector *looker = inspection->looker;
	char again[sizeof(looked->call_text)];
	if (!inspection->facts.has_call || inspection->facts.call.is_running)
		return 0;
	size_t size = tp_process_memory_read_some(inspection->pid, inspection->facts.call.sp,
						  looker->stack, looker->stack_bytes);
	read_python(inspection);
	if (size > 0 && read_call_text(inspection, looked, again, sizeof(again)) &&
	    strcmp(again, looked->call_text) == 0)
		return size;
	looked->lacks_stack = size > 0;
	return 0;
}

/* Without perf nothing updates the maps, and libraries are loaded later: reads them, at most every
 * MAPS_AGE_NS. */
static bool refresh_maps(struct inspection *inspection, struct tp_maps *maps, uint64_t now_ns)
{
	struct tp_map *read_ns = &inspection->looker->maps_read_ns;
	uint64_t last_ns;
	if (tp_map_get(read_ns, (uint64_t)inspection->pid, &last_ns) &&
	    now_ns - last_ns < MAPS_AGE_NS)
		return false;
	tp_map_set(read_ns, (uint64_t)inspection->pid, now_ns);
	return tp_maps_read(maps, NULL) == TP_OK;
}

static void store_frames(struct tp_inspect_state *looked, const struct tp_stack_frame *frames,
			 size_t n, uint32_t flags)
{
	looked->frames = tp_realloc(looked->frames, n * sizeof(*frames));
	memcpy(looked->frames, frames, n * sizeof(*frames));
	looked->n_frames = n;
	looked->stack_flags = flags;
}

/* The frame pointer is unknown; the C library's stubs can be unwound with the stack pointer
 * alone. */
static uint32_t walk_stack(struct inspection *inspection, struct tp_inspect_state *looked,
			   size_t size, uint64_t now_ns)
{
	struct tp_inspector *looker = inspection->looker;
	struct tp_maps *maps = inspection->task->maps;
	const struct tp_unwind_regs regs = {.ip = inspection->facts.call.pc,
					    .sp = inspection->facts.call.sp};
	struct tp_stack_frame frames[TP_STACK_MAX_FRAMES];
	struct tp_unwind_result result;
	enum tp_stage before = tp_stage_enter(looker->stages, TP_STAGE_UNWIND);
	tp_unwind(maps, &regs, looker->stack, size, frames, TP_STACK_MAX_FRAMES, &result);
	if ((result.end == TP_UNWIND_LOST || !frames[0].module) &&
	    refresh_maps(inspection, maps, now_ns))
		tp_unwind(maps, &regs, looker->stack, size, frames, TP_STACK_MAX_FRAMES, &result);
	uint32_t flags = result.end == TP_UNWIND_COMPLETE ? 0 : TP_STACK_TRUNCATED;
	if (looker->places.n > 0)
		store_frames(looked, frames, result.n_frames, flags);
	tp_stage_enter(looker->stages, TP_STAGE_SYMBOLS);
	uint32_t stack = tp_stack_intern_merged(&looker->stackput, frames, result.n_frames, flags,
						&looker->places);
	tp_stage_enter(looker->stages, before);
	return stack;
}

static bool waits_for_gil(const struct inspection *inspection)
{
	const struct tp_inspector *looker = inspection->looker;
	return looker->pythons && tp_python_processes_is_gil(looker->pythons, inspection->task,
							     inspection->facts.call.args[0]);
}

/* Returns the current holder of the GIL, as "thread 123". */
static uint32_t gil_target(const struct inspection *inspection)
{
	char text[32] = "";
	pid_t holder =
		tp_python_processes_gil_holder(inspection->looker->pythons, inspection->task);
	if (holder > 0)
		snprintf(text, sizeof(text), "thread %d", (int)holder);
	return tp_sink_string(inspection->looker->sink, text);
}

/* For a thread whose native wait has not changed: only its Python position must be read again.
 * Returns false if the two parts do not fit together, or if the thread continued meanwhile. */
static bool inspect_python(struct inspection *inspection, struct tp_inspect_state *looked,
			   uint64_t now_ns)
{
	struct tp_inspector *looker = inspection->looker;
	char again[sizeof(looked->call_text)];
	if (!looked->frames || looked->sight.state != TP_STATE_BLOCKED)
		return false;
	read_python(inspection);
	if (looker->places.n == 0 || !read_call_text(inspection, looked, again, sizeof(again)) ||
	    strcmp(again, looked->call_text) != 0)
		return false;
	uint32_t stack = tp_stack_intern_merged(&looker->stackput, looked->frames, looked->n_frames,
						looked->stack_flags, &looker->places);
	if (!looker->stackput.fits)
		return false;
	looked->sight.stack = stack;
	if (looked->sight.cause == TP_CAUSE_GIL)
		looked->sight.target = gil_target(inspection);
	looked->stack_ns = now_ns;
	looked->n_runs = inspection->task->n_runs;
	return true;
}

/* For a thread that runs, only Python can be read. If it is known to run and does not wait for a
 * CPU, its own samples contain that, and its loop counters every hundredth of a second of its CPU
 * time. */
static uint32_t intern_python(struct inspection *inspection, const struct tp_inspect_state *looked)
{
	struct tp_inspector *looker = inspection->looker;
	const struct tp_task_tree_task *task = inspection->task;
	bool is_awake = task->where == TP_TASK_TREE_ON_CPU || task->where == TP_TASK_TREE_PREEMPTED;
	if (is_awake && task->followed_ns && !looked->reads_anew)
		return 0;
	if (is_awake && task->followed_ns)
		(void)read_places(inspection);
	else
		read_python(inspection);
	return tp_stack_intern_merged(&looker->stackput, NULL, 0, 0, &looker->places);
}

/* Inspects a new wait completely. Returns false if the thread is gone. */
static bool inspect_fully(struct inspection *inspection, struct tp_inspect_state *looked,
			  uint64_t now_ns)
{
	struct tp_wait_facts *facts = &inspection->facts;
	looked->lacks_stack = false;
	size_t stack_size = inspection->task->maps ? copy_stack(inspection, looked) : 0;
	read_facts(inspection, looked);
	if (!facts->has_call && facts->state == '\0')
		return false;
	struct tp_wait_cause cause = tp_wait_cause_classify(facts);
	bool waits = cause.state == TP_STATE_BLOCKED;
	bool is_futex = facts->has_call && facts->row && facts->row->kind == TP_SYSCALL_FUTEX;
	bool is_running = facts->has_call && facts->call.is_running;
	bool is_gil = is_futex && waits_for_gil(inspection);
	looked->sight = (struct tp_wait_info){
		.state = cause.state,
		.cause = is_gil ? TP_CAUSE_GIL : cause.cause,
		.syscall = facts->has_call ? facts->call.number : -1,
		.address = is_futex ? facts->call.args[0] : 0,
		.target = is_gil  ? gil_target(inspection)
			  : waits ? tp_sink_string(inspection->looker->sink, inspection->link)
				  : 0,
		.stack = stack_size   ? walk_stack(inspection, looked, stack_size, now_ns)
			 : is_running ? intern_python(inspection, looked)
				      : 0,
	};
	looked->n_runs = inspection->task->n_runs;
	looked->stack_ns = now_ns;
	looked->wait = looked->sight;
	const struct tp_python_processes *pythons = inspection->looker->pythons;
	looked->knew_python = pythons && tp_python_processes_has(pythons, inspection->task);
	return true;
}

/* True if the thread runs: without Python there is nothing else to find out. The data about its
 * last wait is kept, because it often returns there. */
static bool is_running_only(const struct inspection *inspection)
{
	const struct tp_python_processes *pythons = inspection->looker->pythons;
	return inspection->facts.has_call && inspection->facts.call.is_running &&
	       !(pythons && tp_python_processes_has(pythons, inspection->task));
}

/* True if the thread still runs, or waits as before for the same thing at the same place. In Python
 * many places share one stack pointer: there only a thread that has not run since is unchanged. */
static bool is_unchanged(struct inspection *inspection, struct tp_inspect_state *looked,
			 const char *text, uint64_t now_ns)
{
	const struct tp_inspector *looker = inspection->looker;
	const struct tp_task_tree_task *task = inspection->task;
	if (looked->lacks_stack || strcmp(text, looked->call_text) != 0)
		return false;
	looked->sight = looked->wait;
	bool has_python = looker->pythons && tp_python_processes_has(looker->pythons, task);
	if (has_python && looked->reads_anew && inspection->facts.call.is_running)
		return false;
	if (has_python && !looked->knew_python) /* the interpreter was found later */
		return false;
	if (has_python && (task->where == TP_TASK_TREE_UNKNOWN || task->n_runs != looked->n_runs))
		return inspect_python(inspection, looked, now_ns);
	return looked->sight.state != TP_STATE_BLOCKED ||
	       now_ns - looked->stack_ns < TP_INSPECT_STACK_AGE_NS;
}

bool tp_inspect_thread(struct tp_inspector *looker, struct tp_inspect_state *looked,
		       const struct tp_task_tree_task *task, uint64_t now_ns)
{
	struct inspection inspection;
	char text[sizeof(looked->call_text)];
	inspection_init(&inspection, looker, task);
	bool has_text = read_call_text(&inspection, looked, text, sizeof(text));
	if (!has_text && (errno == ESRCH || errno == ENOENT))
		return false;
	inspection.facts.has_call = has_text && tp_procfs_syscall(&inspection.facts.call, text);
	if (is_running_only(&inspection)) {
		looked->sight = (struct tp_wait_info){.state = TP_STATE_RUNNABLE, .syscall = -1};
		return true;
	}
	if (has_text && is_unchanged(&inspection, looked, text, now_ns))
		return true;
	if (inspection.facts.has_call)
		inspection.facts.row =
			tp_syscall_find(TP_SYSCALL_HERE, inspection.facts.call.number);
	snprintf(looked->call_text, sizeof(looked->call_text), "%s", has_text ? text : "");
	return inspect_fully(&inspection, looked, now_ns);
}
