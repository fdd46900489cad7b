/* SPDX-License-Identifier: Apache-2.0 */
/* Stores facts, warnings and the exactness check. */
#include "trainprof/model/profile.h"

#include <math.h>
#include <string.h>

const char *tp_role_name(enum tp_role role)
{
	static const char *const names[] = {"other", "trainer", "loader", "launcher", "worker"};
	return (unsigned)role < TP_N_ROLES ? names[role] : "other";
}

const char *tp_thread_role_name(enum tp_thread_role role)
{
	static const char *const names[] = {"other", "main", "team", "loader", "comm"};
	return (unsigned)role < TP_N_THREAD_ROLES ? names[role] : "other";
}

const char *tp_step_kind_name(enum tp_step_kind kind)
{
	static const char *const names[] = {"steady", "warmup", "checkpoint", "evaluation",
					    "slow",   "cut",    "counted",    "other"};
	return (unsigned)kind < TP_N_STEP_KINDS ? names[kind] : "slow";
}

const char *tp_step_kind_text(enum tp_step_kind kind)
{
	return kind == TP_STEP_WARMUP ? "warm-up" : tp_step_kind_name(kind);
}

const char *tp_steps_found_by_name(enum tp_steps_found_by way)
{
	static const char *const names[] = {"none", "marker", "period", "counter", "watch"};
	return (unsigned)way < TP_N_STEPS_FOUND_BY ? names[way] : names[TP_STEPS_NONE];
}

size_t tp_profile_all_steps(const struct tp_profile *profile)
{
	return profile->n_steps + profile->n_untraced;
}

bool tp_step_is_training(const struct tp_step *step)
{
	return step->kind == TP_STEP_STEADY || step->kind == TP_STEP_SLOW ||
	       step->kind == TP_STEP_OTHER;
}

bool tp_steps_are_measured(const struct tp_profile *profile)
{
	return profile->steps_found_by == TP_STEPS_MARKER ||
	       profile->steps_found_by == TP_STEPS_WATCH;
}

const char *tp_run_phase_name(enum tp_phase_kind phase)
{
	static const char *const names[] = {"startup",    "warm-up", "train",   "eval",
					    "checkpoint", "slow",    "shutdown"};
	return (unsigned)phase < TP_N_RUN_PHASES ? names[phase] : "slow";
}

const char *tp_worker_time_name(enum tp_worker_time what)
{
	static const char *const names[] = {
#define X(id, name) name,
		TP_WORKER_TIME_MAP(X)
#undef X
	};
	return (unsigned)what < TP_N_WORKER_TIMES ? names[what] : "other";
}

void tp_profile_init(struct tp_profile *profile, const struct tp_trace *trace)
{
	*profile =
		(struct tp_profile){.trace = trace, .trainer = TP_NO_TASK, .main_task = TP_NO_TASK};
	profile->limiter = TP_N_PARTS;
	profile->largest_loss = TP_N_PARTS;
	for (tp_fact_id i = 0; i < tp_n_facts; i++) {
		bool is_user_supplied = tp_fact_is_user_supplied(i);
		profile->facts[i] =
			(struct tp_quantity){.is_foreign = is_user_supplied,
					     .missing = is_user_supplied
								? "only a file of facts has it"
								: "not measured"};
	}
}

void tp_profile_release(struct tp_profile *profile)
{
	tp_arena_release(&profile->arena);
	*profile = (struct tp_profile){0};
}

void tp_profile_set(struct tp_profile *profile, tp_fact_id fact, double value,
		    enum tp_origin origin, double coverage)
{
	if (!isfinite(value)) {
		tp_profile_set_missing(profile, fact, "its value is not a finite number");
		return;
	}
	profile->facts[fact] = (struct tp_quantity){.is_known = true,
						    .origin = origin,
						    .value = value,
						    .coverage = coverage};
}

const char *tp_profile_part_name(const struct tp_profile *profile, enum tp_part part)
{
	return part == TP_PART_IDLE && profile->is_idle_unknown ? "unknown" : tp_part_name(part);
}

void tp_profile_set_missing(struct tp_profile *profile, tp_fact_id fact, const char *why)
{
	profile->facts[fact] =
		(struct tp_quantity){.missing = tp_arena_strdup(&profile->arena, why)};
}

void tp_profile_rule_out(struct tp_profile *profile, tp_fact_id fact, const char *why)
{
	tp_profile_set_missing(profile, fact, why);
	profile->facts[fact].is_foreign = true;
}

void tp_profile_warn(struct tp_profile *profile, const char *id, const char *text,
		     const char *effect, const char *remedy)
{
	struct tp_arena *arena = &profile->arena;
	if (profile->n_warnings == profile->warnings_capacity) {
		size_t capacity = profile->warnings_capacity ? profile->warnings_capacity * 2 : 8;
		struct tp_warning *larger =
			tp_arena_array(arena, capacity, sizeof(*profile->warnings));
		if (profile->n_warnings)
			memcpy(larger, profile->warnings,
			       profile->n_warnings * sizeof(*profile->warnings));
		profile->warnings = larger;
		profile->warnings_capacity = capacity;
	}
	profile->warnings[profile->n_warnings++] = (struct tp_warning){
		.id = tp_arena_strdup(arena, id),
		.text = tp_arena_strdup(arena, text),
		.effect = tp_arena_strdup(arena, effect),
		.remedy = tp_arena_strdup(arena, remedy),
	};
}

bool tp_profile_is_exact(const struct tp_profile *profile)
{
	uint64_t total = 0;
	uint64_t labels[TP_N_PARTS] = {0};
	for (int i = 0; i < TP_N_LABELS; i++)
		labels[tp_label_part((enum tp_label)i)] += profile->label_ns[i];
	for (int i = 0; i < TP_N_PARTS; i++) {
		total += profile->parts[i].time_ns;
		if (labels[i] != profile->parts[i].time_ns)
			return false;
	}
	for (size_t i = 0; i < profile->n_steps; i++) {
		uint64_t sum = 0;
		for (int part = 0; part < TP_N_PARTS; part++)
			sum += profile->steps[i].part_ns[part];
		if (sum != profile->steps[i].end_ns - profile->steps[i].start_ns)
			return false;
	}
	return total == profile->total_ns;
}
