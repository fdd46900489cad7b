/* Looks at a thread that is off CPU: system call, descriptor, kernel function, native stack. */
#include "thread_inspect.h"

#include "collect/callstack/loop_counter.h"
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

void tp_looker_init(struct tp_looker *looker, const struct tp_host *host, struct tp_sink *sink,
		    struct tp_pythons *pythons, uint32_t stack_bytes)
{
	enum { LIMIT = (TP_PROCESS_MEMORY_MAX_PAGES - 1) * TP_PROCESS_MEMORY_PAGE };
	memset(looker, 0, sizeof(*looker));
	looker->host = host;
	looker->sink = sink;
	looker->pythons = pythons;
	looker->stack_bytes = stack_bytes < LIMIT ? stack_bytes : LIMIT;
	looker->stack = tp_alloc(looker->stack_bytes + 1);
	tp_stackput_init(&looker->stackput, sink);
}

void tp_looker_release(struct tp_looker *looker)
{
	tp_stackput_release(&looker->stackput);
	tp_map_release(&looker->maps_read_ns);
	free(looker->stack);
}

void tp_look_forget(struct tp_looker *looker, struct tp_looked *looked)
{
	tp_fdshelf_drop(&looker->shelf, &looked->call_file);
	free(looked->frames);
	looked->frames = NULL;
}

/* What is being gathered about one thread. */
struct scene {
	struct tp_looker *looker;
	const struct tp_tree_task *task;
	pid_t pid;
	pid_t tid;
	struct tp_waitfacts facts;
	char link[PATH_SIZE];
	char wchan[128];
};

/* The long buffers are left as they are: clearing them costs more than most looks. */
static void scene_init(struct scene *scene, struct tp_looker *looker,
		       const struct tp_tree_task *task)
{
	scene->looker = looker;
	scene->task = task;
	scene->pid = task->info.pid;
	scene->tid = task->info.tid;
	scene->facts = (struct tp_waitfacts){.link = scene->link, .wchan = scene->wchan};
	scene->link[0] = '\0';
	scene->wchan[0] = '\0';
}

static const char *task_path(const struct scene *scene, char *out, size_t size, const char *name)
{
	char below[96];
	snprintf(below, sizeof(below), "/proc/%d/task/%d/%s", (int)scene->pid, (int)scene->tid,
		 name);
	return tp_host_path(scene->looker->host, out, size, below);
}

/* The syscall file into out. False when it cannot be read, with errno. */
static bool read_call_text(struct scene *scene, struct tp_looked *looked, char *out, size_t size)
{
	char path[PATH_SIZE];
	path[0] = '\0';
	if (!looked->call_file.is_open)
		task_path(scene, path, sizeof(path), "syscall");
	return tp_fdshelf_read(&scene->looker->shelf, &looked->call_file, path, out, size);
}

/* The one descriptor that is polled; -1 when there are several or it cannot be told. */
static int polled_fd(struct scene *scene)
{
	const struct tp_procfs_syscall *call = &scene->facts.call;
	struct pollfd one;
	scene->facts.is_timeout_only = call->args[1] == 0;
	if (call->args[1] != 1 ||
	    !tp_process_memory_read(scene->pid, call->args[0], &one, sizeof(one)))
		return -1;
	return one.fd;
}

/* Likewise for select(): the one bit of all three sets. */
static int selected_fd(struct scene *scene)
{
	const struct tp_procfs_syscall *call = &scene->facts.call;
	uint64_t n_bits = call->args[0];
	int found = -1;
	scene->facts.is_timeout_only =
		n_bits == 0 || (!call->args[1] && !call->args[2] && !call->args[3]);
	if (n_bits > SELECT_MAX)
		return -1;
	for (int set = 1; set <= 3; set++) {
		uint64_t words[SELECT_MAX / 64] = {0};
		size_t size = (n_bits + 63) / 64 * 8;
		if (!call->args[set])
			continue;
		if (!tp_process_memory_read(scene->pid, call->args[set], words, size))
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

static int waited_fd(struct scene *scene)
{
	const struct tp_waitfacts *facts = &scene->facts;
	if (!facts->row)
		return -1;
	if (facts->row->kind == TP_SYSCALL_POLL)
		return polled_fd(scene);
	if (facts->row->kind == TP_SYSCALL_SELECT)
		return selected_fd(scene);
	return facts->row->fd >= 0 ? (int)facts->call.args[facts->row->fd] : -1;
}

static void read_link(struct scene *scene)
{
	char below[64];
	char path[PATH_SIZE];
	int fd = waited_fd(scene);
	if (fd < 0)
		return;
	snprintf(below, sizeof(below), "/proc/%d/fd/%d", (int)scene->pid, fd);
	ssize_t len = readlink(tp_host_path(scene->looker->host, path, sizeof(path), below),
			       scene->link, sizeof(scene->link) - 1);
	scene->link[len > 0 ? len : 0] = '\0';
}

static void read_state(struct scene *scene)
{
	struct tp_task_stat stat;
	if (tp_task_stat_read(&stat, scene->looker->host, scene->pid, scene->tid))
		scene->facts.state = stat.state;
}

static void read_wchan(struct scene *scene)
{
	char path[PATH_SIZE];
	tp_file_peek(task_path(scene, path, sizeof(path), "wchan"), scene->wchan,
		     sizeof(scene->wchan));
}

/*
 * Read what the decision depends on, and no more: a file that is opened, read and closed costs 5 us
 * (stat 10), which two threads that read files make the largest part of the cost of polling.
 */
static void gather(struct scene *scene, const struct tp_looked *looked)
{
	struct tp_waitfacts *facts = &scene->facts;
	if (facts->has_call && facts->call.is_running)
		return;
	const struct tp_syscall *row = facts->has_call ? facts->row : NULL;
	if (row) {
		read_link(scene);
		if (row->kind != TP_SYSCALL_FD && row->kind != TP_SYSCALL_OTHER)
			return;
		bool is_path = scene->link[0] == '/';
		if (row->kind == TP_SYSCALL_FD && scene->link[0] && !is_path)
			return;
		/* A path was no named pipe the last time and still is none. */
		if (is_path && looked->sight.cause == TP_CAUSE_FILE &&
		    looked->sight.target == tp_sink_string(scene->looker->sink, scene->link))
			return;
	}
	read_wchan(scene);
	if (!row && !(facts->has_call && facts->call.number < 0 &&
		      tp_waitcause_of_wchan(scene->wchan) == TP_CAUSE_DISK))
		read_state(scene);
}

/* Into the looker's places; none where nothing is known of Python. A thread that hands its steps
 * over is hardly ever met on a CPU: what counts them is read here, too. */
static void read_python(struct scene *scene)
{
	struct tp_looker *looker = scene->looker;
	looker->places.n = 0;
	if (looker->pythons && tp_pythons_read(looker->pythons, scene->task, &looker->places))
		tp_loopcount_put(looker->sink, looker->pythons, scene->task);
}

/*
 * Copy the stack of a thread that waits: it stands still, so its registers are those at the call.
 * First of all, because a wait for a fast disk lasts 100 us. Returns the size; 0 when it went on
 * meanwhile: then the copy is of two different stacks.
 */
static size_t copy_stack(struct scene *scene, struct tp_looked *looked)
{
	struct tp_looker *looker = scene->looker;
	char again[sizeof(looked->call_text)];
	if (!scene->facts.has_call || scene->facts.call.is_running)
		return 0;
	size_t size = tp_process_memory_read_some(scene->pid, scene->facts.call.sp, looker->stack,
						  looker->stack_bytes);
	read_python(scene);
	if (size > 0 && read_call_text(scene, looked, again, sizeof(again)) &&
	    strcmp(again, looked->call_text) == 0)
		return size;
	looked->lacks_stack = size > 0;
	return 0;
}

/* Nobody feeds the maps without perf, and libraries come later: read them, but not all the time. */
static bool refresh_maps(struct scene *scene, struct tp_maps *maps, uint64_t now_ns)
{
	struct tp_map *read_ns = &scene->looker->maps_read_ns;
	uint64_t last_ns;
	if (tp_map_get(read_ns, (uint64_t)scene->pid, &last_ns) && now_ns - last_ns < MAPS_AGE_NS)
		return false;
	tp_map_set(read_ns, (uint64_t)scene->pid, now_ns);
	return tp_maps_read(maps, NULL) == TP_OK;
}

static void keep_frames(struct tp_looked *looked, const struct tp_stack_frame *frames, size_t n,
			uint32_t flags)
{
	looked->frames = tp_realloc(looked->frames, n * sizeof(*frames));
	memcpy(looked->frames, frames, n * sizeof(*frames));
	looked->n_frames = n;
	looked->stack_flags = flags;
}

/* The frame pointer is not known; the C library's stubs are unwound by the stack pointer alone. */
static uint32_t walk_stack(struct scene *scene, struct tp_looked *looked, size_t size,
			   uint64_t now_ns)
{
	struct tp_looker *looker = scene->looker;
	struct tp_maps *maps = scene->task->maps;
	const struct tp_unwind_regs regs = {.ip = scene->facts.call.pc, .sp = scene->facts.call.sp};
	struct tp_stack_frame frames[TP_STACK_MAX_FRAMES];
	struct tp_unwind_result result;
	tp_unwind(maps, &regs, looker->stack, size, frames, TP_STACK_MAX_FRAMES, &result);
	if ((result.end == TP_UNWIND_LOST || !frames[0].module) &&
	    refresh_maps(scene, maps, now_ns))
		tp_unwind(maps, &regs, looker->stack, size, frames, TP_STACK_MAX_FRAMES, &result);
	uint32_t flags = result.end == TP_UNWIND_COMPLETE ? 0 : TP_STACK_TRUNCATED;
	if (looker->places.n > 0)
		keep_frames(looked, frames, result.n_frames, flags);
	return tp_stackput_merged(&looker->stackput, frames, result.n_frames, flags,
				  &looker->places);
}

static bool waits_for_gil(const struct scene *scene)
{
	const struct tp_looker *looker = scene->looker;
	return looker->pythons &&
	       tp_pythons_is_gil(looker->pythons, scene->task, scene->facts.call.args[0]);
}

/* Whoever has it just now, as "thread 123". */
static uint32_t gil_target(const struct scene *scene)
{
	char text[32] = "";
	pid_t holder = tp_pythons_gil_holder(scene->looker->pythons, scene->task);
	if (holder > 0)
		snprintf(text, sizeof(text), "thread %d", (int)holder);
	return tp_sink_string(scene->looker->sink, text);
}

/*
 * It waits where it waited before, as far as the machine is concerned: only where it is in Python
 * has to be read again. False when both halves do not fit, or when it went on meanwhile.
 */
static bool look_at_python(struct scene *scene, struct tp_looked *looked, uint64_t now_ns)
{
	struct tp_looker *looker = scene->looker;
	char again[sizeof(looked->call_text)];
	if (!looked->frames || looked->sight.state != TP_STATE_BLOCKED)
		return false;
	read_python(scene);
	if (looker->places.n == 0 || !read_call_text(scene, looked, again, sizeof(again)) ||
	    strcmp(again, looked->call_text) != 0)
		return false;
	uint32_t stack = tp_stackput_merged(&looker->stackput, looked->frames, looked->n_frames,
					    looked->stack_flags, &looker->places);
	if (!looker->stackput.fits)
		return false;
	looked->sight.stack = stack;
	if (looked->sight.cause == TP_CAUSE_GIL)
		looked->sight.target = gil_target(scene);
	looked->stack_ns = now_ns;
	looked->n_runs = scene->task->n_runs;
	return true;
}

/* Of a thread that runs only Python can be read. */
static uint32_t put_python(struct scene *scene)
{
	struct tp_looker *looker = scene->looker;
	read_python(scene);
	return tp_stackput_merged(&looker->stackput, NULL, 0, 0, &looker->places);
}

/* A new wait: find out everything. False when the thread is gone. */
static bool look_closely(struct scene *scene, struct tp_looked *looked, uint64_t now_ns)
{
	struct tp_waitfacts *facts = &scene->facts;
	looked->lacks_stack = false;
	size_t stack_size = scene->task->maps ? copy_stack(scene, looked) : 0;
	gather(scene, looked);
	if (!facts->has_call && facts->state == '\0')
		return false;
	struct tp_waitcause cause = tp_waitcause_decide(facts);
	bool waits = cause.state == TP_STATE_BLOCKED;
	bool is_futex = facts->has_call && facts->row && facts->row->kind == TP_SYSCALL_FUTEX;
	bool is_running = facts->has_call && facts->call.is_running;
	bool is_gil = is_futex && waits_for_gil(scene);
	looked->sight = (struct tp_sight){
		.state = cause.state,
		.cause = is_gil ? TP_CAUSE_GIL : cause.cause,
		.syscall = facts->has_call ? facts->call.number : -1,
		.address = is_futex ? facts->call.args[0] : 0,
		.target = is_gil  ? gil_target(scene)
			  : waits ? tp_sink_string(scene->looker->sink, scene->link)
				  : 0,
		.stack = stack_size   ? walk_stack(scene, looked, stack_size, now_ns)
			 : is_running ? put_python(scene)
				      : 0,
	};
	looked->n_runs = scene->task->n_runs;
	looked->stack_ns = now_ns;
	looked->wait = looked->sight;
	return true;
}

/* It runs, and outside Python that is all there is to know. What is kept of its last wait stays: it
 * often comes back there. */
static bool is_just_running(const struct scene *scene)
{
	const struct tp_pythons *pythons = scene->looker->pythons;
	return scene->facts.has_call && scene->facts.call.is_running &&
	       !(pythons && tp_pythons_has(pythons, scene->task));
}

/* Runs still, or waits as before: for the same, at the same place. In Python many places share one
 * stack pointer: there only a thread that has not run since is where it was. */
static bool is_unchanged(struct scene *scene, struct tp_looked *looked, const char *text,
			 uint64_t now_ns)
{
	const struct tp_looker *looker = scene->looker;
	const struct tp_tree_task *task = scene->task;
	if (looked->lacks_stack || strcmp(text, looked->call_text) != 0)
		return false;
	looked->sight = looked->wait;
	bool has_python = looker->pythons && tp_pythons_has(looker->pythons, task);
	if (has_python && looked->reads_anew && scene->facts.call.is_running)
		return false;
	if (has_python && (task->where == TP_TREE_UNKNOWN || task->n_runs != looked->n_runs))
		return look_at_python(scene, looked, now_ns);
	return looked->sight.state != TP_STATE_BLOCKED ||
	       now_ns - looked->stack_ns < TP_LOOK_STACK_AGE_NS;
}

bool tp_look(struct tp_looker *looker, struct tp_looked *looked, const struct tp_tree_task *task,
	     uint64_t now_ns)
{
	struct scene scene;
	char text[sizeof(looked->call_text)];
	scene_init(&scene, looker, task);
	bool has_text = read_call_text(&scene, looked, text, sizeof(text));
	if (!has_text && (errno == ESRCH || errno == ENOENT))
		return false;
	scene.facts.has_call = has_text && tp_procfs_syscall(&scene.facts.call, text);
	if (is_just_running(&scene)) {
		looked->sight = (struct tp_sight){.state = TP_STATE_RUNNABLE, .syscall = -1};
		return true;
	}
	if (has_text && is_unchanged(&scene, looked, text, now_ns))
		return true;
	if (scene.facts.has_call)
		scene.facts.row = tp_syscall_find(TP_SYSCALL_HERE, scene.facts.call.number);
	snprintf(looked->call_text, sizeof(looked->call_text), "%s", has_text ? text : "");
	return look_closely(&scene, looked, now_ns);
}
