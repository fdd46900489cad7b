/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the source location of a loop from the lines at which the looping function calls other
 * functions.
 *
 * The function that makes the recurring calls may itself be called once per round: a method for one
 * step. So the search goes outwards as long as the caller is also sampled between rounds. A caller
 * that does nothing else is hardly ever sampled; if one of its variables counts the rounds, the
 * variable identifies it.
 *
 * The line of a for statement is sampled if iterating takes time. Evaluations, checkpoints and
 * lines that are hardly ever sampled are not part of every round and are ignored.
 */
#include "loop_location.h"

#include "analyze/classify/python_class.h"
#include "analyze/thresholds.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Returns the direct callee of the loop on the path to a node; TP_NO_NODE for the loop itself and
 * outside. */
static uint32_t callee_of(const struct tp_call_tree *tree, uint32_t loop, uint32_t node)
{
	while (node != TP_NO_NODE && node && tree->nodes[node].parent != loop)
		node = tree->nodes[node].parent;
	return node ? node : TP_NO_NODE;
}

static uint32_t call_line(const struct tp_call_tree *tree, const struct tp_trace *trace,
			  uint32_t node)
{
	return node == TP_NO_NODE ? 0 : trace->frames[tree->nodes[node].site].line;
}

/* Returns the number of rounds in which a sample is below the caller of `node` but not below
 * `node`. */
static size_t count_returns(const struct tp_loop *loop, const struct tp_call_tree *tree,
			    uint32_t node)
{
	size_t n = 0;
	size_t at = 0;
	for (size_t i = 0; i + 1 < loop->n_stays; i++) {
		bool is_active = false;
		while (at < tree->n_sightings &&
		       tree->sightings[at].start_ns < loop->stays[i].start_ns)
			at++;
		for (; at < tree->n_sightings &&
		       tree->sightings[at].start_ns < loop->stays[i + 1].start_ns;
		     at++)
			is_active |=
				!tp_call_tree_is_within(tree, tree->sightings[at].node, node) &&
				tp_call_tree_is_within(tree, tree->sightings[at].node,
						       tree->nodes[node].parent);
		n += is_active;
	}
	return n;
}

static bool is_python(const struct tp_call_tree *tree, const struct tp_trace *trace, uint32_t node)
{
	return node != TP_NO_NODE && node &&
	       trace->frames[tree->nodes[node].frame].kind == TP_FRAME_PYTHON;
}

/* Returns true if the frame is the function of the variable: "FILE:LINE NAME() for loop at line
 * 3". */
static bool has_counter(const struct tp_frame *frame, const struct tp_trace *trace,
			const char *counter)
{
	struct tp_buf function = {0};
	tp_buf_printf(&function, "%s:%u %s() ", tp_trace_string(trace, frame->file),
		      (unsigned)(frame->function_start >> 32),
		      tp_trace_string(trace, frame->symbol));
	bool is_equal = strncmp(tp_buf_text(&function), counter, function.len) == 0;
	tp_buf_release(&function);
	return is_equal;
}

/* Searches from `node` outwards; TP_NO_NODE if no function has the counter. */
static uint32_t find_counting(const struct tp_call_tree *tree, const struct tp_trace *trace,
			      uint32_t node, uint32_t counter)
{
	const char *name = tp_trace_string(trace, counter);
	for (; counter && node != TP_NO_NODE && node; node = tree->nodes[node].parent)
		if (is_python(tree, trace, node) &&
		    has_counter(&trace->frames[tree->nodes[node].frame], trace, name))
			return node;
	return TP_NO_NODE;
}

bool tp_loop_location_has_counter(const struct tp_loop *loop, const struct tp_call_tree *tree,
				  const struct tp_trace *trace, uint32_t counter)
{
	return find_counting(tree, trace, loop->node, counter) != TP_NO_NODE;
}

/* Returns the function that contains the loop: the one whose variable counts the rounds; else the
 * found one, or its caller if that is active in each round. Rounds that are separated by waits may
 * be found inside a native library: then its Python caller. TP_NO_NODE if there is none. */
static uint32_t find_looping(const struct tp_loop *loop, const struct tp_call_tree *tree,
			     const struct tp_trace *trace, uint32_t counter)
{
	uint32_t node = loop->node;
	uint32_t counting = find_counting(tree, trace, node, counter);
	if (counting != TP_NO_NODE)
		return counting;
	while (node != TP_NO_NODE && node && !is_python(tree, trace, node))
		node = tree->nodes[node].parent;
	if (!is_python(tree, trace, node))
		return TP_NO_NODE;
	while (loop->n_stays > 1 && is_python(tree, trace, tree->nodes[node].parent) &&
	       (double)count_returns(loop, tree, node) >=
		       TP_LINE_RETURNS_MIN * (double)(loop->n_stays - 1))
		node = tree->nodes[node].parent;
	return node;
}

static size_t *count_hits(const struct tp_loop *loop, const struct tp_call_tree *tree,
			  uint32_t looping, size_t *n_all)
{
	size_t *counts = tp_alloc((tree->n_nodes + 1) * sizeof(*counts));
	*n_all = 0;
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_call_hit *s = &tree->sightings[i];
		uint32_t callee = callee_of(tree, looping, s->node);
		if (callee == TP_NO_NODE || s->is_special || s->start_ns < loop->start_ns ||
		    s->end_ns > loop->end_ns)
			continue;
		counts[callee]++;
		(*n_all)++;
	}
	return counts;
}

void tp_loop_location_find(struct tp_loop_location *out, const struct tp_loop *loop,
			   const struct tp_call_tree *tree, const struct tp_trace *trace,
			   uint32_t counter)
{
	*out = (struct tp_loop_location){0};
	if (loop->state == TP_LOOP_ABSENT || loop->node == TP_NO_NODE)
		return;
	uint32_t looping = find_looping(loop, tree, trace, counter);
	if (looping == TP_NO_NODE)
		return;
	const struct tp_frame *frame = &trace->frames[tree->nodes[looping].frame];
	out->function = tree->nodes[looping].function;
	out->file = frame->file;
	out->symbol = frame->symbol;
	size_t n_all;
	size_t *counts = count_hits(loop, tree, looping, &n_all);
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		uint32_t line = counts[i] ? call_line(tree, trace, i) : 0;
		if (!line || counts[i] < TP_LINE_SIGHTINGS_MIN ||
		    (double)counts[i] < TP_LINE_SHARE_MIN * (double)n_all)
			continue;
		if (!out->first_line || line < out->first_line)
			out->first_line = line;
		if (line > out->last_line)
			out->last_line = line;
	}
	free(counts);
	if (loop->marker != TP_NO_NODE) {
		out->marker = callee_of(tree, looping, loop->marker);
		out->marker_line = call_line(tree, trace, out->marker);
	}
}

void tp_loop_location_apply(const struct tp_loop_location *place, struct tp_analysis *analysis)
{
	if (!place->function)
		return;
	bool is_library = tp_python_class_find(analysis->patterns,
					       tp_trace_string(analysis->trace, place->file),
					       tp_trace_string(analysis->trace, place->symbol))
				  .is_library;
	analysis->loop_function = place->function;
	analysis->profile->loop = (struct tp_source_loop){.is_known = true,
							  .is_library = is_library,
							  .file = place->file,
							  .symbol = place->symbol,
							  .first_line = place->first_line,
							  .last_line = place->last_line};
}
