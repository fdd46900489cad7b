/* Reads a thread's stack twice and takes it for true where both say the same. */
#include "pystack.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_PAUSE = 4096,
	MAX_STEPS = 16384, /* to the outermost loose frame, where it is not known yet */
	MAX_SPARE = 8,  /* loose frames that are read though they were not needed the last time */
	FIRST_MARK = 3, /* owner: 3.12 FRAME_OWNED_BY_CSTACK, 3.14 _BY_INTERPRETER and _BY_CSTACK */
	LAST_MARK = 4,
	OWNER_THREAD = 0,
	OWNER_GENERATOR = 1,
	GENERATOR_EXECUTING = 0, /* enum _framestate, the same from 3.10 to 3.14 */
	FRAME_UNWINDING = 2,
	STACKREF_TAGS = 7, /* 3.14: low bits of _PyStackRef; objects are aligned to 16 */
	WORD = 8,
};

void tp_pystack_init(struct tp_pystack *self, struct tp_pymem *mem,
		     const struct tp_pylayout *layout)
{
	*self = (struct tp_pystack){
		.frames = tp_alloc(TP_PYSTACK_MAX_FRAMES * sizeof(struct tp_pystack_frame)),
	};
	self->still = tp_alloc(TP_PYSTACK_MAX_FRAMES * sizeof(struct tp_pystack_frame));
	tp_pycopy_init(&self->copy, mem, layout);
}

void tp_pystack_release(struct tp_pystack *self)
{
	free(self->frames);
	free(self->still);
	tp_pycopy_release(&self->copy);
}

/* ---- is it the thread, and does the plan fit? ---- */

static bool is_thread(const struct tp_pycopy *copy, const struct tp_pycopy_thread *thread)
{
	const struct tp_pylayout *layout = copy->layout;
	uint64_t link = tp_pycopy_link(copy);
	if (tp_pycopy_state_word(copy, layout->thread_interp) != thread->interp ||
	    tp_pycopy_state_word(copy, layout->thread_pthread) != thread->pthread ||
	    (thread->link != 0 && link != thread->state))
		return false;
	if (thread->tid == 0)
		return true;
	if (thread->tid_address != 0)
		return tp_pycopy_tid(copy) == thread->tid;
	return layout->thread_tid == 0 ||
	       tp_pycopy_state_word(copy, layout->thread_tid) == thread->tid;
}

/* New threads are put before this one. */
static uint64_t link_of(const struct tp_pycopy *copy)
{
	uint64_t previous = tp_pycopy_state_word(copy, copy->layout->thread_prev);
	return previous ? previous + copy->layout->thread_next
			: tp_pycopy_state_word(copy, copy->layout->thread_interp) +
				  copy->layout->interp_threads;
}

static bool are_chunks_linked(const struct tp_pycopy *copy, const struct tp_pyplan *plan)
{
	size_t n = tp_pyplan_n_read(plan);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *head = tp_pycopy_chunk(copy, plan, i);
		uint64_t previous = tp_pymem_u64(head + copy->layout->chunk_previous);
		bool is_before_gap = tp_pyplan_has_gap(plan) && i + 1 == TP_PYPLAN_INNER_CHUNKS;
		uint64_t next = i + 1 < n ? tp_pyplan_read(plan, i + 1)->address : 0;
		if (previous != next && !is_before_gap)
			return false;
	}
	return true;
}

static enum tp_pystack_outcome fit_chunks(const struct tp_pycopy *copy, struct tp_pyplan *plan)
{
	const struct tp_pylayout *layout = copy->layout;
	if (layout->thread_chunk == 0)
		return TP_PYSTACK_READ;
	uint64_t newest = tp_pycopy_state_word(copy, layout->thread_chunk);
	uint64_t top = tp_pycopy_state_word(copy, layout->thread_top);
	if (newest == 0) {
		plan->n_chunks = 0;
		return TP_PYSTACK_READ;
	}
	if (plan->n_chunks > 0 && !are_chunks_linked(copy, plan))
		plan->n_chunks = 0;
	if (plan->n_chunks == 0 || plan->chunks[0].address != newest)
		return tp_pyplan_follow_chunks(plan, copy->mem, layout, newest, top)
			       ? TP_PYSTACK_AGAIN
			       : TP_PYSTACK_MOVED;
	uint64_t size = tp_pymem_u64(tp_pycopy_chunk(copy, plan, 0) + layout->chunk_size);
	uint64_t was = plan->chunks[0].size;
	/* A little less than planned is read until the next time. */
	tp_pyplan_fit_newest(plan, layout, size, top);
	if (plan->chunks[0].size > was && top > newest + was)
		return TP_PYSTACK_AGAIN;
	plan->chunks[0].size = was;
	return TP_PYSTACK_READ;
}

static enum tp_pystack_outcome fit(const struct tp_pycopy *copy, struct tp_pycopy_thread *thread)
{
	if (!is_thread(copy, thread))
		return TP_PYSTACK_GONE;
	uint64_t link = link_of(copy);
	bool is_again = thread->link != link;
	thread->link = link;
	if (copy->layout->thread_cframe) {
		uint64_t cframe = tp_pycopy_state_word(copy, copy->layout->thread_cframe);
		is_again |= cframe != thread->plan.cframe || cframe != tp_pycopy_cframe_again(copy);
		thread->plan.cframe = cframe;
	}
	enum tp_pystack_outcome outcome = fit_chunks(copy, &thread->plan);
	return outcome == TP_PYSTACK_READ && is_again ? TP_PYSTACK_AGAIN : outcome;
}

/* ---- the walk from the innermost frame to the outermost ---- */

struct walk {
	struct tp_pystack *self;
	struct tp_pyplan *plan;
	uint64_t seen[TP_PYPLAN_LOOSE]; /* loose frames, in order */
	uint64_t seen_codes[TP_PYPLAN_LOOSE];
	size_t n_seen;
	size_t look;
	size_t next_loose;  /* where the next one probably is in the plan */
	bool is_incomplete; /* something was not planned, so is not in the copies */
	bool has_left_out;
	bool is_in_outer; /* the walk has to come by plan->outer from here on, from next_outer on */
	size_t next_outer;
	uint64_t rank; /* of the last frame in a chunk */
};

static bool is_running_old(const struct tp_pylayout *layout, const uint8_t *bytes)
{
	if (layout->frame_executing)
		return bytes[layout->frame_executing] != 0;
	uint8_t state = bytes[layout->frame_state];
	return state == GENERATOR_EXECUTING || state == FRAME_UNWINDING;
}

/* `bytes` has TP_PYCOPY_LEAD_BYTES before it. */
static void parse_frame(const struct tp_pystack *self, struct tp_pystack_frame *out,
			const uint8_t *bytes)
{
	const struct tp_pylayout *layout = self->copy.layout;
	out->back = tp_pymem_u64(bytes + layout->frame_back);
	out->code = tp_pymem_u64(bytes + layout->frame_code) & ~(uint64_t)STACKREF_TAGS;
	if (layout->frame_owner == 0) {
		int32_t index = (int32_t)tp_pymem_u32(bytes + layout->frame_instr);
		out->instr = (uint64_t)((int64_t)index * (layout->minor >= 10 ? 2 : 1));
		out->is_entry = true;
		out->is_running = is_running_old(layout, bytes);
		return;
	}
	out->instr = tp_pymem_u64(bytes + layout->frame_instr);
	out->owner = bytes[layout->frame_owner];
	out->is_mark = layout->minor >= 12 && out->owner >= FIRST_MARK && out->owner <= LAST_MARK;
	out->is_entry = layout->frame_is_entry && bytes[layout->frame_is_entry];
	const uint8_t *state = bytes - layout->generator_state;
	out->is_running = out->owner == OWNER_THREAD || out->is_mark ||
			  (out->owner == OWNER_GENERATOR && *state == GENERATOR_EXECUTING);
}

static size_t index_of_loose(struct walk *walk, uint64_t address)
{
	const struct tp_pyplan *plan = walk->plan;
	for (size_t i = 0; i < plan->n_loose; i++) {
		size_t k = walk->next_loose + i;
		k -= k < plan->n_loose ? 0 : plan->n_loose;
		if (plan->loose[k] == address) {
			walk->next_loose = k + 1 < plan->n_loose ? k + 1 : 0;
			return k;
		}
	}
	return plan->n_loose;
}

/* Thread-owned frames lie in chunks. Where C's stack was overwritten after its mark it may look
 * like one; only of a deep stack some chunks are not read. */
static bool may_be_loose(const struct walk *walk, const struct tp_pystack_frame *frame)
{
	return walk->self->copy.layout->frame_owner == 0 || frame->owner != OWNER_THREAD ||
	       tp_pyplan_has_gap(walk->plan);
}

/* One frame, from copy A or, where the plan did not know of it, from memory. */
static bool get_frame(struct walk *walk, struct tp_pystack_frame *out, uint64_t address)
{
	struct tp_pystack *self = walk->self;
	*out = (struct tp_pystack_frame){.address = address};
	if (tp_pycopy_find(&self->copy, walk->plan, walk->look, address, &out->bytes)) {
		parse_frame(self, out, out->bytes.before);
		/* A caller was called before: no circles. */
		bool is_in_order = walk->rank == 0 || out->bytes.rank < walk->rank;
		walk->rank = out->bytes.rank;
		return is_in_order;
	}
	size_t k = index_of_loose(walk, address);
	if (k < walk->plan->n_loose) {
		tp_pycopy_loose(&self->copy, k, &out->bytes);
		parse_frame(self, out, out->bytes.before);
	} else {
		uint8_t bytes[TP_PYCOPY_LEAD_BYTES + TP_PYLAYOUT_MAX_FRAME_BYTES];
		walk->is_incomplete = true;
		if (!tp_pymem_get(self->copy.mem, address - TP_PYCOPY_LEAD_BYTES, bytes,
				  self->copy.loose_bytes))
			return false;
		parse_frame(self, out, bytes + TP_PYCOPY_LEAD_BYTES);
		/* One that was left while the way to it was walked leads nowhere. */
		if (!out->is_running)
			return false;
	}
	if (walk->n_seen == TP_PYPLAN_LOOSE || !may_be_loose(walk, out))
		return false;
	walk->seen_codes[walk->n_seen] = out->code;
	walk->seen[walk->n_seen++] = address;
	return true;
}

/* The outermost loose frames from `address` on, in a ring; how many were met, 0 = no end was found.
 */
static size_t follow_to_end(struct walk *walk, uint64_t address, uint64_t *ring, uint64_t *codes)
{
	size_t n = 0;
	for (size_t i = 0; address != 0; i++) {
		struct tp_pystack_frame frame;
		size_t n_seen = walk->n_seen;
		if (i == MAX_STEPS || !get_frame(walk, &frame, address))
			return 0;
		if (walk->n_seen > n_seen) {
			codes[n % TP_PYPLAN_OUTER_LOOSE] = frame.code;
			ring[n++ % TP_PYPLAN_OUTER_LOOSE] = address;
		}
		walk->n_seen = n_seen;
		address = frame.back;
	}
	return n;
}

/* Finds where the walk goes on. It is a long way: once there was no end to it, it is tried rarely.
 */
static bool scout(struct walk *walk, uint64_t address)
{
	struct tp_pyplan *plan = walk->plan;
	uint64_t ring[TP_PYPLAN_OUTER_LOOSE];
	uint64_t codes[TP_PYPLAN_OUTER_LOOSE];
	if (plan->scout_wait > 0) {
		plan->scout_wait--;
		return false;
	}
	uint64_t rank = walk->rank;
	size_t n = follow_to_end(walk, address, ring, codes);
	walk->rank = rank;
	if (n == 0) {
		plan->scout_pause =
			plan->scout_pause < MAX_PAUSE ? 2 * plan->scout_pause + 16 : MAX_PAUSE;
		plan->scout_wait = plan->scout_pause;
		return false;
	}
	size_t n_outer = n < TP_PYPLAN_OUTER_LOOSE ? n : TP_PYPLAN_OUTER_LOOSE;
	for (size_t i = 0; i < n_outer; i++) {
		size_t from = (n - n_outer + i) % TP_PYPLAN_OUTER_LOOSE;
		plan->outer[i] = ring[from];
		plan->outer_codes[i] = codes[from];
	}
	plan->n_outer = n_outer;
	plan->scout_pause = 0;
	return true;
}

static bool is_outer(const struct tp_pyplan *plan, uint64_t address)
{
	for (size_t i = 0; i < plan->n_outer; i++) {
		if (plan->outer[i] == address)
			return true;
	}
	return false;
}

/* The address to go on at after a frame: its caller, or beyond what is left out of a deep stack. */
static bool next_address(struct walk *walk, const struct tp_pystack_frame *frame, uint64_t *next)
{
	struct tp_pyplan *plan = walk->plan;
	const uint64_t first = walk->self->copy.layout->chunk_data;
	*next = frame->back;
	if (*next == 0 || walk->has_left_out)
		return true;
	if (tp_pyplan_has_gap(plan) &&
	    frame->address == tp_pyplan_read(plan, TP_PYPLAN_INNER_CHUNKS - 1)->address + first) {
		*next = tp_pyplan_read(plan, TP_PYPLAN_INNER_CHUNKS)->address + first;
	} else if (walk->n_seen >= TP_PYPLAN_INNER_LOOSE && !is_outer(plan, *next)) {
		if (plan->n_outer == 0 && !scout(walk, *next))
			return false;
		*next = plan->outer[0];
		walk->is_in_outer = true;
	}
	walk->has_left_out = *next != frame->back;
	if (walk->has_left_out)
		walk->self->cut = walk->self->n_frames;
	return true;
}

/* What was left out does not vouch for what is beyond it: that has to be as it was when the way to
 * it was walked. */
static bool is_known_outer(struct walk *walk, const struct tp_pystack_frame *frame)
{
	struct tp_pyplan *plan = walk->plan;
	if (!walk->is_in_outer || frame->bytes.rank != 0)
		return true;
	size_t i = walk->next_outer++;
	if (i < plan->n_outer && plan->outer[i] == frame->address &&
	    plan->outer_codes[i] == frame->code)
		return true;
	plan->n_outer = 0;
	return false;
}

static void keep_frame(struct tp_pystack *self, const struct tp_pystack_frame *frame)
{
	/* What lies inside of a mark was called by C. */
	if (frame->is_mark && self->n_frames > 0 && self->cut != self->n_frames)
		self->frames[self->n_frames - 1].is_entry = true;
	self->frames[self->n_frames++] = *frame;
}

static enum tp_pystack_outcome walk_frames(struct walk *walk, uint64_t address)
{
	struct tp_pystack *self = walk->self;
	self->n_frames = 0;
	self->cut = SIZE_MAX;
	while (address != 0) {
		struct tp_pystack_frame frame;
		if (self->n_frames == TP_PYSTACK_MAX_FRAMES)
			return TP_PYSTACK_BROKEN;
		if (address % WORD != 0 || !get_frame(walk, &frame, address) ||
		    !is_known_outer(walk, &frame))
			return TP_PYSTACK_MOVED;
		keep_frame(self, &frame);
		if (!next_address(walk, &frame, &address))
			return TP_PYSTACK_MOVED;
	}
	if (self->cut == SIZE_MAX)
		self->cut = self->n_frames;
	return TP_PYSTACK_READ;
}

static bool has_seen(const struct walk *walk, uint64_t address)
{
	for (size_t i = 0; i < walk->n_seen; i++) {
		if (walk->seen[i] == address)
			return true;
	}
	return false;
}

/* What a walk found is planned from now on; before it some of what was planned and not come by, for
 * frames are used again. */
static void learn(struct walk *walk)
{
	struct tp_pyplan *plan = walk->plan;
	uint64_t spare[MAX_SPARE];
	size_t n_spare = 0;
	size_t room = TP_PYPLAN_LOOSE - walk->n_seen;
	for (size_t i = 0; i < plan->n_loose && n_spare < MAX_SPARE && n_spare < room; i++) {
		if (!has_seen(walk, plan->loose[i]))
			spare[n_spare++] = plan->loose[i];
	}
	memcpy(plan->loose, spare, n_spare * sizeof(spare[0]));
	memcpy(plan->loose + n_spare, walk->seen, walk->n_seen * sizeof(walk->seen[0]));
	plan->n_loose = n_spare + walk->n_seen;
	if (walk->has_left_out)
		return;
	size_t n = walk->n_seen < TP_PYPLAN_OUTER_LOOSE ? walk->n_seen : TP_PYPLAN_OUTER_LOOSE;
	memcpy(plan->outer, walk->seen + walk->n_seen - n, n * sizeof(walk->seen[0]));
	memcpy(plan->outer_codes, walk->seen_codes + walk->n_seen - n, n * sizeof(walk->seen[0]));
	plan->n_outer = n;
}

/* ---- is it true? ---- */

static bool is_same_frame(const struct tp_pystack *self, const struct tp_pystack_frame *frame,
			  bool is_innermost)
{
	struct tp_pystack_frame again = {0};
	parse_frame(self, &again, frame->bytes.after);
	return frame->is_running && again.is_running && again.back == frame->back &&
	       again.code == frame->code && again.owner == frame->owner &&
	       (is_innermost || again.instr == frame->instr);
}

/* Where the part of the stack begins that is the same in both copies, to its outermost frame. Marks
 * count: they are links, too. */
static size_t first_still(const struct tp_pystack *self)
{
	size_t i = self->n_frames;
	while (i > 0 && self->frames[i - 1].bytes.after &&
	       is_same_frame(self, &self->frames[i - 1], true)) {
		i--;
		/* One that goes on may be the innermost, and no other. */
		if (!is_same_frame(self, &self->frames[i], false))
			break;
	}
	return i;
}

/* The first frame in the oldest chunk, whose first word is left free, is under all others. */
static bool has_first_frame(const struct walk *walk)
{
	const struct tp_pystack *self = walk->self;
	const struct tp_pylayout *layout = self->copy.layout;
	const struct tp_pyplan *plan = walk->plan;
	size_t i = self->n_frames;
	while (i > 0 && self->frames[i - 1].bytes.rank == 0)
		i--;
	if (plan->n_chunks == 0)
		return i == 0;
	uint64_t first = plan->chunks[plan->n_chunks - 1].address + layout->chunk_data + WORD;
	if (i > 0)
		return self->frames[i - 1].address == first;
	/* Generators only: no function may be under them. */
	return plan->n_chunks == 1 &&
	       tp_pycopy_state_word(&self->copy, layout->thread_top) <= first;
}

/* Can the outermost frame be a thread's first? */
static bool is_rooted(const struct walk *walk)
{
	const struct tp_pystack *self = walk->self;
	const struct tp_pystack_frame *last = &self->frames[self->n_frames - 1];
	if (self->copy.layout->minor < 11)
		return true;
	/* From 3.12 on C, which called the first function of every thread, left its mark. */
	if (self->copy.layout->minor >= 12 && (!last->is_mark || self->n_frames < 2))
		return false;
	return (last->is_mark || last->is_entry) && has_first_frame(walk);
}

static void drop_marks(struct tp_pystack *self)
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

void tp_pystack_begin(struct tp_pystack *self)
{
	self->n_still = 0;
}

/* Of deep stacks the outer part is all that vouches for itself. */
static void keep_still(struct tp_pystack *self, size_t first)
{
	if (first < self->cut && self->cut < self->n_frames)
		first = self->cut;
	size_t n = self->n_frames - first;
	if (n <= self->n_still)
		return;
	memcpy(self->still, self->frames + first, n * sizeof(*self->still));
	self->n_still = n;
}

bool tp_pystack_take_still(struct tp_pystack *self)
{
	memcpy(self->frames, self->still, self->n_still * sizeof(*self->still));
	self->n_frames = self->n_still;
	self->cut = self->n_still;
	drop_marks(self);
	return self->n_frames > 0;
}

/* Before 3.11 the walk may go astray at once, among frames that come and go. What it came by the
 * last time is tried from its other end. */
static void keep_planned(struct walk *walk)
{
	struct tp_pystack *self = walk->self;
	const struct tp_pyplan *plan = walk->plan;
	size_t n = 0;
	uint64_t caller = 0;
	for (size_t i = plan->n_loose; i > 0; i--, n++) {
		struct tp_pystack_frame *frame = &self->frames[plan->n_loose - 1 - n];
		*frame = (struct tp_pystack_frame){.address = plan->loose[i - 1]};
		tp_pycopy_loose(&self->copy, i - 1, &frame->bytes);
		parse_frame(self, frame, frame->bytes.before);
		if (frame->back != caller)
			break;
		caller = frame->address;
	}
	memmove(self->frames, self->frames + plan->n_loose - n, n * sizeof(*self->frames));
	self->n_frames = n;
	self->cut = n;
	keep_still(self, first_still(self));
}

static enum tp_pystack_outcome take_look(struct walk *walk)
{
	struct tp_pystack *self = walk->self;
	enum tp_pystack_outcome outcome =
		walk_frames(walk, tp_pycopy_entry(&self->copy, walk->look));
	if (outcome != TP_PYSTACK_READ) {
		if (self->copy.layout->minor < 11)
			keep_planned(walk);
		return outcome;
	}
	if (self->n_frames == 0)
		return TP_PYSTACK_NONE;
	size_t first = first_still(self);
	bool is_root = is_rooted(walk);
	if (is_root && first == 0)
		return TP_PYSTACK_READ;
	if (is_root)
		keep_still(self, first);
	return walk->is_incomplete ? TP_PYSTACK_AGAIN : TP_PYSTACK_MOVED;
}

static enum tp_pystack_outcome take_looks(struct tp_pystack *self, struct tp_pyplan *plan)
{
	enum tp_pystack_outcome outcome = TP_PYSTACK_MOVED;
	for (size_t i = 0; i < self->copy.n_looks && outcome == TP_PYSTACK_MOVED; i++) {
		struct walk walk = {.self = self, .plan = plan, .look = i};
		outcome = take_look(&walk);
		if (outcome == TP_PYSTACK_AGAIN)
			learn(&walk);
	}
	return outcome;
}

enum tp_pystack_outcome tp_pystack_take(struct tp_pystack *self, struct tp_pycopy_thread *thread,
					size_t n_looks)
{
	enum tp_pystack_outcome outcome;
	self->n_frames = 0;
	self->cut = 0;
	switch (tp_pycopy_read(&self->copy, thread, n_looks)) {
	case TP_PYCOPY_SLOW:
		return TP_PYSTACK_MOVED;
	case TP_PYCOPY_UNREADABLE:
		outcome = self->copy.copy_bytes == 0 && thread->plan.cframe == 0 ? TP_PYSTACK_GONE
										 : TP_PYSTACK_MOVED;
		tp_pyplan_clear(&thread->plan);
		thread->link = 0;
		return outcome;
	default:
		break;
	}
	outcome = fit(&self->copy, thread);
	if (outcome == TP_PYSTACK_READ)
		outcome = take_looks(self, &thread->plan);
	if (outcome == TP_PYSTACK_READ)
		drop_marks(self);
	return outcome;
}
