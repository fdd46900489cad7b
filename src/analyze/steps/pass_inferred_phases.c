/*
 * Learns by behaviour what no name tells: the loader, what saves, and functions that only touch
 * memory.
 *
 * A loop reads its data somewhere: when one callee of the loop does nearly all of the main thread's
 * file reading and none of the work on the model, then all of that callee is the loader, the
 * parsing and decoding too. Where names tell the work on the model, they also tell the loader's:
 * what reads or decodes below one callee makes the interpreter and the allocator there the
 * loader's. A generator of the user's own that the loop asks for the next, or another function of
 * theirs that it calls at the line where each round begins, and in which nothing of
 * the model is done, is the loader, too. Only stacks without a protecting phase are changed.
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

struct habits {
	const struct tp_analysis *analysis;
	struct tp_calltree tree;
	uint64_t *reads_ns;  /* by node, its subtree included */
	uint64_t *writes_ns; /* the same */
	size_t n_sightings;  /* of reading */
	bool is_named;       /* most work on the model is known by name */
};

static bool is_reading(const struct habits *habits, const struct tp_piece *piece)
{
	const struct tp_analysis *analysis = habits->analysis;
	const struct tp_sample *sample = &analysis->trace->samples[piece->sample];
	const struct tp_stack_class *class = &analysis->classes[sample->stack];
	if (habits->is_named && class->phase == TP_PHASE_DATALOADER)
		return true;
	if (class->phase != TP_PHASE_NONE && class->phase != TP_PHASE_COMPUTE)
		return false;
	if (piece->state == TP_STATE_ON_CPU)
		return class->leaf == TP_LEAF_READ;
	bool is_file = sample->cause == TP_CAUSE_FILE || sample->cause == TP_CAUSE_DISK;
	return piece->state == TP_STATE_BLOCKED && is_file && class->leaf != TP_LEAF_WRITE;
}

static bool is_writing(const struct habits *habits, const struct tp_piece *piece)
{
	const struct tp_analysis *analysis = habits->analysis;
	const struct tp_sample *sample = &analysis->trace->samples[piece->sample];
	return analysis->classes[sample->stack].leaf == TP_LEAF_WRITE &&
	       piece->state != TP_STATE_RUNNABLE;
}

/* In the loop's time only: programs read much while they start. */
static void sum_reads(struct habits *habits, const struct tp_loop *loop)
{
	const struct tp_calltree *tree = &habits->tree;
	assert(tree->nodes && tree->n_nodes > 0); /* the root */
	habits->reads_ns = tp_alloc(tree->n_nodes * sizeof(*habits->reads_ns));
	habits->writes_ns = tp_alloc(tree->n_nodes * sizeof(*habits->writes_ns));
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_sighting *sighting = &tree->sightings[i];
		const struct tp_piece *piece = &tree->pieces[sighting->piece];
		if (sighting->start_ns < loop->start_ns || sighting->end_ns > loop->end_ns)
			continue;
		uint64_t length_ns = sighting->end_ns - sighting->start_ns;
		if (is_writing(habits, piece))
			habits->writes_ns[sighting->node] += length_ns;
		if (!is_reading(habits, piece))
			continue;
		habits->n_sightings++;
		habits->reads_ns[sighting->node] += length_ns;
	}
	/* Parents have smaller indices. */
	for (size_t i = tree->n_nodes; i-- > 1;) {
		habits->reads_ns[tree->nodes[i].parent] += habits->reads_ns[i];
		habits->writes_ns[tree->nodes[i].parent] += habits->writes_ns[i];
	}
}

/* Whether the node is a call of the function of `like` from the loop, by whatever way. */
static bool is_call_of(const struct tp_calltree *tree, uint32_t loop, uint32_t node, uint32_t like)
{
	if (tree->nodes[node].function != tree->nodes[like].function ||
	    !tp_calltree_is_below(tree, node, loop))
		return false;
	uint32_t up = tree->nodes[node].parent;
	while (up != NO_NODE && up != loop &&
	       tree->nodes[up].function != tree->nodes[like].function)
		up = tree->nodes[up].parent;
	return up == loop;
}

/* What all calls of a callee's function do together. */
static void sum_calls(const struct habits *habits, uint32_t loop, uint32_t callee,
		      uint64_t *reads_ns, uint64_t *model_ns)
{
	const struct tp_calltree *tree = &habits->tree;
	*reads_ns = *model_ns = 0;
	for (uint32_t i = loop + 1; i < tree->n_nodes; i++) {
		if (!is_call_of(tree, loop, i, callee))
			continue;
		*reads_ns += habits->reads_ns[i];
		*model_ns += tree->nodes[i].model_ns;
	}
}

/* An interpreter may call one function by two ways, so that none has nearly all the reading. */
static uint32_t reading_function(const struct habits *habits, uint32_t loop, uint64_t all_ns)
{
	const struct tp_call_node *nodes = habits->tree.nodes;
	for (uint32_t child = nodes[loop].first_child; child != NO_NODE;
	     child = nodes[child].next_sibling) {
		uint64_t reads_ns;
		uint64_t model_ns;
		sum_calls(habits, loop, child, &reads_ns, &model_ns);
		if (habits->is_named &&
		    (double)reads_ns >= TP_PHASE_READS_NEARLY_ALL * (double)all_ns &&
		    (double)model_ns <= TP_PHASE_MODEL_SHARED_MOST * (double)nodes[loop].model_ns)
			return child;
	}
	return NO_NODE;
}

/* The child with nearly all the reading of the loop; NO_NODE when it is spread. */
static uint32_t reading_child(const struct habits *habits, uint32_t node, uint64_t all_ns)
{
	const struct tp_calltree *tree = &habits->tree;
	assert(tree->nodes);
	for (uint32_t child = tree->nodes[node].first_child; child != NO_NODE;
	     child = tree->nodes[child].next_sibling)
		if ((double)habits->reads_ns[child] >= TP_PHASE_READS_NEARLY_ALL * (double)all_ns)
			return child;
	return NO_NODE;
}

/* Whether so much of the work on the model is done below that it is no loader. */
static bool has_model(const struct habits *habits, uint32_t loop, uint32_t node)
{
	const struct tp_call_node *nodes = habits->tree.nodes;
	double most = habits->is_named ? TP_PHASE_MODEL_SHARED_MOST * (double)nodes[loop].model_ns
				       : TP_PHASE_MODEL_MOST * (double)nodes[node].ns;
	return (double)nodes[node].model_ns > most;
}

/* Who saves opens files and renames them, which is no reading of data. Returns what it took away.
 */
static uint64_t drop_savers(const struct habits *habits, uint32_t node)
{
	const struct tp_call_node *nodes = habits->tree.nodes;
	uint64_t dropped_ns = 0;
	for (uint32_t child = nodes[node].first_child; child != NO_NODE;
	     child = nodes[child].next_sibling) {
		bool is_part =
			(double)nodes[child].ns < TP_PHASE_BODY_LEAST * (double)nodes[node].ns;
		if (!is_part || habits->writes_ns[child] <= habits->reads_ns[child])
			continue;
		dropped_ns += habits->reads_ns[child];
		habits->reads_ns[child] = 0;
	}
	habits->reads_ns[node] -= dropped_ns;
	return dropped_ns;
}

/* Walk down from the loop along the reading until it is one part of several. */
static uint32_t find_reader(const struct habits *habits, uint32_t loop)
{
	const struct tp_call_node *nodes = habits->tree.nodes;
	assert(nodes);
	uint64_t all_ns = habits->reads_ns[loop];
	uint32_t node = loop;
	for (;;) {
		all_ns -= drop_savers(habits, node);
		uint32_t child = all_ns ? reading_child(habits, node, all_ns) : NO_NODE;
		if (child == NO_NODE)
			return NO_NODE;
		double ns = (double)nodes[child].ns;
		bool is_part = ns < TP_PHASE_BODY_LEAST * (double)nodes[node].ns;
		if (is_part && !has_model(habits, loop, child))
			return (double)habits->reads_ns[child] >= TP_PHASE_READS_LEAST * ns
				       ? child
				       : NO_NODE;
		node = child;
	}
}

static void call_pieces_loader(const struct habits *habits, uint32_t node)
{
	const struct tp_calltree *tree = &habits->tree;
	for (size_t i = 0; i < tree->n_pieces; i++) {
		const struct tp_piece *piece = &tree->pieces[i];
		if (piece->node == NO_NODE || !tp_calltree_is_below(tree, piece->node, node))
			continue;
		uint32_t stack = habits->analysis->trace->samples[piece->sample].stack;
		struct tp_stack_class *class = &habits->analysis->classes[stack];
		if (class->phase == TP_PHASE_NONE || class->phase == TP_PHASE_COMPUTE)
			class->phase = TP_PHASE_DATALOADER;
	}
}

/* The reader, and other calls of the same function that are seen reading. */
static void call_it_loader(const struct habits *habits, uint32_t loop, uint32_t reader)
{
	const struct tp_calltree *tree = &habits->tree;
	call_pieces_loader(habits, reader);
	for (uint32_t i = loop + 1; habits->is_named && i < tree->n_nodes; i++)
		if (i != reader && habits->reads_ns[i] > 0 && tree->nodes[i].model_ns == 0 &&
		    is_call_of(tree, loop, i, reader))
			call_pieces_loader(habits, i);
}

/* ---- generators -------------------------------------------------------------------------------
 */

/* A generator, or what is called where a round begins: recordings may not tell generators. */
static bool may_give_batches(const struct habits *habits, const struct tp_loop_place *place,
			     uint32_t node)
{
	const struct tp_trace *trace = habits->analysis->trace;
	const struct tp_frame *frame = &trace->frames[habits->tree.nodes[node].frame];
	const struct tp_frame *site = &trace->frames[habits->tree.nodes[node].site];
	bool is_first = place->first_line < place->last_line && site->line == place->first_line &&
			tp_calltree_function(site) == place->function;
	if (frame->kind != TP_FRAME_PYTHON || !(is_first || frame->flags & TP_FRAME_GENERATOR))
		return false;
	return !tp_python_class_find(habits->analysis->patterns,
				     tp_trace_string(trace, frame->file),
				     tp_trace_string(trace, frame->symbol))
			.is_library;
}

/* Time below the node in functions that are of the model by name: math alone may be the data's. */
static uint64_t named_model_ns(const struct habits *habits, uint32_t node)
{
	const struct tp_calltree *tree = &habits->tree;
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_sighting *s = &tree->sightings[i];
		if (!tp_calltree_is_below(tree, s->node, node))
			continue;
		uint32_t sample = tree->pieces[s->piece].sample;
		uint32_t stack = habits->analysis->trace->samples[sample].stack;
		if (habits->analysis->classes[stack].phase == TP_PHASE_COMPUTE)
			sum_ns += s->end_ns - s->start_ns;
	}
	return sum_ns;
}

/* Making a tensor of what was loaded uses the model's library, too. */
static bool hardly_trains(const struct habits *habits, uint32_t node, uint64_t loop_model_ns)
{
	double ns = (double)habits->tree.nodes[node].ns;
	double model_ns = (double)named_model_ns(habits, node);
	return model_ns <= TP_PHASE_MODEL_MOST * ns ||
	       (model_ns <= TP_PHASE_MODEL_SHARED_MOST * (double)loop_model_ns &&
		model_ns <= TP_PHASE_MODEL_MINOR_MOST * ns);
}

/* A generator that trains holds nearly all of the loop that asks it for the next. */
static void call_generators_loader(const struct habits *habits, const struct tp_loop_place *place,
				   uint32_t loop)
{
	const struct tp_call_node *nodes = habits->tree.nodes;
	uint64_t model_ns = named_model_ns(habits, loop);
	for (uint32_t child = nodes[loop].first_child; child != NO_NODE;
	     child = nodes[child].next_sibling) {
		double ns = (double)nodes[child].ns;
		if (may_give_batches(habits, place, child) &&
		    ns < TP_PHASE_BODY_LEAST * (double)nodes[loop].ns &&
		    hardly_trains(habits, child, model_ns))
			call_pieces_loader(habits, child);
	}
}

enum tp_status tp_pass_habits(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	if (analysis->main_task == TP_NO_TASK)
		return TP_OK;
	tp_touchers_mark(analysis);
	struct habits habits = {.analysis = analysis};
	struct tp_loop loop;
	tp_calltree_init(&habits.tree, analysis, analysis->main_task);
	tp_loop_find(&loop, &habits.tree);
	struct tp_loop_place place;
	tp_loop_place_find(&place, &loop, &habits.tree, analysis->trace, 0);
	tp_loop_place_take(&place, analysis);
	const struct tp_call_node *node =
		loop.node == NO_NODE ? NULL : &habits.tree.nodes[loop.node];
	habits.is_named = node && node->model_ns > node->compute_ns / 2;
	sum_reads(&habits, &loop);
	if (loop.node != NO_NODE && loop.state != TP_LOOP_ABSENT) {
		call_generators_loader(&habits, &place, loop.node);
		tp_savers_mark(analysis, &habits.tree, loop.node);
	}
	if (loop.node != NO_NODE && loop.state != TP_LOOP_ABSENT &&
	    habits.n_sightings >= TP_SIGHTINGS_LEAST) {
		uint32_t reader = find_reader(&habits, loop.node);
		if (reader == NO_NODE)
			reader = reading_function(&habits, loop.node, habits.reads_ns[loop.node]);
		if (reader != NO_NODE)
			call_it_loader(&habits, loop.node, reader);
	}
	free(habits.reads_ns);
	free(habits.writes_ns);
	tp_loop_release(&loop);
	tp_calltree_release(&habits.tree);
	return TP_OK;
}
