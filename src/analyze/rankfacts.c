/* Describes devices and their kernels, and sets the facts that rules about them ask for. */
#include "rankwork.h"
#include "stats.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Gaps shorter than this between queued pieces of work are the device's own latency. */
static const uint64_t LATENCY_NS = 6000;
static const uint64_t SHORT_KERNEL_NS = 10000;
static const uint64_t SMALL_COLLECTIVE_BYTES = UINT64_C(1) << 20;

static bool is_judged(const struct tp_device_work *device, const struct tp_op *op)
{
	if (op->step != NO_STEP)
		return (size_t)op->step >= device->from && (size_t)op->step < device->to;
	return device->to > device->from && op->start_ns < device->windows[device->to - 1].end_ns &&
	       op->end_ns > device->windows[device->from].start_ns;
}

/* ---- from the first piece of work to the last ---- */

static void lane_of_class(const struct tp_device_work *device, enum tp_op_class class,
			  struct tp_intervals *out)
{
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].class == class)
			tp_intervals_add(out, device->ops[i].start_ns, device->ops[i].end_ns);
	tp_intervals_unite(out);
}

struct overlap {
	struct tp_device_result *out;
};

static void add_overlap(void *context, const struct tp_lane_piece *piece)
{
	struct tp_device_result *out = ((struct overlap *)context)->out;
	uint64_t length_ns = piece->end_ns - piece->start_ns;
	bool computes = piece->active >> TP_OP_COMPUTE & 1;
	bool talks = piece->active >> TP_OP_COMMUNICATION & 1;
	bool copies = piece->active >> TP_OP_COPY & 1;
	out->busy_ns += piece->active ? length_ns : 0;
	out->exposed_communication_ns += talks && !computes ? length_ns : 0;
	out->exposed_copy_ns += copies && !computes && !talks ? length_ns : 0;
	out->overlap_ns += computes && talks ? length_ns : 0;
}

static void describe_all_work(const struct tp_device_work *device, struct tp_device_result *out)
{
	static const enum tp_part parts[TP_N_OP_CLASSES] = {TP_PART_COMPUTE, TP_PART_COMMUNICATION,
							    TP_PART_MEMORY};
	struct tp_intervals lists[TP_N_OP_CLASSES] = {0};
	struct tp_lane lanes[TP_N_OP_CLASSES];
	struct tp_interval all = {UINT64_MAX, 0};
	for (size_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		out->n_ops[op->class]++;
		out->n_unlinked += !op->is_linked;
		all.start_ns = op->start_ns < all.start_ns ? op->start_ns : all.start_ns;
		all.end_ns = op->end_ns > all.end_ns ? op->end_ns : all.end_ns;
	}
	if (all.end_ns <= all.start_ns)
		return;
	out->span_ns = all.end_ns - all.start_ns;
	for (int i = 0; i < TP_N_OP_CLASSES; i++) {
		lane_of_class(device, (enum tp_op_class)i, &lists[i]);
		out->union_ns[i] = tp_intervals_sum(&lists[i]);
		lanes[i] = (struct tp_lane){parts[i], false, lists[i].items, lists[i].n};
	}
	struct overlap overlap = {out};
	tp_lanes_sweep(lanes, TP_N_OP_CLASSES, &all, 1, add_overlap, &overlap);
	for (int i = 0; i < TP_N_OP_CLASSES; i++)
		free(lists[i].items);
}

/* ---- gaps ---- */

/* What the host did in [from, to): the lane that has most of it decides. */
static uint64_t covered(const struct tp_intervals *list, uint64_t from_ns, uint64_t to_ns)
{
	size_t low = 0;
	size_t high = list->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle].end_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	uint64_t sum = 0;
	for (size_t i = low; i < list->n && list->items[i].start_ns < to_ns; i++) {
		uint64_t start = list->items[i].start_ns;
		uint64_t end = list->items[i].end_ns;
		sum += (end < to_ns ? end : to_ns) - (start > from_ns ? start : from_ns);
	}
	return sum;
}

/* Shares of the host's time before the launch that make a cause (gpu.md 6.2 and its peers). */
static enum tp_gap_cause host_cause(const struct tp_rank_work *rank, uint64_t from_ns,
				    uint64_t to_ns)
{
	double length = (double)(to_ns - from_ns);
	if ((double)covered(&rank->lanes[TP_LABEL_DATALOADER_NEXT], from_ns, to_ns) > 0.5 * length)
		return TP_GAP_DATALOADER;
	if ((double)covered(&rank->lanes[TP_LABEL_MEMORY_ALLOC], from_ns, to_ns) > 0.3 * length)
		return TP_GAP_ALLOC;
	/* The wait ended when the device did: only its tail lies in the gap. */
	if (covered(&rank->lanes[TP_LABEL_HOST_SYNC], from_ns > 1 ? from_ns - 1 : 0, from_ns + 1))
		return TP_GAP_SYNC;
	if ((double)covered(&rank->lanes[TP_LABEL_HOST_LAUNCH], from_ns, to_ns) > 0.5 * length)
		return TP_GAP_CALLS;
	return TP_GAP_HOST;
}

static enum tp_gap_cause gap_cause(const struct tp_rank_work *rank, const struct tp_op *next,
				   uint64_t from_ns)
{
	if (!next->is_linked)
		return TP_GAP_UNKNOWN;
	if (next->launch_end_ns <= from_ns)
		return next->start_ns - from_ns < LATENCY_NS ? TP_GAP_LATENCY : TP_GAP_DEPENDENCY;
	if (next->launch_start_ns <= from_ns)
		return TP_GAP_LAUNCH;
	uint64_t to_ns =
		next->launch_start_ns < next->start_ns ? next->launch_start_ns : next->start_ns;
	return host_cause(rank, from_ns, to_ns);
}

static void describe_gaps(const struct tp_rank_work *rank, const struct tp_device_work *device,
			  struct tp_device_result *out)
{
	uint64_t reach_ns = device->n_ops ? device->ops[0].end_ns : 0;
	for (size_t i = 1; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		if (op->start_ns > reach_ns && is_judged(device, op))
			out->gap_ns[gap_cause(rank, op, reach_ns)] += op->start_ns - reach_ns;
		reach_ns = op->end_ns > reach_ns ? op->end_ns : reach_ns;
	}
}

/* ---- the judged windows ---- */

static void describe_windows(const struct tp_rank_analysis *analysis,
			     const struct tp_device_work *device, struct tp_device_result *out)
{
	for (size_t i = device->from; i < device->to; i++) {
		out->window_ns += device->windows[i].end_ns - device->windows[i].start_ns;
		for (int label = 0; label < TP_N_LABELS; label++) {
			enum tp_part part = tp_label_part((enum tp_label)label);
			out->own_ns[part] += device->own_ns[i][label];
			out->after_ns[part] += device->after_ns[i][label];
		}
		out->not_captured_ns += device->after_ns[i][TP_LABEL_COMMUNICATION_UNCAPTURED];
	}
	out->wait_caused_ns = device->wait_caused_ns;
	const struct tp_intervals *steps = &analysis->ranks[device->rank].steps;
	if (!steps->n)
		return;
	out->n_steps = steps->n;
	uint64_t *ops = tp_arena_array(analysis->arena, steps->n, sizeof(*ops));
	uint64_t *lengths = tp_arena_array(analysis->arena, steps->n, sizeof(*lengths));
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].step != NO_STEP)
			ops[device->ops[i].step]++;
	for (size_t i = 0; i < steps->n; i++)
		lengths[i] = steps->items[i].end_ns - steps->items[i].start_ns;
	out->ops_per_step = ops;
	out->step_ns = lengths;
}

static void describe_devices(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	profile->devices =
		tp_arena_array(analysis->arena, analysis->n_devices, sizeof(*profile->devices));
	profile->n_devices = analysis->n_devices;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		struct tp_device_result *out = &profile->devices[i];
		out->rank = device->rank;
		out->number = device->number;
		describe_all_work(device, out);
		describe_gaps(&analysis->ranks[device->rank], device, out);
		describe_windows(analysis, device, out);
	}
}

/* ---- kernels ---- */

/* Times of one name alone and beside communication. */
struct kernel_sum {
	uint64_t n_beside;
	uint64_t beside_ns;
	uint64_t n_alone;
	uint64_t alone_ns;
};

static int kernel_order(const void *a, const void *b)
{
	const struct tp_kernel_result *x = a;
	const struct tp_kernel_result *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void add_kernel(struct tp_rank_analysis *analysis, struct kernel_sum *sums,
		       const struct tp_device_work *device, const struct tp_op *op)
{
	struct tp_kernel_result *out = &analysis->profile->kernels[op->name];
	uint64_t length_ns = op->end_ns - op->start_ns;
	if (!out->n++) {
		const struct tp_kernel_row *row = tp_rank_kernel_row(analysis, op->name);
		out->name = op->name;
		out->class = (enum tp_op_class)op->class;
		out->row = row->id;
		out->family = row->family;
		out->is_weak = row->is_weak && op->class != TP_OP_COPY;
	}
	out->time_ns += length_ns;
	if (op->class == TP_OP_COMMUNICATION)
		return;
	bool is_beside = covered(&device->lanes[TP_LABEL_COMMUNICATION_COLLECTIVE], op->start_ns,
				 op->end_ns) > 0;
	struct kernel_sum *sum = &sums[op->name];
	out->overlapped_ns += is_beside ? length_ns : 0;
	sum->n_beside += is_beside;
	sum->beside_ns += is_beside ? length_ns : 0;
	sum->n_alone += !is_beside;
	sum->alone_ns += is_beside ? 0 : length_ns;
}

/* By name first, so that the row of a name is found at once; then sorted, the empty ones cut. */
static double describe_kernels(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	size_t n = analysis->trace->n_strings;
	struct kernel_sum *sums = tp_alloc((n + 1) * sizeof(*sums));
	double added_ns = 0;
	profile->kernels = tp_arena_array(analysis->arena, n, sizeof(*profile->kernels));
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++)
			if (is_judged(device, &device->ops[i]))
				add_kernel(analysis, sums, device, &device->ops[i]);
	}
	for (size_t i = 0; i < n; i++) {
		const struct kernel_sum *sum = &sums[i];
		if (!sum->n_alone || !sum->n_beside || !sum->alone_ns)
			continue;
		double alone = (double)sum->alone_ns / (double)sum->n_alone;
		double beside = (double)sum->beside_ns / (double)sum->n_beside;
		profile->kernels[i].slowdown = beside / alone;
		added_ns += (beside - alone) * (double)sum->n_beside;
	}
	free(sums);
	qsort(profile->kernels, n, sizeof(*profile->kernels), kernel_order);
	while (profile->n_kernels < n && profile->kernels[profile->n_kernels].n)
		profile->n_kernels++;
	return added_ns;
}

/* ---- facts ---- */

static void set(struct tp_profile *profile, enum tp_fact fact, double value)
{
	tp_profile_set(profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

/* value / of, unknown because `why` where there is nothing to divide by. */
static void set_ratio(struct tp_profile *profile, enum tp_fact fact, double value, double of,
		      const char *why)
{
	if (of > 0)
		set(profile, fact, value / of);
	else
		tp_profile_miss(profile, fact, why);
}

/* Sums over all devices that facts are made of. */
struct totals {
	double window_ns;
	double busy_ns; /* of the windows */
	double busy_least;
	double n_steps;
	double n_ops;
	double n_unlinked;
	double gap_ns[TP_N_GAP_CAUSES];
	double talk_ns; /* in the windows, hidden or not */
	double hidden_ns;
	double copy_ns;
	double wait_ns; /* exposed, for others */
	double caused_ns;
	double caused_most_ns;
	size_t n_devices; /* that ran something */
};

static double in_windows(const struct tp_device_work *device, const struct tp_intervals *list)
{
	uint64_t sum = 0;
	for (size_t i = device->from; i < device->to; i++)
		sum += covered(list, device->windows[i].start_ns, device->windows[i].end_ns);
	return (double)sum;
}

static void add_totals(struct totals *totals, const struct tp_device_work *device,
		       const struct tp_device_result *result)
{
	if (!device->n_ops)
		return;
	struct tp_intervals copies = {0};
	struct tp_intervals all = {0};
	lane_of_class(device, TP_OP_COPY, &copies);
	for (size_t i = 0; i < device->n_ops; i++)
		tp_intervals_add(&all, device->ops[i].start_ns, device->ops[i].end_ns);
	tp_intervals_unite(&all);
	double window = (double)result->window_ns;
	double busy = in_windows(device, &all);
	double talk = in_windows(device, &device->lanes[TP_LABEL_COMMUNICATION_COLLECTIVE]);
	double exposed = 0;
	for (size_t i = device->from; i < device->to; i++)
		exposed += (double)device->own_ns[i][TP_LABEL_COMMUNICATION_COLLECTIVE];
	totals->window_ns += window;
	totals->busy_ns += busy;
	totals->talk_ns += talk;
	totals->hidden_ns += talk > exposed ? talk - exposed : 0;
	totals->copy_ns += in_windows(device, &copies);
	if (window > 0 && (!totals->n_devices || busy / window < totals->busy_least))
		totals->busy_least = busy / window;
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

/* Kernel time by what the patterns say of names. */
struct kernel_time {
	double all, memory, elementwise, layout, optimizer, weak;
	double matrix, tensor, no_tensor;
};

static bool is_any(const char *family, const char *const *families, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(family, families[i]) == 0)
			return true;
	return false;
}

static void add_kernel_time(struct kernel_time *out, const struct tp_kernel_row *row, double ns)
{
	static const char *const elementwise[] = {"elementwise", "fill",      "dropout",
						  "aten",        "cast-copy", "copy"};
	static const char *const matrix[] = {"gemm", "conv", "attention", "rnn"};
	out->all += ns;
	out->memory += row->bound == TP_BOUND_MEMORY ? ns : 0;
	out->weak += row->is_weak ? ns : 0;
	out->layout += strcmp(row->family, "layout") == 0 ? ns : 0;
	out->optimizer += strcmp(row->family, "optimizer") == 0 ? ns : 0;
	if (is_any(row->family, elementwise, TP_ARRAY_LEN(elementwise)))
		out->elementwise += ns;
	if (!is_any(row->family, matrix, TP_ARRAY_LEN(matrix)))
		return;
	out->matrix += ns;
	out->tensor += row->tensor == TP_TENSOR_YES ? ns : 0;
	out->no_tensor += row->tensor == TP_TENSOR_NO ? ns : 0;
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
	set_ratio(profile, TP_FACT_KERNEL_MEMORY, time.memory, time.all, why);
	set_ratio(profile, TP_FACT_KERNEL_ELEMENTWISE, time.elementwise, time.all, why);
	set_ratio(profile, TP_FACT_KERNEL_LAYOUT, time.layout, time.all, why);
	set_ratio(profile, TP_FACT_KERNEL_OPTIMIZER, time.optimizer, time.all, why);
	set_ratio(profile, TP_FACT_KERNEL_WEAK, time.weak, time.all, why);
	set_ratio(profile, TP_FACT_KERNEL_MATH, time.matrix, time.all, why);
	why = "no matrix product, convolution or attention is in the trace";
	set_ratio(profile, TP_FACT_KERNEL_TENSOR, time.tensor, time.matrix, why);
	set_ratio(profile, TP_FACT_KERNEL_NO_TENSOR, time.no_tensor, time.matrix, why);
}

/* Copies between host and device: how fast, and by what memory. */
static void set_copy_facts(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double bytes = 0, h2d_ns = 0, pageable_ns = 0, both_ns = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++) {
			const struct tp_op *op = &device->ops[i];
			bool is_h2d = op->label == TP_LABEL_MEMORY_H2D;
			if ((!is_h2d && op->label != TP_LABEL_MEMORY_D2H) || !is_judged(device, op))
				continue;
			double ns = (double)(op->end_ns - op->start_ns);
			const char *name = tp_trace_string(analysis->trace, op->name);
			both_ns += ns;
			pageable_ns += strcasestr(name, "pageable") ? ns : 0;
			if (!is_h2d)
				continue;
			h2d_ns += ns;
			bytes += (double)analysis->trace->details[op->detail].bytes;
		}
	}
	const char *why = "the trace has no copies between host and device";
	set_ratio(profile, TP_FACT_DEVICE_PAGEABLE, pageable_ns, both_ns, why);
	if (bytes > 0)
		set_ratio(profile, TP_FACT_DEVICE_H2D_RATE, bytes, h2d_ns / 1e9, why);
	else
		tp_profile_miss(profile, TP_FACT_DEVICE_H2D_RATE,
				"the trace has no sizes of copies to the device");
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
				    !covered(&rank->steps, span->start_ns, span->start_ns + 1))
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
	size_t n = 0, n_short = 0, n_talks = 0, n_sizes = 0, n_small = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++) {
			const struct tp_op *op = &device->ops[i];
			if (!is_judged(device, op) || op->class == TP_OP_COPY)
				continue;
			if (op->class == TP_OP_COMPUTE) {
				uint64_t length_ns = op->end_ns - op->start_ns;
				n_short += length_ns < SHORT_KERNEL_NS;
				lengths[n++] = (double)length_ns;
				continue;
			}
			uint64_t bytes = analysis->trace->details[op->detail].bytes;
			n_talks++;
			n_small += bytes && bytes < SMALL_COLLECTIVE_BYTES;
			if (bytes)
				sizes[n_sizes++] = (double)bytes;
		}
	}
	const char *why = "no kernel that computes is in the trace";
	set_ratio(profile, TP_FACT_DEVICE_SHORT, (double)n_short, (double)n, why);
	if (n)
		set(profile, TP_FACT_DEVICE_KERNEL, tp_stats_median(lengths, n));
	else
		tp_profile_miss(profile, TP_FACT_DEVICE_KERNEL, why);
	why = "the trace has no sizes of collectives";
	set_ratio(profile, TP_FACT_COMM_SHORT, (double)n_small, (double)n_sizes, why);
	if (n_sizes)
		set(profile, TP_FACT_COMM_BYTES, tp_stats_median(sizes, n_sizes));
	else
		tp_profile_miss(profile, TP_FACT_COMM_BYTES, why);
	set_ratio(profile, TP_FACT_COMM_PER_STEP, (double)n_talks, totals->n_steps,
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
		tp_profile_miss(profile, TP_FACT_COMM_WAITS, why);
		tp_profile_miss(profile, TP_FACT_COMM_LATE, why);
	}
	why = "nothing communicates on the device";
	set_ratio(profile, TP_FACT_COMM_HIDDEN, totals->hidden_ns, totals->talk_ns, why);
	if (totals->talk_ns > 0)
		set_ratio(profile, TP_FACT_COMM_SLOWDOWN, added_ns > 0 ? added_ns : 0,
			  totals->window_ns, why);
	else
		tp_profile_miss(profile, TP_FACT_COMM_SLOWDOWN, why);
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
	set_ratio(profile, TP_FACT_DEVICE_UNLINKED, totals->n_unlinked, totals->n_ops, why);
	set_ratio(profile, TP_FACT_DEVICE_GAP_HOST, host, window, why);
	set_ratio(profile, TP_FACT_DEVICE_GAP_SYNC, totals->gap_ns[TP_GAP_SYNC], window, why);
	set_ratio(profile, TP_FACT_DEVICE_GAP_QUEUED, queued, window, why);
	set_ratio(profile, TP_FACT_DEVICE_COPY, totals->copy_ns, window, why);
	set_ratio(profile, TP_FACT_COMM_TIME, totals->talk_ns, window, why);
	double n_ops = 0;
	for (size_t d = 0; d < analysis->n_devices; d++)
		for (size_t i = 0; i < analysis->devices[d].n_ops; i++)
			n_ops += analysis->devices[d].ops[i].step != NO_STEP;
	set_ratio(profile, TP_FACT_DEVICE_OPS, n_ops, totals->n_steps, "the trace has no steps");
}

/* Of NVIDIA's devices those of capability 7.0 on have matrix units. */
static void set_capability(struct tp_profile *profile)
{
	uint32_t capability = 0;
	const struct tp_run_info *run = &profile->trace->run;
	for (size_t i = 0; i < run->n_ranks && !capability; i++)
		for (size_t k = 0; k < run->ranks[i].n_devices && !capability; k++)
			capability = run->ranks[i].devices[k].capability;
	const char *why = "the trace does not say which device it is";
	if (!capability) {
		tp_profile_miss(profile, TP_FACT_DEVICE_CAPABILITY, why);
		tp_profile_miss(profile, TP_FACT_DEVICE_TENSOR, why);
		return;
	}
	set(profile, TP_FACT_DEVICE_CAPABILITY, capability);
	set(profile, TP_FACT_DEVICE_TENSOR, capability >= 70);
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
	set(profile, TP_FACT_TRACE_CUT, is_cut);
	set(profile, TP_FACT_TRACE_SPANS, n_kept);
	set_ratio(profile, TP_FACT_TRACE_SKIPPED, n_skipped, n_kept + n_skipped,
		  "the trace has no events");
}

void tp_ranks_describe(struct tp_rank_analysis *analysis)
{
	struct totals totals = {0};
	describe_devices(analysis);
	double added_ns = describe_kernels(analysis);
	for (size_t i = 0; i < analysis->n_devices; i++)
		add_totals(&totals, &analysis->devices[i], &analysis->profile->devices[i]);
	set_device_facts(analysis, &totals);
	set_kernel_facts(analysis);
	set_copy_facts(analysis);
	set_call_facts(analysis, totals.n_steps);
	set_size_facts(analysis, &totals);
	set_rank_facts(analysis, &totals, added_ns);
	set_capability(analysis->profile);
	set_trace_facts(analysis->profile);
}
