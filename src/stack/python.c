/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Python stacks: maps threads to thread states, and frames to names and lines. */
#include "trainprof/stack/python.h"

#include "stack/counters/py_counter.h"
#include "stack/python/py_code.h"
#include "stack/python/py_find.h"
#include "stack/python/py_layout.h"
#include "stack/python/py_memory.h"
#include "stack/python/py_open.h"
#include "stack/python/py_read_ahead.h"
#include "stack/python/py_stack.h"
#include "stack/python/py_threads.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_RETRIES = 2, /* for a stack that moved */
	MAX_ROUNDS = 8,  /* including rounds that only improved the plan */
	MAX_LIST_READS = 16,
	MAX_QUERIED = 2048, /* threads that are cached */
	MAX_NESTED = 8,     /* interpreters per thread */
};

/* A thread without a state, as those of BLAS, hardly ever gets one: whether it has is looked for
 * after the first of these times, then after twice as long each time, up to the second. A thread
 * that was just started has none yet. */
#define STATELESS_MIN_NS (10 * TP_NS_PER_MS)
#define STATELESS_MAX_NS (200 * TP_NS_PER_MS)

/* A thread that was queried. */
struct queried {
	pid_t tid;
	bool is_bound;
	uint64_t list_version; /* of the list in which its states were last looked for */
	uint64_t stateless_ns; /* when it was last found to have no state; 0 = never */
	uint64_t pause_ns;     /* from then on */
	size_t n_threads;      /* number of states of this thread */
	struct tp_py_copy_thread *threads;
};

struct tp_python {
	struct tp_py_memory mem;
	struct tp_py_read_ahead ahead; /* for code objects and counters */
	struct tp_py_layout layout;
	struct tp_py_thread_list list;
	struct tp_py_stack stack;
	struct tp_py_code_cache codes;
	struct tp_py_counters counters; /* of the first thread */
	struct tp_py_counters *other;   /* heap; of the other thread that was read last */
	pid_t other_tid;
	pid_t read_tid; /* thread of the last read */
	bool has_stack; /* the last read gave places; then frames and code objects are known */
	struct tp_python_info about;
	struct tp_python_counts counts;
	char *path;
	char *proc;
	uint64_t gil; /* address of the GIL; 0 = not known yet */
	struct tp_map by_tid;
	struct queried **queried;
	size_t n_asked;
	size_t asked_capacity;
	struct tp_python_place *places; /* places of a stack before it is cut to size */
};

/* ---- opening ---- */

static enum tp_status choose_layout(struct tp_python *self, const struct tp_py_find_result *found,
				    struct tp_error *err)
{
	uint8_t published[TP_PY_LAYOUT_OFFSETS_BYTES];
	uint64_t version = found->version_word;
	if (!tp_py_memory_get(&self->mem, found->runtime, published, sizeof(published)))
		return tp_fail_errno(err, self->mem.error, "cannot read the memory of process %d",
				     (int)self->mem.pid);
	enum tp_status status = tp_py_layout_parse(&self->layout, &version, published, err);
	if (status != TP_OK && status != TP_ABSENT)
		return status;
	unsigned minor = version ? (unsigned)(version >> 16 & 255) : found->minor;
	if (status == TP_ABSENT) {
		const struct tp_py_layout *row = tp_py_layout_find(minor);
		if (!row || (version != 0 && version >> 24 != 3) ||
		    row->published.free_threaded != 0)
			return tp_fail(err, TP_VERSION, "CPython %u.%u in %s is not known",
				       version ? (unsigned)(version >> 24 & 255) : 3, minor,
				       found->path);
		self->layout = *row;
	}
	self->about = (struct tp_python_info){
		.major = 3,
		.minor = minor,
		.micro = version ? (unsigned)(version >> 8 & 255) : TP_PYTHON_UNKNOWN_MICRO,
		.is_shared = found->is_shared,
	};
	return TP_OK;
}

/* The list is read several times because threads are created and end during the walk. */
static enum tp_status check_list(struct tp_python *self, struct tp_error *err)
{
	for (int i = 0; i < MAX_LIST_READS; i++) {
		if (tp_py_thread_list_update(&self->list, true) != TP_PY_THREAD_BROKEN)
			return TP_OK;
	}
	return tp_fail(err, TP_VERSION,
		       "the memory of process %d is not that of a usual CPython 3.%u",
		       (int)self->mem.pid, self->about.minor);
}

static enum tp_status open_found(struct tp_python *self, const struct tp_py_find_result *found,
				 const char *proc, struct tp_error *err)
{
	enum tp_status status = choose_layout(self, found, err);
	if (status != TP_OK)
		return status;
	self->path = tp_strdup(found->path);
	self->proc = tp_strdup(proc);
	self->about.path = self->path;
	tp_py_stack_init(&self->stack, &self->mem, &self->layout);
	tp_py_read_ahead_init(&self->ahead, &self->mem);
	tp_py_code_cache_init(&self->codes, &self->ahead.mem, &self->layout);
	tp_py_counters_init(&self->counters, &self->ahead.mem, &self->layout, found->int_type);
	self->places = tp_alloc(TP_PY_STACK_MAX_FRAMES * sizeof(*self->places));
	if (!tp_py_thread_list_init(&self->list, &self->mem, &self->layout, found->runtime,
				    self->proc, self->mem.pid))
		return tp_fail(err, TP_IO, "process %d is gone", (int)self->mem.pid);
	return check_list(self, err);
}

enum tp_status tp_python_open_memory(struct tp_python **out, const struct tp_py_memory *mem,
				     const struct tp_py_find_result *found, const char *proc,
				     struct tp_error *err)
{
	struct tp_python *self = tp_alloc(sizeof(*self));
	self->mem = *mem;
	enum tp_status status = open_found(self, found, proc, err);
	if (status == TP_OK)
		*out = self;
	else
		tp_python_close(self);
	return status;
}

enum tp_status tp_python_open(struct tp_python **out, const char *proc, pid_t pid,
			      struct tp_error *err)
{
	struct tp_py_find_result found = {0};
	struct tp_py_memory mem;
	tp_py_memory_init_process(&mem, pid);
	enum tp_status status = tp_py_find(&found, proc, pid, &mem, err);
	if (status == TP_OK)
		status = tp_python_open_memory(out, &mem, &found, proc, err);
	free(found.path);
	return status;
}

static void unbind(struct queried *queried)
{
	for (size_t i = 0; i < queried->n_threads; i++)
		tp_py_stack_location_release(&queried->threads[i].plan);
	free(queried->threads);
	queried->threads = NULL;
	queried->n_threads = 0;
}

static void drop_queried(struct tp_python *self)
{
	for (size_t i = 0; i < self->n_asked; i++) {
		unbind(self->queried[i]);
		free(self->queried[i]);
	}
	self->n_asked = 0;
	tp_map_release(&self->by_tid);
}

void tp_python_close(struct tp_python *self)
{
	if (!self)
		return;
	drop_queried(self);
	free(self->queried);
	if (self->path) {
		tp_py_stack_release(&self->stack);
		tp_py_code_cache_release(&self->codes);
		tp_py_counters_release(&self->counters);
		if (self->other)
			tp_py_counters_release(self->other);
		free(self->other);
		tp_py_read_ahead_release(&self->ahead);
		tp_py_thread_list_release(&self->list);
	}
	free(self->places);
	free(self->path);
	free(self->proc);
	free(self);
}

const struct tp_python_info *tp_python_info(const struct tp_python *self)
{
	return &self->about;
}

const struct tp_python_counts *tp_python_counts(const struct tp_python *self)
{
	return &self->counts;
}

/* ---- code objects ---- */

/* Returns the byte offset of the instruction in the bytecode; 0 before the first one. */
static uint32_t offset_in(const struct tp_py_code *code, const struct tp_py_stack_frame *frame)
{
	uint64_t offset = frame->instr - code->bytecode;
	return offset <= INT32_MAX ? (uint32_t)offset : 0;
}

static void fill_place(struct tp_python_place *place, const struct tp_py_code *code,
		       const struct tp_py_stack_frame *frame)
{
	uint64_t offset = frame->instr - code->bytecode;
	*place = (struct tp_python_place){
		.file = code->file,
		.name = code->name,
		.line = offset <= INT32_MAX ? tp_py_line_table_find(&code->lines, (uint32_t)offset)
					    : code->first_line,
		.first_line = code->first_line,
		.offset = offset_in(code, frame),
		.is_generator = code->is_generator,
		.is_entry = frame->is_entry,
	};
}

/* True for CPython's own scaffolding (such as the cleanup after __init__) and for frames that are
 * just being created. */
static bool is_hidden(const struct tp_py_code *code, const struct tp_py_stack_frame *frame)
{
	if (code->first_traceable == 0 || frame->owner != 0 || frame->is_entry)
		return false;
	uint64_t offset = frame->instr - code->bytecode;
	return offset > INT32_MAX || offset < code->first_traceable;
}

static enum tp_py_stack_outcome read_codes(struct tp_python *self)
{
	tp_py_read_ahead_begin(&self->ahead); /* after the stack was read */
	tp_py_code_begin(&self->codes);
	for (size_t i = 0; i < self->stack.n_frames; i++)
		tp_py_code_request(&self->codes, self->stack.frames[i].code);
	switch (tp_py_code_read(&self->codes)) {
	case TP_PY_CODE_KNOWN:
		return TP_PY_STACK_READ;
	case TP_PY_CODE_LOADED:
		return TP_PY_STACK_RETRY;
	default:
		return TP_PY_STACK_MOVED;
	}
}

static enum tp_py_stack_outcome name_frames(struct tp_python *self, size_t *n, size_t *cut)
{
	enum tp_py_stack_outcome outcome = read_codes(self);
	if (outcome != TP_PY_STACK_READ)
		return outcome;
	*n = 0;
	*cut = SIZE_MAX;
	for (size_t i = 0; i < self->stack.n_frames; i++) {
		const struct tp_py_stack_frame *frame = &self->stack.frames[i];
		const struct tp_py_code *code = tp_py_code_get(&self->codes, frame->code);
		if (!code)
			return TP_PY_STACK_MOVED;
		if (i == self->stack.cut)
			*cut = *n;
		if (!is_hidden(code, frame))
			fill_place(&self->places[(*n)++], code, frame);
	}
	if (*cut > *n)
		*cut = *n;
	return TP_PY_STACK_READ;
}

/* ---- reading ---- */

static enum tp_py_stack_outcome read_whole(struct tp_python *self, struct tp_py_copy_thread *thread,
					   size_t *n, size_t *cut)
{
	enum tp_py_stack_outcome outcome = TP_PY_STACK_MOVED;
	int n_retries = 0;
	for (int round = 0; round < MAX_ROUNDS && n_retries <= MAX_RETRIES; round++) {
		outcome = tp_py_stack_read(&self->stack, thread,
					   n_retries == 0 ? 1 : TP_PY_COPY_MAX_SNAPSHOTS);
		if (outcome == TP_PY_STACK_READ)
			outcome = name_frames(self, n, cut);
		if (outcome == TP_PY_STACK_MOVED)
			n_retries++;
		else if (outcome != TP_PY_STACK_RETRY)
			break;
	}
	self->counts.n_retries += (uint64_t)n_retries;
	return outcome == TP_PY_STACK_RETRY ? TP_PY_STACK_MOVED : outcome;
}

static enum tp_python_outcome read_thread(struct tp_python *self, struct tp_py_copy_thread *thread,
					  size_t *n, size_t *cut, bool *is_gone)
{
	tp_py_stack_begin(&self->stack);
	enum tp_py_stack_outcome outcome = read_whole(self, thread, n, cut);
	*is_gone = outcome == TP_PY_STACK_STALE;
	switch (outcome) {
	case TP_PY_STACK_READ:
		return TP_PYTHON_READ;
	case TP_PY_STACK_NONE:
		return TP_PYTHON_NONE;
	case TP_PY_STACK_MOVED:
		return tp_py_stack_use_still(&self->stack) &&
				       name_frames(self, n, cut) == TP_PY_STACK_READ && *n > 0
			       ? TP_PYTHON_PARTIAL
			       : TP_PYTHON_MOVING;
	default:
		return TP_PYTHON_LOST;
	}
}

static struct queried *find_queried(struct tp_python *self, pid_t tid)
{
	uint64_t index;
	if (tp_map_get(&self->by_tid, (uint64_t)tid, &index))
		return self->queried[index];
	/* Ended threads are among the cached ones: threads that still exist are added again. */
	if (self->n_asked == MAX_QUERIED)
		drop_queried(self);
	struct queried *queried = tp_alloc(sizeof(*queried));
	queried->tid = tid;
	tp_map_set(&self->by_tid, (uint64_t)tid, self->n_asked);
	self->queried = tp_array_grow(self->queried, self->n_asked + 1, &self->asked_capacity,
				      sizeof(void *));
	self->queried[self->n_asked++] = queried;
	return queried;
}

static void bind_state(const struct tp_python *self, struct tp_py_copy_thread *thread,
		       const struct tp_py_thread_state *state)
{
	uint32_t in_pthread = self->layout.thread_tid ? 0 : self->list.tid_offset;
	thread->state = state->address;
	thread->interp = state->interp;
	thread->pthread = state->pthread;
	thread->tid = state->tid;
	thread->tid_address = in_pthread ? state->pthread + in_pthread : 0;
}

/* Finds the states of a thread in the list; its earlier states may be gone. */
static void bind(const struct tp_python *self, struct queried *queried)
{
	const struct tp_py_thread_state *states[MAX_NESTED];
	uint32_t inner = tp_py_thread_inner_tid(&self->list, queried->tid);
	size_t n = 0;
	while (n < MAX_NESTED && (states[n] = tp_py_thread_find(&self->list, inner, n)))
		n++;
	unbind(queried);
	queried->is_bound = true;
	queried->list_version = self->list.version;
	if (n == 0)
		return;
	queried->threads = tp_alloc(n * sizeof(*queried->threads));
	queried->n_threads = n;
	for (size_t i = 0; i < n; i++)
		bind_state(self, &queried->threads[i], states[i]);
}

/* Returns true if the thread had no state recently, and the list of states has not changed since.
 */
static bool has_no_state(const struct tp_python *self, const struct queried *queried,
			 uint64_t now_ns)
{
	return queried->stateless_ns && now_ns - queried->stateless_ns < queried->pause_ns &&
	       queried->list_version == self->list.version;
}

static void note_no_state(struct queried *queried, uint64_t now_ns)
{
	uint64_t twice_ns = 2 * queried->pause_ns;
	queried->stateless_ns = now_ns;
	queried->pause_ns = twice_ns < STATELESS_MIN_NS   ? STATELESS_MIN_NS
			    : twice_ns > STATELESS_MAX_NS ? STATELESS_MAX_NS
							  : twice_ns;
}

/* A thread inside a sub-interpreter has a state in each interpreter; the newest one with a stack is
 * used. */
static enum tp_python_outcome read_queried(struct tp_python *self, struct queried *queried,
					   size_t *n, size_t *cut, bool *is_gone)
{
	enum tp_python_outcome outcome = TP_PYTHON_NONE;
	*is_gone = queried->n_threads == 0;
	for (size_t i = 0; i < queried->n_threads && outcome == TP_PYTHON_NONE; i++)
		outcome = read_thread(self, &queried->threads[i], n, cut, is_gone);
	return outcome;
}

static enum tp_python_outcome try_read(struct tp_python *self, pid_t tid, size_t *n, size_t *cut)
{
	struct queried *queried = find_queried(self, tid);
	uint64_t now_ns = tp_py_memory_now_ns(&self->mem);
	if (has_no_state(self, queried, now_ns))
		return TP_PYTHON_NONE;
	for (int i = 0; i <= MAX_RETRIES; i++) {
		bool is_gone;
		enum tp_python_outcome outcome = read_queried(self, queried, n, cut, &is_gone);
		if (!is_gone)
			return outcome;
		/* The update finds new threads by itself, but not threads that ended. */
		enum tp_py_thread_outcome list =
			tp_py_thread_list_update(&self->list, queried->n_threads > 0);
		if (list == TP_PY_THREAD_BROKEN)
			continue;
		if (queried->list_version != self->list.version || !queried->is_bound)
			bind(self, queried);
		if (queried->n_threads == 0) {
			note_no_state(queried, now_ns);
			return TP_PYTHON_NONE;
		}
		queried->stateless_ns = queried->pause_ns = 0;
	}
	/* Threads were created and ended all the time, or the process has exited. */
	return self->mem.error == ESRCH || self->list.pause > MAX_LIST_READS ? TP_PYTHON_LOST
									     : TP_PYTHON_MOVING;
}

/* Keeps the innermost frames in three quarters of the space, the outermost in the rest. */
static void split_output(const struct tp_python *self, struct tp_python_place *out, size_t max,
			 size_t *n, size_t *cut)
{
	size_t n_outer = max / 4;
	size_t n_inner = max - n_outer;
	if (*n <= max) {
		memcpy(out, self->places, *n * sizeof(*out));
		return;
	}
	/* Frames that were left out while reading stay left out: the cut is where the inner part
	 * ends. */
	if (*cut < *n && *cut < n_inner)
		n_inner = *cut;
	if (*cut < *n && *n - *cut < n_outer)
		n_outer = *n - *cut;
	memcpy(out, self->places, n_inner * sizeof(*out));
	memcpy(out + n_inner, self->places + *n - n_outer, n_outer * sizeof(*out));
	*cut = n_inner;
	*n = n_inner + n_outer;
}

enum tp_python_outcome tp_python_read(struct tp_python *self, pid_t tid,
				      struct tp_python_place *out, size_t max, size_t *n,
				      size_t *cut)
{
	enum tp_python_outcome outcome = try_read(self, tid, n, cut);
	self->read_tid = tid;
	self->counts.n[outcome]++;
	self->counts.n_syscalls = self->mem.n_calls;
	self->has_stack = outcome == TP_PYTHON_READ || outcome == TP_PYTHON_PARTIAL;
	if (self->has_stack)
		split_output(self, out, max, n, cut);
	else
		*n = *cut = 0;
	return outcome;
}

/* Threads that run the same function have counters of their own. */
static struct tp_py_counters *counters_of_thread(struct tp_python *self)
{
	if (self->read_tid == self->mem.pid)
		return &self->counters;
	if (self->other && self->other_tid == self->read_tid)
		return self->other;
	if (self->other)
		tp_py_counters_release(self->other);
	else
		self->other = tp_alloc(sizeof(*self->other));
	tp_py_counters_init(self->other, &self->ahead.mem, &self->layout, self->counters.int_type);
	self->other_tid = self->read_tid;
	return self->other;
}

size_t tp_python_count(struct tp_python *self, struct tp_python_counter *out, size_t max)
{
	if (!self->has_stack)
		return 0;
	size_t n =
		tp_py_counters_read(counters_of_thread(self), &self->stack, &self->codes, out, max);
	self->counts.n_syscalls = self->mem.n_calls;
	return n;
}

bool tp_python_count_is_at(const struct tp_python *self, uint64_t address)
{
	bool is_first = self->read_tid == self->mem.pid;
	bool has_other = self->other && self->other_tid == self->read_tid;
	return self->has_stack && (is_first || has_other) &&
	       tp_py_counters_is_at(is_first ? &self->counters : self->other, address);
}

/* ---- the GIL ---- */

/* Finds the GIL of the main interpreter, which is the last of the list. */
static uint64_t find_gil(struct tp_python *self)
{
	const struct tp_py_layout *layout = &self->layout;
	const struct tp_py_thread_list *list = &self->list;
	if (layout->runtime_gil)
		return list->runtime + layout->runtime_gil;
	if (self->gil == 0 && list->n_states > 0) {
		uint64_t interp = list->states[list->n_states - 1].interp;
		if (!tp_py_memory_get_u64(&self->mem, interp + layout->interp_gil, &self->gil))
			self->gil = 0;
	}
	return self->gil;
}

pid_t tp_python_gil_holder(struct tp_python *self)
{
	const struct tp_py_layout *layout = &self->layout;
	uint64_t gil = find_gil(self);
	uint64_t holder = 0;
	uint32_t locked = 0;
	struct tp_process_range pieces[] = {
		{gil + layout->gil_locked, &locked, sizeof(locked)},
		{gil + layout->gil_holder, &holder, sizeof(holder)},
	};
	if (gil == 0 || self->mem.read(&self->mem, pieces, 2) != 2 || locked != 1)
		return 0;
	for (size_t i = 0; i < self->list.n_states; i++) {
		if (self->list.states[i].address == holder)
			return tp_py_thread_outer_tid(&self->list, self->list.states[i].tid);
	}
	return 0;
}

bool tp_python_is_gil_wait(struct tp_python *self, uint64_t futex_address)
{
	uint64_t gil = find_gil(self);
	/* cond, mutex and, for switching threads, switch_cond and switch_mutex: the end of the
	 * structure. */
	uint64_t size = 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t));
	return gil != 0 && futex_address - (gil + self->layout.gil_cond) < size;
}
