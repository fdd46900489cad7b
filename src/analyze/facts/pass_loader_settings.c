/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the training loop's data loader, read from its object.
 *
 * Needs: roles, window, tp_pass_loader. Gives: loader.prefetch_factor, loader.batch_size,
 * loader.persistent_workers, loader.pin_memory; loader.workers if there is one trainer.
 */
#include "analyze/analysis.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <string.h>

/* Finds the value that a setting had for the longest time in the window, because a validation has
 * its own loader. Returns false if the setting was not recorded or its value is unknown. */
static bool find_setting(const struct tp_analysis *analysis, const char *name, uint64_t *value)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_map held = {0}; /* value -> ns */
	uint64_t most_ns = 0;
	uint64_t now = UINT64_MAX;
	uint64_t since_ns = 0;
	bool is_seen = false;
	for (size_t i = 0; i <= trace->n_marks; i++) {
		const struct tp_mark *mark = i < trace->n_marks ? &trace->marks[i] : NULL;
		if (mark && (mark->kind != TP_MARK_SETTING || mark->task != analysis->main_task ||
			     strcmp(tp_trace_string(trace, mark->name), name) != 0))
			continue;
		/* The first recorded value also applies to the time before it. */
		uint64_t start_ns = since_ns > analysis->profile->window_start_ns
					    ? since_ns
					    : analysis->profile->window_start_ns;
		uint64_t end_ns = mark ? mark->time_ns : trace->end_ns;
		if (end_ns > analysis->profile->window_end_ns)
			end_ns = analysis->profile->window_end_ns;
		uint64_t ns = 0;
		if (is_seen && end_ns > start_ns) {
			tp_map_get(&held, now, &ns);
			ns += end_ns - start_ns;
			tp_map_set(&held, now, ns);
		}
		if (is_seen && ns >= most_ns) {
			most_ns = ns;
			*value = now;
		}
		if (!mark)
			break;
		now = mark->value;
		since_ns = is_seen ? mark->time_ns : 0;
		is_seen = true;
	}
	tp_map_release(&held);
	return is_seen && *value != UINT64_MAX;
}

static size_t n_trainers(const struct tp_analysis *analysis)
{
	size_t n = 0;
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++)
		n += analysis->threads[i].leader == i && analysis->roles[i] == TP_ROLE_TRAINER;
	return n;
}

/* The loader knows how many workers it started; counts of short-lived processes and helper threads
 * by their activity are less exact. The loader of one rank does not know those of the others. */
static void set_workers(struct tp_analysis *analysis, uint64_t workers)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_quantity *processes = &profile->facts[TP_FACT_LOADER_PROCESSES];
	if (n_trainers(analysis) != 1 || (workers == 0 && processes->value > 0))
		return;
	tp_profile_set(profile, TP_FACT_LOADER_WORKERS, (double)workers, TP_ORIGIN_MEASURED, 1);
}

/* Samples per second are known if the size of a batch and the length of a step are. */
static void set_throughput(struct tp_profile *profile)
{
	const struct tp_quantity *batch = &profile->facts[TP_FACT_LOADER_BATCH_SIZE];
	const struct tp_quantity *step = &profile->facts[TP_FACT_STEP_TIME];
	struct tp_quantity *rate = &profile->facts[TP_FACT_STEP_SAMPLES_PER_S];
	if (!batch->is_known || !step->is_known || !(batch->value > 0) || !(step->value > 0)) {
		tp_profile_set_missing(profile, TP_FACT_STEP_SAMPLES_PER_S,
				       step->is_known ? "the size of a batch is unknown"
						      : "no steps were found");
		return;
	}
	double per_batch = batch->value * 1e9;
	tp_profile_set(profile, TP_FACT_STEP_SAMPLES_PER_S, per_batch / step->value, step->origin,
		       step->coverage);
	rate->n = step->n;
	if (!step->has_interval || !(step->low > 0))
		return;
	rate->has_interval = true;
	rate->low = per_batch / step->high;
	rate->high = per_batch / step->low;
}

enum tp_status tp_pass_loader_settings(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	static const struct {
		enum tp_fact fact;
		const char *name;
	} rows[] = {
		{TP_FACT_LOADER_PREFETCH, "loader.prefetch_factor"},
		{TP_FACT_LOADER_BATCH_SIZE, "loader.batch_size"},
		{TP_FACT_LOADER_PERSISTENT, "loader.persistent_workers"},
		{TP_FACT_LOADER_PIN, "loader.pin_memory"},
	};
	struct tp_profile *profile = analysis->profile;
	uint64_t value;
	if (!profile->total_ns)
		return TP_OK;
	bool has_workers = find_setting(analysis, "loader.workers", &value);
	if (has_workers)
		set_workers(analysis, value);
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		uint64_t setting;
		if (find_setting(analysis, rows[i].name, &setting))
			tp_profile_set(profile, rows[i].fact, (double)setting, TP_ORIGIN_MEASURED,
				       1);
		else
			tp_profile_set_missing(profile, rows[i].fact,
					       has_workers ? "the loader has no such setting"
							   : "no loader of PyTorch was seen in a "
							     "loop of the main thread");
	}
	/* Without workers nothing is prefetched, whatever the setting is. */
	if (has_workers && value == 0)
		tp_profile_set_missing(profile, TP_FACT_LOADER_PREFETCH,
				       "the loader has no workers");
	set_throughput(profile);
	return TP_OK;
}
