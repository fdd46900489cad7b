/* SPDX-License-Identifier: Apache-2.0 */
/* Copies run information and names its enumerations. */
#include "trainprof/model/run_info.h"

const char *tp_run_mode_name(enum tp_run_mode mode)
{
	static const char *const names[] = {"run", "attach", "import", "merge"};
	return (unsigned)mode < TP_N_RUN_MODES ? names[mode] : "run";
}

const char *tp_tier_name(enum tp_tier tier)
{
	static const char *const names[] = {"full", "reduced", "minimal", "bare"};
	return (unsigned)tier < TP_N_TIERS ? names[tier] : "bare";
}

const char *tp_end_name(enum tp_end_kind end)
{
	static const char *const names[] = {"unknown", "exited", "signaled", "detached",
					    "still_running"};
	return (unsigned)end < TP_N_END_KINDS ? names[end] : "unknown";
}

static const struct tp_rank_info *copy_ranks(const struct tp_run_info *from, struct tp_arena *arena)
{
	struct tp_rank_info *ranks = tp_arena_array(arena, from->n_ranks, sizeof(*ranks));
	for (size_t i = 0; i < from->n_ranks; i++) {
		struct tp_rank_info *rank = &ranks[i];
		*rank = from->ranks[i];
		rank->path = tp_arena_strdup(arena, rank->path);
		rank->member = tp_arena_strdup(arena, rank->member);
		rank->sha256 = tp_arena_strdup(arena, rank->sha256);
		rank->format = tp_arena_strdup(arena, rank->format);
		rank->host = tp_arena_strdup(arena, rank->host);
		rank->skipped_because = tp_arena_strdup(arena, rank->skipped_because);
		struct tp_device_info *devices =
			tp_arena_array(arena, rank->n_devices, sizeof(*devices));
		for (size_t k = 0; k < rank->n_devices; k++) {
			devices[k] = rank->devices[k];
			devices[k].name = tp_arena_strdup(arena, devices[k].name);
		}
		rank->devices = devices;
	}
	return ranks;
}

void tp_run_info_copy(struct tp_run_info *out, const struct tp_run_info *from,
		      struct tp_arena *arena)
{
	*out = *from;
	out->id = tp_arena_strdup(arena, from->id);
	out->label = tp_arena_strdup(arena, from->label);
	out->directory = tp_arena_strdup(arena, from->directory);
	out->commit = tp_arena_strdup(arena, from->commit);
	out->written_by = tp_arena_strdup(arena, from->written_by);
	out->host.name = tp_arena_strdup(arena, from->host.name);
	out->host.kernel = tp_arena_strdup(arena, from->host.kernel);
	out->host.cpu_model = tp_arena_strdup(arena, from->host.cpu_model);
	out->command = tp_arena_array(arena, from->n_command + 1, sizeof(*out->command));
	for (size_t i = 0; i < from->n_command; i++)
		out->command[i] = tp_arena_strdup(arena, from->command[i]);
	struct tp_env_var *vars =
		tp_arena_array(arena, from->n_environment, sizeof(*out->environment));
	for (size_t i = 0; i < from->n_environment; i++) {
		vars[i].name = tp_arena_strdup(arena, from->environment[i].name);
		vars[i].value = tp_arena_strdup(arena, from->environment[i].value);
	}
	out->environment = vars;
	out->ranks = copy_ranks(from, arena);
	tp_job_place_copy(&out->job, &from->job, arena);
}
