/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults, resident memory, swap and kernel time. Needs: window, steps. Gives: memory.* */
#include "window_gauges.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

static const char *not_read(const struct tp_analysis *analysis)
{
	return tp_window_gauges_reason(analysis, "proc", "/proc was not read for the program");
}

static void set_faults(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double minor;
	double major;
	bool has_minor = tp_window_gauges_program(analysis, TP_METRIC_PROC_MINFLT, &minor);
	bool has_major = tp_window_gauges_program(analysis, TP_METRIC_PROC_MAJFLT, &major);
	tp_window_gauges_set_rate(analysis, TP_FACT_MEM_MINFLT, has_minor, minor,
				  not_read(analysis));
	tp_window_gauges_set_rate(analysis, TP_FACT_MEM_MAJFLT, has_major, major,
				  not_read(analysis));
	if (!profile->n_steady) {
		tp_profile_set_missing(profile, TP_FACT_MEM_MINFLT_STEP, "no steps were found");
	} else if (!tp_window_gauges_task(analysis, TP_METRIC_PROC_MINFLT, profile->trainer,
					  &minor)) {
		tp_profile_set_missing(profile, TP_FACT_MEM_MINFLT_STEP, not_read(analysis));
	} else {
		double seconds = tp_window_gauges_length_s(analysis);
		tp_profile_set(profile, TP_FACT_MEM_MINFLT_STEP,
			       minor / seconds * profile->step_time.mean * 1e-9, TP_ORIGIN_DERIVED,
			       1);
	}
}

/* ---- resident memory ---------------------------------------------------------------------- */

/* A change of one process' resident set. */
struct memory_change {
	uint64_t time_ns;
	double bytes;
};

static int change_order(const void *a, const void *b)
{
	const struct memory_change *x = a;
	const struct memory_change *y = b;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

struct memory_changes {
	struct memory_change *items; /* heap */
	size_t n;
	size_t capacity;
};

static void collect_process(const struct tp_analysis *analysis, uint32_t task,
			    struct memory_changes *changes)
{
	size_t n;
	const struct tp_gauge *readings =
		tp_trace_gauges(analysis->trace, TP_METRIC_PROC_RSS, task, &n);
	double before = 0;
	for (size_t i = 0; i < n; i++) {
		TP_ARRAY_PUSH(changes->items, changes->n, changes->capacity) =
			(struct memory_change){readings[i].time_ns, readings[i].value - before};
		before = readings[i].value;
	}
	uint64_t end_ns = analysis->trace->tasks[task].end_ns;
	if (n && end_ns)
		TP_ARRAY_PUSH(changes->items, changes->n, changes->capacity) =
			(struct memory_change){end_ns, -before};
}

/* Returns the largest sum over all processes at one time, over the whole run: the peak is relevant
 * for running out of memory, wherever it was. Pages that processes share are counted for each. */
static double peak_bytes(const struct tp_analysis *analysis)
{
	struct memory_changes changes = {0};
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++)
		if (analysis->threads[task].leader == task)
			collect_process(analysis, task, &changes);
	if (changes.n)
		qsort(changes.items, changes.n, sizeof(*changes.items), change_order);
	double sum = 0;
	double peak = 0;
	for (size_t i = 0; i < changes.n; i++) {
		sum += changes.items[i].bytes;
		peak = fmax(peak, sum);
	}
	free(changes.items);
	return peak;
}

static void set_rss(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_host_info *host = &analysis->trace->run.host;
	double limit = (double)host->memory_bytes;
	if (host->memory_limit_bytes && (limit <= 0 || (double)host->memory_limit_bytes < limit))
		limit = (double)host->memory_limit_bytes;
	double peak = peak_bytes(analysis);
	if (limit > 0)
		tp_profile_set(profile, TP_FACT_MEM_LIMIT, limit, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_MEM_LIMIT,
				       "the recording does not say how much memory there was");
	if (peak > 0)
		tp_profile_set(profile, TP_FACT_MEM_RSS, peak, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_MEM_RSS, not_read(analysis));
	if (peak > 0 && limit > 0)
		tp_profile_set(profile, TP_FACT_MEM_USED_RATIO, peak / limit, TP_ORIGIN_DERIVED, 1);
	else
		tp_profile_set_missing(
			profile, TP_FACT_MEM_USED_RATIO,
			peak > 0 ? "the recording does not say how much memory there was"
				 : not_read(analysis));
}

/* ---- growth ------------------------------------------------------------------------------- */

enum { QUARTERS = 4 };

/* Mean of a gauge in [from, to): each reading holds until the next; the first also applies
 * before. */
static double mean_between(const struct tp_gauge *readings, size_t n, uint64_t from_ns,
			   uint64_t to_ns)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t start = i && readings[i].time_ns > from_ns ? readings[i].time_ns : from_ns;
		uint64_t end = i + 1 < n && readings[i + 1].time_ns < to_ns
				       ? readings[i + 1].time_ns
				       : to_ns;
		if (end > start)
			sum += readings[i].value * (double)(end - start);
	}
	return sum / (double)(to_ns - from_ns);
}

/* Sets the growth in the quarter with the least growth. Memory that a program allocates once, or
 * fills and frees, has a quarter without growth; a leak has none. */
static void set_growth(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	size_t n = 0;
	const struct tp_gauge *readings = NULL;
	if (profile->trainer != TP_NO_TASK)
		readings =
			tp_trace_gauges(analysis->trace, TP_METRIC_PROC_RSS, profile->trainer, &n);
	if (n < 2) {
		tp_profile_set_missing(profile, TP_FACT_MEM_GROWTH, not_read(analysis));
		return;
	}
	uint64_t quarter_ns = (profile->window_end_ns - profile->window_start_ns) / QUARTERS;
	double mean[QUARTERS];
	double least = INFINITY;
	for (unsigned i = 0; i < QUARTERS; i++) {
		uint64_t from_ns = profile->window_start_ns + i * quarter_ns;
		mean[i] = mean_between(readings, n, from_ns, from_ns + quarter_ns);
		if (i)
			least = fmin(least, mean[i] - mean[i - 1]);
	}
	tp_profile_set(profile, TP_FACT_MEM_GROWTH, fmax(least, 0) / ((double)quarter_ns * 1e-9),
		       TP_ORIGIN_DERIVED, 1);
}

/* ---- machine and kernel ------------------------------------------------------------------- */

static void set_machine(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double in;
	double out;
	double stalled_ns;
	bool has_swap = tp_window_gauges_host(analysis, TP_METRIC_SWAP_IN, &in) &&
			tp_window_gauges_host(analysis, TP_METRIC_SWAP_OUT, &out);
	tp_window_gauges_set_rate(analysis, TP_FACT_MEM_SWAP, has_swap, has_swap ? in + out : 0,
				  tp_window_gauges_reason(analysis, "host",
							  "/proc/vmstat was not read"));
	bool has_pressure = tp_window_gauges_host(analysis, TP_METRIC_PSI_MEM_SOME, &stalled_ns);
	tp_window_gauges_set_rate(
		analysis, TP_FACT_MEM_PSI, has_pressure, stalled_ns * 1e-9,
		tp_window_gauges_reason(analysis, "host",
					"the kernel does not report pressure (PSI)"));
	uint32_t nodes = analysis->trace->run.host.n_numa_nodes;
	if (nodes)
		tp_profile_set(profile, TP_FACT_MEM_NUMA, nodes, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_MEM_NUMA,
				       "the recording does not say how many NUMA nodes there were");
}

static void set_kernel_share(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double user = 0;
	double system = 0;
	bool is_known =
		profile->trainer != TP_NO_TASK &&
		tp_window_gauges_task(analysis, TP_METRIC_PROC_UTIME, profile->trainer, &user) &&
		tp_window_gauges_task(analysis, TP_METRIC_PROC_STIME, profile->trainer, &system);
	if (is_known && user + system > 0)
		tp_profile_set(profile, TP_FACT_MEM_STIME, system / (user + system),
			       TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_MEM_STIME,
				       is_known ? "the trainer used no CPU time"
						: not_read(analysis));
}

enum tp_status tp_pass_memory(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	set_rss(analysis);
	if (tp_window_gauges_length_s(analysis) <= 0)
		return TP_OK;
	set_faults(analysis);
	set_growth(analysis);
	set_machine(analysis);
	set_kernel_share(analysis);
	return TP_OK;
}
