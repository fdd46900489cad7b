/* SPDX-License-Identifier: Apache-2.0 */
/* Collects samples of the optimizer and compares them with borders of rounds. */
#include "weight_updates.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

void tp_weight_updates_init(struct tp_weight_updates *out, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	size_t capacity = 0;
	size_t passes_capacity = 0;
	*out = (struct tp_weight_updates){0};
	for (size_t i = trace->sample_index[analysis->main_task];
	     i < trace->sample_index[analysis->main_task + 1]; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		enum tp_function_kind doing = analysis->classes[sample->stack].doing;
		if (doing == TP_FUNCTION_UPDATE)
			TP_ARRAY_PUSH(out->times_ns, out->n, capacity) = sample->time_ns;
		if (doing == TP_FUNCTION_UPDATE || doing == TP_FUNCTION_TRAIN)
			TP_ARRAY_PUSH(out->passes_ns, out->n_passes, passes_capacity) =
				sample->time_ns;
	}
}

void tp_weight_updates_release(struct tp_weight_updates *updates)
{
	free(updates->times_ns);
	free(updates->passes_ns);
	*updates = (struct tp_weight_updates){0};
}

/* Counts the times between the borders; `early`: those in the first `share` of a round. */
static size_t count_between(const uint64_t *times_ns, size_t n_times, const uint64_t *borders,
			    size_t n_borders, double share, size_t *early)
{
	size_t n = 0;
	size_t at = 0;
	*early = 0;
	for (size_t i = 0; i < n_times; i++) {
		while (at + 1 < n_borders && borders[at + 1] <= times_ns[i])
			at++;
		if (at + 1 >= n_borders || times_ns[i] < borders[at])
			continue;
		double length_ns = (double)(borders[at + 1] - borders[at]);
		n++;
		*early += (double)(times_ns[i] - borders[at]) < share * length_ns;
	}
	return n;
}

bool tp_weight_updates_are_inside(const struct tp_weight_updates *updates, const uint64_t *borders,
				  size_t n_borders)
{
	size_t n_early;
	size_t n = count_between(updates->times_ns, updates->n, borders, n_borders, 0.5, &n_early);
	return n_early >= TP_COUNTER_UPDATES_MIN &&
	       (double)n_early >= TP_COUNTER_EARLY_MIN * (double)n;
}

/* Counts the passes that follow an update of the same round: the next step's. */
static size_t count_after_updates(const struct tp_weight_updates *updates, const uint64_t *borders,
				  size_t n_borders)
{
	size_t n = 0;
	size_t update = 0; /* the first one not before the pass */
	size_t at = 0;
	for (size_t i = 0; i < updates->n_passes; i++) {
		uint64_t time_ns = updates->passes_ns[i];
		while (at + 1 < n_borders && borders[at + 1] <= time_ns)
			at++;
		while (update < updates->n && updates->times_ns[update] < time_ns)
			update++;
		bool is_update = update < updates->n && updates->times_ns[update] == time_ns;
		n += at + 1 < n_borders && !is_update && update > 0 &&
		     updates->times_ns[update - 1] >= borders[at];
	}
	return n;
}

bool tp_weight_updates_are_single(const struct tp_weight_updates *updates, const uint64_t *borders,
				  size_t n_borders)
{
	size_t n_early;
	size_t n = count_between(updates->passes_ns, updates->n_passes, borders, n_borders,
				 TP_COUNTER_FORWARD_MIN, &n_early);
	size_t n_off = n_early + count_after_updates(updates, borders, n_borders);
	return n >= TP_COUNTER_PASSES_MIN &&
	       (double)n_off <= TP_COUNTER_FORWARD_OFF_MAX * (double)n;
}
