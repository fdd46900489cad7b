/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the settings and techniques of the run: matches the rows of rules/patterns/ that have
 * "setting" with its environment, command lines, processes and threads, stacks, and with the
 * kernels and spans of traces. Each fact keeps the evidence.
 *
 * One match is enough for yes. No is known for facts that only variables show, if these were
 * recorded, and for frameworks, in which their programs spend most of the time; a technique that no
 * sample hit may still be in use. Gives: set.*, env.uses_*, kernel.half_ratio and similar
 */
#include "analyze/analysis.h"
#include "analyze/classify/frame_class.h"
#include "analyze/classify/kernel_class.h"
#include "analyze/classify/pattern_tables.h"
#include "analyze/classify/setting_class.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>
#include <string.h>

struct setting_search {
	const struct tp_analysis *analysis;
	const struct tp_trace *trace;
	const struct tp_setting_patterns *rows;
	struct tp_profile *profile;
	uint8_t *memo; /* by string: result of matching this row with the name */
	bool has_rows[TP_N_FACTS];
	bool is_seen[TP_N_FACTS];
	bool needs_more[TP_N_FACTS]; /* other evidence than variables exists, too */
};

/* Long enough to recognise a name; names of kernels can be pages long. */
#define SHORT "%.60s"

static void record_match(struct setting_search *search, const struct tp_setting_pattern *row,
			 const char *seen)
{
	if (search->is_seen[row->fact])
		return;
	search->is_seen[row->fact] = true;
	tp_profile_set(search->profile, row->fact, 1, TP_ORIGIN_MEASURED, 1);
	search->profile->facts[row->fact].seen = seen;
}

/* Returns the last two folders of a path and its file: enough to identify the origin of a
 * function. */
static const char *tail_of(const char *path)
{
	const char *tail = path + strlen(path);
	for (int slashes = 0; tail > path && slashes < 3; slashes += tail[0] == '/')
		tail--;
	return *tail == '/' ? tail + 1 : tail;
}

/* ---- environment and command line ---- */

static void match_variables(struct setting_search *search, const struct tp_setting_pattern *row)
{
	const struct tp_run_info *run = &search->trace->run;
	for (size_t i = 0; i < run->n_environment; i++) {
		const struct tp_env_var *variable = &run->environment[i];
		if (tp_setting_match(row, variable->name, variable->value))
			record_match(search, row,
				     tp_arena_printf(search->analysis->arena, "variable %s=" SHORT,
						     variable->name, variable->value));
	}
}

static void match_word(struct setting_search *search, const struct tp_setting_pattern *row,
		       const char *word)
{
	if (tp_setting_match(row, word, ""))
		record_match(search, row,
			     tp_arena_printf(search->analysis->arena, "command line: " SHORT,
					     tail_of(word)));
}

/* Matches the command line of the run as it was typed, and of each process. */
static void match_arguments(struct setting_search *search, const struct tp_setting_pattern *row)
{
	const struct tp_trace *trace = search->trace;
	for (size_t i = 0; trace->run.mode != TP_MODE_IMPORT && i < trace->run.n_command; i++)
		match_word(search, row, trace->run.command[i]);
	for (size_t i = 0; i < trace->n_tasks; i++) {
		if (!trace->tasks[i].cmdline || search->is_seen[row->fact])
			continue;
		char *words = tp_strdup(tp_trace_string(trace, trace->tasks[i].cmdline));
		char *rest = words;
		for (char *word; (word = strsep(&rest, " "));)
			match_word(search, row, word);
		free(words);
	}
}

static void match_tasks(struct setting_search *search, const struct tp_setting_pattern *row)
{
	const struct tp_trace *trace = search->trace;
	bool is_program = row->look == TP_SETTING_IN_PROGRAM;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct tp_task *task = &trace->tasks[i];
		const char *name = tp_trace_string(trace, is_program ? task->exe : task->comm);
		if (*name && tp_setting_match(row, name, ""))
			record_match(search, row,
				     tp_arena_printf(search->analysis->arena,
						     is_program ? "program " SHORT
								: "thread " SHORT,
						     tail_of(name)));
	}
}

/* ---- stacks ---- */

enum { NOT_CHECKED, MATCHES, MATCHES_NOT };

/* Many functions are in one file, so the result for the file is cached. */
static bool file_can_match(struct setting_search *search, const struct tp_setting_pattern *row,
			   uint32_t file)
{
	if (search->memo[file] == NOT_CHECKED)
		search->memo[file] = tp_setting_can_match(row, tp_trace_string(search->trace, file))
					     ? MATCHES
					     : MATCHES_NOT;
	return search->memo[file] == MATCHES;
}

static void match_frames(struct setting_search *search, const struct tp_setting_pattern *row)
{
	const struct tp_trace *trace = search->trace;
	bool is_python = row->look == TP_SETTING_IN_SOURCE;
	memset(search->memo, NOT_CHECKED, trace->n_strings + 1);
	for (size_t i = 1; i < trace->n_frames && !search->is_seen[row->fact]; i++) {
		const struct tp_frame *frame = &trace->frames[i];
		uint32_t file = is_python ? frame->file : frame->module;
		if ((frame->kind == TP_FRAME_PYTHON) != is_python ||
		    !file_can_match(search, row, file))
			continue;
		const char *path = tp_trace_string(trace, file);
		const char *symbol = tp_trace_string(trace, frame->symbol);
		if (tp_setting_match(row, path, symbol))
			record_match(search, row,
				     tp_arena_printf(search->analysis->arena,
						     "stack: " SHORT "%s" SHORT, symbol,
						     *symbol ? " of " : "", tail_of(path)));
	}
}

/* ---- traces ---- */

/* Matches Python spans of torch.profiler: "torch/utils/checkpoint.py(20): checkpoint". */
static bool match_python_span(const struct tp_setting_pattern *row, const char *name)
{
	const char *bracket = strchr(name, '(');
	const char *symbol = bracket ? strstr(bracket, "): ") : NULL;
	if (!symbol)
		return false;
	char *path = tp_asprintf("/%.*s", (int)(bracket - name), name);
	bool fits = tp_setting_match(row, path, symbol + 3);
	free(path);
	return fits;
}

static void match_spans(struct setting_search *search, const struct tp_setting_pattern *row)
{
	const struct tp_trace *trace = search->trace;
	bool is_source = row->look == TP_SETTING_IN_SOURCE;
	memset(search->memo, NOT_CHECKED, trace->n_strings + 1);
	for (size_t t = 0; t < trace->n_tracks; t++) {
		const struct tp_track_spans *spans = &trace->spans[t];
		for (size_t i = 0; i < spans->n && !search->is_seen[row->fact]; i++) {
			const struct tp_span *span = &spans->items[i];
			if (tp_span_kind_is_device(span->kind) ||
			    (span->kind == TP_SPAN_PYTHON) != is_source || search->memo[span->name])
				continue;
			search->memo[span->name] = MATCHES_NOT;
			const char *name = tp_trace_string(trace, span->name);
			if (is_source ? match_python_span(row, name)
				      : tp_setting_match(row, name, ""))
				record_match(search, row,
					     tp_arena_printf(search->analysis->arena, "span " SHORT,
							     name));
		}
	}
}

static void match_kernels(struct setting_search *search, const struct tp_setting_pattern *row)
{
	const struct tp_profile *profile = search->profile;
	bool is_share = strcmp(tp_fact_desc(row->fact)->unit, "ratio") == 0;
	for (size_t i = 0; !is_share && i < profile->n_kernels; i++) {
		const char *name = tp_trace_string(search->trace, profile->kernels[i].name);
		if (profile->kernels[i].class == TP_OP_COMPUTE && tp_setting_match(row, name, ""))
			record_match(search, row,
				     tp_arena_printf(search->analysis->arena, "kernel " SHORT,
						     name));
	}
}

static bool any_kernel_row(const struct setting_search *search, enum tp_fact fact, const char *name)
{
	for (size_t i = 0; i < search->rows->n_items; i++)
		if (search->rows->items[i].fact == fact &&
		    tp_setting_match(&search->rows->items[i], name, ""))
			return true;
	return false;
}

/* Sets the share of matrix products, convolutions and attention whose names match one of the
 * rows. */
static void measure_share(struct setting_search *search, enum tp_fact fact)
{
	struct tp_profile *profile = search->profile;
	double all_ns = 0;
	double fit_ns = 0;
	for (size_t i = 0; i < profile->n_kernels; i++) {
		const struct tp_kernel_result *kernel = &profile->kernels[i];
		const char *name = tp_trace_string(search->trace, kernel->name);
		if (kernel->class != TP_OP_COMPUTE ||
		    tp_kernel_row_find(search->analysis->patterns, name)->group != TP_GROUP_MATRIX)
			continue;
		all_ns += (double)kernel->time_ns;
		fit_ns += any_kernel_row(search, fact, name) ? (double)kernel->time_ns : 0;
	}
	if (all_ns > 0) {
		tp_profile_set(profile, fact, fit_ns / all_ns, TP_ORIGIN_MEASURED, 1);
		profile->facts[fact].seen = "by names of kernels";
	} else if (search->trace->run.mode == TP_MODE_IMPORT)
		tp_profile_set_missing(profile, fact, "no matrix products were seen");
}

/* ---- all rows ---- */

static void match_row(struct setting_search *search, const struct tp_setting_pattern *row)
{
	switch (row->look) {
	case TP_SETTING_IN_VARIABLE:
		match_variables(search, row);
		break;
	case TP_SETTING_IN_ARGUMENT:
		match_arguments(search, row);
		break;
	case TP_SETTING_IN_PROGRAM:
	case TP_SETTING_IN_THREAD:
		match_tasks(search, row);
		break;
	case TP_SETTING_IN_SOURCE:
		match_frames(search, row);
		match_spans(search, row);
		break;
	case TP_SETTING_IN_MODULE:
		match_frames(search, row);
		break;
	case TP_SETTING_IN_KERNEL:
		match_kernels(search, row);
		break;
	default:
		match_spans(search, row);
		break;
	}
}

static bool can_rule_out(const struct setting_search *search, enum tp_fact fact)
{
	bool is_framework = fact == TP_FACT_ENV_PYTORCH || fact == TP_FACT_ENV_JAX ||
			    fact == TP_FACT_ENV_TENSORFLOW;
	size_t n_stacks = 0;
	for (size_t i = 0; is_framework && i < search->trace->n_samples; i++)
		n_stacks += search->trace->samples[i].stack != 0;
	return n_stacks >= TP_FRAMEWORK_SAMPLES_MIN;
}

static void set_not_found(struct setting_search *search, enum tp_fact fact)
{
	const struct tp_run_info *run = &search->trace->run;
	struct tp_profile *profile = search->profile;
	if (search->is_seen[fact])
		return;
	if (can_rule_out(search, fact))
		tp_profile_set(profile, fact, 0, TP_ORIGIN_SAMPLED, 1);
	else if (search->needs_more[fact])
		tp_profile_set_missing(profile, fact, "nothing that was seen shows it");
	else if (run->mode == TP_MODE_IMPORT)
		tp_profile_rule_out(profile, fact, "imported traces do not have it");
	else if (run->n_environment == 0 && run->mode != TP_MODE_RUN)
		tp_profile_set_missing(profile, fact, "the environment was not recorded");
	else
		tp_profile_set(profile, fact, 0, TP_ORIGIN_MEASURED, 1);
}

enum tp_status tp_pass_settings(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct setting_search search = {.analysis = analysis,
					.trace = analysis->trace,
					.rows = &analysis->patterns->settings,
					.profile = analysis->profile};
	search.memo = tp_alloc(analysis->trace->n_strings + 1);
	for (size_t i = 0; i < search.rows->n_items; i++) {
		const struct tp_setting_pattern *row = &search.rows->items[i];
		search.has_rows[row->fact] = true;
		search.needs_more[row->fact] |= row->look != TP_SETTING_IN_VARIABLE;
		if (!search.is_seen[row->fact])
			match_row(&search, row);
	}
	for (int fact = 0; fact < TP_N_FACTS; fact++) {
		if (!search.has_rows[fact])
			continue;
		if (strcmp(tp_fact_desc((enum tp_fact)fact)->unit, "ratio") == 0)
			measure_share(&search, (enum tp_fact)fact);
		else
			set_not_found(&search, (enum tp_fact)fact);
	}
	free(search.memo);
	return TP_OK;
}
