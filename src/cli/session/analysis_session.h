/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording from disk for a report: loads, analyses and judges it. */
#ifndef TRAINPROF_SRC_CLI_SESSION_ANALYSIS_SESSION_H
#define TRAINPROF_SRC_CLI_SESSION_ANALYSIS_SESSION_H

#include "cli/options/options.h"
#include "trainprof/advise/advise.h"
#include "trainprof/analyze/analyze.h"
#include "trainprof/report/report.h"

/* Options of commands for reading a recording; borrowed texts. */
struct tp_analysis_session_options {
	const char *steps;     /* a word of tp_steps_choices; NULL = "auto" */
	uint64_t skip;         /* minimum number of first steps to leave out */
	const char *rank;      /* number of the rank, in a recording of several; NULL = the first */
	struct tp_words rules; /* folders in addition to the shipped one */
	const char *redact;    /* words of tp_redaction_parse(); NULL = everything is shown */
	bool is_lenient;       /* skip invalid rules and report them */
};

/* Everything about one recording; members point into each other, so it is never copied. */
struct tp_analysis_session {
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_findings findings;
	struct tp_patterns *patterns;
	struct tp_rulebook *book;
	struct tp_error no_rules; /* the reason if there are no findings */
	struct tp_report report;
	char *directory; /* heap; NULL if the caller owns the name */
	size_t n_ranks;  /* in a recording of several ranks, of which one is judged; else 0 */
	bool has_trace, has_profile, has_findings;
};

/* Reads the recording in a directory (borrowed). If the rules cannot be loaded, the report has no
 * findings but the reason; everything else is an error.
 * Errors  as tp_store_load(); TP_ABSENT, TP_PARSE for patterns; TP_USAGE: no such rank. */
TP_MUST_CHECK enum tp_status
tp_analysis_session_open(struct tp_analysis_session *reading, const char *directory,
			 const struct tp_analysis_session_options *options, struct tp_error *err);
void tp_analysis_session_close(struct tp_analysis_session *reading);

/* Writes the report with the exporter of that name into memory; `text` is freed by the caller, also
 * on failure.
 * Errors  TP_NOMEM, and those of the exporter. */
TP_MUST_CHECK enum tp_status tp_analysis_session_render(const struct tp_analysis_session *reading,
							const char *format,
							const struct tp_report_style *style,
							char **text, size_t *size,
							struct tp_error *err);
/* Writes report.json into the recording.
 * Errors  the same, TP_IO. */
TP_MUST_CHECK enum tp_status tp_analysis_session_save(const struct tp_analysis_session *reading,
						      struct tp_error *err);

/* Words of --steps, NULL-terminated. */
extern const char *const tp_steps_choices[];

/* Options of all commands that judge a recording, without the place of their values. */
/* clang-format off */
#define TP_OPTION_STEPS \
	.letter = 's', .name = "steps", .type = TP_OPTION_CHOICE, .value = "HOW", \
	.text = "auto, marker, none", .otherwise = "auto", .choices = tp_steps_choices
#define TP_OPTION_SKIP \
	.name = "skip", .type = TP_OPTION_COUNT, .value = "N", \
	.text = "exclude the first N steps", .otherwise = "until steady"
#define TP_OPTION_RANK \
	.name = "rank", .type = TP_OPTION_TEXT, .value = "N", \
	.text = "only this rank of a job", .is_rare = true
#define TP_OPTION_RULES \
	.name = "rules", .type = TP_OPTION_WORDS, .value = "DIR", \
	.text = "use the rules in DIR in addition to the built-in ones", .is_own = true
#define TP_OPTION_REDACT \
	.name = "redact", .type = TP_OPTION_TEXT, .value = "WHAT", \
	.text = "remove command, paths, hosts, env, or all"
#define TP_OPTION_LENIENT \
	.name = "lenient", .type = TP_OPTION_FLAG, .is_rare = true, \
	.text = "skip invalid rules with a warning"

/* Rows of an option table for a struct tp_analysis_session_options at that offset. */
#define TP_READING_ROWS(at) \
	{TP_OPTION_STEPS, .offset = (at) + offsetof(struct tp_analysis_session_options, steps)}, \
	{TP_OPTION_SKIP, .offset = (at) + offsetof(struct tp_analysis_session_options, skip)}, \
	{TP_OPTION_RANK, .offset = (at) + offsetof(struct tp_analysis_session_options, rank)}, \
	{TP_OPTION_RULES, .offset = (at) + offsetof(struct tp_analysis_session_options, rules)}, \
	{TP_OPTION_REDACT, .offset = (at) + offsetof(struct tp_analysis_session_options, redact)}, \
	{TP_OPTION_LENIENT, .offset = (at) + offsetof(struct tp_analysis_session_options, is_lenient)}
/* clang-format on */

#endif
