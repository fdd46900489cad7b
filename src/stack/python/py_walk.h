/* SPDX-License-Identifier: Apache-2.0 */
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
struct tp_py_walk {
	struct tp_py_stack *self;
	struct tp_py_stack_location *plan;
	size_t look;                               /* which of the copy's */
	uint64_t seen[TP_PY_STACK_LOCATION_LOOSE]; /* loose frames, in order */
	uint64_t seen_codes[TP_PY_STACK_LOCATION_LOOSE];
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
enum tp_py_stack_outcome tp_py_walk_frames(struct tp_py_walk *walk, uint64_t address);

/* What the walk found is planned from now on. */
void tp_py_walk_update_plan(struct tp_py_walk *walk);

/* What a frame says, of its bytes in a copy; TP_PY_COPY_PREFIX_BYTES lie before them. Leaves
 * address and bytes of `out` alone. */
void tp_py_walk_parse(const struct tp_py_stack *self, struct tp_py_stack_frame *out,
		      const uint8_t *bytes);

#endif
