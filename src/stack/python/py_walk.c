/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a stack in its first copy, and finds the way across the frames that are left out of a deep
 * one. */
#include "py_walk.h"

#include <string.h>

enum {
	MAX_PAUSE = 4096,
	MAX_STEPS = 16384, /* up to the outermost loose frame, while it is not known yet */
	MAX_EXTRA = 8, /* loose frames that are still read though the last walk did not meet them */
	FIRST_MARK = 3, /* owner: 3.12 FRAME_OWNED_BY_CSTACK, 3.14 _BY_INTERPRETER and _BY_CSTACK */
	LAST_MARK = 4,
	OWNER_THREAD = 0,
	OWNER_GENERATOR = 1,
	GENERATOR_EXECUTING = 0, /* enum _framestate, the same from 3.10 to 3.14 */
	FRAME_UNWINDING = 2,
	STACKREF_TAGS = 7, /* 3.14: low bits of _PyStackRef; objects are aligned to 16 */
	WORD = 8,
};

static bool is_running_old(const struct tp_py_layout *layout, const uint8_t *bytes)
{
	if (layout->frame_executing)
		return bytes[layout->frame_executing] != 0;
	uint8_t state = bytes[layout->frame_state];
	return state == GENERATOR_EXECUTING || state == FRAME_UNWINDING;
}

void tp_py_walk_parse(const struct tp_py_stack *self, struct tp_py_stack_frame *out,
		      const uint8_t *bytes)
{
	const struct tp_py_layout *layout = self->copy.layout;
	out->back = tp_py_memory_u64(bytes + layout->frame_back);
	out->code = tp_py_memory_u64(bytes + layout->frame_code) & ~(uint64_t)STACKREF_TAGS;
	if (layout->frame_owner == 0) {
		int32_t index = (int32_t)tp_py_memory_u32(bytes + layout->frame_instr);
		out->instr = (uint64_t)((int64_t)index * (layout->minor >= 10 ? 2 : 1));
		out->is_entry = true;
		out->is_running = is_running_old(layout, bytes);
		return;
	}
	out->instr = tp_py_memory_u64(bytes + layout->frame_instr);
	out->owner = bytes[layout->frame_owner];
	out->is_mark = layout->minor >= 12 && out->owner >= FIRST_MARK && out->owner <= LAST_MARK;
	out->is_entry = layout->frame_is_entry && bytes[layout->frame_is_entry];
	const uint8_t *state = bytes - layout->generator_state;
	out->is_running = out->owner == OWNER_THREAD || out->is_mark ||
			  (out->owner == OWNER_GENERATOR && *state == GENERATOR_EXECUTING);
}

static size_t index_of_loose(struct tp_py_walk *walk, uint64_t address)
{
	const struct tp_py_stack_location *plan = walk->plan;
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

/* Thread-owned frames are in chunks. If the C stack was overwritten after its mark, it may look
 * like such a frame; some chunks are left out only in a deep stack. */
static bool can_be_loose(const struct tp_py_walk *walk, const struct tp_py_stack_frame *frame)
{
	return walk->self->copy.layout->frame_owner == 0 || frame->owner != OWNER_THREAD ||
	       tp_py_stack_location_is_partial(walk->plan);
}

/* Reads one frame, from copy A or, if it was not in the plan, from memory. */
static bool get_frame(struct tp_py_walk *walk, struct tp_py_stack_frame *out, uint64_t address)
{
	struct tp_py_stack *self = walk->self;
	*out = (struct tp_py_stack_frame){.address = address};
	if (tp_py_copy_find(&self->copy, walk->plan, walk->look, address, &out->bytes)) {
		tp_py_walk_parse(self, out, out->bytes.before);
		/* A caller was called before its callee: no circles. */
		bool is_in_order = walk->rank == 0 || out->bytes.rank < walk->rank;
		walk->rank = out->bytes.rank;
		return is_in_order;
	}
	size_t k = index_of_loose(walk, address);
	if (k < walk->plan->n_loose) {
		tp_py_copy_loose(&self->copy, k, &out->bytes);
		tp_py_walk_parse(self, out, out->bytes.before);
		/* A generator that began after copy A was made leads on by copy B. */
		if (self->copy.layout->frame_owner && !out->is_running && out->bytes.after) {
			tp_py_walk_parse(self, out, out->bytes.after);
			out->is_late = true;
		}
	} else {
		uint8_t bytes[TP_PY_COPY_PREFIX_BYTES + TP_PY_LAYOUT_MAX_FRAME_BYTES];
		walk->is_incomplete = true;
		if (!tp_py_memory_get(self->copy.mem, address - TP_PY_COPY_PREFIX_BYTES, bytes,
				      self->copy.loose_bytes))
			return false;
		tp_py_walk_parse(self, out, bytes + TP_PY_COPY_PREFIX_BYTES);
		/* A frame that returned meanwhile leads nowhere. */
		if (!out->is_running)
			return false;
	}
	if (walk->n_seen == TP_PY_STACK_LOCATION_LOOSE || !can_be_loose(walk, out))
		return false;
	walk->seen_codes[walk->n_seen] = out->code;
	walk->seen[walk->n_seen++] = address;
	return true;
}

/* Finds the outermost loose frames from `address` on, into a ring; returns how many were met, 0 =
 * no end was found. */
static size_t follow_to_end(struct tp_py_walk *walk, uint64_t address, uint64_t *ring,
			    uint64_t *codes)
{
	size_t n = 0;
	for (size_t i = 0; address != 0; i++) {
		struct tp_py_stack_frame frame;
		size_t n_seen = walk->n_seen;
		if (i == MAX_STEPS || !get_frame(walk, &frame, address))
			return 0;
		if (walk->n_seen > n_seen) {
			codes[n % TP_PY_STACK_LOCATION_OUTER_LOOSE] = frame.code;
			ring[n++ % TP_PY_STACK_LOCATION_OUTER_LOOSE] = address;
		}
		walk->n_seen = n_seen;
		address = frame.back;
	}
	return n;
}

/* Finds the frame at which the walk continues. This takes long: after a failure it is tried
 * rarely. */
static bool find_next(struct tp_py_walk *walk, uint64_t address)
{
	struct tp_py_stack_location *plan = walk->plan;
	uint64_t ring[TP_PY_STACK_LOCATION_OUTER_LOOSE];
	uint64_t codes[TP_PY_STACK_LOCATION_OUTER_LOOSE];
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
	size_t n_outer =
		n < TP_PY_STACK_LOCATION_OUTER_LOOSE ? n : TP_PY_STACK_LOCATION_OUTER_LOOSE;
	for (size_t i = 0; i < n_outer; i++) {
		size_t from = (n - n_outer + i) % TP_PY_STACK_LOCATION_OUTER_LOOSE;
		plan->outer[i] = ring[from];
		plan->outer_codes[i] = codes[from];
	}
	plan->n_outer = n_outer;
	plan->scout_pause = 0;
	return true;
}

static bool is_outer(const struct tp_py_stack_location *plan, uint64_t address)
{
	for (size_t i = 0; i < plan->n_outer; i++) {
		if (plan->outer[i] == address)
			return true;
	}
	return false;
}

/* Returns the address to continue at after a frame: its caller, or the first frame after those left
 * out of a deep stack. */
static bool next_address(struct tp_py_walk *walk, const struct tp_py_stack_frame *frame,
			 uint64_t *next)
{
	struct tp_py_stack_location *plan = walk->plan;
	const uint64_t first = walk->self->copy.layout->chunk_data;
	*next = frame->back;
	if (*next == 0 || walk->has_left_out)
		return true;
	if (tp_py_stack_location_is_partial(plan) &&
	    frame->address == tp_py_stack_location_read(plan, TP_PY_STACK_LOCATION_INNER_CHUNKS - 1)
					      ->address +
				      first) {
		*next = tp_py_stack_location_read(plan, TP_PY_STACK_LOCATION_INNER_CHUNKS)
				->address +
			first;
	} else if (walk->n_seen >= TP_PY_STACK_LOCATION_INNER_LOOSE && !is_outer(plan, *next)) {
		if (plan->n_outer == 0 && !find_next(walk, *next))
			return false;
		*next = plan->outer[0];
		walk->is_in_outer = true;
	}
	walk->has_left_out = *next != frame->back;
	if (walk->has_left_out)
		walk->self->cut = walk->self->n_frames;
	return true;
}

/* The frames that are left out cannot confirm those after them: these have to be the same as when
 * the way to them was walked. */
static bool is_known_outer(struct tp_py_walk *walk, const struct tp_py_stack_frame *frame)
{
	struct tp_py_stack_location *plan = walk->plan;
	if (!walk->is_in_outer || frame->bytes.rank != 0)
		return true;
	size_t i = walk->next_outer++;
	if (i < plan->n_outer && plan->outer[i] == frame->address &&
	    plan->outer_codes[i] == frame->code)
		return true;
	plan->n_outer = 0;
	return false;
}

static void keep_frame(struct tp_py_stack *self, const struct tp_py_stack_frame *frame)
{
	/* C code called the frames inside of a mark. */
	if (frame->is_mark && self->n_frames > 0 && self->cut != self->n_frames)
		self->frames[self->n_frames - 1].is_entry = true;
	self->frames[self->n_frames++] = *frame;
}

enum tp_py_stack_outcome tp_py_walk_frames(struct tp_py_walk *walk, uint64_t address)
{
	struct tp_py_stack *self = walk->self;
	self->n_frames = 0;
	self->cut = SIZE_MAX;
	while (address != 0) {
		struct tp_py_stack_frame frame;
		if (self->n_frames == TP_PY_STACK_MAX_FRAMES)
			return TP_PY_STACK_BROKEN;
		if (address % WORD != 0 || !get_frame(walk, &frame, address) ||
		    !is_known_outer(walk, &frame))
			return TP_PY_STACK_MOVED;
		keep_frame(self, &frame);
		if (!next_address(walk, &frame, &address))
			return TP_PY_STACK_MOVED;
	}
	if (self->cut == SIZE_MAX)
		self->cut = self->n_frames;
	return TP_PY_STACK_READ;
}

static bool has_seen(const struct tp_py_walk *walk, uint64_t address)
{
	for (size_t i = 0; i < walk->n_seen; i++) {
		if (walk->seen[i] == address)
			return true;
	}
	return false;
}

/* Some frames that were planned but not met stay in front of the plan, because frames are
 * reused. */
void tp_py_walk_update_plan(struct tp_py_walk *walk)
{
	struct tp_py_stack_location *plan = walk->plan;
	uint64_t spare[MAX_EXTRA];
	size_t n_spare = 0;
	size_t room = TP_PY_STACK_LOCATION_LOOSE - walk->n_seen;
	for (size_t i = 0; i < plan->n_loose && n_spare < MAX_EXTRA && n_spare < room; i++) {
		if (!has_seen(walk, plan->loose[i]))
			spare[n_spare++] = plan->loose[i];
	}
	memcpy(plan->loose, spare, n_spare * sizeof(spare[0]));
	memcpy(plan->loose + n_spare, walk->seen, walk->n_seen * sizeof(walk->seen[0]));
	plan->n_loose = n_spare + walk->n_seen;
	if (walk->has_left_out)
		return;
	size_t n = walk->n_seen < TP_PY_STACK_LOCATION_OUTER_LOOSE
			   ? walk->n_seen
			   : TP_PY_STACK_LOCATION_OUTER_LOOSE;
	memcpy(plan->outer, walk->seen + walk->n_seen - n, n * sizeof(walk->seen[0]));
	memcpy(plan->outer_codes, walk->seen_codes + walk->n_seen - n, n * sizeof(walk->seen[0]));
	plan->n_outer = n;
}
