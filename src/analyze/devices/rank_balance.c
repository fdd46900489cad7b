/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rank that computes longer than the replicas of its stage, and the stage that computes
 * longer than the other stages, and replays the steps without the difference. */
#include "rank_balance.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "rank_replay.h"
#include "rank_stages.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>

struct balance {
	const struct tp_collectives *all;
	size_t n_devices;
	double *compute_ns; /* by device, of a step or of the window */
	double *length_ns;  /* the same for the window itself */
	uint32_t *stage;    /* by device */
	size_t n_stages;
	double *stage_ns; /* by stage: what its devices usually compute */
	double *scratch;
	double *scale; /* by device */
	struct tp_rank_replay replay;
	double whole_ns; /* length of the replay without a change; 0 = not replayed */
};

static void set(const struct balance *balance, enum tp_fact fact, double value)
{
	tp_profile_set(balance->all->analysis->profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

static int64_t rank_number(const struct balance *balance, size_t d)
{
	const struct tp_rank_analysis *analysis = balance->all->analysis;
	uint32_t rank = analysis->devices[d].rank;
	const struct tp_run_info *run = &analysis->trace->run;
	int64_t number = rank < run->n_ranks ? run->ranks[rank].number : -1;
	return number >= 0 ? number : rank;
}

/* ---- what is compared ---- */

static bool measure(struct balance *balance)
{
	const struct tp_rank_analysis *analysis = balance->all->analysis;
	for (size_t d = 0; d < balance->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		double n = (double)(device->to - device->from);
		double length_ns = 0;
		if (!device->n_ops || device->number == TP_TRACK_THREAD || n < 1)
			return false;
		for (size_t i = device->from; i < device->to; i++)
			length_ns +=
				(double)(device->windows[i].end_ns - device->windows[i].start_ns);
		balance->compute_ns[d] = (double)device->total_ns[TP_PART_COMPUTE] / n;
		balance->length_ns[d] = length_ns / n;
	}
	return true;
}

/* Median of the devices of a stage, without one. 0 = it has no other. */
static double median_of_stage(const struct balance *balance, uint32_t stage, size_t skip)
{
	size_t n = 0;
	for (size_t d = 0; d < balance->n_devices; d++)
		if (balance->stage[d] == stage && d != skip)
			balance->scratch[n++] = balance->compute_ns[d];
	return n ? tp_stats_median(balance->scratch, n) : 0;
}

/* ---- what would be saved ---- */

static void keep_all(const struct balance *balance)
{
	for (size_t d = 0; d < balance->n_devices; d++)
		balance->scale[d] = 1;
}

static double saved(const struct balance *balance, const double *mean_ns)
{
	struct tp_rank_change change = {balance->scale, mean_ns};
	double left_ns = tp_rank_replay_length(&balance->replay, &change);
	double ratio = 1 - left_ns / balance->whole_ns;
	return ratio > 0 ? ratio : 0;
}

/* ---- the slowest rank ---- */

static void set_slow_rank(struct balance *balance)
{
	size_t slow = balance->n_devices;
	double excess_ns = -1;
	double peers_ns = 0;
	for (size_t d = 0; d < balance->n_devices; d++) {
		double median_ns = median_of_stage(balance, balance->stage[d], d);
		if (!(median_ns > 0) || balance->compute_ns[d] - median_ns <= excess_ns)
			continue;
		slow = d;
		peers_ns = median_ns;
		excess_ns = balance->compute_ns[d] - median_ns;
	}
	if (slow == balance->n_devices)
		return;
	size_t n_peers = 0;
	for (size_t d = 0; d < balance->n_devices; d++)
		n_peers += balance->stage[d] == balance->stage[slow];
	set(balance, TP_FACT_COMM_SLOW_RANK, (double)rank_number(balance, slow));
	set(balance, TP_FACT_COMM_SLOW_RANK_PEERS, (double)(n_peers - 1));
	set(balance, TP_FACT_COMM_SLOW_RANK_TIMES, balance->compute_ns[slow] / peers_ns);
	set(balance, TP_FACT_COMM_SLOW_RANK_EXCESS, excess_ns / balance->length_ns[slow]);
	if (!(balance->whole_ns > 0))
		return;
	keep_all(balance);
	balance->scale[slow] = peers_ns / balance->compute_ns[slow];
	set(balance, TP_FACT_COMM_SLOW_RANK_SAVED, saved(balance, NULL));
}

/* ---- the slowest stage ---- */

/* Takes the faster of two replicas: a slow rank does not make a slow stage. */
static double typical_of_stage(const struct balance *balance, uint32_t stage)
{
	size_t n = 0;
	for (size_t d = 0; d < balance->n_devices; d++)
		if (balance->stage[d] == stage)
			balance->scratch[n++] = balance->compute_ns[d];
	tp_stats_sort(balance->scratch, n);
	return n ? balance->scratch[(n - 1) / 2] : 0;
}

static double mean_of_stages(const struct balance *balance)
{
	double sum_ns = 0;
	for (size_t s = 0; s < balance->n_stages; s++)
		sum_ns += balance->stage_ns[s];
	return sum_ns / (double)balance->n_stages;
}

/* Layers that leave the slow stage go to the other stages: all then compute as long as the mean of
 * today. At most, the slow stage becomes as fast as that and the others stay as fast as they
 * are. */
static void set_slow_stage(struct balance *balance)
{
	size_t slow = 0;
	set(balance, TP_FACT_COMM_STAGES, (double)balance->n_stages);
	if (balance->n_stages < 2)
		return;
	for (uint32_t s = 0; s < balance->n_stages; s++) {
		balance->stage_ns[s] = typical_of_stage(balance, s);
		if (!(balance->stage_ns[s] > 0))
			return;
		slow = balance->stage_ns[s] > balance->stage_ns[slow] ? s : slow;
	}
	size_t n = 0;
	for (size_t s = 0; s < balance->n_stages; s++)
		if (s != slow)
			balance->scratch[n++] = balance->stage_ns[s];
	double peers_ns = tp_stats_median(balance->scratch, n);
	double mean_ns = mean_of_stages(balance);
	size_t member = 0;
	while (balance->stage[member] != slow)
		member++;
	set(balance, TP_FACT_COMM_SLOW_STAGE, (double)slow);
	set(balance, TP_FACT_COMM_SLOW_STAGE_TIMES, balance->stage_ns[slow] / peers_ns);
	set(balance, TP_FACT_COMM_SLOW_STAGE_EXCESS,
	    (balance->stage_ns[slow] - mean_ns) / balance->length_ns[member]);
	if (!(balance->whole_ns > 0))
		return;
	for (size_t d = 0; d < balance->n_devices; d++)
		balance->scale[d] = mean_ns / balance->stage_ns[balance->stage[d]];
	set(balance, TP_FACT_COMM_SLOW_STAGE_SAVED, saved(balance, NULL));
	for (size_t d = 0; d < balance->n_devices; d++)
		balance->scale[d] =
			balance->stage[d] == slow ? mean_ns / balance->stage_ns[slow] : 1;
	set(balance, TP_FACT_COMM_SLOW_STAGE_MOST, saved(balance, NULL));
}

/* ---- work that differs from one time to the next ---- */

static bool is_compute(const struct tp_device_work *device, const struct tp_op *op)
{
	return op->class == TP_OP_COMPUTE && op->end_ns > op->start_ns &&
	       tp_op_is_in_window(device, op);
}

/* Writes the mean length of operations by their name. */
static void find_means(const struct balance *balance, double *mean_ns)
{
	const struct tp_rank_analysis *analysis = balance->all->analysis;
	double *n = tp_alloc((analysis->trace->n_strings + 1) * sizeof(*n));
	for (size_t d = 0; d < balance->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++) {
			const struct tp_op *op = &device->ops[i];
			if (!is_compute(device, op))
				continue;
			mean_ns[op->name] += (double)(op->end_ns - op->start_ns);
			n[op->name]++;
		}
	}
	for (size_t i = 0; i < analysis->trace->n_strings; i++)
		mean_ns[i] = n[i] > 0 ? mean_ns[i] / n[i] : 0;
	free(n);
}

/* Every operation takes the mean of its name, and every device computes equally long. */
static void set_equal_work(struct balance *balance)
{
	const struct tp_rank_analysis *analysis = balance->all->analysis;
	double *mean_ns = tp_alloc((analysis->trace->n_strings + 1) * sizeof(*mean_ns));
	double all_ns = 0;
	find_means(balance, mean_ns);
	for (size_t d = 0; d < balance->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		balance->scratch[d] = 0;
		for (size_t i = 0; i < device->n_ops; i++)
			if (is_compute(device, &device->ops[i]))
				balance->scratch[d] += mean_ns[device->ops[i].name];
		all_ns += balance->scratch[d];
	}
	bool is_known = all_ns > 0;
	for (size_t d = 0; d < balance->n_devices; d++) {
		is_known &= balance->scratch[d] > 0;
		balance->scale[d] = all_ns / (double)balance->n_devices / balance->scratch[d];
	}
	if (is_known)
		set(balance, TP_FACT_COMM_UNEVEN_SAVED, saved(balance, mean_ns));
	free(mean_ns);
}

/* ---- all ---- */

static void replay_all(struct balance *balance)
{
	keep_all(balance);
	tp_rank_replay_init(&balance->replay, balance->all);
	struct tp_rank_change none = {balance->scale, NULL};
	if (balance->all->n)
		balance->whole_ns = tp_rank_replay_length(&balance->replay, &none);
	set_slow_rank(balance);
	set_slow_stage(balance);
	if (balance->whole_ns > 0)
		set_equal_work(balance);
	tp_rank_replay_release(&balance->replay);
}

static void rule_out(const struct tp_collectives *all)
{
	static const enum tp_fact facts[] = {
		TP_FACT_COMM_SLOW_RANK,         TP_FACT_COMM_SLOW_RANK_PEERS,
		TP_FACT_COMM_SLOW_RANK_TIMES,   TP_FACT_COMM_SLOW_RANK_EXCESS,
		TP_FACT_COMM_SLOW_RANK_SAVED,   TP_FACT_COMM_STAGES,
		TP_FACT_COMM_SLOW_STAGE,        TP_FACT_COMM_SLOW_STAGE_TIMES,
		TP_FACT_COMM_SLOW_STAGE_EXCESS, TP_FACT_COMM_SLOW_STAGE_SAVED,
		TP_FACT_COMM_SLOW_STAGE_MOST,   TP_FACT_COMM_UNEVEN_SAVED};
	for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++)
		tp_profile_set_missing(
			all->analysis->profile, facts[i],
			"the trace does not show several ranks that wait for each other");
}

void tp_rank_balance_set(const struct tp_collectives *all)
{
	size_t n = all->analysis->n_devices;
	struct balance balance = {.all = all, .n_devices = n};
	rule_out(all);
	if (n < 2 || all->analysis->n_ranks < 2 || !all->analysis->trace->run.n_ranks ||
	    !all->kernels)
		return;
	size_t most = n > TP_RANKS_MAX ? n : TP_RANKS_MAX;
	balance.compute_ns = tp_alloc(n * sizeof(*balance.compute_ns));
	balance.length_ns = tp_alloc(n * sizeof(*balance.length_ns));
	balance.stage = tp_alloc(n * sizeof(*balance.stage));
	balance.stage_ns = tp_alloc(most * sizeof(*balance.stage_ns));
	balance.scratch = tp_alloc(most * sizeof(*balance.scratch));
	balance.scale = tp_alloc(n * sizeof(*balance.scale));
	balance.n_stages = tp_rank_stages_find(all, balance.stage);
	if (balance.n_stages && measure(&balance))
		replay_all(&balance);
	free(balance.compute_ns);
	free(balance.length_ns);
	free(balance.stage);
	free(balance.stage_ns);
	free(balance.scratch);
	free(balance.scale);
}
