/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the interpreters and thread states of a process. */
#include "py_threads.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_INTERPRETERS = 256,
	MAX_STATES = 16384, /* Linux allows 32768 threads by default, each costs a call */
	MAX_PAUSE = 4096,
	MAX_SEARCHED = 64,
	PTHREAD_BYTES = 2048, /* glibc's struct pthread has the tid in the first kilobyte */
	STAMP_WORDS = 3,
	PATH_BYTES = 256,
	STATUS_BYTES = 4096,
};

/* Returns the tid in the innermost namespace, from "NSpid:\t3560\t1"; 0 = unknown. */
static uint32_t inner_of_status(const char *status, bool *has_namespace)
{
	const char *line = strstr(status, "\nNSpid:");
	uint32_t last = 0;
	size_t n = 0;
	if (!line)
		return 0;
	for (line += strlen("\nNSpid:"); *line == '\t' || *line == ' '; n++) {
		char *end;
		last = (uint32_t)strtoul(line, &end, 10);
		if (end == line)
			break;
		line = end;
	}
	*has_namespace = n > 1;
	return last;
}

static uint32_t read_inner(const struct tp_py_thread_list *list, pid_t tid, bool *has_namespace)
{
	char path[PATH_BYTES];
	char status[STATUS_BYTES];
	snprintf(path, sizeof(path), "%s/%d/task/%d/status", list->proc, (int)list->pid, (int)tid);
	if (tp_file_peek(path, status, sizeof(status)) <= 0)
		return 0;
	uint32_t inner = inner_of_status(status, has_namespace);
	return inner ? inner : (uint32_t)tid; /* kernels before 4.1 have no such line */
}

bool tp_py_thread_list_init(struct tp_py_thread_list *list, struct tp_py_memory *mem,
			    const struct tp_py_layout *layout, uint64_t runtime, const char *proc,
			    pid_t pid)
{
	*list = (struct tp_py_thread_list){
		.mem = mem,
		.layout = layout,
		.runtime = runtime,
		.proc = proc,
		.pid = pid,
	};
	list->main_tid = read_inner(list, pid, &list->has_namespace);
	return list->main_tid != 0;
}

void tp_py_thread_list_release(struct tp_py_thread_list *list)
{
	free(list->states);
	free(list->stamps);
}

uint32_t tp_py_thread_inner_tid(const struct tp_py_thread_list *list, pid_t tid)
{
	bool has_namespace;
	return list->has_namespace ? read_inner(list, tid, &has_namespace) : (uint32_t)tid;
}

pid_t tp_py_thread_outer_tid(const struct tp_py_thread_list *list, uint32_t inner)
{
	char path[PATH_BYTES];
	pid_t found = 0;
	if (!list->has_namespace)
		return (pid_t)inner;
	snprintf(path, sizeof(path), "%s/%d/task", list->proc, (int)list->pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	/* Only we read this directory stream. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (tasks && found == 0 && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && tp_py_thread_inner_tid(list, tid) == inner)
			found = tid;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* ---- the list ---- */

static bool is_thread(const struct tp_py_thread_list *list, uint32_t inner)
{
	char path[PATH_BYTES];
	if (inner == 0 || inner > INT32_MAX)
		return false;
	if (list->has_namespace)
		return tp_py_thread_outer_tid(list, inner) != 0;
	snprintf(path, sizeof(path), "%s/%d/task/%u", list->proc, (int)list->pid, (unsigned)inner);
	return access(path, F_OK) == 0;
}

/* Checks the known offsets: glibc on x86-64 and on aarch64, musl. */
static bool is_at_known_offset(struct tp_py_thread_list *list, uint64_t pthread)
{
	static const uint32_t known[] = {720, 208, 48};
	for (size_t i = 0; i < TP_ARRAY_LEN(known); i++) {
		uint32_t tid;
		if (!tp_py_memory_get(list->mem, pthread + known[i], &tid, sizeof(tid)) ||
		    !is_thread(list, tid))
			continue;
		list->tid_offset = known[i];
		return true;
	}
	return false;
}

/* Otherwise: searches the main thread's structure for its own tid. */
static bool search_main_tid(struct tp_py_thread_list *list, uint64_t pthread)
{
	uint8_t bytes[PTHREAD_BYTES];
	size_t size = sizeof(bytes);
	/* The structure may be at the end of a mapping. */
	while (size >= 64 && !tp_py_memory_get(list->mem, pthread, bytes, size))
		size /= 2;
	for (uint32_t at = 0; size >= 64 && at + 4 <= size; at += 4) {
		if (tp_py_memory_u32(bytes + at) != list->main_tid)
			continue;
		list->tid_offset = at;
		return true;
	}
	return false;
}

static void find_tid_offset(struct tp_py_thread_list *list)
{
	size_t n = list->n_states < MAX_SEARCHED ? list->n_states : MAX_SEARCHED;
	for (size_t i = 0; i < n; i++) {
		if (is_at_known_offset(list, list->states[i].pthread))
			return;
	}
	for (size_t i = 0; i < n; i++) {
		if (search_main_tid(list, list->states[i].pthread))
			return;
	}
}

static void find_tids(struct tp_py_thread_list *list)
{
	if (list->layout->thread_tid != 0)
		return;
	if (list->tid_offset == 0)
		find_tid_offset(list);
	for (size_t i = 0; list->tid_offset != 0 && i < list->n_states; i++)
		tp_py_memory_get(list->mem, list->states[i].pthread + list->tid_offset,
				 &list->states[i].tid, sizeof(uint32_t));
}

/* Links have to agree in both directions, so the walk of a wrong chain ends soon. */
static bool read_state(struct tp_py_thread_list *list, uint64_t interp, uint64_t previous,
		       uint64_t address, uint64_t *next)
{
	const struct tp_py_layout *layout = list->layout;
	uint8_t bytes[TP_PY_LAYOUT_MAX_THREAD_BYTES];
	if (!tp_py_memory_get(list->mem, address, bytes, tp_py_layout_thread_bytes(layout)) ||
	    tp_py_memory_u64(bytes + layout->thread_interp) != interp ||
	    (previous != 0 && tp_py_memory_u64(bytes + layout->thread_prev) != previous))
		return false;
	struct tp_py_thread_state state = {
		.address = address,
		.interp = interp,
		.pthread = tp_py_memory_u64(bytes + layout->thread_pthread),
		.tid = layout->thread_tid ? tp_py_memory_u32(bytes + layout->thread_tid) : 0,
	};
	TP_ARRAY_PUSH(list->states, list->n_states, list->states_capacity) = state;
	*next = tp_py_memory_u64(bytes + layout->thread_next);
	return true;
}

static void push_word(struct tp_py_thread_list *list, uint64_t word)
{
	TP_ARRAY_PUSH(list->stamps, list->n_stamps, list->stamps_capacity) = word;
}

static bool read_interpreter(struct tp_py_thread_list *list, uint64_t interp, uint64_t *next)
{
	const struct tp_py_layout *layout = list->layout;
	uint64_t head;
	uint64_t n_threads;
	struct tp_process_range pieces[] = {
		{interp + layout->interp_next, next, sizeof(*next)},
		{interp + layout->interp_threads, &head, sizeof(head)},
		{interp + layout->interp_n_threads, &n_threads, sizeof(n_threads)},
	};
	if (list->mem->read(list->mem, pieces, TP_ARRAY_LEN(pieces)) != TP_ARRAY_LEN(pieces))
		return false;
	push_word(list, interp);
	push_word(list, head);
	push_word(list, n_threads);
	for (uint64_t previous = 0; head != 0;) {
		uint64_t address = head;
		if (list->n_states == MAX_STATES ||
		    !read_state(list, interp, previous, address, &head))
			return false;
		previous = address;
	}
	return true;
}

/* The parent creates a thread's state, which has the parent's tid until the thread runs. */
static bool are_own(const struct tp_py_thread_list *list)
{
	for (size_t i = 0; i < list->n_states; i++) {
		const struct tp_py_thread_state *state = &list->states[i];
		if (state->tid == 0)
			return false;
		for (size_t k = 0; k < i; k++)
			if (list->states[k].tid == state->tid &&
			    list->states[k].interp == state->interp)
				return false;
	}
	return true;
}

static bool read_list(struct tp_py_thread_list *list, uint64_t interp)
{
	list->n_states = 0;
	list->n_stamps = 0;
	for (size_t n = 0; interp != 0; n++) {
		if (n == MAX_INTERPRETERS || !read_interpreter(list, interp, &interp))
			return false;
	}
	find_tids(list);
	list->are_own = are_own(list);
	return true;
}

/* New interpreters and threads are inserted at the head of their lists and counted, so the heads
 * show every new one. One that ended is noticed when it is read. */
static bool is_same(struct tp_py_thread_list *list, uint64_t first_interp)
{
	const struct tp_py_layout *layout = list->layout;
	size_t n = list->n_stamps / STAMP_WORDS;
	if (n == 0)
		return first_interp == 0;
	uint64_t now[2 * MAX_INTERPRETERS];
	struct tp_process_range pieces[2 * MAX_INTERPRETERS];
	for (size_t i = 0; i < n; i++) {
		uint64_t interp = list->stamps[STAMP_WORDS * i];
		pieces[2 * i] = (struct tp_process_range){interp + layout->interp_threads,
							  &now[2 * i], sizeof(now[0])};
		pieces[2 * i + 1] = (struct tp_process_range){interp + layout->interp_n_threads,
							      &now[2 * i + 1], sizeof(now[0])};
	}
	if (first_interp != list->stamps[0] || list->mem->read(list->mem, pieces, 2 * n) != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (memcmp(&now[2 * i], &list->stamps[STAMP_WORDS * i + 1], 2 * sizeof(now[0])) !=
		    0)
			return false;
	}
	return true;
}

enum tp_py_thread_outcome tp_py_thread_list_update(struct tp_py_thread_list *list, bool is_forced)
{
	uint64_t interp;
	if (!tp_py_memory_get_u64(list->mem, list->runtime + list->layout->runtime_interps,
				  &interp))
		return TP_PY_THREAD_BROKEN;
	if (!is_forced && list->is_read && list->are_own && is_same(list, interp))
		return TP_PY_THREAD_SAME;
	if (list->wait > 0) {
		list->wait--;
		return TP_PY_THREAD_BROKEN;
	}
	list->is_read = read_list(list, interp);
	if (list->is_read) {
		list->pause = 0;
		list->version++;
		return TP_PY_THREAD_CHANGED;
	}
	list->n_stamps = 0;
	/* Usually threads were created or ended meanwhile; the pause avoids walking an endless list
	 * again and again. */
	list->pause = list->pause < MAX_PAUSE ? 2 * list->pause + 1 : MAX_PAUSE;
	list->wait = list->pause - 1;
	return TP_PY_THREAD_BROKEN;
}

/* 3.11.0 and 3.11.1 keep the parent's tid in a forked child (gh-100649), and so does any version if
 * an extension forks. Then the child has one thread and one thread state, which belong together. */
static bool is_forked_main(const struct tp_py_thread_list *list, uint32_t tid)
{
	return tid == list->main_tid && list->n_states == 1 &&
	       !is_thread(list, list->states[0].tid);
}

const struct tp_py_thread_state *tp_py_thread_find(const struct tp_py_thread_list *list,
						   uint32_t tid, size_t k)
{
	for (size_t i = 0; i < list->n_states; i++) {
		if (list->states[i].tid == tid && k-- == 0)
			return &list->states[i];
	}
	return k == 0 && is_forked_main(list, tid) ? &list->states[0] : NULL;
}
