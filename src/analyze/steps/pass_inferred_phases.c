/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers from behaviour what names do not show: the loader, code that saves, and functions that
 * only touch memory.
 *
 * A loop reads its data somewhere: if one callee of the loop does nearly all of the main thread's
 * file reading and none of the work on the model, then all of that callee is the loader, including
 * parsing and decoding. If names identify the work on the model, they also identify data loading: a
 * callee with named reading or decoding makes the interpreter and allocator time below it part of
 * the loader. A generator in user code from which the loop takes its items, or another user
 * function that is called at the line where each round begins, is the loader, too, if it does no
 * work on the model. Only stacks without a protecting phase are changed.
 */
#include "analyze/analysis.h"
#include "analyze/classify/python_class.h"
#include "analyze/thresholds.h"
#include "checkpoint_writers.h"
#include "first_touch.h"
#include "loop_finder.h"
#include "loop_location.h"

#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct inferred {
	const struct tp_analysis *analysis;
	struct tp_call_tree tree;
	uint64_t *reads_ns;  /* by node, including its subtree */
	uint64_t *writes_ns; /* by node, including its subtree */
	size_t n_sightings;  /* number of hits while reading */
	bool is_named;       /* most work on the model is known by name */
};

/* Also true while a file is opened or closed, see sum_opens(). */
static bool is_reading(const struct inferred *inferred, const struct tp_call_segment *piece)
{
	const struct tp_analysis *analysis = inferred->analysis;
	const struct tp_sample *sample = &analysis->trace->samples[piece->sample];
	const struct tp_stack_class *class = &analysis->classes[sample->stack];
	if (inferred->is_named && class->phase == TP_PHASE_DATALOADER)
		return true;
	if (class->phase != TP_PHASE_NONE && class->phase != TP_PHASE_COMPUTE)
		return false;
	if (piece->state == TP_STATE_ON_CPU)
		return class->leaf == TP_LEAF_READ || class->leaf == TP_LEAF_OPEN;
	bool is_file = sample->cause == TP_CAUSE_FILE || sample->cause == TP_CAUSE_DISK;
	return piece->state == TP_STATE_BLOCKED && is_file && class->leaf != TP_LEAF_WRITE;
}

static bool is_writing(const struct inferred *inferred, const struct tp_call_segment *piece)
{
	const struct tp_analysis *analysis = inferred->analysis;
	const struct tp_sample *sample = &analysis->trace->samples[piece->sample];
	return analysis->classes[sample->stack].leaf == TP_LEAF_WRITE &&
	       piece->state != TP_STATE_RUNNABLE;
}

static bool is_opening(const struct inferred *inferred, const struct tp_call_segment *piece)
{
	const struct tp_analysis *analysis = inferred->analysis;
	return analysis->classes[analysis->trace->samples[piece->sample].stack].leaf ==
		       TP_LEAF_OPEN &&
	       is_reading(inferred, piece);
}

static bool is_in_loop(const struct tp_call_hit *sighting, const struct tp_loop *loop)
{
	return sighting->start_ns >= loop->start_ns && sighting->end_ns <= loop->end_ns;
}

/* Parents have smaller indices. */
static void add_to_parents(const struct tp_call_tree *tree, uint64_t *ns)
{
	for (size_t i = tree->n_nodes; i-- > 1;)
		ns[tree->nodes[i].parent] += ns[i];
}

/* Opening a file counts as what the nearest caller does with files that reads or writes at all:
 * an open that truncates waits until the old contents are on the disk. */
static void sum_opens(struct inferred *inferred, const struct tp_loop *loop)
{
	const struct tp_call_tree *tree = &inferred->tree;
	uint64_t *reads_ns = tp_alloc(tree->n_nodes * sizeof(*reads_ns));
	uint64_t *writes_ns = tp_alloc(tree->n_nodes * sizeof(*writes_ns));
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_call_hit *sighting = &tree->sightings[i];
		const struct tp_call_segment *piece = &tree->pieces[sighting->piece];
		if (!is_in_loop(sighting, loop) || !is_opening(inferred, piece))
			continue;
		uint32_t up = sighting->node;
		while (up && !inferred->reads_ns[up] && !inferred->writes_ns[up])
			up = tree->nodes[up].parent;
		bool is_write = inferred->writes_ns[up] > inferred->reads_ns[up];
		(is_write ? writes_ns : reads_ns)[sighting->node] +=
			sighting->end_ns - sighting->start_ns;
		inferred->n_sightings += !is_write;
	}
	add_to_parents(tree, reads_ns);
	add_to_parents(tree, writes_ns);
	for (size_t i = 0; i < tree->n_nodes; i++) {
		inferred->reads_ns[i] += reads_ns[i];
		inferred->writes_ns[i] += writes_ns[i];
	}
	free(reads_ns);
	free(writes_ns);
}

/* Counts only the time of the loop, because programs read much while they start. */
static void sum_reads(struct inferred *inferred, const struct tp_loop *loop)
{
	const struct tp_call_tree *tree = &inferred->tree;
	assert(tree->nodes && tree->n_nodes > 0); /* the root */
	inferred->reads_ns = tp_alloc(tree->n_nodes * sizeof(*inferred->reads_ns));
	inferred->writes_ns = tp_alloc(tree->n_nodes * sizeof(*inferred->writes_ns));
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_call_hit *sighting = &tree->sightings[i];
		const struct tp_call_segment *piece = &tree->pieces[sighting->piece];
		if (!is_in_loop(sighting, loop))
			continue;
		uint64_t length_ns = sighting->end_ns - sighting->start_ns;
		if (is_writing(inferred, piece))
			inferred->writes_ns[sighting->node] += length_ns;
		if (!is_reading(inferred, piece) || is_opening(inferred, piece))
			continue;
		inferred->n_sightings++;
		inferred->reads_ns[sighting->node] += length_ns;
	}
	add_to_parents(tree, inferred->reads_ns);
	add_to_parents(tree, inferred->writes_ns);
	sum_opens(inferred, loop);
}

/* Returns true if the node is a call of the function of `like` from the loop, directly or through
 * other functions. */
static bool is_call_of(const struct tp_call_tree *tree, uint32_t loop, uint32_t node, uint32_t like)
{
	if (tree->nodes[node].function != tree->nodes[like].function ||
	    !tp_call_tree_is_within(tree, node, loop))
		return false;
	uint32_t up = tree->nodes[node].parent;
	while (up != TP_NO_NODE && up != loop &&
	       tree->nodes[up].function != tree->nodes[like].function)
		up = tree->nodes[up].parent;
	return up == loop;
}

/* Sums reading and model work of all calls of a callee's function. */
static void sum_calls(const struct inferred *inferred, uint32_t loop, uint32_t callee,
		      uint64_t *reads_ns, uint64_t *model_ns)
{
	const struct tp_call_tree *tree = &inferred->tree;
	*reads_ns = *model_ns = 0;
	for (uint32_t i = loop + 1; i < tree->n_nodes; i++) {
		if (!is_call_of(tree, loop, i, callee))
			continue;
		*reads_ns += inferred->reads_ns[i];
		*model_ns += tree->nodes[i].model_ns;
	}
}

/* An interpreter may call one function on two paths, so that no single node has nearly all the
 * reading. */
static uint32_t reading_function(const struct inferred *inferred, uint32_t loop, uint64_t all_ns)
{
	const struct tp_call_node *nodes = inferred->tree.nodes;
	for (uint32_t child = nodes[loop].first_child; child != TP_NO_NODE;
	     child = nodes[child].next_sibling) {
		uint64_t reads_ns;
		uint64_t model_ns;
		sum_calls(inferred, loop, child, &reads_ns, &model_ns);
		if (inferred->is_named &&
		    (double)reads_ns >= TP_PHASE_READS_NEARLY_ALL * (double)all_ns &&
		    (double)model_ns <= TP_PHASE_MODEL_SHARED_MAX * (double)nodes[loop].model_ns)
			return child;
	}
	return TP_NO_NODE;
}

/* Returns the child with nearly all the reading of the loop; TP_NO_NODE if it is distributed. */
static uint32_t reading_child(const struct inferred *inferred, uint32_t node, uint64_t all_ns)
{
	const struct tp_call_tree *tree = &inferred->tree;
	assert(tree->nodes);
	for (uint32_t child = tree->nodes[node].first_child; child != TP_NO_NODE;
	     child = tree->nodes[child].next_sibling)
		if ((double)inferred->reads_ns[child] >= TP_PHASE_READS_NEARLY_ALL * (double)all_ns)
			return child;
	return TP_NO_NODE;
}

/* Returns true if there is too much work on the model below the node for a loader. */
static bool has_model(const struct inferred *inferred, uint32_t loop, uint32_t node)
{
	const struct tp_call_node *nodes = inferred->tree.nodes;
	double most = inferred->is_named ? TP_PHASE_MODEL_SHARED_MAX * (double)nodes[loop].model_ns
					 : TP_PHASE_MODEL_MAX * (double)nodes[node].ns;
	return (double)nodes[node].model_ns > most;
}

/* Functions that save open and rename files, which is not reading data. Returns the time that was
 * removed. */
static uint64_t drop_checkpoint_writers(const struct inferred *inferred, uint32_t node)
{
	const struct tp_call_node *nodes = inferred->tree.nodes;
	uint64_t dropped_ns = 0;
	for (uint32_t child = nodes[node].first_child; child != TP_NO_NODE;
	     child = nodes[child].next_sibling) {
		bool is_part = (double)nodes[child].ns < TP_PHASE_BODY_MIN * (double)nodes[node].ns;
		if (!is_part || inferred->writes_ns[child] <= inferred->reads_ns[child])
			continue;
		dropped_ns += inferred->reads_ns[child];
		inferred->reads_ns[child] = 0;
	}
	inferred->reads_ns[node] -= dropped_ns;
	return dropped_ns;
}

/* Walks down the call tree from the loop, along the reading of batches, to the first function that
 * takes only a part of its caller's time. */
static uint32_t find_reader(const struct inferred *inferred, uint32_t loop)
{
	const struct tp_call_node *nodes = inferred->tree.nodes;
	assert(nodes);
	uint64_t all_ns = inferred->reads_ns[loop];
	uint32_t node = loop;
	for (;;) {
		all_ns -= drop_checkpoint_writers(inferred, node);
		uint32_t child = all_ns ? reading_child(inferred, node, all_ns) : TP_NO_NODE;
		if (child == TP_NO_NODE)
			return TP_NO_NODE;
		double ns = (double)nodes[child].ns;
		bool is_part = ns < TP_PHASE_BODY_MIN * (double)nodes[node].ns;
		if (is_part && !has_model(inferred, loop, child))
			return (double)inferred->reads_ns[child] >= TP_PHASE_READS_MIN * ns
				       ? child
				       : TP_NO_NODE;
		node = child;
	}
}

static void label_segments_loader(const struct inferred *inferred, uint32_t node)
{
	const struct tp_call_tree *tree = &inferred->tree;
	for (size_t i = 0; i < tree->n_pieces; i++) {
		const struct tp_call_segment *piece = &tree->pieces[i];
		if (piece->node == TP_NO_NODE || !tp_call_tree_is_within(tree, piece->node, node))
			continue;
		uint32_t stack = inferred->analysis->trace->samples[piece->sample].stack;
		struct tp_stack_class *class = &inferred->analysis->classes[stack];
		if (class->phase == TP_PHASE_NONE || class->phase == TP_PHASE_COMPUTE)
			class->phase = TP_PHASE_DATALOADER;
	}
}

/* Labels the reader, and other calls of the same function that read. */
static void label_loader(const struct inferred *inferred, uint32_t loop, uint32_t reader)
{
	const struct tp_call_tree *tree = &inferred->tree;
	label_segments_loader(inferred, reader);
	for (uint32_t i = loop + 1; inferred->is_named && i < tree->n_nodes; i++)
		if (i != reader && inferred->reads_ns[i] > 0 && tree->nodes[i].model_ns == 0 &&
		    is_call_of(tree, loop, i, reader))
			label_segments_loader(inferred, i);
}

/* ---- generators ------------------------------------------------------------- */

/* Accepts a generator from which the loop takes items, and beside work on the model a function that
 * the loop calls where a round begins, because recordings may not mark generators. A generator that
 * another function consumes within a round computes, and so does one in a loop of one line without
 * a model, as in `total = sum(squares(n))`, and a generator expression. */
static bool can_yield_batches(const struct inferred *inferred, const struct tp_loop_location *place,
			      uint32_t node, bool is_beside_model)
{
	const struct tp_trace *trace = inferred->analysis->trace;
	const struct tp_frame *frame = &trace->frames[inferred->tree.nodes[node].frame];
	const struct tp_frame *site = &trace->frames[inferred->tree.nodes[node].site];
	const char *name = tp_trace_string(trace, frame->symbol);
	bool has_body = place->first_line < place->last_line;
	bool is_generator = frame->flags & TP_FRAME_GENERATOR && (has_body || is_beside_model);
	bool is_first = is_beside_model && has_body && site->line == place->first_line;
	if (frame->kind != TP_FRAME_PYTHON || strstr(name, "<genexpr>") ||
	    tp_call_tree_function(site) != place->function || !(is_generator || is_first))
		return false;
	return !tp_python_class_find(inferred->analysis->patterns,
				     tp_trace_string(trace, frame->file), name)
			.is_library;
}

/* Returns the time below the node in functions of the model by name: math alone may be
 * preprocessing of the data. */
static uint64_t named_model_ns(const struct inferred *inferred, uint32_t node)
{
	const struct tp_call_tree *tree = &inferred->tree;
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_call_hit *s = &tree->sightings[i];
		if (!tp_call_tree_is_within(tree, s->node, node))
			continue;
		uint32_t sample = tree->pieces[s->piece].sample;
		uint32_t stack = inferred->analysis->trace->samples[sample].stack;
		if (inferred->analysis->classes[stack].phase == TP_PHASE_COMPUTE)
			sum_ns += s->end_ns - s->start_ns;
	}
	return sum_ns;
}

/* Making a tensor of the loaded data uses the model's library, too. */
static bool rarely_trains(const struct inferred *inferred, uint32_t node, uint64_t loop_model_ns)
{
	double ns = (double)inferred->tree.nodes[node].ns;
	double model_ns = (double)named_model_ns(inferred, node);
	return model_ns <= TP_PHASE_MODEL_MAX * ns ||
	       (model_ns <= TP_PHASE_MODEL_SHARED_MAX * (double)loop_model_ns &&
		model_ns <= TP_PHASE_MODEL_MINOR_MAX * ns);
}

/* A generator that trains contains nearly all the time of the loop that iterates over it. */
static void label_generators_loader(const struct inferred *inferred,
				    const struct tp_loop_location *place, uint32_t loop)
{
	const struct tp_call_node *nodes = inferred->tree.nodes;
	uint64_t model_ns = named_model_ns(inferred, loop);
	for (uint32_t child = nodes[loop].first_child; child != TP_NO_NODE;
	     child = nodes[child].next_sibling) {
		double ns = (double)nodes[child].ns;
		if (can_yield_batches(inferred, place, child, model_ns > 0) &&
		    ns < TP_PHASE_BODY_MIN * (double)nodes[loop].ns &&
		    rarely_trains(inferred, child, model_ns))
			label_segments_loader(inferred, child);
	}
}

enum tp_status tp_pass_inferred_phases(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	if (analysis->main_task == TP_NO_TASK)
		return TP_OK;
	tp_first_touch_mark(analysis);
	struct inferred inferred = {.analysis = analysis};
	struct tp_loop loop;
	tp_call_tree_init(&inferred.tree, analysis, analysis->main_task);
	tp_loop_find(&loop, &inferred.tree);
	struct tp_loop_location place;
	tp_loop_location_find(&place, &loop, &inferred.tree, analysis->trace, 0);
	tp_loop_location_apply(&place, analysis);
	const struct tp_call_node *node =
		loop.node == TP_NO_NODE ? NULL : &inferred.tree.nodes[loop.node];
	inferred.is_named = node && node->model_ns > node->compute_ns / 2;
	sum_reads(&inferred, &loop);
	if (loop.node != TP_NO_NODE && loop.state != TP_LOOP_ABSENT) {
		label_generators_loader(&inferred, &place, loop.node);
		tp_checkpoint_writers_mark(analysis, &inferred.tree, loop.node);
	}
	if (loop.node != TP_NO_NODE && loop.state != TP_LOOP_ABSENT &&
	    inferred.n_sightings >= TP_SIGHTINGS_MIN) {
		uint32_t reader = find_reader(&inferred, loop.node);
		if (reader == TP_NO_NODE)
			reader = reading_function(&inferred, loop.node,
						  inferred.reads_ns[loop.node]);
		if (reader != TP_NO_NODE)
			label_loader(&inferred, loop.node, reader);
	}
	free(inferred.reads_ns);
	free(inferred.writes_ns);
	tp_loop_release(&loop);
	tp_call_tree_release(&inferred.tree);
	return TP_OK;
}
