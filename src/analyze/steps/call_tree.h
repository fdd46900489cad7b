/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call paths of one thread as a tree, and the thread's timeline as a walk over it. A node is a
 * function reached through one chain of call sites, so two calls of the same function on different
 * lines of a loop are different nodes.
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALL_TREE_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALL_TREE_H

#include "analyze/analysis.h"

#define TP_NO_NODE UINT32_MAX

struct tp_call_node {
	uint32_t parent;      /* always a smaller index; TP_NO_NODE for the root */
	uint32_t first_child; /* TP_NO_NODE when it has none */
	uint32_t next_sibling;
	uint32_t frame;    /* one of its frames, for its name; 0 for the root */
	uint32_t site;     /* frame of the caller at the call; 0 below the root */
	uint64_t function; /* equal for the same function, whatever calls it */
	uint32_t enter;    /* its subtree: nodes with enter <= node.enter < leave */
	uint32_t leave;
	uint64_t ns;         /* seen below it and in it */
	uint64_t compute_ns; /* of that, work on the model or code without a known name */
	uint64_t model_ns;   /* of that, work on the model by its name */
	uint64_t special_ns; /* of that, evaluation, checkpoints, logging, writing */
};

/* Neighbouring segments of the timeline that one sample stands for, whatever their labels. */
struct tp_call_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_state state;
	uint32_t sample;  /* TP_NO_SAMPLE */
	bool is_inferred; /* no sample hit this piece itself */
	uint32_t node;    /* innermost of its stack; TP_NO_NODE when that is not whole */
};

/* A piece whose stack is known because it was hit. */
struct tp_call_hit {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t node;
	uint32_t piece;  /* its index */
	double hits;     /* samples that fall into such a piece on average, at least 1 */
	bool is_special; /* evaluation, checkpoint, logging */
};

struct tp_call_tree {
	struct tp_call_node *nodes; /* 0 is the root, above every first frame */
	size_t n_nodes;
	size_t nodes_capacity;
	struct tp_call_hit *sightings; /* in time order */
	size_t n_sightings;
	size_t sightings_capacity;
	struct tp_call_segment *pieces; /* in time order */
	size_t n_pieces;
	bool is_exact;      /* pieces begin and end with switches of the CPU */
	size_t n_loaders;   /* processes that make batches for the thread */
	uint64_t broken_ns; /* pieces whose stack does not reach the first frame */
	uint64_t unhit_ns;  /* too short: no sample, or that of a like piece */
};

/*
 * Heap memory, freed by release. Stacks that do not reach the first frame are left out.
 *
 * Where Python is on a stack it says who calls whom: native frames between two Python functions,
 * and outside of all, are the interpreter's ways to call, of which it has several for one call. So
 * they are left out, and in a thread whose stacks mostly have Python those without any are not
 * whole.
 */
void tp_call_tree_init(struct tp_call_tree *tree, const struct tp_analysis *analysis,
		       uint32_t task);
void tp_call_tree_release(struct tp_call_tree *tree);

/* Equal for frames of the same function. */
uint64_t tp_call_tree_function(const struct tp_frame *frame);

/* Whether `node` is `ancestor` or below it. */
bool tp_call_tree_is_within(const struct tp_call_tree *tree, uint32_t node, uint32_t ancestor);

/* CPU time of the thread from the start of one piece to that of another. */
double tp_call_tree_work_ns(const struct tp_call_tree *tree, uint32_t from, uint32_t until);

/* Whether the thread is off the CPU for most of the time seen below the node. */
bool tp_call_tree_waits_most_times(const struct tp_call_tree *tree, uint32_t node);

/* "forward()", "libfoo.so+0x1234", or "fit() in train.py", in the arena. */
const char *tp_call_tree_name(const struct tp_call_tree *tree, uint32_t node,
			      const struct tp_trace *trace, struct tp_arena *arena);

#endif
