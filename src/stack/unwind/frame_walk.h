/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one step from a frame to its caller by rule, and has what the scan needs for trial
 * steps. */
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

/* work limits for one stack, independent of its content */
struct tp_frame_walk_state {
	uint64_t ip;
	uint64_t sp;
	uint64_t bp;
	uint64_t lr;
	uint64_t gap_low; /* while bp is unknown: code without tables may have saved it in the range
			   */
	uint64_t gap_high; /* [gap_low, gap_high) */
	bool knows_bp; /* false: bp is uncertain, because code without tables may have changed it */
	bool is_return; /* ip follows a call */
	bool knows_lr;  /* the return address may still be in the link register */
	bool is_guessed;
};

enum tp_frame_walk_result {
	TP_FRAME_WALK_DONE,
	TP_FRAME_WALK_ROOT,      /* no caller */
	TP_FRAME_WALK_NOTHING,   /* the unwound stack has a return address of 0 */
	TP_FRAME_WALK_NO_RULE,   /* code without unwind table */
	TP_FRAME_WALK_NEEDS_BP,  /* the rule needs bp, which is not known */
	TP_FRAME_WALK_TRUNCATED, /* the caller is outside of the copy */
	TP_FRAME_WALK_BROKEN,    /* the rule gives no valid caller */
	TP_FRAME_WALK_LIMIT,     /* work limit */
};

bool tp_frame_walk_word(const struct tp_frame_walk *walk, uint64_t address, uint64_t *out);
enum tp_frame_walk_result tp_frame_walk_step(struct tp_frame_walk *walk,
					     const struct tp_frame_walk_state *state,
					     struct tp_frame_walk_state *next);
/* Returns the kind of call before `pc`; TP_RULE_CALL_NONE if `pc` cannot be a return address. */
enum tp_rule_call tp_frame_walk_call(struct tp_frame_walk *walk, uint64_t pc);
/* Returns true if the code of this frame has an unwind rule. */
bool tp_frame_walk_has_rule(struct tp_frame_walk *walk, const struct tp_frame_walk_state *state);
/* Returns true if the call before `return_pc` can have led to the function of frame `callee`. False
 * for a direct call of another function that does not jump on to it (a tail call), and for a call
 * by pointer in a function that calls the same one directly elsewhere: then the callee is left over
 * from that call. */
bool tp_frame_walk_can_reach(struct tp_frame_walk *walk, uint64_t return_pc,
			     const struct tp_frame_walk_state *callee);

/* Returns true if the function that the direct call before `return_pc` calls ends in a jump to a
 * computed address. */
bool tp_frame_walk_has_indirect_jump(struct tp_frame_walk *walk, uint64_t return_pc);

/* Finds a caller of code without tables among the words on the stack. Updates `state`. */
bool tp_stack_scan_caller(struct tp_frame_walk *walk, struct tp_frame_walk_state *state,
			  bool is_tabled);
/* Finds the bp that the rule of `state` needs. Updates `state`. */
bool tp_stack_scan_bp(struct tp_frame_walk *walk, struct tp_frame_walk_state *state);

#endif
