/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording and judges it. */
#include "analysis_session.h"

#include "cli/terminal/messages.h"
#include "inner_ranks.h"
#include "recordings.h"
#include "redaction.h"
#include "rules_dir.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tp_steps_choices[] = {"auto", "marker", "none", NULL};

static enum tp_steps_choice steps_choice(const char *word)
{
	if (word && strcmp(word, "marker") == 0)
		return TP_STEPS_ONLY_MARKER;
	return word && strcmp(word, "none") == 0 ? TP_STEPS_OFF : TP_STEPS_AUTO;
}

/* The rank's number; the pid if the number is not known. */
static long long name_of(const struct tp_inner_rank *rank)
{
	return rank->number < 0 ? (long long)rank->pid : (long long)rank->number;
}

/* Selects the requested rank of the recording. */
static enum tp_status choose_rank(size_t *out, const struct tp_inner_rank *ranks, size_t n,
				  const char *word, struct tp_error *err)
{
	uint64_t number;
	*out = 0;
	if (!word)
		return TP_OK;
	for (; tp_text_parse_count(word, &number) && *out < n; ++*out)
		if (ranks[*out].number == (int64_t)number ||
		    (ranks[*out].number < 0 && ranks[*out].pid == (pid_t)number))
			return TP_OK;
	tp_fail(err, TP_USAGE, "--rank=%.20s: no such rank in this recording", word);
	if (n)
		tp_error_next(err, "--rank=%lld", name_of(&ranks[0]));
	return TP_USAGE;
}

static void warn_of_others(struct tp_analysis_session *reading, const struct tp_inner_rank *rank)
{
	char text[120];
	snprintf(text, sizeof(text), "the recording holds %zu ranks of a job: this is %s %lld",
		 reading->n_ranks, rank->number < 0 ? "pid" : "rank", name_of(rank));
	tp_profile_warn(&reading->profile, "one_of_several_ranks", text, NULL, NULL);
}

/* Analyses one of several ranks. */
static enum tp_status analyze_rank(struct tp_analysis_session *reading,
				   struct tp_analyze_options *how, const char *word,
				   struct tp_error *err)
{
	struct tp_arena arena = {0};
	struct tp_inner_rank *ranks;
	size_t at = 0;
	size_t n = tp_inner_ranks_find(&ranks, &reading->trace, reading->patterns, how, &arena);
	uint32_t *roots = tp_arena_array(&arena, n + 1, sizeof(*roots));
	for (size_t i = 0; i < n; i++)
		roots[i] = ranks[i].root;
	enum tp_status status = choose_rank(&at, ranks, n, word, err);
	const struct tp_rank_scope scope = {.root = roots[at], .all = roots, .n_all = n};
	how->rank = n ? &scope : NULL;
	if (status == TP_OK)
		status =
			tp_analyze(&reading->profile, &reading->trace, reading->patterns, how, err);
	how->rank = NULL; /* the scope is only valid in this function */
	reading->n_ranks = n;
	if (status == TP_OK && n)
		warn_of_others(reading, &ranks[at]);
	tp_arena_release(&arena);
	return status;
}

static enum tp_status analyze(struct tp_analysis_session *reading, const struct tp_rules_dirs *dirs,
			      const struct tp_analysis_session_options *options,
			      struct tp_error *err)
{
	struct tp_analyze_options how = {.steps = steps_choice(options->steps),
					 .skip_steps = options->skip};
	enum tp_status status = tp_rules_dir_load_patterns(&reading->patterns, dirs, err);
	if (status == TP_OK)
		status = analyze_rank(reading, &how, options->rank, err);
	reading->has_profile = status == TP_OK;
	return status;
}

static void judge(struct tp_analysis_session *reading, const struct tp_rules_dirs *dirs,
		  bool is_lenient)
{
	struct tp_buf problems = {0};
	enum tp_status status =
		tp_rules_dir_load_rest(&reading->book, dirs, is_lenient ? &problems : NULL,
				       &reading->no_rules);
	tp_message_print_lines(tp_buf_text(&problems));
	tp_buf_release(&problems);
	if (status != TP_OK)
		return;
	tp_advise(&reading->findings, reading->book, &reading->profile);
	reading->has_findings = true;
}

static void add_import_hint(const char *directory, const struct tp_run_info *run,
			    struct tp_error *err)
{
	struct tp_buf before = {0};
	tp_buf_puts(&before, "trainprof import -o ");
	tp_text_add_word(&before, directory);
	tp_buf_puts(&before, " --force ");
	tp_error_next_word(err, before.data, run->command[2], run->n_command > 3 ? " …" : "");
	tp_buf_release(&before);
}

/* An import that was killed half-way does not represent the whole trace. */
static enum tp_status refuse_partial_import(const struct tp_trace *trace, const char *directory,
					    struct tp_error *err)
{
	const struct tp_run_info *run = &trace->run;
	if (!trace->is_partial || run->mode != TP_MODE_IMPORT)
		return TP_OK;
	tp_fail(err, TP_PARSE, "the import into '%s' is incomplete", directory);
	if (run->n_command > 2)
		add_import_hint(directory, run, err);
	return TP_PARSE;
}

enum tp_status tp_analysis_session_open(struct tp_analysis_session *reading, const char *directory,
					const struct tp_analysis_session_options *options,
					struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	unsigned redacted = 0;
	*reading = (struct tp_analysis_session){0};
	enum tp_status status = tp_redaction_parse(&redacted, options->redact, err);
	if (status == TP_OK)
		status = tp_store_load(&reading->trace, directory, err);
	reading->has_trace = status == TP_OK;
	if (status == TP_OK)
		status = refuse_partial_import(&reading->trace, directory, err);
	if (status == TP_OK)
		status = tp_rules_dir_find(&dirs, &options->rules, err);
	if (status == TP_OK)
		status = analyze(reading, &dirs, options, err);
	if (status == TP_OK) {
		tp_redaction_apply(redacted, &reading->trace, &reading->profile);
		judge(reading, &dirs, options->is_lenient);
		reading->report = (struct tp_report){
			.profile = &reading->profile,
			.findings = reading->has_findings ? &reading->findings : NULL,
			.no_findings_because =
				reading->has_findings ? NULL : reading->no_rules.text,
			.directory = redacted & TP_REDACT_PATHS ? tp_text_base_name(directory)
								: directory,
			.is_last = tp_recordings_is_last(directory),
		};
	} else {
		tp_analysis_session_close(reading);
	}
	tp_rules_dir_release(&dirs);
	return status;
}

enum tp_status tp_analysis_session_render(const struct tp_analysis_session *reading,
					  const char *format, const struct tp_report_style *style,
					  char **text, size_t *size, struct tp_error *err)
{
	*text = NULL;
	*size = 0;
	FILE *memory = open_memstream(text, size);
	if (!memory)
		return tp_fail(err, TP_NOMEM, "out of memory for the report");
	enum tp_status status =
		tp_exporter_find(format)->write(&reading->report, style, memory, err);
	if (fclose(memory) != 0 && status == TP_OK)
		status = tp_fail(err, TP_NOMEM, "out of memory for the report");
	return status;
}

enum tp_status tp_analysis_session_save(const struct tp_analysis_session *reading,
					struct tp_error *err)
{
	const struct tp_report_style style = {.width = 80};
	char *text;
	size_t size;
	enum tp_status status =
		tp_analysis_session_render(reading, "json", &style, &text, &size, err);
	char *path = tp_asprintf("%s/report.json", reading->report.directory);
	if (status == TP_OK)
		status = tp_file_replace(path, text, size, err);
	free(path);
	free(text);
	return status;
}

void tp_analysis_session_close(struct tp_analysis_session *reading)
{
	if (reading->has_findings)
		tp_findings_release(&reading->findings);
	if (reading->has_profile)
		tp_profile_release(&reading->profile);
	if (reading->has_trace)
		tp_trace_release(&reading->trace);
	if (reading->patterns)
		tp_patterns_free(reading->patterns);
	if (reading->book)
		tp_rulebook_free(reading->book);
	free(reading->directory);
	*reading = (struct tp_analysis_session){0};
}
