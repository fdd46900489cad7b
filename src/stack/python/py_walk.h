/*
 * The walk from the innermost frame of a copied stack to the outermost, by what was planned from
 * the last time and read into the copies (py_copy_plan.h), and by memory where the plan did not
 * know.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_WALK_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_WALK_H

#include "py_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One walk. Begins zeroed but for the first three; lives as long as they do. */
struct tp_pywalk {
	struct tp_pystack *self;
	struct tp_pyplan *plan;
	size_t look;                    /* which of the copy's */
	uint64_t seen[TP_PYPLAN_LOOSE]; /* loose frames, in order */
	uint64_t seen_codes[TP_PYPLAN_LOOSE];
	size_t n_seen;
	size_t next_loose;  /* where the next one probably is in the plan */
	bool is_incomplete; /* something was not planned, so is not in the copies */
	bool has_left_out;
	bool is_in_outer; /* the walk has to come by plan->outer from here on, from next_outer on */
	size_t next_outer;
	uint64_t rank; /* of the last frame in a chunk */
};

/* Fills self->frames, marks among them, and self->cut from the frame at `address` on. Errors  MOVED
 * where the way is lost, BROKEN where it has no end; frames met so far stay. */
enum tp_pystack_outcome tp_pywalk_frames(struct tp_pywalk *walk, uint64_t address);

/* What the walk found is planned from now on. */
void tp_pywalk_learn(struct tp_pywalk *walk);

/* What a frame says, of its bytes in a copy; TP_PYCOPY_LEAD_BYTES lie before them. Leaves address
 * and bytes of `out` alone. */
void tp_pywalk_parse(const struct tp_pystack *self, struct tp_pystack_frame *out,
		     const uint8_t *bytes);

#endif
