/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a thread's stack twice and accepts it if both copies agree. */
#include "py_stack.h"

#include "py_walk.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };

void tp_py_stack_init(struct tp_py_stack *self, struct tp_py_memory *mem,
		      const struct tp_py_layout *layout)
{
	*self = (struct tp_py_stack){
		.frames = tp_alloc(TP_PY_STACK_MAX_FRAMES * sizeof(struct tp_py_stack_frame)),
	};
	self->still = tp_alloc(TP_PY_STACK_MAX_FRAMES * sizeof(struct tp_py_stack_frame));
	tp_py_copy_init(&self->copy, mem, layout);
}

void tp_py_stack_release(struct tp_py_stack *self)
{
	free(self->frames);
	free(self->still);
	tp_py_copy_release(&self->copy);
}

/* ---- Does the state belong to the thread, and does the plan fit? --------------------------- */

static bool is_thread(const struct tp_py_copy *copy, const struct tp_py_copy_thread *thread)
{
	const struct tp_py_layout *layout = copy->layout;
	uint64_t link = tp_py_copy_link(copy);
	if (tp_py_copy_state_word(copy, layout->thread_interp) != thread->interp ||
	    tp_py_copy_state_word(copy, layout->thread_pthread) != thread->pthread ||
	    (thread->link != 0 && link != thread->state))
		return false;
	if (thread->tid == 0)
		return true;
	if (thread->tid_address != 0)
		return tp_py_copy_tid(copy) == thread->tid;
	return layout->thread_tid == 0 ||
	       tp_py_copy_state_word(copy, layout->thread_tid) == thread->tid;
}

/* Returns the address of the pointer to this state; new threads are inserted before it. */
static uint64_t link_of(const struct tp_py_copy *copy)
{
	uint64_t previous = tp_py_copy_state_word(copy, copy->layout->thread_prev);
	return previous ? previous + copy->layout->thread_next
			: tp_py_copy_state_word(copy, copy->layout->thread_interp) +
				  copy->layout->interp_threads;
}

static bool are_chunks_linked(const struct tp_py_copy *copy,
			      const struct tp_py_stack_location *plan)
{
	size_t n = tp_py_stack_location_n_read(plan);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *head = tp_py_copy_chunk(copy, plan, i);
		uint64_t previous = tp_py_memory_u64(head + copy->layout->chunk_previous);
		bool is_before_gap = tp_py_stack_location_is_partial(plan) &&
				     i + 1 == TP_PY_STACK_LOCATION_INNER_CHUNKS;
		uint64_t next = i + 1 < n ? tp_py_stack_location_read(plan, i + 1)->address : 0;
		if (previous != next && !is_before_gap)
			return false;
	}
	return true;
}

static enum tp_py_stack_outcome fit_chunks(const struct tp_py_copy *copy,
					   struct tp_py_stack_location *plan)
{
	const struct tp_py_layout *layout = copy->layout;
	if (layout->thread_chunk == 0)
		return TP_PY_STACK_READ;
	uint64_t newest = tp_py_copy_state_word(copy, layout->thread_chunk);
	uint64_t top = tp_py_copy_state_word(copy, layout->thread_top);
	if (newest == 0) {
		plan->n_chunks = 0;
		return TP_PY_STACK_READ;
	}
	if (plan->n_chunks > 0 && !are_chunks_linked(copy, plan))
		plan->n_chunks = 0;
	if (plan->n_chunks == 0 || plan->chunks[0].address != newest)
		return tp_py_stack_location_follow_chunks(plan, copy->mem, layout, newest, top)
			       ? TP_PY_STACK_RETRY
			       : TP_PY_STACK_MOVED;
	uint64_t size = tp_py_memory_u64(tp_py_copy_chunk(copy, plan, 0) + layout->chunk_size);
	return tp_py_stack_location_fit_top(plan, layout, size, top) ? TP_PY_STACK_READ
								     : TP_PY_STACK_RETRY;
}

static enum tp_py_stack_outcome fit(const struct tp_py_copy *copy, struct tp_py_copy_thread *thread)
{
	if (!is_thread(copy, thread))
		return TP_PY_STACK_STALE;
	uint64_t link = link_of(copy);
	bool is_again = thread->link != link;
	thread->link = link;
	if (copy->layout->thread_cframe) {
		uint64_t cframe = tp_py_copy_state_word(copy, copy->layout->thread_cframe);
		is_again |= cframe != thread->plan.cframe ||
			    cframe != tp_py_copy_second_frame_ptr(copy);
		thread->plan.cframe = cframe;
	}
	enum tp_py_stack_outcome outcome = fit_chunks(copy, &thread->plan);
	return outcome == TP_PY_STACK_READ && is_again ? TP_PY_STACK_RETRY : outcome;
}

/* ---- Do the copies agree? ------------------------------------------------------------------ */

static bool is_same_frame(const struct tp_py_stack *self, const struct tp_py_stack_frame *frame,
			  bool is_innermost)
{
	struct tp_py_stack_frame again = {0};
	tp_py_walk_parse(self, &again, frame->bytes.after);
	return frame->is_running && again.is_running && again.back == frame->back &&
	       again.code == frame->code && again.owner == frame->owner &&
	       (is_innermost || again.instr == frame->instr);
}

/* Returns the index of the innermost frame from which on, to the outermost frame, both copies
 * agree. Marks count: they are links, too. */
static size_t first_still(const struct tp_py_stack *self)
{
	size_t i = self->n_frames;
	while (i > 0 && self->frames[i - 1].bytes.after && !self->frames[i - 1].is_late &&
	       is_same_frame(self, &self->frames[i - 1], true)) {
		i--;
		/* A frame whose instruction changed can only be the innermost one. */
		if (!is_same_frame(self, &self->frames[i], false))
			break;
	}
	return i;
}

/* The first frame in the oldest chunk, whose first word is unused, is below all others. */
static bool has_first_frame(const struct tp_py_walk *walk)
{
	const struct tp_py_stack *self = walk->self;
	const struct tp_py_layout *layout = self->copy.layout;
	const struct tp_py_stack_location *plan = walk->plan;
	size_t i = self->n_frames;
	while (i > 0 && self->frames[i - 1].bytes.rank == 0)
		i--;
	if (plan->n_chunks == 0)
		return i == 0;
	uint64_t first = plan->chunks[plan->n_chunks - 1].address + layout->chunk_data + WORD;
	if (i > 0)
		return self->frames[i - 1].address == first;
	/* Only generators: no function may be below them. */
	return plan->n_chunks == 1 &&
	       tp_py_copy_state_word(&self->copy, layout->thread_top) <= first;
}

/* Returns true if the outermost frame can be a thread's first one. */
static bool is_rooted(const struct tp_py_walk *walk)
{
	const struct tp_py_stack *self = walk->self;
	const struct tp_py_stack_frame *last = &self->frames[self->n_frames - 1];
	if (self->copy.layout->minor < 11)
		return true;
	/* From 3.12 on the C code that called the first function of every thread left a mark. */
	if (self->copy.layout->minor >= 12 && (!last->is_mark || self->n_frames < 2))
		return false;
	return (last->is_mark || last->is_entry) && has_first_frame(walk);
}

static void drop_marks(struct tp_py_stack *self)
{
	size_t n = 0;
	size_t cut = self->cut;
	for (size_t i = 0; i < self->n_frames; i++) {
		if (!self->frames[i].is_mark)
			self->frames[n++] = self->frames[i];
		else if (i < self->cut)
			cut--;
	}
	self->n_frames = n;
	self->cut = cut;
}

void tp_py_stack_begin(struct tp_py_stack *self)
{
	self->n_still = 0;
}

/* Returns true if the frames go on from the part that was unchanged in an earlier attempt: the same
 * calls from the same places. Code that holds still longer is found by more attempts: without this,
 * the time of generators and of short calls would be given to the loops after them. */
static bool extends_still(const struct tp_py_stack *self)
{
	if (self->n_still > self->n_frames)
		return false;
	const struct tp_py_stack_frame *frames = self->frames + self->n_frames - self->n_still;
	for (size_t i = 0; i < self->n_still; i++) {
		const struct tp_py_stack_frame *still = &self->still[i];
		if (frames[i].address != still->address || frames[i].code != still->code ||
		    (i > 0 && frames[i].instr != still->instr))
			return false;
	}
	return true;
}

/* In a deep stack only the part outside the cut can be verified without the rest. */
static void keep_still(struct tp_py_stack *self, size_t first)
{
	if (first < self->cut && self->cut < self->n_frames)
		first = self->cut;
	size_t n = self->n_frames - first;
	if (n <= self->n_still || !extends_still(self))
		return;
	memcpy(self->still, self->frames + first, n * sizeof(*self->still));
	self->n_still = n;
}

bool tp_py_stack_use_still(struct tp_py_stack *self)
{
	memcpy(self->frames, self->still, self->n_still * sizeof(*self->still));
	self->n_frames = self->n_still;
	self->cut = self->n_still;
	self->is_whole = false;
	drop_marks(self);
	return self->n_frames > 0;
}

/* Before 3.11 the walk may fail at once, among frames that are called and return. Then the frames
 * of the last plan are checked from the outermost one. */
static void keep_planned(struct tp_py_walk *walk)
{
	struct tp_py_stack *self = walk->self;
	const struct tp_py_stack_location *plan = walk->plan;
	size_t n = 0;
	uint64_t caller = 0;
	for (size_t i = plan->n_loose; i > 0; i--, n++) {
		struct tp_py_stack_frame *frame = &self->frames[plan->n_loose - 1 - n];
		*frame = (struct tp_py_stack_frame){.address = plan->loose[i - 1]};
		tp_py_copy_loose(&self->copy, i - 1, &frame->bytes);
		tp_py_walk_parse(self, frame, frame->bytes.before);
		if (frame->back != caller)
			break;
		caller = frame->address;
	}
	memmove(self->frames, self->frames + plan->n_loose - n, n * sizeof(*self->frames));
	self->n_frames = n;
	self->cut = n;
	keep_still(self, first_still(self));
}

static enum tp_py_stack_outcome read_snapshot(struct tp_py_walk *walk)
{
	struct tp_py_stack *self = walk->self;
	enum tp_py_stack_outcome outcome =
		tp_py_walk_frames(walk, tp_py_copy_entry(&self->copy, walk->look));
	if (outcome != TP_PY_STACK_READ) {
		if (self->copy.layout->minor < 11)
			keep_planned(walk);
		return outcome;
	}
	if (self->n_frames == 0)
		return TP_PY_STACK_NONE;
	size_t first = first_still(self);
	bool is_root = is_rooted(walk);
	if (is_root && first == 0 && extends_still(self))
		return TP_PY_STACK_READ;
	if (is_root)
		keep_still(self, first);
	return walk->is_incomplete ? TP_PY_STACK_RETRY : TP_PY_STACK_MOVED;
}

static enum tp_py_stack_outcome read_snapshots(struct tp_py_stack *self,
					       struct tp_py_stack_location *plan)
{
	enum tp_py_stack_outcome outcome = TP_PY_STACK_MOVED;
	for (size_t i = 0; i < self->copy.n_looks && outcome == TP_PY_STACK_MOVED; i++) {
		struct tp_py_walk walk = {.self = self, .plan = plan, .look = i};
		outcome = read_snapshot(&walk);
		if (outcome == TP_PY_STACK_RETRY)
			tp_py_walk_update_plan(&walk);
	}
	return outcome;
}

enum tp_py_stack_outcome tp_py_stack_read(struct tp_py_stack *self,
					  struct tp_py_copy_thread *thread, size_t n_looks)
{
	enum tp_py_stack_outcome outcome;
	self->n_frames = 0;
	self->cut = 0;
	tp_py_stack_location_shrink(&thread->plan);
	switch (tp_py_copy_read(&self->copy, thread, n_looks)) {
	case TP_PY_COPY_SLOW:
		return TP_PY_STACK_MOVED;
	case TP_PY_COPY_UNREADABLE:
		outcome = self->copy.copy_bytes == 0 && thread->plan.cframe == 0
				  ? TP_PY_STACK_STALE
				  : TP_PY_STACK_MOVED;
		tp_py_stack_location_clear(&thread->plan);
		thread->link = 0;
		return outcome;
	default:
		break;
	}
	outcome = fit(&self->copy, thread);
	if (outcome == TP_PY_STACK_READ)
		outcome = read_snapshots(self, &thread->plan);
	if (outcome == TP_PY_STACK_READ)
		drop_marks(self);
	self->is_whole = outcome == TP_PY_STACK_READ && self->cut == self->n_frames;
	return outcome;
}
