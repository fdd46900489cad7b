/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from a rank's profile the data that its job needs. */
#include "trainprof/analyze/job_join.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>
#include <string.h>

void tp_job_init(struct tp_job *job)
{
	*job = (struct tp_job){.late = TP_JOB_NO_RANK,
			       .ended = TP_JOB_NO_RANK,
			       .hanging = TP_JOB_NO_RANK,
			       .late_label = TP_N_LABELS,
			       .verdict = TP_JOB_CANNOT_TELL};
}

static void copy_steps(struct tp_job_rank *rank, const struct tp_profile *profile)
{
	uint64_t zero_ns = profile->trace->run.started_ns;
	double sum_ns = 0;
	rank->steps = tp_alloc((profile->n_steps + 1) * sizeof(*rank->steps));
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind == TP_STEP_CUT || step->end_ns <= step->start_ns)
			continue;
		bool is_judged = tp_step_is_training(step);
		rank->steps[rank->n_steps++] = (struct tp_job_step){
			.start_ns = zero_ns + step->start_ns,
			.end_ns = zero_ns + step->end_ns,
			.peer_ns = step->peer_ns,
			.is_judged = is_judged,
		};
		rank->n_judged += is_judged;
		sum_ns += is_judged ? (double)(step->end_ns - step->start_ns) : 0;
	}
	if (rank->n_judged)
		rank->step_ns = sum_ns / (double)rank->n_judged;
}

static struct tp_job_code code_of(struct tp_job *job, const struct tp_profile *profile,
				  const struct tp_place_result *place, double steps)
{
	const struct tp_trace *trace = profile->trace;
	const char *file = place->file ? tp_trace_string(trace, place->file) : NULL;
	const char *symbol = tp_trace_string(trace, place->symbol);
	return (struct tp_job_code){
		.file = tp_arena_strdup(&job->arena, file),
		.function = tp_arena_printf(&job->arena, "%.*s",
					    (int)tp_text_function_length(symbol), symbol),
		.line = place->line,
		.label = place->label,
		.step_ns = (double)place->time_ns / steps,
		.queue_ns = (double)place->queue_ns / steps,
	};
}

/* Divisor to get times per step, or per second of the window without steps. */
static double unit_of(const struct tp_profile *profile)
{
	if (profile->is_of_steps && profile->n_steady)
		return (double)profile->n_steady;
	double window_s = (double)(profile->window_end_ns - profile->window_start_ns) / 1e9;
	return window_s > 0 ? window_s : 1;
}

/* Returns what one sample adds to a time per step or second. */
static double sample_ns(const struct tp_run_info *run, double unit)
{
	double rate_hz = run->sample_rate_hz > 0 ? run->sample_rate_hz : run->poll_rate_hz;
	return rate_hz > 0 ? 1e9 / rate_hz / unit : 0;
}

static void copy_profile(struct tp_job *job, struct tp_job_rank *rank,
			 const struct tp_profile *profile)
{
	double unit = unit_of(profile);
	copy_steps(rank, profile);
	for (int label = 0; label < TP_N_LABELS; label++)
		rank->label_ns[label] = (double)profile->beside_peers_ns[label] / unit;
	for (size_t i = 0; i < profile->n_places && i < TP_JOB_PLACES_MAX; i++)
		rank->codes[rank->n_codes++] = code_of(job, profile, &profile->places[i], unit);
	rank->sample_ns = sample_ns(&profile->trace->run, unit);
	rank->n_places = (uint32_t)profile->n_places;
	rank->peer_tail_ns = profile->peer_tail_ns;
	rank->ended_ns = profile->trace->run.started_ns + profile->trace->end_ns;
	const struct tp_quantity *overhead = &profile->facts[TP_FACT_RUN_OVERHEAD_TIME];
	const struct tp_quantity *cpus = &profile->facts[TP_FACT_CPU_ALLOWED];
	if (overhead->is_known && cpus->is_known) {
		rank->overhead_ns = (uint64_t)overhead->value;
		rank->n_cpus = cpus->value;
	}
	if (profile->last_place.symbol) {
		struct tp_job_code *last = tp_arena_alloc(&job->arena, sizeof(*last));
		*last = code_of(job, profile, &profile->last_place, 1);
		rank->last_place = last;
	}
}

void tp_job_add(struct tp_job *job, const struct tp_job_source *source,
		const struct tp_profile *profile, const char *why)
{
	const struct tp_run_info *run = source->run;
	const struct tp_job_place *place = source->place;
	struct tp_arena *arena = &job->arena;
	bool is_rank = place && place->launcher;
	struct tp_job_rank rank = {
		.directory = tp_arena_strdup(arena, source->directory),
		.unreadable = profile ? NULL : tp_arena_strdup(arena, why ? why : "not readable"),
		.number = is_rank ? place->rank : -1,
		.n_ranks = is_rank ? place->n_ranks : 0,
		.contradiction = place ? tp_arena_strdup(arena, place->contradiction) : NULL,
		.pid = source->pid,
		.is_cut = source->is_cut,
		.launcher = is_rank ? tp_arena_strdup(arena, place->launcher) : NULL,
		.job_id = is_rank ? tp_arena_strdup(arena, place->id) : NULL,
		.attempt = is_rank ? place->attempt : 0,
	};
	if (run) {
		rank.host = tp_arena_strdup(arena, run->host.name);
		rank.end = run->end;
		rank.end_code = run->end_code;
		rank.started_ns = run->started_ns;
		rank.started_wall_ns = run->started_wall_ns;
		rank.label = tp_arena_strdup(arena, run->label);
		rank.n_host_cpus = run->host.n_cpus;
	}
	if (profile)
		copy_profile(job, &rank, profile);
	if (source->n_sharing > 1)
		rank.overhead_ns /= source->n_sharing;
	/* The exit status in the recording is the launcher's: the end of this process is
	 * unknown. */
	if (profile && source->is_inner) {
		rank.end = source->ended_ns ? TP_END_UNKNOWN : TP_END_RUNNING;
		rank.end_code = 0;
		if (source->ended_ns)
			rank.ended_ns = rank.started_ns + source->ended_ns;
	}
	TP_ARRAY_PUSH(job->ranks, job->n_ranks, job->ranks_capacity) = rank;
}
