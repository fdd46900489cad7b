/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the facts that rules about devices use. */
#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "bus_rate.h"
#include "rank_data.h"
#include "rank_names.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>
#include <string.h>

static void set(struct tp_profile *profile, enum tp_fact fact, double value)
{
	tp_profile_set(profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

/* Sets value / of, or unknown with the reason `why` if `of` is not positive. */
static void set_ratio(struct tp_profile *profile, enum tp_fact fact, double value, double of,
		      const char *why)
{
	if (of > 0)
		set(profile, fact, value / of);
	else
		tp_profile_set_missing(profile, fact, why);
}

/* Sums over all devices, from which facts are computed. */
struct totals {
	double window_ns;
	double busy_ns; /* in the windows */
	double busy_least;
	double busy_most;
	double n_steps;
	double n_ops;
	double n_unlinked;
	double gap_ns[TP_N_GAP_CAUSES];
	double communication_ns; /* in the windows, hidden or not */
	double hidden_ns;
	double copy_ns;
	double queued_ns; /* sum over all judged operations, from the end of the launch to the start
			   */
	double wait_ns;   /* exposed waits for other ranks */
	double caused_ns;
	double caused_most_ns;
	size_t n_devices; /* devices with work */
};

static double in_windows(const struct tp_device_work *device, const struct tp_intervals *list)
{
	uint64_t sum = 0;
	for (size_t i = device->from; i < device->to; i++)
		sum += tp_intervals_covered(list, device->windows[i].start_ns,
					    device->windows[i].end_ns);
	return (double)sum;
}

static void add_totals(struct totals *totals, const struct tp_device_work *device,
		       struct tp_device_result *result)
{
	if (!device->n_ops)
		return;
	struct tp_intervals copies = {0};
	struct tp_intervals all = {0};
	for (size_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		tp_intervals_add(&all, op->start_ns, op->end_ns);
		if (op->class == TP_OP_COPY)
			tp_intervals_add(&copies, op->start_ns, op->end_ns);
		if (op->is_linked && op->start_ns > op->launch_end_ns &&
		    tp_op_is_in_window(device, op))
			totals->queued_ns += (double)(op->start_ns - op->launch_end_ns);
	}
	tp_intervals_merge(&all);
	tp_intervals_merge(&copies);
	double window = (double)result->window_ns;
	double busy = in_windows(device, &all);
	double communication_ns =
		in_windows(device, &device->lanes[TP_LABEL_COMMUNICATION_COLLECTIVE]);
	double exposed = 0;
	for (size_t i = device->from; i < device->to; i++)
		exposed += (double)device->own_ns[i][TP_LABEL_COMMUNICATION_COLLECTIVE];
	totals->window_ns += window;
	result->window_busy_ns = (uint64_t)busy;
	totals->busy_ns += busy;
	totals->communication_ns += communication_ns;
	totals->hidden_ns += communication_ns > exposed ? communication_ns - exposed : 0;
	totals->copy_ns += in_windows(device, &copies);
	if (window > 0 && (!totals->n_devices || busy / window < totals->busy_least))
		totals->busy_least = busy / window;
	if (window > 0 && busy / window > totals->busy_most)
		totals->busy_most = busy / window;
	totals->n_devices++;
	totals->n_steps += result->n_steps ? (double)(device->to - device->from) : 0;
	totals->n_unlinked += (double)result->n_unlinked;
	for (int i = 0; i < TP_N_OP_CLASSES; i++)
		totals->n_ops += (double)result->n_ops[i];
	for (int i = 0; i < TP_N_GAP_CAUSES; i++)
		totals->gap_ns[i] += (double)result->gap_ns[i];
	totals->caused_ns += (double)result->wait_caused_ns;
	if ((double)result->wait_caused_ns > totals->caused_most_ns)
		totals->caused_most_ns = (double)result->wait_caused_ns;
	free(copies.items);
	free(all.items);
}

/* Kernel time by the patterns of kernel names. */
struct kernel_time {
	double all, memory, elementwise, layout, optimizer, weak;
	double matrix, tensor, no_tensor;
};

static void add_kernel_time(struct kernel_time *out, const struct tp_kernel_row *row, double ns)
{
	out->all += ns;
	out->memory += row->bound == TP_BOUND_MEMORY ? ns : 0;
	out->weak += row->is_weak ? ns : 0;
	out->layout += row->group == TP_GROUP_LAYOUT ? ns : 0;
	out->optimizer += row->group == TP_GROUP_OPTIMIZER ? ns : 0;
	out->elementwise += row->group == TP_GROUP_ELEMENTWISE ? ns : 0;
	if (row->group != TP_GROUP_MATRIX)
		return;
	out->matrix += ns;
	out->tensor += row->tensor == TP_TENSOR_YES ? ns : 0;
	out->no_tensor += row->tensor == TP_TENSOR_NO ? ns : 0;
}

/* Marks the value as estimated from kernel names, not from counters. */
static void set_by_name(struct tp_profile *profile, enum tp_fact fact, double value, double of,
			const char *why)
{
	set_ratio(profile, fact, value, of, why);
	if (profile->facts[fact].is_known)
		profile->facts[fact].seen = "by names of kernels";
}

static void set_kernel_facts(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct kernel_time time = {0};
	for (size_t i = 0; i < profile->n_kernels; i++)
		if (profile->kernels[i].class == TP_OP_COMPUTE)
			add_kernel_time(&time,
					tp_rank_kernel_row(analysis, profile->kernels[i].name),
					(double)profile->kernels[i].time_ns);
	const char *why = "no kernel that computes is in the trace";
	set_by_name(profile, TP_FACT_KERNEL_MEMORY, time.memory, time.all, why);
	set_by_name(profile, TP_FACT_KERNEL_ELEMENTWISE, time.elementwise, time.all, why);
	set_by_name(profile, TP_FACT_KERNEL_LAYOUT, time.layout, time.all, why);
	set_by_name(profile, TP_FACT_KERNEL_OPTIMIZER, time.optimizer, time.all, why);
	set_by_name(profile, TP_FACT_KERNEL_WEAK, time.weak, time.all, why);
	set_by_name(profile, TP_FACT_KERNEL_MATH, time.matrix, time.all, why);
	why = "no matrix product, convolution or attention is in the trace";
	set_by_name(profile, TP_FACT_KERNEL_TENSOR, time.tensor, time.matrix, why);
	set_by_name(profile, TP_FACT_KERNEL_NO_TENSOR, time.no_tensor, time.matrix, why);
}

/* Copies between host and device: rate, and kind of host memory. */
static void set_copy_facts(struct tp_rank_analysis *analysis, double n_steps)
{
	struct tp_profile *profile = analysis->profile;
	double bytes = 0, h2d_ns = 0, pageable_ns = 0, both_ns = 0, small_ns = 0, n_copies = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++) {
			const struct tp_op *op = &device->ops[i];
			bool is_h2d = op->label == TP_LABEL_MEMORY_H2D;
			if ((!is_h2d && op->label != TP_LABEL_MEMORY_D2H) ||
			    !tp_op_is_in_window(device, op))
				continue;
			double ns = (double)(op->end_ns - op->start_ns);
			const char *name = tp_trace_string(analysis->trace, op->name);
			both_ns += ns;
			pageable_ns += strcasestr(name, "pageable") ? ns : 0;
			if (!is_h2d)
				continue;
			uint64_t size = analysis->trace->details[op->detail].bytes;
			h2d_ns += ns;
			bytes += (double)size;
			small_ns += size && size < TP_SMALL_COPY_BYTES ? ns : 0;
			n_copies += op->step >= 0;
		}
	}
	const char *why = "the trace has no copies between host and device";
	set_ratio(profile, TP_FACT_DEVICE_PAGEABLE, pageable_ns, both_ns, why);
	set_ratio(profile, TP_FACT_DEVICE_COPIES, n_copies, n_steps, "the trace has no steps");
	why = "the trace has no sizes of copies to the device";
	set_ratio(profile, TP_FACT_DEVICE_H2D_RATE, bytes, bytes > 0 ? h2d_ns / 1e9 : 0, why);
	set_ratio(profile, TP_FACT_DEVICE_SMALL_COPY, small_ns, bytes > 0 ? h2d_ns : 0, why);
}

/* Calls inside steps. */
static void set_call_facts(struct tp_rank_analysis *analysis, double n_steps)
{
	struct tp_profile *profile = analysis->profile;
	double n_syncs = 0;
	double n_allocs = 0;
	for (size_t r = 0; r < analysis->n_ranks; r++) {
		const struct tp_rank_work *rank = &analysis->ranks[r];
		for (size_t t = 0; t < rank->n_threads; t++) {
			const struct tp_track_spans *spans =
				&analysis->trace->spans[rank->threads[t]];
			for (size_t i = 0; i < spans->n; i++) {
				const struct tp_span *span = &spans->items[i];
				if (span->kind != TP_SPAN_CALL ||
				    !tp_intervals_covered(&rank->steps, span->start_ns,
							  span->start_ns + 1))
					continue;
				enum tp_span_sense sense = tp_rank_sense(analysis, span);
				n_syncs += sense == TP_SENSE_SYNC;
				n_allocs += sense == TP_SENSE_ALLOC;
			}
		}
	}
	const char *why = "the trace has no steps";
	set_ratio(profile, TP_FACT_DEVICE_SYNCS, n_syncs, n_steps, why);
	set_ratio(profile, TP_FACT_DEVICE_ALLOCS, n_allocs, n_steps, why);
	double alloc_ns = 0;
	double window_ns = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		alloc_ns += in_windows(device,
				       &analysis->ranks[device->rank].lanes[TP_LABEL_MEMORY_ALLOC]);
		window_ns += (double)profile->devices[d].window_ns;
	}
	set_ratio(profile, TP_FACT_DEVICE_ALLOC_TIME, alloc_ns, window_ns, why);
}

/* Lengths of kernels and sizes of collectives. */
static void set_size_facts(struct tp_rank_analysis *analysis, const struct totals *totals)
{
	struct tp_profile *profile = analysis->profile;
	size_t most = (size_t)totals->n_ops + 1;
	double *lengths = tp_alloc(most * sizeof(*lengths));
	double *sizes = tp_alloc(most * sizeof(*sizes));
	size_t n = 0, n_short = 0, n_communications = 0, n_sizes = 0, n_small = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++) {
			const struct tp_op *op = &device->ops[i];
			if (!tp_op_is_in_window(device, op) || op->class == TP_OP_COPY)
				continue;
			if (op->class == TP_OP_COMPUTE) {
				uint64_t length_ns = op->end_ns - op->start_ns;
				n_short += length_ns < TP_SHORT_KERNEL_NS;
				lengths[n++] = (double)length_ns;
				continue;
			}
			uint64_t bytes = analysis->trace->details[op->detail].bytes;
			n_communications++;
			n_small += bytes && bytes < TP_SMALL_COLLECTIVE_BYTES;
			if (bytes)
				sizes[n_sizes++] = (double)bytes;
		}
	}
	const char *why = "no kernel that computes is in the trace";
	set_ratio(profile, TP_FACT_DEVICE_SHORT, (double)n_short, (double)n, why);
	if (n)
		set(profile, TP_FACT_DEVICE_KERNEL, tp_stats_median(lengths, n));
	else
		tp_profile_set_missing(profile, TP_FACT_DEVICE_KERNEL, why);
	why = "the trace has no sizes of collectives";
	set_ratio(profile, TP_FACT_COMM_SHORT, (double)n_small, (double)n_sizes, why);
	if (n_sizes)
		set(profile, TP_FACT_COMM_BYTES, tp_stats_median(sizes, n_sizes));
	else
		tp_profile_set_missing(profile, TP_FACT_COMM_BYTES, why);
	set_ratio(profile, TP_FACT_COMM_PER_STEP, (double)n_communications, totals->n_steps,
		  "the trace has no steps");
	free(lengths);
	free(sizes);
}

static void set_rank_facts(struct tp_rank_analysis *analysis, const struct totals *totals,
			   double added_ns)
{
	struct tp_profile *profile = analysis->profile;
	uint32_t n_ranks = (uint32_t)analysis->n_ranks;
	for (size_t i = 0; i < profile->trace->run.n_ranks; i++)
		if (profile->trace->run.ranks[i].n_ranks > n_ranks)
			n_ranks = profile->trace->run.ranks[i].n_ranks;
	set(profile, TP_FACT_COMM_RANKS, n_ranks);
	set(profile, TP_FACT_COMM_SEEN, (double)analysis->n_ranks);
	double blamed_ns = 0;
	for (size_t i = 0; i < profile->n_blames; i++)
		blamed_ns += (double)profile->blames[i].time_ns;
	const char *why = analysis->n_ranks < 2 ? "the trace is of one rank"
						: "no collective could be matched over ranks";
	if (profile->n_collectives) {
		set_ratio(profile, TP_FACT_COMM_WAITS, blamed_ns, totals->window_ns, why);
		set_ratio(profile, TP_FACT_COMM_LATE, totals->caused_most_ns, totals->caused_ns,
			  "no rank waits for another");
	} else {
		tp_profile_set_missing(profile, TP_FACT_COMM_WAITS, why);
		tp_profile_set_missing(profile, TP_FACT_COMM_LATE, why);
	}
	why = "nothing communicates on the device";
	set_ratio(profile, TP_FACT_COMM_HIDDEN, totals->hidden_ns, totals->communication_ns, why);
	set_ratio(profile, TP_FACT_COMM_SLOWDOWN, added_ns > 0 ? added_ns : 0, totals->window_ns,
		  "the trace has no device work");
}

static void set_device_facts(struct tp_rank_analysis *analysis, const struct totals *totals)
{
	struct tp_profile *profile = analysis->profile;
	const char *why = "the trace has no device work";
	double host = totals->gap_ns[TP_GAP_HOST] + totals->gap_ns[TP_GAP_CALLS] +
		      totals->gap_ns[TP_GAP_LAUNCH];
	double queued = totals->gap_ns[TP_GAP_LATENCY] + totals->gap_ns[TP_GAP_DEPENDENCY];
	double window = totals->window_ns;
	set(profile, TP_FACT_DEVICE_COUNT, (double)totals->n_devices);
	set(profile, TP_FACT_TRACE_OPS, totals->n_ops);
	set_ratio(profile, TP_FACT_DEVICE_BUSY, totals->busy_ns, window, why);
	set_ratio(profile, TP_FACT_DEVICE_BUSY_LEAST, totals->busy_least, totals->n_devices > 0,
		  why);
	set_ratio(profile, TP_FACT_DEVICE_BUSY_MOST, totals->busy_most, totals->n_devices > 0, why);
	set_ratio(profile, TP_FACT_DEVICE_UNLINKED, totals->n_unlinked, totals->n_ops, why);
	set_ratio(profile, TP_FACT_DEVICE_GAP_HOST, host, window, why);
	set_ratio(profile, TP_FACT_DEVICE_GAP_SYNC, totals->gap_ns[TP_GAP_SYNC], window, why);
	set_ratio(profile, TP_FACT_DEVICE_GAP_QUEUED, queued, window, why);
	set_ratio(profile, TP_FACT_DEVICE_COPY, totals->copy_ns, window, why);
	/* Little's law: arrivals per time, times the wait of each, is the mean queue length. */
	set_ratio(profile, TP_FACT_DEVICE_QUEUE, totals->queued_ns, window, why);
	set_ratio(profile, TP_FACT_COMM_TIME, totals->communication_ns, window, why);
	double n_ops = 0;
	for (size_t d = 0; d < analysis->n_devices; d++)
		for (size_t i = 0; i < analysis->devices[d].n_ops; i++)
			n_ops += analysis->devices[d].ops[i].step >= 0 &&
				 tp_op_is_in_window(&analysis->devices[d],
						    &analysis->devices[d].ops[i]);
	set_ratio(profile, TP_FACT_DEVICE_OPS, n_ops, totals->n_steps, "the trace has no steps");
}

/* The name of the iterator of PyTorch's loader shows whether it has workers. */
static void set_loader_fact(struct tp_rank_analysis *analysis)
{
	size_t n_inline = 0;
	size_t n_workers = 0;
	for (size_t r = 0; r < analysis->n_ranks; r++) {
		const struct tp_rank_work *rank = &analysis->ranks[r];
		if (rank->main == TP_NO_TASK)
			continue;
		const struct tp_track_spans *spans = &analysis->trace->spans[rank->main];
		for (size_t i = 0; i < spans->n; i++) {
			if (tp_rank_sense(analysis, &spans->items[i]) != TP_SENSE_DATALOADER)
				continue;
			const char *name = tp_trace_string(analysis->trace, spans->items[i].name);
			n_inline += strstr(name, "_SingleProcessDataLoaderIter") != NULL;
			n_workers += strstr(name, "_MultiProcessingDataLoaderIter") != NULL;
		}
	}
	if (n_inline + n_workers)
		set(analysis->profile, TP_FACT_LOADER_INLINE, n_inline > n_workers);
	else
		tp_profile_set_missing(analysis->profile, TP_FACT_LOADER_INLINE,
				       "the loader's calls do not show whether it has workers");
}

/* NVIDIA's devices have matrix units from capability 7.0 on. */
void tp_ranks_set_capability(struct tp_profile *profile, double capability)
{
	set(profile, TP_FACT_DEVICE_CAPABILITY, capability);
	set(profile, TP_FACT_DEVICE_TENSOR, capability >= 70);
}

static void set_capability(struct tp_profile *profile)
{
	uint32_t capability = 0;
	const struct tp_run_info *run = &profile->trace->run;
	for (size_t i = 0; i < run->n_ranks && !capability; i++)
		for (size_t k = 0; k < run->ranks[i].n_devices && !capability; k++)
			capability = run->ranks[i].devices[k].capability;
	const char *why = "the trace does not say which device it is";
	if (!capability) {
		tp_profile_set_missing(profile, TP_FACT_DEVICE_CAPABILITY, why);
		tp_profile_set_missing(profile, TP_FACT_DEVICE_TENSOR, why);
		return;
	}
	tp_ranks_set_capability(profile, capability);
}

static void set_trace_facts(struct tp_profile *profile)
{
	const struct tp_run_info *run = &profile->trace->run;
	double n_kept = 0;
	double n_skipped = 0;
	bool is_cut = profile->trace->is_partial;
	for (size_t i = 0; i < run->n_ranks; i++) {
		n_kept += (double)run->ranks[i].n_kept;
		n_skipped += (double)run->ranks[i].n_skipped;
		is_cut |= run->ranks[i].is_cut;
	}
	/* A run that was recorded live has no files: its spans are counted. */
	for (size_t i = 0; !run->n_ranks && i < profile->trace->n_tracks; i++)
		n_kept += (double)profile->trace->spans[i].n;
	set(profile, TP_FACT_TRACE_CUT, is_cut);
	set(profile, TP_FACT_TRACE_SPANS, n_kept);
	set_ratio(profile, TP_FACT_TRACE_SKIPPED, n_skipped, n_kept + n_skipped,
		  "the trace has no events");
}

void tp_ranks_set_facts(struct tp_rank_analysis *analysis, double added_ns)
{
	struct totals totals = {0};
	for (size_t i = 0; i < analysis->n_devices; i++)
		add_totals(&totals, &analysis->devices[i], &analysis->profile->devices[i]);
	set_device_facts(analysis, &totals);
	set_kernel_facts(analysis);
	set_copy_facts(analysis, totals.n_steps);
	set_call_facts(analysis, totals.n_steps);
	set_size_facts(analysis, &totals);
	tp_bus_rate_set(analysis);
	tp_ranks_set_drift(analysis);
	set_rank_facts(analysis, &totals, added_ns);
	set_loader_fact(analysis);
	set_capability(analysis->profile);
	set_trace_facts(analysis->profile);
}
