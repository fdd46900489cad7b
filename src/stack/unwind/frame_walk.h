/* SPDX-License-Identifier: Apache-2.0 */
/* One step from a frame to its caller by rule, and what the scan needs to take steps on trial. */
#ifndef TRAINPROF_SRC_STACK_UNWIND_FRAME_WALK_H
#define TRAINPROF_SRC_STACK_UNWIND_FRAME_WALK_H

#include "stack/cfi/cfi.h"

#include "trainprof/stack/maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_frame_walk {
	struct tp_maps *maps;
	const uint8_t *stack; /* copy of [low, high) */
	uint64_t low;
	uint64_t high;
	size_t steps_left; /* work limits of one stack, whatever it holds */
	size_t words_left;
};

/* A frame: where it runs and the registers that belong to it. */
struct tp_frame_walk_state {
	uint64_t ip;
	uint64_t sp;
	uint64_t bp;
	uint64_t lr;
	uint64_t gap_low;  /* while bp is unknown: code without tables may have saved it in */
	uint64_t gap_high; /* [gap_low, gap_high) */
	bool knows_bp;     /* false: bp is only a hint, code without tables may have changed it */
	bool is_return;    /* ip is behind a call */
	bool knows_lr;     /* the return address may still be in the link register */
	bool is_guessed;
};

enum tp_frame_walk_result {
	TP_FRAME_WALK_DONE,
	TP_FRAME_WALK_ROOT,      /* no caller */
	TP_FRAME_WALK_NOTHING,   /* of an unwound stack: a return address of 0 */
	TP_FRAME_WALK_NO_RULE,   /* code without unwind table */
	TP_FRAME_WALK_NEEDS_BP,  /* the rule asks for bp and that is not known */
	TP_FRAME_WALK_TRUNCATED, /* the caller lies beyond the copy */
	TP_FRAME_WALK_BROKEN,    /* the rule leads nowhere */
	TP_FRAME_WALK_LIMIT,     /* work limit */
};

bool tp_frame_walk_word(const struct tp_frame_walk *walk, uint64_t address, uint64_t *out);
enum tp_frame_walk_result tp_frame_walk_step(struct tp_frame_walk *walk,
					     const struct tp_frame_walk_state *state,
					     struct tp_frame_walk_state *next);
/* What stands before `pc`; TP_RULE_CALL_NONE when it cannot be a return address. */
enum tp_rule_call tp_frame_walk_call(struct tp_frame_walk *walk, uint64_t pc);
/* Has the code of this frame an unwind rule? */
bool tp_frame_walk_has_rule(struct tp_frame_walk *walk, const struct tp_frame_walk_state *state);
/*
 * Can the call before `return_pc` have led to the function of frame `callee`? No for a direct call
 * of another function that does not jump on to it (a tail call), and for a call by pointer in a
 * function that calls the same one directly elsewhere: then the callee is left over from that.
 */
bool tp_frame_walk_can_reach(struct tp_frame_walk *walk, uint64_t return_pc,
			     const struct tp_frame_walk_state *callee);

/* Does what the direct call before `return_pc` calls leave by a jump to a computed address? */
bool tp_frame_walk_has_indirect_jump(struct tp_frame_walk *walk, uint64_t return_pc);

/* Find a caller of code without tables by what lies on the stack. Updates `state`. */
bool tp_stack_scan_caller(struct tp_frame_walk *walk, struct tp_frame_walk_state *state,
			  bool is_tabled);
/* Find the bp that the rule of `state` needs. Updates `state`. */
bool tp_stack_scan_bp(struct tp_frame_walk *walk, struct tp_frame_walk_state *state);

#endif
