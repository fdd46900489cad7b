/* SPDX-License-Identifier: Apache-2.0 */
/* The views of stacks, and the call tree that three of them share. */
#ifndef TRAINPROF_SRC_REPORT_VIEW_VIEW_STACKS_H
#define TRAINPROF_SRC_REPORT_VIEW_VIEW_STACKS_H

#include "view_state.h"

/* Handles the keys t d i r f w. */
void tp_view_stacks_switch(struct tp_view *view, struct tp_view_place *place, int key);

/* Append "CPU time and waits of all processes", "waits in dataloader". */
void tp_view_add_selection(struct tp_buf *out, const struct tp_view *view,
			   const struct tp_view_selection *selection);
/* Append the place of a function: "data.py:32", "libjpeg.so.62". */
void tp_view_add_function_place(struct tp_buf *out, const struct tp_view *view, uint32_t function,
				uint32_t line);

/* Opens the source of a function if it is known, otherwise its callers. */
void tp_view_open_function(struct tp_view *view, const struct tp_view_selection *selection,
			   uint32_t function, uint32_t line);

/* Modes of a tree. */
enum { TP_VIEW_TREE_DOWN, TP_VIEW_TREE_INVERTED, TP_VIEW_TREE_CALLERS };

#define TP_VIEW_NO_NODE UINT32_MAX

/* One function in one place of the tree. Children are sorted by time, the largest first. */
struct tp_view_node {
	uint32_t function;
	uint32_t parent;
	uint32_t child; /* first child */
	uint32_t next;
	uint32_t depth;
	uint64_t self_ns;
	uint64_t total_ns;
};

struct tp_view_calls {
	struct tp_view_node *nodes; /* heap; 0 is the root, which has no function */
	size_t n;
	size_t capacity;
};

/* Builds the tree from the first function down; inverted: from the innermost function outwards.
 * With a function: only stacks that contain it, from it outwards. */
void tp_view_calls_make(struct tp_view_calls *calls, const struct tp_view *view,
			const struct tp_view_selection *selection, bool is_inverted,
			uint32_t function);
void tp_view_calls_release(struct tp_view_calls *calls);
/* Makes the rows of a place, depth first from node `at` on, which is `top` or below it; rows_max at
 * the most. Leaves out nodes of at most least_ns, and what they call. */
void tp_view_calls_add_rows(const struct tp_view_calls *calls, struct tp_view_place *place,
			    uint32_t at, uint32_t top, uint64_t least_ns, size_t rows_max);

#endif
