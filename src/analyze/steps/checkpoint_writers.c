/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions that save state by their behaviour: they mostly write, and wait for storage.
 * The name of a function that pickles into a file and syncs it need not reveal that.
 * Unrecognised, it could be mistaken for the step marker: if every third step saves, saving also
 * recurs regularly. */
#include "checkpoint_writers.h"

#include "analyze/classify/frame_class.h"
#include "analyze/classify/python_class.h"
#include "analyze/thresholds.h"

struct write_profile {
	size_t n_sightings;
	uint64_t all_ns;
	uint64_t write_ns;   /* part of all_ns, waits included */
	uint64_t storage_ns; /* part of write_ns: waits for storage, except for logs */
	uint64_t train_ns;
};

static bool is_log(const struct tp_analysis *analysis, const struct tp_sample *sample)
{
	const char *path = tp_trace_string(analysis->trace, sample->target);
	return tp_patterns_file(analysis->patterns, path) == TP_FILE_LOG;
}

static void add_segment(struct write_profile *write_profile, const struct tp_analysis *analysis,
			const struct tp_call_segment *piece)
{
	const struct tp_sample *sample = &analysis->trace->samples[piece->sample];
	const struct tp_stack_class *class = &analysis->classes[sample->stack];
	uint64_t ns = piece->end_ns - piece->start_ns;
	bool is_storage = piece->state == TP_STATE_BLOCKED && class->leaf != TP_LEAF_READ &&
			  class->leaf != TP_LEAF_OPEN &&
			  (sample->cause == TP_CAUSE_FILE || sample->cause == TP_CAUSE_DISK);
	bool writes = is_storage || class->leaf == TP_LEAF_WRITE || class->leaf == TP_LEAF_PICKLE;
	write_profile->n_sightings++;
	write_profile->all_ns += ns;
	write_profile->write_ns += writes ? ns : 0;
	write_profile->storage_ns += is_storage && !is_log(analysis, sample) ? ns : 0;
	write_profile->train_ns += !writes && class->phase == TP_PHASE_COMPUTE ? ns : 0;
}

static struct write_profile sum_write_profile(const struct tp_analysis *analysis,
					      const struct tp_call_tree *tree, uint32_t node)
{
	struct write_profile write_profile = {0};
	for (size_t i = 0; i < tree->n_sightings; i++)
		if (tp_call_tree_is_within(tree, tree->sightings[i].node, node))
			add_segment(&write_profile, analysis,
				    &tree->pieces[tree->sightings[i].piece]);
	return write_profile;
}

static bool is_user_python(const struct tp_analysis *analysis, const struct tp_call_tree *tree,
			   uint32_t node)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_frame *frame = &trace->frames[tree->nodes[node].frame];
	return frame->kind == TP_FRAME_PYTHON &&
	       !tp_python_class_find(analysis->patterns, tp_trace_string(trace, frame->file),
				     tp_trace_string(trace, frame->symbol))
			.is_library;
}

static bool is_checkpoint_writer(const struct write_profile *write_profile)
{
	double all_ns = (double)write_profile->all_ns;
	return write_profile->n_sightings >= TP_SIGHTINGS_MIN &&
	       (double)write_profile->write_ns >= TP_WRITER_WRITES_MIN * all_ns &&
	       (double)write_profile->storage_ns >= TP_WRITER_WAITS_MIN * all_ns &&
	       (double)write_profile->train_ns <= TP_WRITER_TRAINS_MAX * all_ns;
}

static void label_checkpoint(struct tp_analysis *analysis, const struct tp_call_tree *tree,
			     uint32_t node)
{
	for (size_t i = 0; i < tree->n_pieces; i++) {
		const struct tp_call_segment *piece = &tree->pieces[i];
		if (piece->node == TP_NO_NODE || !tp_call_tree_is_within(tree, piece->node, node))
			continue;
		uint32_t stack = analysis->trace->samples[piece->sample].stack;
		struct tp_stack_class *class = &analysis->classes[stack];
		if (class->phase == TP_PHASE_NONE || class->phase == TP_PHASE_COMPUTE)
			class->phase = TP_PHASE_CHECKPOINT;
	}
}

void tp_checkpoint_writers_mark(struct tp_analysis *analysis, const struct tp_call_tree *tree,
				uint32_t loop)
{
	for (uint32_t child = tree->nodes[loop].first_child; child != TP_NO_NODE;
	     child = tree->nodes[child].next_sibling) {
		if (!is_user_python(analysis, tree, child))
			continue;
		struct write_profile write_profile = sum_write_profile(analysis, tree, child);
		if (is_checkpoint_writer(&write_profile))
			label_checkpoint(analysis, tree, child);
	}
}
