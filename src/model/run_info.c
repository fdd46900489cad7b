/* Copies run information and names its enumerations. */
#include "trainprof/model/run_info.h"

const char *tp_tier_name(enum tp_tier tier)
{
	static const char *const names[] = {"full", "reduced", "minimal", "bare"};
	return (unsigned)tier < TP_N_TIERS ? names[tier] : "bare";
}

const char *tp_end_name(enum tp_end_kind end)
{
	static const char *const names[] = {"unknown", "exited", "signaled", "detached",
					    "still_running"};
	return (unsigned)end < 5 ? names[end] : "unknown";
}

void tp_run_info_copy(struct tp_run_info *out, const struct tp_run_info *from,
		      struct tp_arena *arena)
{
	*out = *from;
	out->id = tp_arena_strdup(arena, from->id);
	out->label = tp_arena_strdup(arena, from->label);
	out->directory = tp_arena_strdup(arena, from->directory);
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
}
