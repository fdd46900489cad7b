/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a copied stack from the sampled registers to the root of the thread. */
#include "trainprof/stack/unwind.h"

#include "frame_walk.h"

/* A stack of 512 frames with a scan at each needs less; hostile input uses all (under 10 ms). */
enum { MAX_STEPS = 4096, MAX_WORDS = 16384 };

static enum tp_unwind_end ending_of(enum tp_frame_walk_result result)
{
	switch (result) {
	case TP_FRAME_WALK_ROOT:
	case TP_FRAME_WALK_NOTHING:
		return TP_UNWIND_COMPLETE;
	case TP_FRAME_WALK_TRUNCATED:
		return TP_UNWIND_TRUNCATED;
	case TP_FRAME_WALK_LIMIT:
		return TP_UNWIND_DEEP;
	default:
		return TP_UNWIND_LOST;
	}
}

/* Moves to the caller, by rule or otherwise by a guess. */
static enum tp_frame_walk_result to_caller(struct tp_frame_walk *walk,
					   struct tp_frame_walk_state *state)
{
	struct tp_frame_walk_state next;
	enum tp_frame_walk_result result = tp_frame_walk_step(walk, state, &next);
	bool has_guess = false;
	if (result == TP_FRAME_WALK_NEEDS_BP && tp_stack_scan_bp(walk, state)) {
		result = tp_frame_walk_step(walk, state, &next);
		has_guess = true;
	}
	if (result == TP_FRAME_WALK_DONE) {
		*state = next;
		state->is_guessed = has_guess;
		/* Some libraries start a thread with a return address of 0 instead of an entry in
		 * the unwind table. */
		return next.ip == 0 ? TP_FRAME_WALK_NOTHING : TP_FRAME_WALK_DONE;
	}
	bool is_tabled = result == TP_FRAME_WALK_NEEDS_BP;
	if (result != TP_FRAME_WALK_NO_RULE && !is_tabled && result != TP_FRAME_WALK_BROKEN)
		return result;
	if (tp_stack_scan_caller(walk, state, is_tabled))
		return TP_FRAME_WALK_DONE;
	return walk->steps_left == 0 || walk->words_left == 0 ? TP_FRAME_WALK_LIMIT
							      : TP_FRAME_WALK_NO_RULE;
}

void tp_unwind(struct tp_maps *maps, const struct tp_unwind_regs *regs, const void *stack,
	       size_t size, struct tp_stack_frame *frames, size_t max_frames,
	       struct tp_unwind_result *out)
{
	if (size > UINT64_MAX - regs->sp)
		size = 0;
	struct tp_frame_walk walk = {
		.maps = maps,
		.stack = stack,
		.low = regs->sp,
		.high = regs->sp + size,
		.steps_left = MAX_STEPS,
		.words_left = MAX_WORDS,
	};
	struct tp_frame_walk_state state = {
		.ip = regs->ip,
		.sp = regs->sp,
		.bp = regs->bp,
		.knows_bp = regs->bp != 0,
		.lr = regs->lr,
		.knows_lr = regs->lr != 0,
	};
	if (max_frames > TP_STACK_MAX_FRAMES)
		max_frames = TP_STACK_MAX_FRAMES;
	*out = (struct tp_unwind_result){.end = TP_UNWIND_DEEP};
	while (out->n_frames < max_frames) {
		uint32_t flags = (state.is_return ? TP_FRAME_RETURN : 0) |
				 (state.is_guessed ? TP_FRAME_GUESSED : 0);
		tp_maps_find(maps, state.ip, flags, &frames[out->n_frames++]);
		out->n_guessed += state.is_guessed;
		enum tp_frame_walk_result result = to_caller(&walk, &state);
		if (result != TP_FRAME_WALK_DONE) {
			out->end = ending_of(result);
			out->is_root_known = result == TP_FRAME_WALK_ROOT;
			break;
		}
	}
}

bool tp_unwind_is_pointer_call(struct tp_maps *maps, uint64_t return_pc)
{
	struct tp_frame_walk walk = {.maps = maps};
	return tp_frame_walk_call(&walk, return_pc) == TP_RULE_CALL_INDIRECT;
}
