/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the data of each rank that does not depend on steps: meanings of names, the training
 * thread, device work with the calls that launched it, and the lanes of both. */
#include "rank_data.h"
#include "rank_names.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/launch_index.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranks, threads, devices ---- */

static void count_ranks(struct tp_rank_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	analysis->n_ranks = trace->run.n_ranks;
	for (size_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].rank >= analysis->n_ranks &&
		    trace->tracks[i].rank < TP_RANKS_MAX)
			analysis->n_ranks = trace->tracks[i].rank + 1;
	analysis->ranks = tp_alloc((analysis->n_ranks + 1) * sizeof(*analysis->ranks));
	for (size_t i = 0; i < analysis->n_ranks; i++)
		analysis->ranks[i].main = TP_NO_TASK;
}

static void add_device(struct tp_rank_analysis *analysis, uint32_t rank, int32_t number)
{
	for (size_t i = 0; i < analysis->n_devices; i++)
		if (analysis->devices[i].rank == rank && analysis->devices[i].number == number)
			return;
	TP_ARRAY_PUSH(analysis->devices, analysis->n_devices, analysis->devices_capacity) =
		(struct tp_device_work){.rank = rank, .number = number};
}

static int device_order(const void *a, const void *b)
{
	const struct tp_device_work *x = a;
	const struct tp_device_work *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* A rank without devices gets one entry for its threads. */
static void find_devices(struct tp_rank_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	for (uint32_t i = 0; i < trace->n_tracks; i++) {
		const struct tp_track *track = &trace->tracks[i];
		if (track->rank >= analysis->n_ranks || !trace->spans[i].n)
			continue;
		struct tp_rank_work *rank = &analysis->ranks[track->rank];
		if (track->device != TP_TRACK_THREAD) {
			rank->has_device = true;
			add_device(analysis, track->rank, track->device);
			continue;
		}
		size_t n = rank->n_threads;
		rank->threads = tp_realloc(rank->threads, (n + 1) * sizeof(*rank->threads));
		rank->threads[rank->n_threads++] = i;
	}
	for (uint32_t i = 0; i < analysis->n_ranks; i++)
		if (!analysis->ranks[i].has_device && analysis->ranks[i].n_threads)
			add_device(analysis, i, TP_TRACK_THREAD);
	if (analysis->n_devices)
		qsort(analysis->devices, analysis->n_devices, sizeof(*analysis->devices),
		      device_order);
}

static void find_borders(struct tp_rank_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < analysis->n_ranks; i++)
		analysis->ranks[i].first_ns = UINT64_MAX;
	for (size_t i = 0; i < trace->n_tracks; i++) {
		if (trace->tracks[i].rank >= analysis->n_ranks)
			continue;
		struct tp_rank_work *rank = &analysis->ranks[trace->tracks[i].rank];
		const struct tp_track_spans *spans = &trace->spans[i];
		if (spans->n && spans->items[0].start_ns < rank->first_ns)
			rank->first_ns = spans->items[0].start_ns;
		for (size_t k = 0; k < spans->n; k++)
			if (spans->items[k].end_ns > rank->last_ns)
				rank->last_ns = spans->items[k].end_ns;
	}
}

/* ---- device work ---- */

static enum tp_label copy_label(const char *name)
{
	static const struct {
		const char *part;
		enum tp_label label;
	} ways[] = {
		{"HtoD", TP_LABEL_MEMORY_H2D},           {"DtoH", TP_LABEL_MEMORY_D2H},
		{"DtoD", TP_LABEL_MEMORY_D2D},           {"PtoP", TP_LABEL_MEMORY_P2P},
		{"HostToDevice", TP_LABEL_MEMORY_H2D},   {"DeviceToHost", TP_LABEL_MEMORY_D2H},
		{"DeviceToDevice", TP_LABEL_MEMORY_D2D},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(ways); i++)
		if (strcasestr(name, ways[i].part))
			return ways[i].label;
	return TP_LABEL_MEMORY_COPY;
}

static void classify_op(struct tp_rank_analysis *analysis, struct tp_op *op,
			const struct tp_span *span)
{
	op->class = TP_OP_COPY;
	if (span->kind == TP_SPAN_SET) {
		op->label = TP_LABEL_MEMORY_SET;
	} else if (span->kind == TP_SPAN_COPY) {
		op->label = (uint8_t)copy_label(tp_trace_string(analysis->trace, span->name));
	} else if (tp_rank_kernel_row(analysis, span->name)->class == TP_KERNEL_COMMUNICATION) {
		op->class = TP_OP_COMMUNICATION;
		op->label = TP_LABEL_COMMUNICATION_COLLECTIVE;
	} else {
		op->class = TP_OP_COMPUTE;
		op->label = TP_LABEL_COMPUTE_MATH;
	}
}

static void link_op(struct tp_op *op, uint32_t link, const struct tp_launch_index *calls)
{
	op->launch_track = TP_NO_TASK;
	const struct tp_span *call =
		tp_launch_index_find(calls, link, op->start_ns, &op->launch_track);
	if (!call)
		return;
	op->launch_start_ns = call->start_ns;
	op->launch_end_ns = call->end_ns;
	op->is_linked = true;
}

static int op_order(const void *a, const void *b)
{
	const struct tp_op *x = a;
	const struct tp_op *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->track > y->track) - (x->track < y->track);
}

static void sort_ops(struct tp_device_work *device)
{
	for (size_t i = 1; i < device->n_ops; i++) {
		if (op_order(&device->ops[i - 1], &device->ops[i]) > 0) {
			qsort(device->ops, device->n_ops, sizeof(*device->ops), op_order);
			return;
		}
	}
}

static void fill_device(struct tp_rank_analysis *analysis, struct tp_device_work *device,
			const struct tp_launch_index *calls)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n = 0;
	for (size_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].rank == device->rank &&
		    trace->tracks[i].device == device->number)
			n += trace->spans[i].n;
	device->ops = tp_alloc((n + 1) * sizeof(*device->ops));
	for (size_t i = 0; i < trace->n_tracks; i++) {
		if (trace->tracks[i].rank != device->rank ||
		    trace->tracks[i].device != device->number)
			continue;
		for (size_t k = 0; k < trace->spans[i].n; k++) {
			const struct tp_span *span = &trace->spans[i].items[k];
			struct tp_op *op = &device->ops[device->n_ops++];
			*op = (struct tp_op){.start_ns = span->start_ns,
					     .end_ns = span->end_ns,
					     .name = span->name,
					     .detail = span->detail,
					     .track = (uint16_t)i,
					     .step = TP_NO_STEP};
			classify_op(analysis, op, span);
			link_op(op, span->link, calls);
		}
	}
	sort_ops(device);
	for (size_t i = 0; i < device->n_ops; i++)
		tp_intervals_add(&device->lanes[device->ops[i].label], device->ops[i].start_ns,
				 device->ops[i].end_ns);
	for (size_t i = 0; i < TP_N_LABELS; i++)
		tp_intervals_merge(&device->lanes[i]);
}

static void fill_devices(struct tp_rank_analysis *analysis)
{
	struct tp_launch_index calls = {0};
	for (size_t i = 0; i < analysis->n_devices; i++) {
		struct tp_device_work *device = &analysis->devices[i];
		if (device->number == TP_TRACK_THREAD)
			continue;
		if (!i || analysis->devices[i - 1].rank != device->rank) {
			const struct tp_rank_work *rank = &analysis->ranks[device->rank];
			tp_launch_index_release(&calls);
			tp_launch_index_build(&calls, analysis->trace, rank->threads,
					      rank->n_threads);
		}
		fill_device(analysis, device, &calls);
	}
	tp_launch_index_release(&calls);
}

bool tp_op_is_in_window(const struct tp_device_work *device, const struct tp_op *op)
{
	if (op->step != TP_NO_STEP)
		return op->step >= (int32_t)device->from && op->step < (int32_t)device->to;
	size_t at;
	TP_FIND_FIRST(at, device->from, device->to, device->windows[at].end_ns > op->start_ns);
	return at < device->to && device->windows[at].start_ns < op->end_ns;
}

/* ---- threads ---- */

/* Evidence that a thread is the training thread, in order of priority. */
struct signs {
	size_t steps;
	size_t loads;
	size_t launches;
	size_t spans;
};

static bool is_more(const struct signs *a, const struct signs *b)
{
	if (a->steps != b->steps)
		return a->steps > b->steps;
	if (a->loads != b->loads)
		return a->loads > b->loads;
	if (a->launches != b->launches)
		return a->launches > b->launches;
	return a->spans > b->spans;
}

static void find_main(struct tp_rank_analysis *analysis, struct tp_rank_work *rank)
{
	struct signs best = {0};
	for (size_t i = 0; i < rank->n_threads; i++) {
		const struct tp_track_spans *spans = &analysis->trace->spans[rank->threads[i]];
		uint32_t task_plus_1 = analysis->trace->tracks[rank->threads[i]].task_plus_1;
		if (task_plus_1 && task_plus_1 - 1 == analysis->main_task) {
			rank->main = rank->threads[i];
			return;
		}
		struct signs signs = {0};
		for (size_t k = 0; k < spans->n; k++) {
			enum tp_span_sense sense = tp_rank_sense(analysis, &spans->items[k]);
			signs.steps += sense == TP_SENSE_STEP &&
				       spans->items[k].end_ns > spans->items[k].start_ns;
			signs.loads += sense == TP_SENSE_DATALOADER || sense == TP_SENSE_FETCH;
			signs.launches += sense == TP_SENSE_LAUNCH;
			signs.spans += spans->items[k].kind != TP_SPAN_OS_CALL;
		}
		if (rank->main == TP_NO_TASK || is_more(&signs, &best)) {
			rank->main = rank->threads[i];
			best = signs;
		}
	}
}

/* Label of a span on a thread while no device works
 * (docs/design/ranks.md#parts-of-imported-traces); TP_N_LABELS = none. Without devices operators
 * are the computation itself. */
static enum tp_label thread_label(const struct tp_rank_work *rank, enum tp_span_sense sense,
				  enum tp_span_kind kind)
{
	if (sense == TP_SENSE_STEP || kind == TP_SPAN_OS_CALL)
		return TP_N_LABELS;
	switch (sense) {
	case TP_SENSE_DATALOADER:
	case TP_SENSE_FETCH:
		return TP_LABEL_DATALOADER_NEXT;
	case TP_SENSE_ALLOC:
		return TP_LABEL_MEMORY_ALLOC;
	case TP_SENSE_COMMUNICATION:
		return TP_LABEL_COMMUNICATION_COLLECTIVE;
	case TP_SENSE_COLLECTIVE:
		if (!rank->has_device && kind == TP_SPAN_ANNOTATION)
			return TP_LABEL_COMMUNICATION_COLLECTIVE;
		break;
	case TP_SENSE_CHECKPOINT:
		return TP_LABEL_HOST_CHECKPOINT;
	case TP_SENSE_LOGGING:
		return TP_LABEL_HOST_LOGGING;
	case TP_SENSE_COMPILE:
		return TP_LABEL_HOST_COMPILE;
	case TP_SENSE_GC:
		return TP_LABEL_HOST_GC;
	default:
		break;
	}
	if (kind == TP_SPAN_OPERATOR)
		return rank->has_device ? TP_LABEL_HOST_DISPATCH : TP_LABEL_COMPUTE_MATH;
	if (kind == TP_SPAN_CALL)
		return sense == TP_SENSE_SYNC ? TP_LABEL_HOST_SYNC : TP_LABEL_HOST_LAUNCH;
	return kind == TP_SPAN_PYTHON ? TP_LABEL_HOST_INTERPRETER : TP_LABEL_HOST_OTHER;
}

/* If the main thread calls the loader's `next`, calls by other threads are not a wait of the
 * training. */
static bool main_loads(struct tp_rank_analysis *analysis, const struct tp_rank_work *rank)
{
	const struct tp_track_spans *spans = &analysis->trace->spans[rank->main];
	for (size_t k = 0; k < spans->n; k++) {
		enum tp_span_sense sense = tp_rank_sense(analysis, &spans->items[k]);
		if (sense == TP_SENSE_DATALOADER || sense == TP_SENSE_FETCH)
			return true;
	}
	return false;
}

/* The fetches in the step that a thread is in. */
struct fetching {
	uint64_t step_end_ns;
	bool has_fetched;
};

/* Returns true for all fetches of a step but the first: a call that makes several steps fetches
 * the next batch while it computes. (What a device computes is before all loading anyway.) Spans
 * must come by their begins. */
static bool is_fetch_ahead(struct fetching *fetching, enum tp_span_sense sense,
			   const struct tp_span *span)
{
	if (sense == TP_SENSE_STEP && span->start_ns >= fetching->step_end_ns)
		*fetching = (struct fetching){.step_end_ns = span->end_ns};
	if (sense != TP_SENSE_FETCH)
		return false;
	bool is_ahead = fetching->has_fetched && span->start_ns < fetching->step_end_ns;
	fetching->has_fetched = true;
	return is_ahead;
}

/* A call that copies to the host and returns after the copy has waited for the device, whatever
 * its name: cudaMemcpyAsync waits, too, if the memory is pageable. */
static void add_waits_of_copies(const struct tp_rank_analysis *analysis, uint32_t number)
{
	struct tp_rank_work *rank = &analysis->ranks[number];
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; device->rank == number && i < device->n_ops; i++) {
			const struct tp_op *op = &device->ops[i];
			if (op->is_linked && op->label == TP_LABEL_MEMORY_D2H &&
			    op->launch_end_ns >= op->end_ns && op->end_ns > op->start_ns)
				tp_intervals_add(&rank->lanes[TP_LABEL_HOST_SYNC],
						 op->launch_start_ns, op->launch_end_ns);
		}
	}
}

static void fill_thread(struct tp_rank_analysis *analysis, struct tp_rank_work *rank,
			uint32_t track, bool only_main_loads)
{
	const struct tp_track_spans *spans = &analysis->trace->spans[track];
	struct fetching fetching = {0};
	for (size_t k = 0; k < spans->n; k++) {
		const struct tp_span *span = &spans->items[k];
		enum tp_span_sense sense = tp_rank_sense(analysis, span);
		enum tp_label label = thread_label(rank, sense, (enum tp_span_kind)span->kind);
		bool is_ahead = is_fetch_ahead(&fetching, sense, span);
		if (label == TP_LABEL_DATALOADER_NEXT && only_main_loads && track != rank->main)
			label = TP_LABEL_HOST_OTHER;
		else if (is_ahead && !rank->has_device)
			label = TP_LABEL_DATALOADER_HANDOVER;
		if (label < TP_N_LABELS)
			tp_intervals_add(&rank->lanes[label], span->start_ns, span->end_ns);
	}
}

static void fill_threads(struct tp_rank_analysis *analysis, uint32_t number)
{
	struct tp_rank_work *rank = &analysis->ranks[number];
	bool only_main_loads = rank->n_threads && main_loads(analysis, rank);
	for (size_t i = 0; i < rank->n_threads; i++)
		fill_thread(analysis, rank, rank->threads[i], only_main_loads);
	add_waits_of_copies(analysis, number);
	for (size_t i = 0; i < TP_N_LABELS; i++)
		tp_intervals_merge(&rank->lanes[i]);
}

void tp_ranks_build(struct tp_rank_analysis *analysis)
{
	tp_rank_names_init(analysis);
	count_ranks(analysis);
	find_devices(analysis);
	find_borders(analysis);
	fill_devices(analysis);
	for (uint32_t i = 0; i < analysis->n_ranks; i++) {
		find_main(analysis, &analysis->ranks[i]);
		fill_threads(analysis, i);
	}
}

uint64_t tp_ranks_first_work(const struct tp_rank_analysis *analysis)
{
	uint64_t first_ns = UINT64_MAX;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		if (device->n_ops && device->ops[0].start_ns < first_ns)
			first_ns = device->ops[0].start_ns;
	}
	return first_ns;
}

void tp_ranks_release(struct tp_rank_analysis *analysis)
{
	for (size_t i = 0; i < analysis->n_ranks; i++) {
		struct tp_rank_work *rank = &analysis->ranks[i];
		free(rank->threads);
		tp_rank_host_release(&rank->host);
		free(rank->steps.items);
		for (size_t k = 0; k < TP_N_LABELS; k++)
			free(rank->lanes[k].items);
	}
	for (size_t i = 0; i < analysis->n_devices; i++) {
		struct tp_device_work *device = &analysis->devices[i];
		free(device->ops);
		free(device->windows);
		if (device->after_ns != device->own_ns)
			free(device->after_ns);
		free(device->own_ns);
		free(device->pieces);
		for (size_t k = 0; k < TP_N_LABELS; k++)
			free(device->lanes[k].items);
	}
	free(analysis->untraced.items);
	free(analysis->shut.items);
	free(analysis->ranks);
	free(analysis->devices);
}
