/* SPDX-License-Identifier: Apache-2.0 */
/* Copies run information and names its enumerations. */
#include "trainprof/model/run_info.h"

#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>

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

/* ---- a command with a prefix ---------------------------------------------------------------- */

/* The options of env(1) whose argument is the next word. */
static bool needs_word(const char *option)
{
	static const char *const names[] = {"-u", "--unset", "-C", "--chdir"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], option) == 0)
			return true;
	return false;
}

/* Number of first words that are `env`, its options and variables; 0 if it is another command. */
static size_t n_env_words(const struct tp_run_info *run)
{
	size_t n = 1;
	if (!run->n_command || strcmp(tp_text_base_name(run->command[0]), "env") != 0)
		return 0;
	while (n < run->n_command && run->command[n][0] == '-') {
		const char *option = run->command[n];
		if (tp_text_starts_with(option, "-S") ||
		    tp_text_starts_with(option, "--split-string"))
			return 0;
		n += needs_word(option) ? 2 : 1;
	}
	while (n < run->n_command && strchr(run->command[n], '='))
		n++;
	return n < run->n_command ? n : 0;
}

void tp_run_info_add_command(struct tp_buf *out, const struct tp_run_info *run, const char *prefix)
{
	size_t n_env = n_env_words(run);
	for (size_t i = 0; i < run->n_command; i++) {
		tp_buf_puts(out, i ? " " : "");
		if (i == n_env)
			tp_buf_puts(out, prefix);
		tp_text_add_argument(out, run->command[i]);
	}
}

/* True for "NAME=" in the text where NAME is no part of a longer name. */
static bool sets_variable(const char *text, const char *name, size_t len)
{
	for (const char *at = strstr(text, "="); at; at = strchr(at + 1, '=')) {
		if ((size_t)(at - text) < len)
			continue;
		const char *start = at - len;
		if (strncmp(start, name, len) != 0)
			continue;
		if (start == text ||
		    !(isalnum((unsigned char)start[-1]) || strchr("_-", start[-1])))
			return true;
	}
	return false;
}

const char *tp_run_info_overrides(const struct tp_run_info *run, const char *prefix,
				  struct tp_arena *arena)
{
	bool is_removed = false;
	for (const char *word = prefix; word && *word;) {
		size_t len = strcspn(word, " ");
		size_t name = strcspn(word, "= ");
		for (size_t i = n_env_words(run); i < run->n_command; i++)
			if ((name < len || is_removed) && name &&
			    sets_variable(run->command[i], word, name))
				return tp_arena_strndup(arena, word, name);
		is_removed = len == 2 && strncmp(word, "-u", len) == 0;
		word += len + strspn(word + len, " ");
	}
	return NULL;
}
