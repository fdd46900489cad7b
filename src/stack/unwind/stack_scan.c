/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guesses callers where there are no unwind tables: run-time compiled kernels and hand-written
 * assembler, in which training programs spend most of their time.
 *
 * A word on the stack is a caller if it points after a call instruction and if unwinding from
 * there, by tables, finds call instructions again. Stacks are full of old return addresses that
 * pass this test, so calls must also fit the code they led to: run-time code is called by pointer,
 * and a direct call of a function that has tables did not lead to code without tables, unless that
 * function ends in a jump by pointer.
 */
#include "frame_walk.h"
#include "stack/symbols/locate.h"

#include "trainprof/stack/modules.h"

/* Old chains of calls can be long; only where they meet the living one does a link not fit. */
enum { TRY_DEPTH = 32, BP_MAX_WORDS = 512, LAST_FRAME_BYTES = 4096 };

/* Stale call chains can be long; a link that does not fit shows only where they meet the live
 * one. */
enum try_result {
	TRY_FAILED,
	TRY_PARTIAL, /* call sites all the way, but one calls a function other than the one we came
			from */
	TRY_FITS, /* call sites all the way; each calls the function we came from as far as that is
		     known */
};

static enum try_result try_steps(struct tp_frame_walk *walk,
				 const struct tp_frame_walk_state *state, unsigned depth);

static bool is_run_time_code(struct tp_frame_walk *walk, uint64_t pc)
{
	struct tp_module *module;
	uint64_t address;
	return tp_maps_locate(walk->maps, pc, &module, &address) && module->kind == TP_FRAME_JIT;
}

/* Checks if `next`, reached from `state` by rule, looks like its caller. */
static enum try_result check_step(struct tp_frame_walk *walk,
				  const struct tp_frame_walk_state *state,
				  const struct tp_frame_walk_state *next, unsigned depth)
{
	if (!next->is_return) /* interrupted by a signal: can be anywhere */
		return TRY_FITS;
	if (tp_frame_walk_call(walk, next->ip) == TP_RULE_CALL_NONE)
		return is_run_time_code(walk, next->ip) ? TRY_FITS : TRY_FAILED;
	bool is_end = depth <= 1 || !tp_frame_walk_has_rule(walk, next);
	enum try_result rest = is_end ? TRY_FITS : try_steps(walk, next, depth - 1);
	if (rest == TRY_FITS && !tp_frame_walk_can_reach(walk, next->ip, state))
		return TRY_PARTIAL;
	return rest;
}

static enum try_result try_bp(struct tp_frame_walk *walk, const struct tp_frame_walk_state *state,
			      uint64_t bp, unsigned depth)
{
	if (bp <= state->sp || bp >= walk->high || bp % 8 != 0)
		return TRY_FAILED;
	struct tp_frame_walk_state try_result = *state;
	struct tp_frame_walk_state next;
	try_result.bp = bp;
	try_result.knows_bp = true;
	switch (tp_frame_walk_step(walk, &try_result, &next)) {
	case TP_FRAME_WALK_ROOT:
		return TRY_FITS;
	case TP_FRAME_WALK_DONE:
		/* A wrong bp leads to old frames: a partial fit is not accepted here. */
		if (next.is_return && !tp_frame_walk_can_reach(walk, next.ip, state))
			return TRY_FAILED;
		return check_step(walk, &try_result, &next, depth);
	default:
		return TRY_FAILED;
	}
}

/* Finds the best bp for `state`: its current one, or else one that the code without tables saved.
 * Such code usually pushes bp first, so the search goes down from the return address. */
static enum try_result find_bp(struct tp_frame_walk *walk, struct tp_frame_walk_state *state,
			       unsigned depth)
{
	uint64_t best_bp = state->bp;
	enum try_result best = try_bp(walk, state, state->bp, depth);
	uint64_t word;
	uint64_t at = state->gap_high;
	for (unsigned n = 0; n < BP_MAX_WORDS && at > state->gap_low && best != TRY_FITS; n++) {
		at -= sizeof(word);
		if (walk->words_left == 0 || !tp_frame_walk_word(walk, at, &word))
			break;
		walk->words_left--;
		enum try_result try_result = try_bp(walk, state, word, depth);
		if (try_result > best) {
			best = try_result;
			best_bp = word;
		}
	}
	if (best != TRY_FAILED) {
		state->bp = best_bp;
		state->knows_bp = true;
	}
	return best;
}

bool tp_stack_scan_bp(struct tp_frame_walk *walk, struct tp_frame_walk_state *state)
{
	return !state->knows_bp && find_bp(walk, state, TRY_DEPTH) != TRY_FAILED;
}

static enum try_result try_steps(struct tp_frame_walk *walk,
				 const struct tp_frame_walk_state *state, unsigned depth)
{
	struct tp_frame_walk_state next;
	switch (tp_frame_walk_step(walk, state, &next)) {
	case TP_FRAME_WALK_ROOT:
		return TRY_FITS;
	case TP_FRAME_WALK_DONE:
		return check_step(walk, state, &next, depth);
	case TP_FRAME_WALK_NEEDS_BP: {
		struct tp_frame_walk_state try_result = *state;
		return find_bp(walk, &try_result, depth);
	}
	case TP_FRAME_WALK_TRUNCATED: /* a stack longer than its copy, or an invalid address far
					 from its end */
		return walk->high - state->sp <= LAST_FRAME_BYTES ? TRY_FITS : TRY_PARTIAL;
	default:
		return TRY_FAILED;
	}
}

enum fit { FIT_NONE, FIT_PARTIAL, FIT_GOOD };

/* Rates how well the call before `return_pc` fits the code at `state`. */
static enum fit call_fit(struct tp_frame_walk *walk, uint64_t return_pc,
			 const struct tp_frame_walk_state *state, bool is_tabled)
{
	if (is_tabled)
		return tp_frame_walk_can_reach(walk, return_pc, state) ? FIT_GOOD : FIT_PARTIAL;
	switch (tp_frame_walk_call(walk, return_pc)) {
	case TP_RULE_CALL_INDIRECT:
		return FIT_GOOD;
	case TP_RULE_CALL_BARE:
	case TP_RULE_CALL_PLT:
		return is_run_time_code(walk, state->ip) ? FIT_NONE : FIT_GOOD;
	case TP_RULE_CALL_TABLED:
		/* A wrapper may end in a jump by pointer. */
		return tp_frame_walk_has_indirect_jump(walk, return_pc) ? FIT_PARTIAL : FIT_NONE;
	default:
		return FIT_NONE;
	}
}

bool tp_stack_scan_caller(struct tp_frame_walk *walk, struct tp_frame_walk_state *state,
			  bool is_tabled)
{
	/* A fitting call has more weight than the frames above it. */
	enum { BEST = FIT_GOOD * TRY_FITS + TRY_FITS };
	struct tp_frame_walk_state best = *state;
	int best_rank = 0;
	uint64_t word;
	for (uint64_t at = state->sp; best_rank < BEST && tp_frame_walk_word(walk, at, &word);
	     at += sizeof(word)) {
		if (walk->words_left == 0)
			break;
		walk->words_left--;
		bool is_stack_address = word >= walk->low && word < walk->high;
		enum fit fit = is_stack_address ? FIT_NONE : call_fit(walk, word, state, is_tabled);
		if (fit == FIT_NONE || (int)fit * TRY_FITS + TRY_FITS <= best_rank)
			continue;
		struct tp_frame_walk_state caller = {
			.ip = word,
			.sp = at + sizeof(word),
			.bp = state->bp,
			.gap_low = state->knows_bp ? state->sp : state->gap_low,
			.gap_high = at,
			.is_return = true,
			.is_guessed = true,
		};
		if (!tp_frame_walk_has_rule(walk, &caller))
			continue;
		enum try_result try_result = try_steps(walk, &caller, TRY_DEPTH);
		int rank = (int)fit * TRY_FITS + (int)try_result;
		if (try_result == TRY_FAILED || rank <= best_rank)
			continue;
		best = caller;
		best_rank = rank;
	}
	*state = best;
	return best_rank > 0;
}
