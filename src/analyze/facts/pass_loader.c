/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity of the loader workers, or of the threads that load if there are none.
 *
 * Needs: roles, labels, window. Gives: loader.* facts and step.dataloader_inline_ratio.
 */
#include "analyze/analysis.h"
#include "analyze/attribution/group_activity.h"
#include "analyze/thresholds.h"
#include "loader_work.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>

struct worker_time {
	uint64_t lived_ns;
	uint64_t activity_ns[TP_N_ACTIVITIES];
};

static struct worker_time measure_worker(const struct tp_analysis *analysis, uint32_t task)
{
	struct worker_time time = {0};
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t length =
			tp_segment_ns_in(segment, profile->window_start_ns, profile->window_end_ns);
		if (!length)
			continue;
		time.lived_ns += length;
		time.activity_ns[tp_activity_of(analysis, TP_THREAD_LOADER, segment)] += length;
	}
	return time;
}

/* Time of the main thread in the loader in which it works itself, without waits for other
 * threads. */
static uint64_t inline_ns(const struct tp_analysis *analysis)
{
	uint64_t sum = 0;
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (tp_loader_work_is_inline(analysis, segment))
			sum += tp_segment_ns_in(segment, profile->window_start_ns,
						profile->window_end_ns);
	}
	return sum;
}

static void set_all_missing(struct tp_profile *profile, const char *why)
{
	static const enum tp_fact facts[] = {TP_FACT_LOADER_BUSY,  TP_FACT_LOADER_READ,
					     TP_FACT_LOADER_IDLE,  TP_FACT_LOADER_SLEEP,
					     TP_FACT_LOADER_QUEUE, TP_FACT_LOADER_IMBALANCE};
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		tp_profile_set_missing(profile, facts[i], why);
}

struct loader_sum {
	struct worker_time total;
	uint64_t busiest_ns;
	size_t n_threads; /* alive in the window */
	size_t n_processes;
};

static uint64_t busy_ns(const struct worker_time *time)
{
	return time->activity_ns[TP_ACTIVITY_WORK] + time->activity_ns[TP_ACTIVITY_READ] +
	       time->activity_ns[TP_ACTIVITY_TRANSFER];
}

/* Returns true if a thread makes batches instead of only passing them on. Threads of a trainer make
 * them, unless other threads do nearly all (tf.data has threads that only schedule); a loader
 * process has helpers besides its workers, which send the batches, and perhaps a first thread that
 * only waits for them. */
static bool is_worker(const struct tp_analysis *analysis, const uint64_t *most_ns, uint32_t task,
		      uint64_t busy)
{
	uint32_t leader = analysis->threads[task].leader;
	if (analysis->threads[task].is_helper)
		return false;
	if (analysis->roles[leader] != TP_ROLE_LOADER)
		return busy > 0 && (double)busy >= TP_LOADER_HELPS_MIN * (double)most_ns[leader];
	return most_ns[leader] ? (double)busy >= TP_LOADER_WORKS_MIN * (double)most_ns[leader]
			       : leader == task;
}

static struct loader_sum sum_workers(const struct tp_analysis *analysis)
{
	struct loader_sum sum = {0};
	struct tp_profile *profile = analysis->profile;
	profile->workers = tp_arena_array(analysis->arena, analysis->trace->n_tasks + 1,
					  sizeof(*profile->workers));
	size_t n_tasks = analysis->trace->n_tasks;
	struct worker_time *times = tp_alloc((n_tasks + 1) * sizeof(*times));
	uint64_t *most_ns = tp_alloc((n_tasks + 1) * sizeof(*most_ns)); /* by leader */
	for (uint32_t task = 0; task < n_tasks; task++) {
		if (analysis->threads[task].role != TP_THREAD_LOADER)
			continue;
		times[task] = measure_worker(analysis, task);
		uint64_t *most = &most_ns[analysis->threads[task].leader];
		*most = busy_ns(&times[task]) > *most ? busy_ns(&times[task]) : *most;
	}
	for (uint32_t task = 0; task < n_tasks; task++) {
		struct worker_time time = times[task];
		sum.n_processes += time.lived_ns && analysis->threads[task].leader == task &&
				   analysis->roles[task] == TP_ROLE_LOADER;
		uint64_t busy = busy_ns(&time);
		if (!time.lived_ns || !is_worker(analysis, most_ns, task, busy))
			continue;
		sum.n_threads++;
		struct tp_worker_result *worker = &profile->workers[profile->n_workers++];
		worker->task = task;
		tp_loader_work_add(worker, analysis, task);
		sum.total.lived_ns += time.lived_ns;
		for (int i = 0; i < TP_N_ACTIVITIES; i++)
			sum.total.activity_ns[i] += time.activity_ns[i];
		if (busy > sum.busiest_ns)
			sum.busiest_ns = busy;
	}
	free(times);
	free(most_ns);
	return sum;
}

/* Loaders that start a thread per batch have many short-lived ones: returns the mean number alive
 * at a time. */
static double average_live(const struct tp_profile *profile, const struct loader_sum *sum)
{
	double window = (double)(profile->window_end_ns - profile->window_start_ns);
	double mean = (double)sum->total.lived_ns / window;
	return mean < (double)sum->n_threads ? mean : (double)sum->n_threads;
}

enum tp_status tp_pass_loader(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	if (!profile->total_ns)
		return TP_OK;
	double window = (double)(profile->window_end_ns - profile->window_start_ns);
	tp_profile_set(profile, TP_FACT_STEP_INLINE, (double)inline_ns(analysis) / window,
		       TP_ORIGIN_SAMPLED, 1);
	struct loader_sum sum = sum_workers(analysis);
	double workers = average_live(profile, &sum);
	tp_loader_work_facts(analysis, workers);
	tp_profile_set(profile, TP_FACT_LOADER_WORKERS, workers, TP_ORIGIN_DERIVED, 1);
	tp_profile_set(profile, TP_FACT_LOADER_PROCESSES, (double)sum.n_processes,
		       TP_ORIGIN_DERIVED, 1);
	if (!sum.total.lived_ns) {
		set_all_missing(profile, "there are no loader workers");
		return TP_OK;
	}
	const uint64_t *ns = sum.total.activity_ns;
	double lived = (double)sum.total.lived_ns;
	const struct {
		enum tp_fact fact;
		uint64_t time_ns;
	} shares[] = {
		{TP_FACT_LOADER_BUSY, ns[TP_ACTIVITY_WORK] + ns[TP_ACTIVITY_TRANSFER]},
		{TP_FACT_LOADER_READ, ns[TP_ACTIVITY_READ]},
		{TP_FACT_LOADER_IDLE, ns[TP_ACTIVITY_NONE]},
		{TP_FACT_LOADER_SLEEP, ns[TP_ACTIVITY_SLEEP]},
		{TP_FACT_LOADER_QUEUE, ns[TP_ACTIVITY_QUEUE]},
	};
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		tp_profile_set(profile, shares[i].fact, (double)shares[i].time_ns / lived,
			       TP_ORIGIN_SAMPLED, 1);
	double mean_busy =
		(double)(ns[TP_ACTIVITY_WORK] + ns[TP_ACTIVITY_READ] + ns[TP_ACTIVITY_TRANSFER]) /
		(double)sum.n_threads;
	if (mean_busy > 0 && sum.n_threads > 1 && (double)sum.n_threads < 2 * workers + 1)
		tp_profile_set(profile, TP_FACT_LOADER_IMBALANCE,
			       (double)sum.busiest_ns / mean_busy - 1, TP_ORIGIN_SAMPLED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_LOADER_IMBALANCE,
				       sum.n_threads > 1 ? "workers live shorter than the window"
							 : "there is only one loader worker");
	return TP_OK;
}
