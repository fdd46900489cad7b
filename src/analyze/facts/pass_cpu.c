/* SPDX-License-Identifier: Apache-2.0 */
/* Use of the CPUs: by the program, by other programs, by the hypervisor, idle; and how long threads
 * waited for one. Needs: window, timelines. Gives: cpu.* */
#include "analyze/thresholds.h"
#include "window_gauges.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>

static void set(struct tp_analysis *analysis, enum tp_fact fact, double value)
{
	tp_profile_set(analysis->profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

/* ---- number of CPUs ----------------------------------------------------------------------- */

/* CPUs of the affinity mask: the trainer's last one in the window, else that of trainprof, from
 * which it was inherited; 0 = unknown. */
static double affinity_cpus(const struct tp_analysis *analysis)
{
	const struct tp_host_info *host = &analysis->trace->run.host;
	size_t n = 0;
	const struct tp_gauge *readings =
		analysis->profile->trainer == TP_NO_TASK
			? NULL
			: tp_trace_gauges(analysis->trace, TP_METRIC_PROC_CPUS,
					  analysis->profile->trainer, &n);
	while (n > 1 && readings[n - 1].time_ns >= analysis->profile->window_end_ns)
		n--;
	if (n)
		return readings[n - 1].value;
	return host->n_allowed ? host->n_allowed : host->n_cpus;
}

/* The smallest quota of the run; 0 = none. */
static double quota_cpus(const struct tp_analysis *analysis)
{
	size_t n;
	const struct tp_gauge *readings =
		tp_trace_gauges(analysis->trace, TP_METRIC_CG_QUOTA, TP_NO_TASK, &n);
	double quota = analysis->trace->run.host.quota_cpus;
	for (size_t i = 0; i < n; i++)
		if (readings[i].value > 0 && (quota <= 0 || readings[i].value < quota))
			quota = readings[i].value;
	return quota;
}

enum { MAX_CPUS = 4096 };

/* Number of CPUs on which the program ran in the window. */
static size_t count_used_cpus(const struct tp_analysis *analysis, size_t *n_runs)
{
	const struct tp_trace *trace = analysis->trace;
	bool seen[MAX_CPUS] = {0};
	size_t n = 0;
	for (size_t i = 0; i < trace->n_runs; i++) {
		const struct tp_run *run = &trace->runs[i];
		if (run->end_ns <= analysis->profile->window_start_ns ||
		    run->start_ns >= analysis->profile->window_end_ns)
			continue;
		bool *is_seen = &seen[run->cpu % MAX_CPUS];
		n += !*is_seen;
		*is_seen = true;
		++*n_runs;
	}
	return n;
}

/* Estimates the number of CPUs to which the program is bound; 0 = no sign of that. Masks are read
 * every two seconds, in a short run or an older recording perhaps never. But the scheduler moves a
 * waiting thread to any idle CPU it may use: a thread that waits while CPUs on which it never ran
 * are idle is bound to the others. */
static double bound_cpus(const struct tp_analysis *analysis)
{
	size_t n_runs = 0;
	double n = (double)count_used_cpus(analysis, &n_runs);
	double waits = 0;
	double idle = 0;
	if (n_runs < TP_CPU_RUNS_MIN || n >= affinity_cpus(analysis) ||
	    !tp_window_gauges_host(analysis, TP_METRIC_CPU_IDLE, &idle))
		return 0;
	uint32_t task = analysis->main_task;
	for (size_t i = 0; task != TP_NO_TASK && i < analysis->timelines[task].n; i++) {
		const struct tp_segment *segment = &analysis->timelines[task].segments[i];
		if (segment->state == TP_STATE_RUNNABLE)
			waits += (double)(segment->end_ns - segment->start_ns);
	}
	double window_ns = tp_window_gauges_length_s(analysis) * 1e9;
	bool in_vain = waits > TP_WAITS_IN_VAIN * window_ns && idle > TP_WAITS_IN_VAIN * window_ns;
	return in_vain ? n : 0;
}

static double allowed_cpus(const struct tp_analysis *analysis)
{
	double cpus = bound_cpus(analysis) > 0 ? bound_cpus(analysis) : affinity_cpus(analysis);
	double quota = quota_cpus(analysis);
	return quota > 0 && (quota < cpus || cpus <= 0) ? quota : cpus;
}

static void set_allowed(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double quota = quota_cpus(analysis);
	if (quota > 0)
		set(analysis, TP_FACT_CPU_QUOTA, quota);
	else
		tp_profile_set_missing(profile, TP_FACT_CPU_QUOTA, "no cgroup CPU quota");
	if (allowed_cpus(analysis) > 0)
		set(analysis, TP_FACT_CPU_ALLOWED, allowed_cpus(analysis));
	else
		tp_profile_set_missing(profile, TP_FACT_CPU_ALLOWED,
				       "the recording does not say how many CPUs there were");
}

/* ---- use of CPUs -------------------------------------------------------------------------- */

struct cpu_use {
	double program; /* CPUs busy, mean over the window */
	bool has_host;
	double busy; /* used by any program, of those in the affinity mask, but for those that
			leave their CPU to the target when it needs one: these count as idle */
	double idle;
	double steal;
	double self;
};

/* Where they ran is not known: with a mask they may have used other CPUs. */
static double yielding_cpus(const struct tp_analysis *analysis, const struct cpu_use *use,
			    double window_ns)
{
	const struct tp_host_info *host = &analysis->trace->run.host;
	double yielding_ns = 0;
	if (host->n_allowed < host->n_cpus ||
	    !tp_window_gauges_host(analysis, TP_METRIC_CPU_YIELDING, &yielding_ns))
		return 0;
	return fmax(0, fmin(yielding_ns / window_ns, use->busy - use->program - use->self));
}

static struct cpu_use measure_use(const struct tp_analysis *analysis)
{
	double window_ns = tp_window_gauges_length_s(analysis) * 1e9;
	struct cpu_use use = {.program = tp_window_gauges_program_cpu_ns(analysis) / window_ns};
	use.has_host = tp_window_gauges_host(analysis, TP_METRIC_CPU_BUSY, &use.busy) &&
		       tp_window_gauges_host(analysis, TP_METRIC_CPU_IDLE, &use.idle);
	(void)tp_window_gauges_host(analysis, TP_METRIC_CPU_STEAL, &use.steal);
	(void)tp_window_gauges_host(analysis, TP_METRIC_SELF_CPU, &use.self);
	use.busy /= window_ns;
	use.idle /= window_ns;
	use.steal /= window_ns;
	use.self /= window_ns;
	double yielding = yielding_cpus(analysis, &use, window_ns);
	use.busy -= yielding;
	use.idle += yielding;
	return use;
}

/* CPUs left unused by a quota or a mask are idle, too, but at most as many as are allowed. */
static double idle_cpus(const struct tp_analysis *analysis, const struct cpu_use *use)
{
	bool is_less = quota_cpus(analysis) > 0 || bound_cpus(analysis) > 0 ||
		       affinity_cpus(analysis) < analysis->trace->run.host.n_allowed;
	return is_less ? fmin(use->idle, fmax(0, allowed_cpus(analysis) - use->program))
		       : use->idle;
}

static void set_use(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct cpu_use use = measure_use(analysis);
	double allowed = allowed_cpus(analysis);
	set(analysis, TP_FACT_CPU_TREE_BUSY, use.program);
	if (!use.has_host) {
		const char *why =
			tp_window_gauges_reason(analysis, "host", "/proc/stat was not read");
		tp_profile_set_missing(profile, TP_FACT_CPU_BUSY_RATIO, why);
		tp_profile_set_missing(profile, TP_FACT_CPU_IDLE, why);
		tp_profile_set_missing(profile, TP_FACT_CPU_OTHERS, why);
		tp_profile_set_missing(profile, TP_FACT_CPU_STEAL, why);
		return;
	}
	double idle = idle_cpus(analysis, &use);
	set(analysis, TP_FACT_CPU_IDLE, idle);
	if (allowed > 0)
		set(analysis, TP_FACT_CPU_BUSY_RATIO, fmax(0, fmin(1, 1 - idle / allowed)));
	else
		tp_profile_set_missing(profile, TP_FACT_CPU_BUSY_RATIO,
				       "the recording does not say how many CPUs there were");
	if (analysis->trace->run.job.launcher)
		tp_profile_set_missing(analysis->profile, TP_FACT_CPU_OTHERS,
				       "other ranks of the job are among the other programs");
	else
		set(analysis, TP_FACT_CPU_OTHERS, fmax(0, use.busy - use.program - use.self));
	double total = use.busy + use.idle + use.steal;
	if (total > 0)
		set(analysis, TP_FACT_CPU_STEAL, use.steal / total);
	else
		tp_profile_set_missing(profile, TP_FACT_CPU_STEAL, "no CPU time was counted");
}

/* ---- demand for CPUs ---------------------------------------------------------------------- */

struct cpu_load {
	double run_ns;
	double delay_ns;
	bool is_counted; /* by the kernel's own accounting for at least one thread */
};

/* The kernel's accounting includes every wait for a CPU; the timeline only those that began by a
 * preemption or were sampled. Short-lived threads were never read: they have only their
 * timelines. */
static void add_load(const struct tp_analysis *analysis, uint32_t task, struct cpu_load *sum)
{
	double run;
	double delay;
	if (tp_window_gauges_task(analysis, TP_METRIC_TASK_RUN, task, &run) &&
	    tp_window_gauges_task(analysis, TP_METRIC_TASK_DELAY, task, &delay)) {
		sum->run_ns += run;
		sum->delay_ns += delay;
		sum->is_counted = true;
		return;
	}
	sum->run_ns += (double)tp_window_gauges_state_ns(analysis, task, TP_STATE_ON_CPU);
	sum->delay_ns += (double)tp_window_gauges_state_ns(analysis, task, TP_STATE_RUNNABLE);
}

static void set_load(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct cpu_load trainer = {0};
	struct cpu_load program = {0};
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		add_load(analysis, task, &program);
		if (analysis->threads[task].leader == profile->trainer)
			add_load(analysis, task, &trainer);
	}
	bool is_known = analysis->has_runs || program.is_counted;
	const char *why =
		tp_window_gauges_reason(analysis, "proc", "no thread's schedstat was read");
	double wanted = trainer.run_ns + trainer.delay_ns;
	if (is_known && wanted > 0)
		set(analysis, TP_FACT_CPU_DELAY, trainer.delay_ns / wanted);
	else
		tp_profile_set_missing(profile, TP_FACT_CPU_DELAY,
				       is_known ? "the trainer wanted no CPU in the window" : why);
	if (!is_known) {
		tp_profile_set_missing(profile, TP_FACT_CPU_RUNNABLE, why);
		tp_profile_set_missing(profile, TP_FACT_CPU_PER_CORE, why);
		return;
	}
	double runnable =
		(program.run_ns + program.delay_ns) / (tp_window_gauges_length_s(analysis) * 1e9);
	set(analysis, TP_FACT_CPU_RUNNABLE, runnable);
	if (allowed_cpus(analysis) > 0)
		set(analysis, TP_FACT_CPU_PER_CORE, runnable / allowed_cpus(analysis));
	else
		tp_profile_set_missing(profile, TP_FACT_CPU_PER_CORE,
				       "the recording does not say how many CPUs there were");
}

/* Ratio of the time in the window to the part of it in which switches were recorded; 0 if none
 * were. */
static double recorded_scale(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_timeline *timeline = &analysis->timelines[task];
	const struct tp_profile *profile = analysis->profile;
	double all_ns = 0;
	double seen_ns = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		double ns = (double)tp_segment_ns_in(segment, profile->window_start_ns,
						     profile->window_end_ns);
		all_ns += ns;
		seen_ns += segment->is_sampled ? 0 : ns;
	}
	return seen_ns > 0 ? all_ns / seen_ns : 0;
}

static void set_switches(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	const char *why =
		tp_window_gauges_reason(analysis, "perf", "context switches were not recorded");
	double switches = 0;
	double preempted = 0;
	for (uint32_t task = 0; task < trace->n_tasks; task++) {
		bool is_trainer = analysis->threads[task].leader == profile->trainer;
		double factor = recorded_scale(analysis, task);
		for (size_t i = trace->run_index[task]; i < trace->run_index[task + 1]; i++) {
			const struct tp_run *run = &trace->runs[i];
			if (run->end_ns < profile->window_start_ns ||
			    run->end_ns >= profile->window_end_ns || run->how == TP_RUN_OPEN)
				continue;
			switches += factor;
			preempted += is_trainer && run->how == TP_RUN_PREEMPTED ? factor : 0;
		}
	}
	tp_window_gauges_set_rate(analysis, TP_FACT_CPU_SWITCHES, analysis->has_runs, switches,
				  why);
	tp_window_gauges_set_rate(analysis, TP_FACT_CPU_PREEMPTED, analysis->has_runs, preempted,
				  why);
}

/* ---- causes that kept threads from CPUs --------------------------------------------------- */

/* The kernel adds the time of each CPU on which the group was stopped, so the sum is divided by the
 * number of CPUs that the group would have used: at most those it wants, and those that exist. */
static void set_throttled(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double throttled_ns;
	if (!tp_window_gauges_host(analysis, TP_METRIC_CG_THROTTLED, &throttled_ns)) {
		if (quota_cpus(analysis) > 0)
			tp_profile_set_missing(profile, TP_FACT_CPU_THROTTLED,
					       "cpu.stat of the control group was not read");
		else
			tp_profile_set(profile, TP_FACT_CPU_THROTTLED, 0, TP_ORIGIN_DERIVED, 1);
		return;
	}
	double cpus = affinity_cpus(analysis);
	if (profile->facts[TP_FACT_CPU_RUNNABLE].is_known) {
		double wanted = round(profile->facts[TP_FACT_CPU_RUNNABLE].value);
		cpus = fmin(cpus > 0 ? cpus : wanted, wanted);
	}
	double window_ns = tp_window_gauges_length_s(analysis) * 1e9;
	set(analysis, TP_FACT_CPU_THROTTLED, fmin(1, throttled_ns / (window_ns * fmax(1, cpus))));
}

static void set_pressure(struct tp_analysis *analysis)
{
	double stalled_ns;
	bool is_known = tp_window_gauges_host(analysis, TP_METRIC_PSI_CPU, &stalled_ns);
	tp_window_gauges_set_rate(
		analysis, TP_FACT_CPU_PSI, is_known, stalled_ns * 1e-9,
		tp_window_gauges_reason(analysis, "host",
					"the kernel does not report pressure (PSI)"));
}

enum tp_status tp_pass_cpu(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	set_allowed(analysis);
	if (tp_window_gauges_length_s(analysis) <= 0)
		return TP_OK;
	set_use(analysis);
	set_load(analysis);
	set_switches(analysis);
	set_throttled(analysis);
	set_pressure(analysis);
	return TP_OK;
}
