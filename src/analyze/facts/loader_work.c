/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts for the time of a loader's workers, from their stacks and the causes of their waits.
 *
 * The Python function of a wait shows its reason: no room for a finished batch, or nothing to make.
 * A worker of torch.utils.data is only assigned as many batches as there is room for, so it waits
 * for work where other workers wait for room.
 *
 * The cost of a batch is all time of a worker but these waits. The number of batches equals the
 * number of steps: batches that are made and not used are bounded by the queue, a few per run.
 */
#include "loader_work.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

static enum tp_worker_time blocked_time(const struct tp_segment *segment,
					enum tp_function_kind doing)
{
	switch (segment->cause) {
	case TP_CAUSE_FILE:
	case TP_CAUSE_DISK:
	case TP_CAUSE_PAGE_FAULT:
		return TP_WORKER_READ;
	case TP_CAUSE_SLEEP:
		return TP_WORKER_SLEEP;
	case TP_CAUSE_GIL:
		return TP_WORKER_HANDOVER;
	default:
		if (doing == TP_FUNCTION_WAIT_ROOM)
			return TP_WORKER_QUEUE_FULL;
		return doing == TP_FUNCTION_WAIT_WORK ? TP_WORKER_INDEX_WAIT : TP_WORKER_OTHER;
	}
}

static enum tp_worker_time working_time(const struct tp_stack_class *class)
{
	switch (class->leaf) {
	case TP_LEAF_READ:
	case TP_LEAF_OPEN:
		return TP_WORKER_READ;
	case TP_LEAF_PICKLE:
	case TP_LEAF_NET:
	case TP_LEAF_WRITE:
	case TP_LEAF_LOCK:
		return TP_WORKER_HANDOVER;
	case TP_LEAF_SPIN:
		return TP_WORKER_OTHER;
	case TP_LEAF_DECODE: /* also of libraries that resize: the Python function distinguishes
				them */
		return class->doing == TP_FUNCTION_AUGMENT ? TP_WORKER_TRANSFORM : TP_WORKER_DECODE;
	default:
		return class->doing == TP_FUNCTION_DECODE ? TP_WORKER_DECODE : TP_WORKER_TRANSFORM;
	}
}

enum tp_worker_time tp_loader_work_time_of(const struct tp_analysis *analysis,
					   const struct tp_segment *segment)
{
	static const struct tp_stack_class nothing = {0};
	const struct tp_stack_class *class = &nothing;
	if (segment->sample != TP_NO_SAMPLE)
		class = &analysis->classes[analysis->trace->samples[segment->sample].stack];
	if (segment->state == TP_STATE_RUNNABLE)
		return TP_WORKER_CPU_QUEUE;
	return segment->state == TP_STATE_BLOCKED ? blocked_time(segment, class->doing)
						  : working_time(class);
}

static void add_segment(struct tp_worker_result *worker, const struct tp_analysis *analysis,
			const struct tp_segment *segment)
{
	const struct tp_profile *profile = analysis->profile;
	uint64_t ns = tp_segment_ns_in(segment, profile->window_start_ns, profile->window_end_ns);
	if (!ns)
		return;
	worker->lived_ns += ns;
	worker->time_ns[tp_loader_work_time_of(analysis, segment)] += ns;
}

void tp_loader_work_add(struct tp_worker_result *worker, const struct tp_analysis *analysis,
			uint32_t task)
{
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++)
		add_segment(worker, analysis, &timeline->segments[i]);
}

static bool is_spinning(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	return segment->sample != TP_NO_SAMPLE &&
	       analysis->classes[analysis->trace->samples[segment->sample].stack].leaf ==
		       TP_LEAF_SPIN;
}

bool tp_loader_work_is_inline(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (tp_label_part(segment->label) != TP_PART_DATALOADER)
		return false;
	if (segment->state == TP_STATE_ON_CPU)
		return !is_spinning(analysis, segment);
	bool waits_itself = segment->label == TP_LABEL_DATALOADER_FETCH ||
			    segment->label == TP_LABEL_DATALOADER_PAUSE;
	return segment->state == TP_STATE_BLOCKED && waits_itself &&
	       segment->cause != TP_CAUSE_FUTEX && segment->cause != TP_CAUSE_PIPE &&
	       segment->cause != TP_CAUSE_SOCKET && segment->cause != TP_CAUSE_POLL;
}

/* ---- facts -------------------------------------------------------------------------------- */

static struct tp_worker_result sum_inline(const struct tp_analysis *analysis)
{
	struct tp_worker_result sum = {.task = analysis->main_task};
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++)
		if (tp_loader_work_is_inline(analysis, &timeline->segments[i]))
			add_segment(&sum, analysis, &timeline->segments[i]);
	return sum;
}

static struct tp_worker_result sum_workers(const struct tp_profile *profile)
{
	struct tp_worker_result sum = {.task = TP_NO_TASK};
	for (size_t i = 0; i < profile->n_workers; i++) {
		sum.lived_ns += profile->workers[i].lived_ns;
		for (int what = 0; what < TP_N_WORKER_TIMES; what++)
			sum.time_ns[what] += profile->workers[i].time_ns[what];
	}
	return sum;
}

static const struct {
	enum tp_fact fact;
	enum tp_worker_time what;
} shares[] = {
	{TP_FACT_LOADER_DECODE, TP_WORKER_DECODE},
	{TP_FACT_LOADER_TRANSFORM, TP_WORKER_TRANSFORM},
	{TP_FACT_LOADER_HANDOVER, TP_WORKER_HANDOVER},
	{TP_FACT_LOADER_FULL, TP_WORKER_QUEUE_FULL},
	{TP_FACT_LOADER_INDEX, TP_WORKER_INDEX_WAIT},
};

static void set_shares(struct tp_profile *profile, const struct tp_worker_result *sum)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(shares); i++) {
		if (sum->lived_ns)
			tp_profile_set(profile, shares[i].fact,
				       (double)sum->time_ns[shares[i].what] / (double)sum->lived_ns,
				       TP_ORIGIN_SAMPLED, 1);
		else
			tp_profile_set_missing(profile, shares[i].fact, "nothing was seen loading");
	}
}

/* CPU time of helper threads that pass on batches, and of the main thread for receiving them. */
static uint64_t passing_ns(const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	uint64_t sum = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		bool is_main = task == analysis->main_task;
		if (!is_main && !analysis->threads[task].is_helper)
			continue;
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = 0; i < timeline->n; i++) {
			const struct tp_segment *segment = &timeline->segments[i];
			if (segment->state == TP_STATE_ON_CPU &&
			    (!is_main || segment->label == TP_LABEL_DATALOADER_HANDOVER))
				sum += tp_segment_ns_in(segment, profile->window_start_ns,
							profile->window_end_ns);
		}
	}
	return sum;
}

static double busy_ns(const struct tp_worker_result *sum)
{
	static const enum tp_worker_time waits[] = {TP_WORKER_QUEUE_FULL, TP_WORKER_INDEX_WAIT,
						    TP_WORKER_OTHER};
	uint64_t busy = sum->lived_ns;
	for (size_t i = 0; i < TP_ARRAY_LEN(waits); i++)
		busy -= sum->time_ns[waits[i]];
	return (double)busy;
}

static void set_batches(struct tp_analysis *analysis, const struct tp_worker_result *sum,
			double n_workers)
{
	static const enum tp_fact facts[] = {TP_FACT_LOADER_BATCH, TP_FACT_LOADER_PASSING,
					     TP_FACT_LOADER_SUPPLY, TP_FACT_LOADER_DEMAND};
	struct tp_profile *profile = analysis->profile;
	double step_ns = profile->step_time.mean;
	bool has_steps = profile->is_of_steps && profile->n_steady && step_ns > 0;
	double busy = busy_ns(sum);
	for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++)
		tp_profile_set_missing(profile, facts[i],
				       has_steps ? "nothing was seen loading"
						 : "no steps were found");
	if (!has_steps || busy <= 0)
		return;
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	double n_batches = window_ns / step_ns;
	double without_ns = step_ns - (double)profile->parts[TP_PART_DATALOADER].time_ns /
					      (double)profile->n_steady;
	double hands_ns = (double)sum->time_ns[TP_WORKER_HANDOVER] + (double)passing_ns(analysis);
	tp_profile_set(profile, TP_FACT_LOADER_BATCH, busy / n_batches, TP_ORIGIN_SAMPLED, 1);
	tp_profile_set(profile, TP_FACT_LOADER_PASSING, hands_ns / n_batches, TP_ORIGIN_SAMPLED, 1);
	tp_profile_set(profile, TP_FACT_LOADER_SUPPLY,
		       1e9 * (n_workers > 0 ? n_workers : 1) * n_batches / busy, TP_ORIGIN_DERIVED,
		       1);
	if (without_ns > 0)
		tp_profile_set(profile, TP_FACT_LOADER_DEMAND, 1e9 / without_ns, TP_ORIGIN_DERIVED,
			       1);
}

/* When workers were started, or ended. */
struct worker_times {
	uint64_t *times_ns; /* heap, ascending */
	size_t n;
};

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

enum worker_event { STARTED, ENDED };

static struct worker_times find_worker_times(const struct tp_analysis *analysis,
					     enum worker_event event)
{
	const struct tp_trace *trace = analysis->trace;
	struct worker_times out = {.times_ns = tp_alloc((trace->n_tasks + 1) * sizeof(uint64_t))};
	for (uint32_t task = 0; task < trace->n_tasks; task++)
		if (analysis->threads[task].leader == task &&
		    analysis->roles[task] == TP_ROLE_LOADER)
			out.times_ns[out.n++] = event == STARTED ? trace->tasks[task].start_ns
								 : trace->tasks[task].end_ns;
	qsort(out.times_ns, out.n, sizeof(*out.times_ns), by_time);
	return out;
}

static bool has_time(const struct worker_times *times, uint64_t from_ns, uint64_t to_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, times->n, times->times_ns[at] >= from_ns);
	return at < times->n && times->times_ns[at] < to_ns;
}

static bool is_start(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	return segment->sample != TP_NO_SAMPLE && segment->state != TP_STATE_RUNNABLE &&
	       analysis->classes[analysis->trace->samples[segment->sample].stack].doing ==
		       TP_FUNCTION_START;
}

/* Process starts are known exactly; the number of workers alive at a time is the number per
 * start. */
static double count_restarts(const struct worker_times *starts, double n_workers)
{
	double each = n_workers > 1 ? floor(n_workers + 0.5) : 1;
	double n = floor((double)starts->n / each + 0.5);
	return n > 1 ? n - 1 : 0;
}

/* A start of workers lasts until the main thread computes on their first batch. The functions that
 * start workers also end them; an episode without a new process is not a start. The first start is
 * that of the program itself and is not counted. */
static uint64_t sum_worker_starts(const struct tp_analysis *analysis,
				  const struct worker_times *starts)
{
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	uint64_t sum_ns = 0;
	uint64_t n_starts = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		if (!is_start(analysis, &timeline->segments[i]))
			continue;
		struct tp_segment episode = timeline->segments[i];
		while (i + 1 < timeline->n &&
		       tp_label_part(timeline->segments[i + 1].label) != TP_PART_COMPUTE)
			episode.end_ns = timeline->segments[++i].end_ns;
		if (!has_time(starts, episode.start_ns, episode.end_ns) || !n_starts++)
			continue;
		sum_ns +=
			tp_segment_ns_in(&episode, analysis->loop_start_ns, analysis->loop_end_ns);
	}
	return sum_ns;
}

/* Time of a step that a start of workers lengthens: waits for batches and for a CPU, and page
 * faults on memory that a new process shares. */
static double held_ns(const struct tp_step *step)
{
	return (double)(step->part_ns[TP_PART_DATALOADER] + step->part_ns[TP_PART_MEMORY] +
			step->part_ns[TP_PART_IDLE]);
}

/* Checkpoints and evaluations between epochs are no starts. */
static bool is_training_step(const struct tp_step *step)
{
	return step->kind == TP_STEP_WARMUP || tp_step_is_training(step);
}

enum late_kind { NOT_LATE, LATE_FIRST, LATE_AGAIN };

/* Workers that end before others start make way for them: a restart may begin in a step before that
 * of the start. */
static bool has_early_end(const struct worker_times *starts, const struct worker_times *ends,
			  const struct tp_step *step)
{
	uint64_t last = starts->n ? starts->times_ns[starts->n - 1] : 0;
	uint64_t to_ns = step->end_ns < last ? step->end_ns : last;
	return has_time(ends, step->start_ns, to_ns);
}

/* Marks the steps in which a start of workers shows: as many as there are workers, because the
 * first batch of each comes late; and steps in which the workers before them end. */
static void mark_late_steps(const struct tp_profile *profile, const struct worker_times *starts,
			    const struct worker_times *ends, double n_workers, enum late_kind *out)
{
	const uint64_t first = starts->n ? starts->times_ns[0] : UINT64_MAX;
	const size_t each = n_workers > 1 ? (size_t)(n_workers + 0.5) : 1;
	enum late_kind kind = NOT_LATE;
	size_t late = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (has_time(starts, step->start_ns, step->end_ns)) {
			late = each;
			kind = first >= step->start_ns && first < step->end_ns ? LATE_FIRST
									       : LATE_AGAIN;
		}
		out[i] = late ? kind : has_early_end(starts, ends, step) ? LATE_AGAIN : NOT_LATE;
		late -= late > 0;
	}
}

static double duration_ns(const struct tp_step *step)
{
	return (double)(step->end_ns - step->start_ns);
}

/* The time by which steps in which workers start again are longer than as many without a start. It
 * holds what no stack shows as a start: the end of the old workers, and page faults after it. Sums
 * are compared because batches of several workers come in bursts: one step waits for all. */
static double sum_longer_steps(const struct tp_profile *profile, const enum late_kind *kinds,
			       double (*time_of)(const struct tp_step *))
{
	double sum_ns[LATE_AGAIN + 1] = {0};
	size_t n[LATE_AGAIN + 1] = {0};
	for (size_t i = 0; i < profile->n_steps; i++) {
		if (!is_training_step(&profile->steps[i]))
			continue;
		n[kinds[i]]++;
		sum_ns[kinds[i]] += time_of(&profile->steps[i]);
	}
	/* If workers start in most steps, the few steps without a start do not show the usual
	 * time. */
	if (n[NOT_LATE] <= n[LATE_FIRST] + n[LATE_AGAIN])
		return 0;
	double usual_ns = sum_ns[NOT_LATE] / (double)n[NOT_LATE];
	return fmax(0, sum_ns[LATE_AGAIN] - (double)n[LATE_AGAIN] * usual_ns);
}

/* Sets a share of the loop. */
static void set_share(struct tp_analysis *analysis, tp_fact_id fact, double time_ns)
{
	double loop_ns = (double)(analysis->loop_end_ns - analysis->loop_start_ns);
	tp_profile_set(analysis->profile, fact, loop_ns > 0 ? fmin(time_ns / loop_ns, 1) : 0,
		       TP_ORIGIN_SAMPLED, 1);
}

static void set_startups(struct tp_analysis *analysis, double n_workers)
{
	struct tp_profile *profile = analysis->profile;
	struct worker_times starts = find_worker_times(analysis, STARTED);
	struct worker_times ends = find_worker_times(analysis, ENDED);
	enum late_kind *kinds = tp_alloc((profile->n_steps + 1) * sizeof(*kinds));
	mark_late_steps(profile, &starts, &ends, n_workers, kinds);
	double sum_ns = fmax((double)sum_worker_starts(analysis, &starts),
			     sum_longer_steps(profile, kinds, held_ns));
	double most_ns = fmax(sum_ns, sum_longer_steps(profile, kinds, duration_ns));
	tp_profile_set(profile, TP_FACT_LOADER_STARTS, count_restarts(&starts, n_workers),
		       TP_ORIGIN_DERIVED, 1);
	set_share(analysis, TP_FACT_LOADER_STARTUP, sum_ns);
	set_share(analysis, TP_FACT_LOADER_RESTART_STEPS, most_ns);
	free(kinds);
	free(ends.times_ns);
	free(starts.times_ns);
}

void tp_loader_work_facts(struct tp_analysis *analysis, double n_workers)
{
	struct tp_profile *profile = analysis->profile;
	struct tp_worker_result sum =
		profile->n_workers ? sum_workers(profile) : sum_inline(analysis);
	set_shares(profile, &sum);
	set_batches(analysis, &sum, profile->n_workers ? n_workers : 0);
	set_startups(analysis, n_workers);
}
