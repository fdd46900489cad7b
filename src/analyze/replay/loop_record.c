/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the durations of each batch and each step from timelines. */
#include "loop_record.h"

#include "analyze/facts/loader_work.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

/* The arrival of the batch of a steady step. */
struct arrival {
	size_t step;
	uint64_t ready_ns; /* when the batch was ready, if the trainer waited for it; 0 = it did not
			      wait */
	uint64_t taken_ns;
};

struct loop_reader {
	const struct tp_analysis *analysis;
	struct tp_loop_record *record;
	struct arrival *arrivals;
	double waited_ns; /* in the current step */
	double unmade_ns; /* waits for batches that no thread was seen making */
};

static bool is_compute(const struct tp_segment *segment)
{
	return tp_label_part(segment->label) == TP_PART_COMPUTE;
}

/* Time waiting for a CPU is left out, because the replay computes it. A trainer that waits during
 * compute waits for its thread team, which is working. */
static void add_segment(struct loop_reader *reader, const struct tp_segment *segment, uint64_t ns)
{
	struct tp_loop_record *record = reader->record;
	bool is_loading = tp_label_part(segment->label) == TP_PART_DATALOADER;
	if (is_loading)
		reader->arrivals[record->n].taken_ns = segment->end_ns;
	if (is_loading && record->n_workers && segment->state != TP_STATE_ON_CPU) {
		reader->waited_ns += (double)ns;
		reader->arrivals[record->n].ready_ns = segment->end_ns;
		return;
	}
	if (is_loading && segment->state == TP_STATE_BLOCKED &&
	    !tp_loader_work_is_inline(reader->analysis, segment))
		reader->unmade_ns += (double)ns;
	if (segment->state == TP_STATE_RUNNABLE)
		return;
	bool is_made = is_loading && !record->n_workers;
	struct tp_replay_work *work =
		is_made ? &record->batches[record->n] : &record->steps[record->n];
	if (segment->state == TP_STATE_ON_CPU || is_compute(segment))
		work->cpu_ns += (double)ns;
	else
		work->wait_ns += (double)ns;
}

static void read_step(struct loop_reader *reader, size_t at, size_t *cursor)
{
	const struct tp_step *step = &reader->analysis->profile->steps[at];
	const struct tp_timeline *timeline =
		tp_analysis_timeline(reader->analysis, reader->analysis->main_task);
	struct arrival *arrival = &reader->arrivals[reader->record->n];
	*arrival = (struct arrival){.step = at, .taken_ns = step->start_ns};
	reader->waited_ns = 0;
	while (*cursor < timeline->n && timeline->segments[*cursor].end_ns <= step->start_ns)
		++*cursor;
	for (size_t i = *cursor; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->start_ns >= step->end_ns)
			break;
		add_segment(reader, segment,
			    tp_segment_ns_in(segment, step->start_ns, step->end_ns));
	}
	double length_ns = (double)(step->end_ns - step->start_ns);
	if (reader->waited_ns < TP_REPLAY_WAITED_MIN * length_ns)
		arrival->ready_ns = 0;
	reader->record->step_ns += length_ns;
	reader->record->n++;
}

static void read_steps(struct loop_reader *reader)
{
	const struct tp_profile *profile = reader->analysis->profile;
	size_t cursor = 0;
	for (size_t i = 0; i < profile->n_steps && reader->record->n < TP_REPLAY_STEPS_MAX; i++)
		if (profile->steps[i].kind == TP_STEP_STEADY)
			read_step(reader, i, &cursor);
	reader->record->step_ns /= (double)reader->record->n;
}

/* ---- work of workers and teams ---------------------------------------------- */

static bool is_work(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	enum tp_worker_time what = tp_loader_work_time_of(analysis, segment);
	return what != TP_WORKER_QUEUE_FULL && what != TP_WORKER_INDEX_WAIT &&
	       what != TP_WORKER_OTHER && what != TP_WORKER_CPU_QUEUE;
}

static struct tp_replay_work work_of_workers(const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	struct tp_replay_work sum = {0};
	for (size_t i = 0; i < profile->n_workers; i++) {
		const struct tp_timeline *timeline =
			tp_analysis_timeline(analysis, profile->workers[i].task);
		for (size_t k = 0; k < timeline->n; k++) {
			const struct tp_segment *segment = &timeline->segments[k];
			if (!is_work(analysis, segment))
				continue;
			double ns = (double)tp_segment_ns_in(segment, profile->window_start_ns,
							     profile->window_end_ns);
			*(segment->state == TP_STATE_ON_CPU ? &sum.cpu_ns : &sum.wait_ns) += ns;
		}
	}
	return sum;
}

static double team_of(const struct tp_analysis *analysis, double step_cpu_ns)
{
	const struct tp_profile *profile = analysis->profile;
	double sum_ns = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (analysis->threads[task].role != TP_THREAD_TEAM || task == analysis->main_task)
			continue;
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = 0; i < timeline->n; i++)
			if (timeline->segments[i].state == TP_STATE_ON_CPU)
				sum_ns += (double)tp_segment_ns_in(&timeline->segments[i],
								   profile->window_start_ns,
								   profile->window_end_ns);
	}
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	double n_steps = window_ns / profile->step_time.mean;
	return step_cpu_ns > 0 ? 1 + sum_ns / n_steps / step_cpu_ns : 1;
}

/* Returns how long the batch was being made, 0 if that was not seen. Its worker began when its
 * previous batch was ready, or later, when the queue had room. */
static double seen_ns(const struct loop_reader *reader, size_t i)
{
	const struct arrival *now = &reader->arrivals[i];
	size_t turn = reader->record->n_workers;
	size_t round = turn * reader->record->n_ahead;
	const struct arrival *room = now - round;
	const struct arrival *before = now - turn;
	if (!now->ready_ns || i < round || now->step - room->step != round)
		return 0;
	bool is_bound_by_room = reader->record->n_ahead == 1;
	uint64_t begin_ns = is_bound_by_room ? room->taken_ns : before->ready_ns;
	if (begin_ns && begin_ns < room->taken_ns)
		begin_ns = room->taken_ns;
	return begin_ns && now->ready_ns > begin_ns ? (double)(now->ready_ns - begin_ns) : 0;
}

/* Uses the measured batch durations, and divides the rest of the total time equally among the
 * batches without one. */
static void spread_batches(struct loop_reader *reader, struct tp_replay_work mean)
{
	struct tp_loop_record *record = reader->record;
	double all_ns = (mean.cpu_ns + mean.wait_ns) * (double)record->n;
	double *lengths_ns = tp_alloc((record->n + 1) * sizeof(*lengths_ns));
	double sum_ns = 0;
	size_t n_unseen = 0;
	for (size_t i = 0; i < record->n; i++) {
		lengths_ns[i] = seen_ns(reader, i);
		sum_ns += lengths_ns[i];
		n_unseen += !(lengths_ns[i] > 0);
	}
	double rest_ns = n_unseen ? fmax(0, all_ns - sum_ns) / (double)n_unseen : 0;
	sum_ns += rest_ns * (double)n_unseen;
	for (size_t i = 0; i < record->n && sum_ns > 0; i++) {
		double part =
			(lengths_ns[i] > 0 ? lengths_ns[i] : rest_ns) * (double)record->n / sum_ns;
		record->batches[i] =
			(struct tp_replay_work){mean.cpu_ns * part, mean.wait_ns * part};
	}
	free(lengths_ns);
}

static void read_batches(struct loop_reader *reader)
{
	const struct tp_profile *profile = reader->analysis->profile;
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	double n_batches = window_ns / profile->step_time.mean;
	struct tp_replay_work mean = work_of_workers(reader->analysis);
	mean.cpu_ns /= n_batches;
	mean.wait_ns /= n_batches;
	spread_batches(reader, mean);
}

static double delay_ratio(const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	double ns[TP_N_STATES] = {0};
	for (size_t w = 0; w <= profile->n_workers; w++) {
		uint32_t task =
			w < profile->n_workers ? profile->workers[w].task : analysis->main_task;
		const struct tp_timeline *timeline = tp_analysis_timeline(analysis, task);
		for (size_t i = 0; i < timeline->n; i++)
			ns[timeline->segments[i].state] +=
				(double)tp_segment_ns_in(&timeline->segments[i],
							 profile->window_start_ns,
							 profile->window_end_ns);
	}
	double wanted = ns[TP_STATE_ON_CPU] + ns[TP_STATE_RUNNABLE];
	return wanted > 0 ? ns[TP_STATE_RUNNABLE] / wanted : 0;
}

static double mean_cpu_ns(const struct tp_replay_work *work, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += work[i].cpu_ns;
	return n ? sum / (double)n : 0;
}

static size_t n_trainers(const struct tp_analysis *analysis)
{
	size_t n = 0;
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++)
		n += analysis->threads[i].leader == i && analysis->roles[i] == TP_ROLE_TRAINER;
	return n;
}

static const char *missing_reason(const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	if (!profile->is_of_steps || profile->n_steady < TP_REPLAY_STEPS_MIN)
		return "too few steady steps to replay";
	if (n_trainers(analysis) != 1)
		return "several trainers share the CPUs";
	if (!(profile->facts[TP_FACT_CPU_ALLOWED].value > 0))
		return "it is not known how many CPUs there were";
	if (2 * profile->facts[TP_FACT_LOADER_WORKERS].value > TP_REPLAY_WORKERS_MAX)
		return "too many loader workers to replay";
	return NULL;
}

const char *tp_loop_record_build(struct tp_loop_record *out, const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	const struct tp_quantity *others = &profile->facts[TP_FACT_CPU_OTHERS];
	const char *why = missing_reason(analysis);
	if (why)
		return why;
	size_t n = profile->n_steady;
	*out = (struct tp_loop_record){.batches = tp_alloc((n + 1) * sizeof(*out->batches)),
				       .steps = tp_alloc((n + 1) * sizeof(*out->steps))};
	const struct tp_quantity *ahead = &profile->facts[TP_FACT_LOADER_PREFETCH];
	out->is_in_turn = ahead->is_known && ahead->value >= 1;
	out->n_ahead = out->is_in_turn ? (unsigned)fmin(ahead->value, 1000) : 2;
	double workers = profile->n_workers ? profile->facts[TP_FACT_LOADER_WORKERS].value : 0;
	out->n_workers = (unsigned)(workers + 0.5);
	out->n_cpus = profile->facts[TP_FACT_CPU_ALLOWED].value;
	out->others = others->is_known ? fmin(others->value, out->n_cpus) : 0;
	struct loop_reader reader = {.analysis = analysis, .record = out};
	reader.arrivals = tp_alloc((n + 1) * sizeof(*reader.arrivals));
	read_steps(&reader);
	if (reader.unmade_ns > TP_REPLAY_ERROR_MAX * out->step_ns * (double)out->n)
		why = "the trainer waits for batches, and no thread was seen making them";
	else if (out->n_workers)
		read_batches(&reader);
	out->delay_ratio = delay_ratio(analysis);
	out->team = team_of(analysis, mean_cpu_ns(out->steps, out->n));
	free(reader.arrivals);
	return why;
}

void tp_loop_record_release(struct tp_loop_record *record)
{
	free(record->batches);
	free(record->steps);
	*record = (struct tp_loop_record){0};
}
