/* SPDX-License-Identifier: Apache-2.0 */
/* Walks from the innermost frame of a copied stack to the outermost one, along frames that were
 * planned after the last reading and read into the copies (py_copy_plan.h), and in memory along
 * frames that the plan did not have. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_WALK_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_WALK_H

#include "py_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One walk. All but the first three members begin as zero; the walk is valid as long as these
 * are. */
struct tp_py_walk {
	struct tp_py_stack *self;
	struct tp_py_stack_location *plan;
	size_t look;                               /* which of the looks of the copy */
	uint64_t seen[TP_PY_STACK_LOCATION_LOOSE]; /* loose frames, in the order of the walk */
	uint64_t seen_codes[TP_PY_STACK_LOCATION_LOOSE];
	size_t n_seen;
	size_t next_loose;  /* probable index of the next one in the plan */
	bool is_incomplete; /* some frame was not planned, so it is not in the copies */
	bool has_left_out;
	bool is_in_outer; /* from here on the walk has to follow plan->outer, from next_outer on */
	size_t next_outer;
	uint64_t rank; /* of the last frame in a chunk */
};

/* Fills self->frames (including marks) and self->cut, beginning with the frame at `address`.
 * Errors  MOVED if the chain cannot be followed, BROKEN if it has no end; the frames met so far
 * are kept. */
enum tp_py_stack_outcome tp_py_walk_frames(struct tp_py_walk *walk, uint64_t address);

/* Makes the frames that the walk found the plan for the next reading. */
void tp_py_walk_update_plan(struct tp_py_walk *walk);

/* Parses a frame from its bytes in a copy; TP_PY_COPY_PREFIX_BYTES precede them. Does not change
 * address and bytes of `out`. */
void tp_py_walk_parse(const struct tp_py_stack *self, struct tp_py_stack_frame *out,
		      const uint8_t *bytes);

#endif
