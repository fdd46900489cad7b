/* SPDX-License-Identifier: Apache-2.0 */
/* The call paths of one thread as a tree, and the thread's timeline as a walk over it. A node is a
 * function reached through one chain of call sites, so two calls of the same function on different
 * lines of a loop are different nodes. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALL_TREE_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALL_TREE_H

#include "analyze/analysis.h"

#define TP_NO_NODE UINT32_MAX

struct tp_call_node {
	uint32_t parent;      /* always a smaller index; TP_NO_NODE for the root */
	uint32_t first_child; /* TP_NO_NODE if it has none */
	uint32_t next_sibling;
	uint32_t frame;    /* one of its frames, for its name; 0 for the root */
	uint32_t site;     /* frame of the caller at the call site; 0 below the root */
	uint64_t function; /* identity of the function, independent of its caller */
	uint32_t enter;    /* its subtree = the nodes with enter <= node.enter < leave */
	uint32_t leave;
	uint64_t ns;         /* time in the node and below it */
	uint64_t compute_ns; /* part of ns: work on the model or in code without a known name */
	uint64_t model_ns;   /* part of ns: work on the model by its name */
	uint64_t special_ns; /* part of ns: evaluation, checkpoints, logging, writing */
};

/* Adjacent segments of the timeline that have the same sample, whatever their labels. */
struct tp_call_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_state state;
	uint32_t sample;  /* may be TP_NO_SAMPLE */
	bool is_inferred; /* the segment has no sample of its own */
	uint32_t node;    /* innermost node of its stack; TP_NO_NODE if the stack is incomplete */
};

/* A segment with a sample of its own, so that its stack is known. */
struct tp_call_hit {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t node;
	uint32_t piece;  /* index of the segment */
	double hits;     /* mean number of samples in such a segment, at least 1 */
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
	bool is_exact;      /* segments begin and end with context switches */
	size_t n_loaders;   /* number of processes that make batches for the thread */
	uint64_t broken_ns; /* time of segments whose stack does not reach the first frame */
	uint64_t unhit_ns;  /* time of short segments without a sample of their own */
};

/*
 * Allocates heap memory, which release frees. Stacks that do not reach the first frame are left
 * out.
 *
 * If a stack has Python frames, they determine the call path: native frames between two Python
 * functions, and outside of all, are the interpreter's call mechanism, which has several variants
 * for one call. So they are left out, and in a thread whose stacks mostly have Python frames, a
 * stack without any counts as incomplete.
 */
void tp_call_tree_init(struct tp_call_tree *tree, const struct tp_analysis *analysis,
		       uint32_t task);
void tp_call_tree_release(struct tp_call_tree *tree);

/* Returns an identity that is equal for frames of the same function. */
uint64_t tp_call_tree_function(const struct tp_frame *frame);

/* Returns true if `node` is `ancestor` or below it. Inline: asked for each hit of each callee. */
static inline bool tp_call_tree_is_within(const struct tp_call_tree *tree, uint32_t node,
					  uint32_t ancestor)
{
	const struct tp_call_node *above = &tree->nodes[ancestor];
	uint32_t enter = tree->nodes[node].enter;
	return above->enter <= enter && enter < above->leave;
}

/* Returns the CPU time of the thread from the start of one segment to the start of another. */
double tp_call_tree_work_ns(const struct tp_call_tree *tree, uint32_t from, uint32_t until);

/* Returns true if the thread is off the CPU for most of the sampled time below the node. */
bool tp_call_tree_waits_most_times(const struct tp_call_tree *tree, uint32_t node);

/* Returns "forward()", "libfoo.so+0x1234", or "fit() in train.py", in the arena. */
const char *tp_call_tree_name(const struct tp_call_tree *tree, uint32_t node,
			      const struct tp_trace *trace, struct tp_arena *arena);

#endif
