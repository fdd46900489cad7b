/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree of call paths of a thread from the stacks on its timeline. */
#include "call_tree.h"

#include "cold_split.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

struct tree_build {
	struct tp_call_tree *tree;
	const struct tp_analysis *analysis;
	struct tp_map children; /* hash of (parent, call site, function) -> node */
	struct tp_map by_stack; /* stack id -> node */
	struct tp_map by_line;  /* hash of a Python function and line -> one of its frames */
	struct tp_map hot; /* frame in a cold part -> a frame in the hot part of its function */
	bool is_python;    /* most stacks of the thread have Python frames */
};

/* Returns the identity of a frame's function. The start of its code is preferred, because not all
 * functions have symbols. */
uint64_t tp_call_tree_function(const struct tp_frame *frame)
{
	uint64_t place = frame->function_start ? frame->function_start : frame->symbol;
	if (!frame->function_start && !frame->symbol)
		place = frame->address;
	uint64_t hash = tp_hash_mix((uint64_t)frame->kind << 32 | frame->module, place);
	if (frame->kind == TP_FRAME_PYTHON)
		hash = tp_hash_mix(hash, (uint64_t)frame->file << 32 | frame->symbol);
	return hash;
}

static uint32_t child_of(struct tree_build *build, uint32_t parent, uint32_t site, uint32_t frame)
{
	struct tp_call_tree *tree = build->tree;
	uint64_t hot;
	if (tp_map_get(&build->hot, frame, &hot))
		frame = (uint32_t)hot;
	uint64_t function = tp_call_tree_function(&build->analysis->trace->frames[frame]);
	uint64_t key = tp_hash_mix((uint64_t)parent << 32 | site, function);
	uint64_t found;
	if (tp_map_get(&build->children, key, &found))
		return (uint32_t)found;
	uint32_t id = (uint32_t)tree->n_nodes;
	TP_ARRAY_PUSH(tree->nodes, tree->n_nodes, tree->nodes_capacity) =
		(struct tp_call_node){.parent = parent,
				      .first_child = TP_NO_NODE,
				      .next_sibling = tree->nodes[parent].first_child,
				      .frame = frame,
				      .site = site,
				      .function = function};
	tree->nodes[parent].first_child = id;
	tp_map_set(&build->children, key, id);
	return id;
}

/* Uses one frame for all instructions of a Python line: an interpreter rewrites a call while it
 * runs and is then at another instruction during the same call (3.11: PRECALL for CALL). */
static uint32_t call_frame_of(struct tree_build *build, uint32_t id)
{
	const struct tp_frame *frame = &build->analysis->trace->frames[id];
	if (frame->kind != TP_FRAME_PYTHON)
		return id;
	uint64_t key = tp_hash_mix(tp_call_tree_function(frame), frame->line);
	uint64_t first;
	if (tp_map_get(&build->by_line, key, &first))
		return (uint32_t)first;
	tp_map_set(&build->by_line, key, id);
	return id;
}

static bool is_python(const struct tp_trace *trace, const struct tp_stack *stack, uint32_t i)
{
	return trace->frames[stack->frames[i]].kind == TP_FRAME_PYTHON;
}

/* Returns the index of the innermost Python frame; n_frames if there is none. */
static uint32_t find_python(const struct tp_trace *trace, const struct tp_stack *stack)
{
	uint32_t i = 0;
	while (i < stack->n_frames && !is_python(trace, stack, i))
		i++;
	return i;
}

static bool is_whole(const struct tree_build *build, const struct tp_stack *stack)
{
	const struct tp_trace *trace = build->analysis->trace;
	if (!stack->n_frames)
		return false;
	/* The Python stack is complete, even if the native stack could not be unwound
	 * completely. */
	if (is_python(trace, stack, stack->n_frames - 1))
		return true;
	if (stack->flags & TP_STACK_TRUNCATED)
		return false;
	if (build->is_python)
		return find_python(trace, stack) < stack->n_frames;
	return trace->frames[stack->frames[stack->n_frames - 1]].kind != TP_FRAME_KERNEL;
}

/* Returns the node of a stack; TP_NO_NODE if the stack does not reach the thread's first frame. */
static uint32_t node_of_stack(struct tree_build *build, uint32_t id)
{
	const struct tp_trace *trace = build->analysis->trace;
	uint64_t found;
	if (tp_map_get(&build->by_stack, id, &found))
		return (uint32_t)found;
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	uint32_t node = TP_NO_NODE;
	if (is_whole(build, stack)) {
		uint32_t site = 0;
		uint32_t python = find_python(trace, stack);
		node = 0;
		for (uint32_t i = stack->n_frames; i-- > 0;) {
			if (build->is_python && i > python && !is_python(trace, stack, i))
				continue;
			node = child_of(build, node, site, stack->frames[i]);
			site = call_frame_of(build, stack->frames[i]);
		}
	}
	tp_map_set(&build->by_stack, id, node);
	return node;
}

/* A compiled trainer may call back into Python now and then. */
static bool has_more_python(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n = 0;
	size_t python = 0;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		uint32_t stack = trace->samples[i].stack;
		n += stack != 0;
		python += analysis->classes[stack].has_python;
	}
	return python * 2 > n;
}

static bool is_special(const struct tp_stack_class *class)
{
	return class->in_evaluation || class->phase == TP_PHASE_EVALUATION ||
	       class->phase == TP_PHASE_CHECKPOINT || class->phase == TP_PHASE_LOGGING;
}

/* Code without a known name may also save or log: it writes. */
static bool is_writing(const struct tp_stack_class *class)
{
	return class->phase == TP_PHASE_NONE && class->leaf == TP_LEAF_WRITE;
}

/* Work on the model, as far as names show it. */
static bool is_model(const struct tp_stack_class *class)
{
	return class->phase == TP_PHASE_COMPUTE || class->leaf == TP_LEAF_MATH ||
	       class->leaf == TP_LEAF_SPIN || class->owner == TP_LEAF_MATH;
}

static bool has_no_name(const struct tp_stack_class *class, enum tp_state state)
{
	return state == TP_STATE_ON_CPU && class->phase == TP_PHASE_NONE &&
	       class->leaf == TP_LEAF_NONE;
}

static void add_hit(struct tree_build *build, size_t index)
{
	const struct tp_analysis *analysis = build->analysis;
	struct tp_call_tree *tree = build->tree;
	const struct tp_call_segment *piece = &tree->pieces[index];
	uint64_t length = piece->end_ns - piece->start_ns;
	uint32_t stack = analysis->trace->samples[piece->sample].stack;
	const struct tp_stack_class *class = &analysis->classes[stack];
	struct tp_call_hit sighting = {.start_ns = piece->start_ns,
				       .end_ns = piece->end_ns,
				       .node = piece->node,
				       .piece = (uint32_t)index,
				       .hits = 1,
				       .is_special = is_special(class)};
	if (piece->state == TP_STATE_BLOCKED) {
		double polls = (double)length * 1e-9 * analysis->trace->run.poll_rate_hz;
		sighting.hits = polls > 1 ? polls : 1;
	}
	TP_ARRAY_PUSH(tree->sightings, tree->n_sightings, tree->sightings_capacity) = sighting;
	struct tp_call_node *leaf = &tree->nodes[piece->node];
	bool marks_no_steps = is_special(class) || is_writing(class);
	leaf->ns += length;
	if (marks_no_steps)
		leaf->special_ns += length;
	if (marks_no_steps || class->phase == TP_PHASE_DATALOADER)
		return;
	if (is_model(class))
		leaf->model_ns += length;
	if (is_model(class) || has_no_name(class, piece->state))
		leaf->compute_ns += length;
}

static void sum_and_number(struct tp_call_tree *tree)
{
	for (size_t i = tree->n_nodes; i-- > 1;) {
		struct tp_call_node *node = &tree->nodes[i];
		struct tp_call_node *parent = &tree->nodes[node->parent];
		parent->ns += node->ns;
		parent->compute_ns += node->compute_ns;
		parent->model_ns += node->model_ns;
		parent->special_ns += node->special_ns;
	}
	/* Pre-order numbering without recursion, because stacks may be deep. */
	uint32_t counter = 0;
	uint32_t at = 0;
	tree->nodes[0].enter = counter++;
	for (;;) {
		if (tree->nodes[at].first_child != TP_NO_NODE) {
			at = tree->nodes[at].first_child;
		} else {
			tree->nodes[at].leave = counter;
			while (at && tree->nodes[at].next_sibling == TP_NO_NODE) {
				at = tree->nodes[at].parent;
				tree->nodes[at].leave = counter;
			}
			if (!at)
				break;
			at = tree->nodes[at].next_sibling;
		}
		tree->nodes[at].enter = counter++;
	}
}

static bool continues(const struct tp_call_segment *piece, const struct tp_segment *segment)
{
	return piece->end_ns == segment->start_ns && piece->sample == segment->sample &&
	       piece->state == segment->state && piece->is_inferred == segment->is_inferred;
}

static void join_segments(struct tree_build *build, const struct tp_timeline *timeline)
{
	struct tp_call_tree *tree = build->tree;
	tree->pieces = tp_alloc((timeline->n + 1) * sizeof(*tree->pieces));
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (i && continues(&tree->pieces[tree->n_pieces - 1], segment)) {
			tree->pieces[tree->n_pieces - 1].end_ns = segment->end_ns;
			continue;
		}
		struct tp_call_segment *piece = &tree->pieces[tree->n_pieces++];
		*piece = (struct tp_call_segment){.start_ns = segment->start_ns,
						  .end_ns = segment->end_ns,
						  .state = segment->state,
						  .sample = segment->sample,
						  .is_inferred = segment->is_inferred,
						  .node = TP_NO_NODE};
		if (piece->sample != TP_NO_SAMPLE && piece->state != TP_STATE_RUNNABLE)
			piece->node =
				node_of_stack(build,
					      build->analysis->trace->samples[piece->sample].stack);
	}
}

/* Runnable segments are left out, because they have no stack. */
static void add_unknown(struct tp_call_tree *tree, const struct tp_call_segment *piece)
{
	uint64_t length = piece->end_ns - piece->start_ns;
	if (piece->state == TP_STATE_RUNNABLE)
		return;
	if (piece->sample != TP_NO_SAMPLE && piece->node == TP_NO_NODE)
		tree->broken_ns += length;
	else
		tree->unhit_ns += length;
}

static size_t count_loaders(const struct tp_analysis *analysis)
{
	size_t n = 0;
	for (uint32_t i = 0; analysis->roles && i < analysis->trace->n_tasks; i++)
		n += analysis->threads[i].leader == i && analysis->roles[i] == TP_ROLE_LOADER;
	return n;
}

void tp_call_tree_init(struct tp_call_tree *tree, const struct tp_analysis *analysis, uint32_t task)
{
	*tree = (struct tp_call_tree){.is_exact = analysis->has_runs,
				      .n_loaders = count_loaders(analysis)};
	struct tree_build build = {.tree = tree,
				   .analysis = analysis,
				   .is_python = has_more_python(analysis, task)};
	TP_ARRAY_PUSH(tree->nodes, tree->n_nodes, tree->nodes_capacity) =
		(struct tp_call_node){.parent = TP_NO_NODE,
				      .first_child = TP_NO_NODE,
				      .next_sibling = TP_NO_NODE};
	tp_cold_split_find(&build.hot, analysis->trace);
	join_segments(&build, &analysis->timelines[task]);
	for (size_t i = 0; i < tree->n_pieces; i++) {
		const struct tp_call_segment *piece = &tree->pieces[i];
		if (piece->node != TP_NO_NODE && !piece->is_inferred)
			add_hit(&build, i);
		else
			add_unknown(tree, piece);
	}
	sum_and_number(tree);
	tp_map_release(&build.children);
	tp_map_release(&build.by_stack);
	tp_map_release(&build.by_line);
	tp_map_release(&build.hot);
}

void tp_call_tree_release(struct tp_call_tree *tree)
{
	free(tree->nodes);
	free(tree->sightings);
	free(tree->pieces);
	*tree = (struct tp_call_tree){0};
}

double tp_call_tree_work_ns(const struct tp_call_tree *tree, uint32_t from, uint32_t until)
{
	double work_ns = 0;
	for (uint32_t i = from; i < until; i++)
		if (tree->pieces[i].state == TP_STATE_ON_CPU)
			work_ns += (double)(tree->pieces[i].end_ns - tree->pieces[i].start_ns);
	return work_ns;
}

bool tp_call_tree_waits_most_times(const struct tp_call_tree *tree, uint32_t node)
{
	uint64_t all_ns = 0;
	uint64_t blocked_ns = 0;
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_call_hit *s = &tree->sightings[i];
		if (!tp_call_tree_is_within(tree, s->node, node))
			continue;
		all_ns += s->end_ns - s->start_ns;
		if (tree->pieces[s->piece].state == TP_STATE_BLOCKED)
			blocked_ns += s->end_ns - s->start_ns;
	}
	return blocked_ns * 2 > all_ns;
}

const char *tp_call_tree_name(const struct tp_call_tree *tree, uint32_t node,
			      const struct tp_trace *trace, struct tp_arena *arena)
{
	const struct tp_frame *frame = &trace->frames[tree->nodes[node].frame];
	if (!node)
		return "the program";
	if (frame->kind == TP_FRAME_PYTHON)
		return tp_arena_printf(arena, "%s() in %s", tp_trace_string(trace, frame->symbol),
				       tp_text_base_name(tp_trace_string(trace, frame->file)));
	if (frame->symbol)
		return tp_arena_printf(arena, "%s()", tp_trace_string(trace, frame->symbol));
	const char *module = tp_trace_string(trace, frame->module);
	const char *slash = strrchr(module, '/');
	return tp_arena_printf(arena, "%s+0x%llx", slash ? slash + 1 : module,
			       (unsigned long long)(frame->function_start ? frame->function_start
									  : frame->address));
}
