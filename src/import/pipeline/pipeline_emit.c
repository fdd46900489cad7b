/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emits a job in pipeline stages: pairs sends with receives, determines which operations of ranks
 * wait for each other, and emits steps.
 *
 * The dependencies are those of ByteDance-Seed/StragglerAnalysis, analyzer/dependency_model.py at
 * 57b56c4, read 2026-11-22: its recorder also records sends and receives that were never launched,
 * at the ends of a step. If two stages still differ in the number of operations without those,
 * nothing is paired.
 */
#include "pipeline.h"

#include "import/reader/rank_writer.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 2, NO_RANK = TP_RANKS_MAX };

/* Maximum difference of clocks within a rank; the value of the source. */
static const uint64_t NEAR_NS = 50000;

/* The part of a rank in a step. */
struct share {
	uint64_t last_start_ns[PASSES]; /* of computing operations */
	uint64_t first_end_ns[PASSES];
	uint32_t n_computed[PASSES];
	uint32_t n_sent[PASSES]; /* only those that were launched */
	uint32_t n_received[PASSES];
	uint32_t n_ops;
};

struct emitter {
	struct tp_pipeline *job;
	struct share *shares; /* by step, then by rank; heap */
	struct tp_map places; /* hash of a position -> the only rank there, or NO_RANK */
	uint64_t n_orders;    /* largest order of any operation, plus one */
	struct tp_buf scratch;
};

static struct share *share_of(const struct emitter *emitter, const struct tp_pipeline_op *op,
			      size_t rank)
{
	return &emitter->shares[op->step * emitter->job->n_ranks + rank];
}

static const struct tp_op_type *op_type_of(const struct emitter *emitter,
					   const struct tp_pipeline_op *op)
{
	return emitter->job->types[op->type].known;
}

/* ---- steps ---- */

static int step_order(const void *a, const void *b)
{
	const struct tp_pipeline_step *x = a;
	const struct tp_pipeline_step *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static void sort_steps(struct tp_pipeline *job)
{
	uint32_t *place_of = tp_alloc(job->n_steps * sizeof(*place_of));
	qsort(job->steps, job->n_steps, sizeof(*job->steps), step_order);
	for (size_t i = 0; i < job->n_steps; i++)
		place_of[job->steps[i].met_as] = (uint32_t)i;
	for (size_t i = 0; i < job->n_ops; i++)
		job->ops[i].step = place_of[job->ops[i].step];
	free(place_of);
}

/* True if the time from one step to the next was measured: both are there, on one clock. */
static bool is_next(const struct tp_pipeline *job, const struct tp_pipeline_step *before,
		    const struct tp_pipeline_step *step)
{
	uint64_t length_ns = before->end_ns - before->start_ns;
	return job->has_waits && step->number - before->number == 1 &&
	       step->start_ns >= before->start_ns + length_ns / 2;
}

/* Only some steps of a job are recorded, and in some files the times of each step count from its
 * own begin: an unknown time between steps is left out. */
static void place_steps(struct tp_pipeline *job)
{
	for (size_t i = 0; i < job->n_steps; i++) {
		struct tp_pipeline_step *step = &job->steps[i];
		const struct tp_pipeline_step *before = i ? step - 1 : NULL;
		step->place_ns = step->start_ns;
		if (before && is_next(job, before, step))
			step->place_ns = before->place_ns + (step->start_ns - before->start_ns);
		else if (before)
			step->place_ns = before->place_ns + (before->end_ns - before->start_ns);
		if (step->place_ns > INT64_MAX)
			step->place_ns = step->start_ns;
	}
}

/* ---- sends and receives ---- */

static int op_order(const void *a, const void *b)
{
	const struct tp_pipeline_op *x = a;
	const struct tp_pipeline_op *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

static void note_computed(struct emitter *emitter, const struct tp_pipeline_op *op)
{
	const struct tp_op_type *optype = op_type_of(emitter, op);
	struct share *share = share_of(emitter, op, op->rank);
	share->n_ops++;
	if (!optype || (optype->use != TP_OP_TYPE_FORWARD && optype->use != TP_OP_TYPE_BACKWARD))
		return;
	size_t pass = optype->use == TP_OP_TYPE_BACKWARD;
	if (!share->n_computed[pass]++)
		share->first_end_ns[pass] = UINT64_MAX;
	if (op->start_ns > share->last_start_ns[pass])
		share->last_start_ns[pass] = op->start_ns;
	if (op->end_ns < share->first_end_ns[pass])
		share->first_end_ns[pass] = op->end_ns;
}

/* A receive comes before the computing that uses it, and a send after the computing that produced
 * it: only those are paired. */
static void number_exchange(struct emitter *emitter, struct tp_pipeline_op *op)
{
	const struct tp_op_type *optype = op_type_of(emitter, op);
	struct share *share = share_of(emitter, op, op->rank);
	if (!optype || !optype->toward || !share->n_computed[optype->pass])
		return;
	size_t pass = (size_t)optype->pass;
	bool is_send = optype->use == TP_OP_TYPE_SEND;
	op->is_paired = is_send ? op->end_ns + NEAR_NS >= share->first_end_ns[pass]
				: op->start_ns <= share->last_start_ns[pass] + NEAR_NS;
	if (op->is_paired)
		op->order = is_send ? share->n_sent[pass]++ : share->n_received[pass]++;
}

static uint64_t place_hash(int64_t pipeline, int64_t stage, int64_t tensor)
{
	return tp_hash_mix(tp_hash_mix((uint64_t)pipeline, (uint64_t)stage), (uint64_t)tensor);
}

static void note_places(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->job->n_ranks; i++) {
		const struct tp_pipeline_rank *rank = &emitter->job->ranks[i];
		uint64_t hash = place_hash(rank->pipeline, rank->stage, rank->tensor);
		bool is_taken = tp_map_get(&emitter->places, hash, NULL);
		tp_map_set(&emitter->places, hash, is_taken ? NO_RANK : i);
	}
}

/* Returns the only rank at that position; NO_RANK if there is none, or several. */
static size_t rank_at(const struct emitter *emitter, int64_t pipeline, int64_t stage,
		      int64_t tensor)
{
	uint64_t found;
	if (!tp_map_get(&emitter->places, place_hash(pipeline, stage, tensor), &found) ||
	    found == NO_RANK)
		return NO_RANK;
	const struct tp_pipeline_rank *rank = &emitter->job->ranks[found];
	bool is_there =
		rank->pipeline == pipeline && rank->stage == stage && rank->tensor == tensor;
	return is_there ? (size_t)found : NO_RANK;
}

static bool has_peer(const struct emitter *emitter, const struct tp_pipeline_op *op)
{
	const struct tp_pipeline *job = emitter->job;
	const struct tp_op_type *optype = op_type_of(emitter, op);
	const struct tp_pipeline_rank *rank = &job->ranks[op->rank];
	if (!op->is_paired || job->has_chunks || rank->stage < 0)
		return false;
	size_t peer = rank_at(emitter, rank->pipeline, rank->stage + optype->toward, rank->tensor);
	if (peer == NO_RANK ||
	    rank_at(emitter, rank->pipeline, rank->stage, rank->tensor) == NO_RANK)
		return false;
	const struct share *own = share_of(emitter, op, op->rank);
	const struct share *other = share_of(emitter, op, peer);
	size_t pass = (size_t)optype->pass;
	return optype->use == TP_OP_TYPE_SEND ? own->n_sent[pass] == other->n_received[pass]
					      : own->n_received[pass] == other->n_sent[pass];
}

static void prepare(struct emitter *emitter)
{
	struct tp_pipeline *job = emitter->job;
	sort_steps(job);
	place_steps(job);
	qsort(job->ops, job->n_ops, sizeof(*job->ops), op_order);
	note_places(emitter);
	emitter->shares = tp_alloc(job->n_steps * job->n_ranks * sizeof(*emitter->shares));
	for (size_t i = 0; i < job->n_ops; i++)
		note_computed(emitter, &job->ops[i]);
	for (size_t i = 0; i < job->n_ops; i++)
		number_exchange(emitter, &job->ops[i]);
	for (size_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].order != UINT32_MAX && job->ops[i].order >= emitter->n_orders)
			emitter->n_orders = job->ops[i].order + UINT64_C(1);
}

/* ---- communicators ---- */

/* Writes the name of the communicator. Returns false if the operation waits for no known rank. */
static bool name_group(struct emitter *emitter, const struct tp_pipeline_op *op)
{
	const struct tp_op_type *optype = op_type_of(emitter, op);
	const struct tp_pipeline_rank *rank = &emitter->job->ranks[op->rank];
	struct tp_buf *name = &emitter->scratch;
	bool is_placed = rank->stage >= 0 && rank->pipeline >= 0;
	if (!emitter->job->has_waits)
		return false;
	if (optype->toward) {
		int64_t other = rank->stage + optype->toward;
		tp_buf_printf(name,
			      "%s, dp %" PRId64 ", tp %" PRId64 ", stages %" PRId64 " and %" PRId64,
			      optype->pass ? "backward" : "forward", rank->pipeline, rank->tensor,
			      rank->stage < other ? rank->stage : other,
			      rank->stage < other ? other : rank->stage);
		return has_peer(emitter, op);
	}
	tp_buf_puts(name, optype->name);
	if (optype->use == TP_OP_TYPE_DATA)
		tp_buf_printf(name, ", stage %" PRId64 ", tp %" PRId64, rank->stage, rank->tensor);
	if (optype->use == TP_OP_TYPE_ENDS)
		tp_buf_printf(name, ", dp %" PRId64 ", tp %" PRId64, rank->pipeline, rank->tensor);
	return optype->use == TP_OP_TYPE_JOB || (is_placed && optype->use != TP_OP_TYPE_ALONE);
}

/* An operation that waits for no known rank has a communicator of its own, so that it is not joined
 * with others. */
static uint32_t detail_of(struct emitter *emitter, struct tp_rank_writer *writer,
			  const struct tp_pipeline_op *op)
{
	const struct tp_op_type *optype = op_type_of(emitter, op);
	if (!optype || !optype->op)
		return 0;
	struct tp_buf *name = &emitter->scratch;
	tp_buf_clear(name);
	if (!name_group(emitter, op)) {
		tp_buf_clear(name);
		tp_buf_printf(name, "%s of rank %" PRId64, optype->name,
			      emitter->job->ranks[op->rank].number);
	}
	uint64_t sequence = op->step * emitter->n_orders + op->order + 1;
	struct tp_detail detail = {.op = tp_rank_writer_string(writer, optype->op,
							       strlen(optype->op)),
				   .group = tp_rank_writer_string(writer, name->data, name->len)};
	if (op->order != UINT32_MAX && sequence <= UINT32_MAX)
		detail.sequence = (uint32_t)sequence;
	return tp_rank_writer_detail(writer, &detail);
}

/* ---- emitting ---- */

static void emit_op(struct emitter *emitter, struct tp_rank_writer *writer,
		    const struct tp_pipeline_op *op)
{
	const struct tp_pipeline_type *type = &emitter->job->types[op->type];
	const struct tp_pipeline_step *step = &emitter->job->steps[op->step];
	bool is_host = type->known && type->known->use == TP_OP_TYPE_HOST;
	uint32_t name = tp_rank_writer_string(writer, type->name, strlen(type->name));
	struct tp_span span = {.start_ns = step->place_ns + (op->start_ns - step->start_ns),
			       .end_ns = step->place_ns + (op->end_ns - step->start_ns),
			       .name = name,
			       .kind = is_host ? TP_SPAN_ANNOTATION : TP_SPAN_KERNEL};
	if (is_host) {
		span.track = tp_rank_writer_track(writer, TP_TRACK_THREAD, 0);
	} else {
		span.track = tp_rank_writer_track(writer, 0, op->type);
		span.detail = detail_of(emitter, writer, op);
		tp_rank_writer_name_track(writer, span.track, name);
	}
	tp_rank_writer_span(writer, &span);
}

/* A step lasts from the first to the last operation of any rank: early stages end early, and late
 * stages begin late. */
static void emit_steps(struct emitter *emitter, struct tp_rank_writer *writer, size_t rank)
{
	const struct tp_pipeline *job = emitter->job;
	char name[32];
	for (size_t i = 0; i < job->n_steps; i++) {
		const struct tp_pipeline_step *step = &job->steps[i];
		if (!emitter->shares[i * job->n_ranks + rank].n_ops)
			continue;
		int len = snprintf(name, sizeof(name), "step %" PRId64, step->number);
		struct tp_span span = {.start_ns = step->place_ns,
				       .end_ns = step->place_ns + (step->end_ns - step->start_ns),
				       .name = tp_rank_writer_string(writer, name, (size_t)len),
				       .track = tp_rank_writer_track(writer, TP_TRACK_THREAD, 0),
				       .kind = TP_SPAN_ANNOTATION};
		/* Marks must not overlap. */
		if (i + 1 < job->n_steps && span.end_ns > step[1].place_ns &&
		    step[1].place_ns > span.start_ns)
			span.end_ns = step[1].place_ns;
		tp_rank_writer_span(writer, &span);
	}
}

/* Operations are sorted by rank. */
static size_t first_op(const struct tp_pipeline *job, size_t rank)
{
	size_t at;
	TP_FIND_FIRST(at, 0, job->n_ops, job->ops[at].rank >= rank);
	return at;
}

static void emit_rank(struct emitter *emitter, struct tp_rank_writer *writer, size_t index)
{
	const struct tp_pipeline *job = emitter->job;
	const struct tp_pipeline_rank *rank = &job->ranks[index];
	struct tp_rank_info *info = tp_rank_info(writer);
	struct tp_buf *name = &emitter->scratch;
	info->number = rank->number;
	info->stage = rank->stage;
	info->n_events = rank->n_events;
	info->n_skipped = rank->n_skipped;
	info->skipped_because = rank->skipped_because;
	info->is_cut = job->is_cut;
	emit_steps(emitter, writer, index);
	for (size_t i = first_op(job, index); i < job->n_ops && job->ops[i].rank == index; i++)
		emit_op(emitter, writer, &job->ops[i]);
	tp_buf_clear(name);
	tp_buf_printf(name, "dp %" PRId64, rank->pipeline);
	if (rank->stage >= 0)
		tp_buf_printf(name, ", stage %" PRId64, rank->stage);
	if (rank->tensor >= 0)
		tp_buf_printf(name, ", tp %" PRId64, rank->tensor);
	tp_rank_writer_name_track(writer, tp_rank_writer_track(writer, TP_TRACK_THREAD, 0),
				  tp_rank_writer_string(writer, name->data, name->len));
}

static int number_order(const void *a, const void *b)
{
	const struct tp_pipeline_rank *x = *(struct tp_pipeline_rank *const *)a;
	const struct tp_pipeline_rank *y = *(struct tp_pipeline_rank *const *)b;
	return (x->number > y->number) - (x->number < y->number);
}

static enum tp_status emit_all(struct emitter *emitter, struct tp_import_reader *import,
			       struct tp_error *err)
{
	struct tp_pipeline *job = emitter->job;
	struct tp_pipeline_rank *ordered[TP_RANKS_MAX];
	for (size_t i = 0; i < job->n_ranks; i++)
		ordered[i] = &job->ranks[i];
	qsort(ordered, job->n_ranks, sizeof(struct tp_pipeline_rank *), number_order);
	for (size_t i = 0; i < job->n_ranks; i++) {
		struct tp_rank_writer *writer = tp_rank_writer_begin(import);
		if (!writer)
			return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
		emit_rank(emitter, writer, (size_t)(ordered[i] - job->ranks));
		tp_rank_writer_end(writer, false);
	}
	return TP_OK;
}

static enum tp_status fail_empty(const struct tp_pipeline *job, const char *name,
				 struct tp_error *err)
{
	uint64_t n_events = 0;
	const char *why = NULL;
	/* The first rank also counts operations without a rank, so it is examined even if there are
	 * no ranks. */
	for (size_t i = 0; i == 0 || i < job->n_ranks; i++) {
		n_events += job->ranks[i].n_events;
		why = why ? why : job->ranks[i].skipped_because;
	}
	if (!n_events)
		return tp_fail(err, TP_PARSE, "'%s' holds no operations of ranks", name);
	return tp_fail(err, TP_PARSE, "'%s': none of its %" PRIu64 " operations is of use: %s",
		       name, n_events, why ? why : "none has a step");
}

enum tp_status tp_pipeline_emit(struct tp_pipeline *job, struct tp_import_reader *import,
				const char *name, struct tp_error *err)
{
	struct emitter emitter = {.job = job};
	if (job->has_more_ranks) {
		(void)tp_fail(err, TP_PARSE, "'%s' has more than %d ranks", name, TP_RANKS_MAX);
		tp_error_next(
			err,
			"python3 -c \"import pandas; d = pandas.read_parquet('trace.parquet'); "
			"d[d.dp_rank < 2].to_csv('trace.csv', index=False)\"");
		return TP_PARSE;
	}
	/* Each operation is in one step of one rank, so most of more steps of ranks are empty. */
	if ((uint64_t)job->n_steps * job->n_ranks > TP_PIPELINE_OPS_MAX)
		return tp_fail(err, TP_PARSE, "'%s' has too many steps for its %zu ranks", name,
			       job->n_ranks);
	if (!job->n_ops) {
		enum tp_status status = fail_empty(job, name, err);
		tp_error_next(err, "trainprof import --list");
		return status;
	}
	prepare(&emitter);
	enum tp_status status = emit_all(&emitter, import, err);
	free(emitter.shares);
	tp_map_release(&emitter.places);
	tp_buf_release(&emitter.scratch);
	return status;
}
