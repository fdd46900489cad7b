/* Reads Python stacks: threads to thread states, frames to names and lines. */
#include "trainprof/stack/python.h"

#include "py_code.h"
#include "py_counter.h"
#include "py_find.h"
#include "py_layout.h"
#include "py_memory.h"
#include "py_open.h"
#include "py_stack.h"
#include "py_threads.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_RETRIES = 2, /* of a stack that moved */
	MAX_ROUNDS = 8,  /* with those that only taught the plan something */
	MAX_LISTINGS = 16,
	MAX_ASKED = 2048, /* threads that are remembered */
	MAX_NESTED = 8,   /* interpreters of one thread */
};

/* A thread that was asked for. */
struct asked {
	pid_t tid;
	bool is_bound;
	size_t n_threads; /* states that are this thread's */
	struct tp_pycopy_thread *threads;
};

struct tp_python {
	struct tp_pymem mem;
	struct tp_pylayout layout;
	struct tp_pythread_list list;
	struct tp_pystack stack;
	struct tp_pycode_cache codes;
	struct tp_pycounters counters;
	bool has_stack; /* places of the last read; then frames and code objects are known */
	struct tp_python_about about;
	struct tp_python_counts counts;
	char *path;
	char *proc;
	uint64_t gil; /* its address; 0 = not known yet */
	struct tp_map by_tid;
	struct asked **asked;
	size_t n_asked;
	size_t asked_capacity;
	struct tp_python_place *places; /* of a stack before it is cut to size */
};

/* ---- opening ---- */

static enum tp_status choose_layout(struct tp_python *self, const struct tp_pyfind_found *found,
				    struct tp_error *err)
{
	uint8_t told[TP_PYLAYOUT_TOLD_BYTES];
	uint64_t version = found->version_word;
	if (!tp_pymem_get(&self->mem, found->runtime, told, sizeof(told)))
		return tp_fail_errno(err, self->mem.error, "cannot read the memory of process %d",
				     (int)self->mem.pid);
	enum tp_status status = tp_pylayout_tell(&self->layout, &version, told, err);
	if (status != TP_OK && status != TP_ABSENT)
		return status;
	unsigned minor = version ? (unsigned)(version >> 16 & 255) : found->minor;
	if (status == TP_ABSENT) {
		const struct tp_pylayout *row = tp_pylayout_find(minor);
		if (!row || (version != 0 && version >> 24 != 3) || row->told.free_threaded != 0)
			return tp_fail(err, TP_VERSION, "CPython %u.%u in %s is not known",
				       version ? (unsigned)(version >> 24 & 255) : 3, minor,
				       found->path);
		self->layout = *row;
	}
	self->about = (struct tp_python_about){
		.major = 3,
		.minor = minor,
		.micro = version ? (unsigned)(version >> 8 & 255) : TP_PYTHON_UNKNOWN_MICRO,
		.is_shared = found->is_shared,
	};
	return TP_OK;
}

/* Threads come and go while their list is walked. */
static enum tp_status check_list(struct tp_python *self, struct tp_error *err)
{
	for (int i = 0; i < MAX_LISTINGS; i++) {
		if (tp_pythread_list_update(&self->list, true) != TP_PYTHREAD_BROKEN)
			return TP_OK;
	}
	return tp_fail(err, TP_VERSION,
		       "the memory of process %d is not that of a usual CPython 3.%u",
		       (int)self->mem.pid, self->about.minor);
}

static enum tp_status open_found(struct tp_python *self, const struct tp_pyfind_found *found,
				 const char *proc, struct tp_error *err)
{
	enum tp_status status = choose_layout(self, found, err);
	if (status != TP_OK)
		return status;
	self->path = tp_strdup(found->path);
	self->proc = tp_strdup(proc);
	self->about.path = self->path;
	tp_pystack_init(&self->stack, &self->mem, &self->layout);
	tp_pycode_cache_init(&self->codes, &self->mem, &self->layout);
	tp_pycounters_init(&self->counters, &self->mem, &self->layout, found->int_type);
	self->places = tp_alloc(TP_PYSTACK_MAX_FRAMES * sizeof(*self->places));
	if (!tp_pythread_list_init(&self->list, &self->mem, &self->layout, found->runtime,
				   self->proc, self->mem.pid))
		return tp_fail(err, TP_IO, "process %d is gone", (int)self->mem.pid);
	return check_list(self, err);
}

enum tp_status tp_python_open_memory(struct tp_python **out, const struct tp_pymem *mem,
				     const struct tp_pyfind_found *found, const char *proc,
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
	struct tp_pyfind_found found = {0};
	struct tp_pymem mem;
	tp_pymem_init_process(&mem, pid);
	enum tp_status status = tp_pyfind(&found, proc, pid, &mem, err);
	if (status == TP_OK)
		status = tp_python_open_memory(out, &mem, &found, proc, err);
	free(found.path);
	return status;
}

static void unbind(struct asked *asked)
{
	for (size_t i = 0; i < asked->n_threads; i++)
		tp_pyplan_release(&asked->threads[i].plan);
	free(asked->threads);
	asked->threads = NULL;
	asked->n_threads = 0;
}

static void forget_asked(struct tp_python *self)
{
	for (size_t i = 0; i < self->n_asked; i++) {
		unbind(self->asked[i]);
		free(self->asked[i]);
	}
	self->n_asked = 0;
	tp_map_release(&self->by_tid);
}

void tp_python_close(struct tp_python *self)
{
	if (!self)
		return;
	forget_asked(self);
	free(self->asked);
	if (self->path) {
		tp_pystack_release(&self->stack);
		tp_pycode_cache_release(&self->codes);
		tp_pycounters_release(&self->counters);
		tp_pythread_list_release(&self->list);
	}
	free(self->places);
	free(self->path);
	free(self->proc);
	free(self);
}

const struct tp_python_about *tp_python_about(const struct tp_python *self)
{
	return &self->about;
}

const struct tp_python_counts *tp_python_counts(const struct tp_python *self)
{
	return &self->counts;
}

/* ---- code objects ---- */

/* Where the instruction is in the bytecode; before the first one = 0. */
static uint32_t offset_in(const struct tp_pycode *code, const struct tp_pystack_frame *frame)
{
	uint64_t offset = frame->instr - code->bytecode;
	return offset <= INT32_MAX ? (uint32_t)offset : 0;
}

static void fill_place(struct tp_python_place *place, const struct tp_pycode *code,
		       const struct tp_pystack_frame *frame)
{
	uint64_t offset = frame->instr - code->bytecode;
	*place = (struct tp_python_place){
		.file = code->file,
		.name = code->name,
		.line = offset <= INT32_MAX ? tp_pyline_find(&code->lines, (uint32_t)offset)
					    : code->first_line,
		.first_line = code->first_line,
		.offset = offset_in(code, frame),
		.is_generator = code->is_generator,
		.is_entry = frame->is_entry,
	};
}

/* CPython's own scaffolding (what cleans up after __init__) and frames that are just being made. */
static bool is_hidden(const struct tp_pycode *code, const struct tp_pystack_frame *frame)
{
	if (code->first_traceable == 0 || frame->owner != 0 || frame->is_entry)
		return false;
	uint64_t offset = frame->instr - code->bytecode;
	return offset > INT32_MAX || offset < code->first_traceable;
}

static enum tp_pystack_outcome read_codes(struct tp_python *self)
{
	tp_pycode_begin(&self->codes);
	for (size_t i = 0; i < self->stack.n_frames; i++)
		tp_pycode_want(&self->codes, self->stack.frames[i].code);
	switch (tp_pycode_read(&self->codes)) {
	case TP_PYCODE_KNOWN:
		return TP_PYSTACK_READ;
	case TP_PYCODE_LOADED:
		return TP_PYSTACK_AGAIN;
	default:
		return TP_PYSTACK_MOVED;
	}
}

static enum tp_pystack_outcome name_frames(struct tp_python *self, size_t *n, size_t *cut)
{
	enum tp_pystack_outcome outcome = read_codes(self);
	if (outcome != TP_PYSTACK_READ)
		return outcome;
	*n = 0;
	*cut = SIZE_MAX;
	for (size_t i = 0; i < self->stack.n_frames; i++) {
		const struct tp_pystack_frame *frame = &self->stack.frames[i];
		const struct tp_pycode *code = tp_pycode_get(&self->codes, frame->code);
		if (!code)
			return TP_PYSTACK_MOVED;
		if (i == self->stack.cut)
			*cut = *n;
		if (!is_hidden(code, frame))
			fill_place(&self->places[(*n)++], code, frame);
	}
	if (*cut > *n)
		*cut = *n;
	return TP_PYSTACK_READ;
}

/* ---- reading ---- */

static enum tp_pystack_outcome read_whole(struct tp_python *self, struct tp_pycopy_thread *thread,
					  size_t *n, size_t *cut)
{
	enum tp_pystack_outcome outcome = TP_PYSTACK_MOVED;
	int n_retries = 0;
	for (int round = 0; round < MAX_ROUNDS && n_retries <= MAX_RETRIES; round++) {
		outcome = tp_pystack_take(&self->stack, thread,
					  n_retries == 0 ? 1 : TP_PYCOPY_MAX_LOOKS);
		if (outcome == TP_PYSTACK_READ)
			outcome = name_frames(self, n, cut);
		if (outcome == TP_PYSTACK_MOVED)
			n_retries++;
		else if (outcome != TP_PYSTACK_AGAIN)
			break;
	}
	self->counts.n_retries += (uint64_t)n_retries;
	return outcome == TP_PYSTACK_AGAIN ? TP_PYSTACK_MOVED : outcome;
}

static enum tp_python_outcome read_thread(struct tp_python *self, struct tp_pycopy_thread *thread,
					  size_t *n, size_t *cut, bool *is_gone)
{
	tp_pystack_begin(&self->stack);
	enum tp_pystack_outcome outcome = read_whole(self, thread, n, cut);
	*is_gone = outcome == TP_PYSTACK_GONE;
	switch (outcome) {
	case TP_PYSTACK_READ:
		return TP_PYTHON_READ;
	case TP_PYSTACK_NONE:
		return TP_PYTHON_NONE;
	case TP_PYSTACK_MOVED:
		return tp_pystack_take_still(&self->stack) &&
				       name_frames(self, n, cut) == TP_PYSTACK_READ && *n > 0
			       ? TP_PYTHON_PARTLY
			       : TP_PYTHON_MOVING;
	default:
		return TP_PYTHON_LOST;
	}
}

static struct asked *find_asked(struct tp_python *self, pid_t tid)
{
	uint64_t index;
	if (tp_map_get(&self->by_tid, (uint64_t)tid, &index))
		return self->asked[index];
	/* Threads that ended are among them: whoever is still there is met again. */
	if (self->n_asked == MAX_ASKED)
		forget_asked(self);
	struct asked *asked = tp_alloc(sizeof(*asked));
	asked->tid = tid;
	tp_map_set(&self->by_tid, (uint64_t)tid, self->n_asked);
	self->asked = tp_array_grow(self->asked, self->n_asked + 1, &self->asked_capacity,
				    sizeof(void *));
	self->asked[self->n_asked++] = asked;
	return asked;
}

static void bind_state(const struct tp_python *self, struct tp_pycopy_thread *thread,
		       const struct tp_pythread_state *state)
{
	uint32_t in_pthread = self->layout.thread_tid ? 0 : self->list.tid_offset;
	thread->state = state->address;
	thread->interp = state->interp;
	thread->pthread = state->pthread;
	thread->tid = state->tid;
	thread->tid_address = in_pthread ? state->pthread + in_pthread : 0;
}

/* Find the states of a thread in the list; those it had first may be gone. */
static void bind(const struct tp_python *self, struct asked *asked)
{
	const struct tp_pythread_state *states[MAX_NESTED];
	uint32_t inner = tp_pythread_inner_tid(&self->list, asked->tid);
	size_t n = 0;
	while (n < MAX_NESTED && (states[n] = tp_pythread_find(&self->list, inner, n)))
		n++;
	unbind(asked);
	asked->is_bound = true;
	if (n == 0)
		return;
	asked->threads = tp_alloc(n * sizeof(*asked->threads));
	asked->n_threads = n;
	for (size_t i = 0; i < n; i++)
		bind_state(self, &asked->threads[i], states[i]);
}

/* A thread that is inside a sub-interpreter has a state in each; the newest that runs has the say.
 */
static enum tp_python_outcome read_asked(struct tp_python *self, struct asked *asked, size_t *n,
					 size_t *cut, bool *is_gone)
{
	enum tp_python_outcome outcome = TP_PYTHON_NONE;
	*is_gone = asked->n_threads == 0;
	for (size_t i = 0; i < asked->n_threads && outcome == TP_PYTHON_NONE; i++)
		outcome = read_thread(self, &asked->threads[i], n, cut, is_gone);
	return outcome;
}

static enum tp_python_outcome look(struct tp_python *self, pid_t tid, size_t *n, size_t *cut)
{
	struct asked *asked = find_asked(self, tid);
	for (int i = 0; i <= MAX_RETRIES; i++) {
		bool is_gone;
		enum tp_python_outcome outcome = read_asked(self, asked, n, cut, &is_gone);
		if (!is_gone)
			return outcome;
		/* The list tells of new threads by itself, not of one that went. */
		enum tp_pythread_outcome list =
			tp_pythread_list_update(&self->list, asked->n_threads > 0);
		if (list == TP_PYTHREAD_BROKEN)
			continue;
		if (list == TP_PYTHREAD_CHANGED || !asked->is_bound)
			bind(self, asked);
		if (asked->n_threads == 0)
			return TP_PYTHON_NONE;
	}
	/* Threads came and went all the time, or there is nothing to come and go any more. */
	return self->mem.error == ESRCH || self->list.pause > MAX_LISTINGS ? TP_PYTHON_LOST
									   : TP_PYTHON_MOVING;
}

/* Three quarters of what fits for the innermost, the rest for the outermost. */
static void hand_out(const struct tp_python *self, struct tp_python_place *out, size_t max,
		     size_t *n, size_t *cut)
{
	size_t n_outer = max / 4;
	size_t n_inner = max - n_outer;
	if (*n <= max) {
		memcpy(out, self->places, *n * sizeof(*out));
		return;
	}
	/* What was left out in reading stays left out: the cut is where the inner part ends. */
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
	enum tp_python_outcome outcome = look(self, tid, n, cut);
	self->counts.n[outcome]++;
	self->counts.n_syscalls = self->mem.n_calls;
	self->has_stack = outcome == TP_PYTHON_READ || outcome == TP_PYTHON_PARTLY;
	if (self->has_stack)
		hand_out(self, out, max, n, cut);
	else
		*n = *cut = 0;
	return outcome;
}

size_t tp_python_count(struct tp_python *self, struct tp_python_counter *out, size_t max)
{
	if (!self->has_stack)
		return 0;
	size_t n = tp_pycounters_read(&self->counters, &self->stack, &self->codes, out, max);
	self->counts.n_syscalls = self->mem.n_calls;
	return n;
}

/* ---- the GIL ---- */

/* Of the main interpreter, which is the last of the list. */
static uint64_t find_gil(struct tp_python *self)
{
	const struct tp_pylayout *layout = &self->layout;
	const struct tp_pythread_list *list = &self->list;
	if (layout->runtime_gil)
		return list->runtime + layout->runtime_gil;
	if (self->gil == 0 && list->n_states > 0) {
		uint64_t interp = list->states[list->n_states - 1].interp;
		if (!tp_pymem_get_u64(&self->mem, interp + layout->interp_gil, &self->gil))
			self->gil = 0;
	}
	return self->gil;
}

pid_t tp_python_gil_holder(struct tp_python *self)
{
	const struct tp_pylayout *layout = &self->layout;
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
			return tp_pythread_outer_tid(&self->list, self->list.states[i].tid);
	}
	return 0;
}

bool tp_python_is_gil_wait(struct tp_python *self, uint64_t futex_address)
{
	uint64_t gil = find_gil(self);
	/* cond, mutex and, for handing over, switch_cond and switch_mutex: the end of the
	 * structure. */
	uint64_t size = 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t));
	return gil != 0 && futex_address - (gil + self->layout.gil_cond) < size;
}
