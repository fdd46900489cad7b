/* SPDX-License-Identifier: Apache-2.0 */
/* Masks commands, paths, hosts and environment in a trace and in the texts of its profile. */
#include "redaction.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/secret.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	unsigned what;
} words_known[] = {
	{"command", TP_REDACT_COMMAND},
	{"paths", TP_REDACT_PATHS},
	{"hosts", TP_REDACT_HOSTS},
	{"env", TP_REDACT_ENV},
	{"all", TP_REDACT_COMMAND | TP_REDACT_PATHS | TP_REDACT_HOSTS | TP_REDACT_ENV},
};

static enum tp_status parse_word(unsigned *out, const char *word, size_t len, struct tp_error *err)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(words_known); i++) {
		if (strlen(words_known[i].word) == len &&
		    strncmp(words_known[i].word, word, len) == 0) {
			*out |= words_known[i].what;
			return TP_OK;
		}
	}
	tp_fail(err, TP_USAGE, "--redact: '%.*s' is not known", (int)len, word);
	tp_error_next(err, "--redact=command,paths,hosts,env   (or: all)");
	return TP_USAGE;
}

enum tp_status tp_redaction_parse(unsigned *out, const char *words, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	*out = 0;
	while (words && *words && status == TP_OK) {
		size_t len = strcspn(words, ",");
		status = parse_word(out, words, len, err);
		words += len;
		words += *words == ',';
	}
	return status;
}

/* ---- commands ------------------------------------------------------------------------------ */

/* "trainprof run --rate=400 -- ./train --key 7" -> "trainprof run --rate=400 -- ***". */
static const char *mask_program(struct tp_arena *arena, const char *text)
{
	const char *dashes = text ? strstr(text, " -- ") : NULL;
	if (!dashes)
		return text;
	return tp_arena_printf(arena, "%.*s -- %s", (int)(dashes - text), text, TP_SECRET_MASK);
}

/* Masks the proposed commands. */
static void mask_next(struct tp_profile *profile)
{
	profile->steps_next = mask_program(&profile->arena, profile->steps_next);
	for (size_t i = 0; i < profile->n_warnings; i++)
		profile->warnings[i].remedy =
			mask_program(&profile->arena, profile->warnings[i].remedy);
}

static void mask_command(struct tp_trace *trace)
{
	struct tp_run_info *run = &trace->run;
	static const char *mask[] = {TP_SECRET_MASK};
	/* A label that the user did not set is the name of the program. */
	if (run->n_command && run->label &&
	    strcmp(run->label, tp_text_base_name(run->command[0])) == 0)
		run->label = TP_SECRET_MASK;
	if (run->n_command) {
		run->command = tp_arena_copy(&trace->arena, mask, sizeof(mask));
		run->n_command = 1;
	}
	for (size_t i = 0; i < trace->n_tasks; i++)
		trace->tasks[i].cmdline = 0;
}

/* Names of programs that the user did not start. Process ids stay: they say which one to move. */
static void mask_others(struct tp_trace *trace, struct tp_profile *profile)
{
	for (size_t i = 0; i < trace->n_marks; i++) {
		if (trace->marks[i].kind != TP_MARK_OTHER)
			continue;
		const char **name = &trace->strings[trace->marks[i].name];
		long pid = strtol(*name, NULL, 10);
		*name = tp_arena_printf(&trace->arena, "%ld " TP_SECRET_MASK, pid);
	}
	for (size_t i = 0; i < profile->n_others; i++)
		profile->others[i].comm = TP_SECRET_MASK;
}

/* ---- paths --------------------------------------------------------------------------------- */

/* Skips the folders of a word that begins with a slash; other words stay whole. Sets the length of
 * the remaining word. */
static const char *skip_folders(const char *word, size_t *len)
{
	const char *name = word;
	*len = strcspn(word, " '\",`)");
	for (const char *p = word; *word == '/' && p + 1 < word + *len; p++)
		if (*p == '/')
			name = p + 1;
	*len -= (size_t)(name - word);
	return name;
}

/* "in '/home/me/train.py:8'" -> "in 'train.py:8'". */
static const char *trim_paths(struct tp_arena *arena, const char *text)
{
	struct tp_buf out = {0};
	if (!text || !strchr(text, '/'))
		return text;
	for (const char *p = text; *p;) {
		bool begins = *p == '/' && (p == text || strchr(" '\"(=,:`", p[-1]));
		size_t len = 1;
		p = begins ? skip_folders(p, &len) : p;
		tp_buf_add(&out, p, len);
		p += len;
	}
	const char *shortened = tp_arena_strdup(arena, tp_buf_text(&out));
	tp_buf_release(&out);
	return shortened;
}

static void trim_string(struct tp_trace *trace, uint32_t id)
{
	if (*trace->strings[id] == '/')
		trace->strings[id] = tp_text_base_name(trace->strings[id]);
}

static void trim_ranks(struct tp_trace *trace)
{
	size_t n = trace->run.n_ranks;
	struct tp_rank_info *ranks =
		tp_arena_copy(&trace->arena, trace->run.ranks, n * sizeof(*ranks));
	for (size_t i = 0; i < n; i++)
		ranks[i].path = ranks[i].path ? tp_text_base_name(ranks[i].path) : NULL;
	trace->run.ranks = ranks;
}

static void trim_trace(struct tp_trace *trace)
{
	struct tp_run_info *run = &trace->run;
	const char **command = tp_arena_array(&trace->arena, run->n_command + 1, sizeof(*command));
	for (size_t i = 0; i < run->n_command; i++)
		command[i] = trim_paths(&trace->arena, run->command[i]);
	run->command = command;
	run->directory = TP_SECRET_MASK;
	for (size_t i = 0; i < trace->n_frames; i++) {
		trim_string(trace, trace->frames[i].module);
		trim_string(trace, trace->frames[i].file);
	}
	for (size_t i = 0; i < trace->n_tasks; i++) {
		uint32_t cmdline = trace->tasks[i].cmdline;
		trim_string(trace, trace->tasks[i].exe);
		trace->strings[cmdline] = trim_paths(&trace->arena, trace->strings[cmdline]);
	}
	for (size_t i = 0; i < trace->n_samples; i++)
		trim_string(trace, trace->samples[i].target);
	if (run->n_ranks)
		trim_ranks(trace);
}

/* Trims the texts and the observed values of the analysis. */
static void trim_profile(struct tp_profile *profile)
{
	struct tp_arena *arena = &profile->arena;
	profile->window_reason = trim_paths(arena, profile->window_reason);
	profile->steps_reason = trim_paths(arena, profile->steps_reason);
	profile->steps_next = trim_paths(arena, profile->steps_next);
	profile->hang_text = trim_paths(arena, profile->hang_text);
	for (size_t i = 0; i < profile->n_warnings; i++) {
		struct tp_warning *warning = &profile->warnings[i];
		warning->text = trim_paths(arena, warning->text);
		warning->effect = trim_paths(arena, warning->effect);
		warning->remedy = trim_paths(arena, warning->remedy);
	}
	for (size_t i = 0; i < TP_MAX_FACTS; i++) {
		profile->facts[i].seen = trim_paths(arena, profile->facts[i].seen);
		profile->facts[i].missing = trim_paths(arena, profile->facts[i].missing);
	}
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void mask_hosts(struct tp_trace *trace)
{
	size_t n = trace->run.n_ranks;
	if (trace->run.host.name)
		trace->run.host.name = TP_SECRET_MASK;
	if (!n)
		return;
	struct tp_rank_info *ranks =
		tp_arena_copy(&trace->arena, trace->run.ranks, n * sizeof(*ranks));
	for (size_t i = 0; i < n; i++)
		ranks[i].host = ranks[i].host ? TP_SECRET_MASK : NULL;
	trace->run.ranks = ranks;
}

static void mask_environment(struct tp_trace *trace)
{
	size_t n = trace->run.n_environment;
	if (!n)
		return;
	struct tp_env_var *variables =
		tp_arena_copy(&trace->arena, trace->run.environment, n * sizeof(*variables));
	for (size_t i = 0; i < n; i++)
		variables[i].value = TP_SECRET_MASK;
	trace->run.environment = variables;
}

void tp_redaction_apply(unsigned what, struct tp_trace *trace, struct tp_profile *profile)
{
	if (what & TP_REDACT_COMMAND) {
		mask_command(trace);
		mask_others(trace, profile);
		mask_next(profile);
	}
	if (what & TP_REDACT_PATHS) {
		trim_trace(trace);
		trim_profile(profile);
	}
	if (what & TP_REDACT_HOSTS)
		mask_hosts(trace);
	if (what & TP_REDACT_ENV)
		mask_environment(trace);
}
