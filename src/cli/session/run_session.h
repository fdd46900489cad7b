/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a recording on disk from a command line: the first half of run and attach. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RUN_SESSION_H
#define TRAINPROF_SRC_CLI_SESSION_RUN_SESSION_H

#include "cli/options/command.h"
#include "cli/options/options.h"
#include "cli/session/analysis_session.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/collect/plan.h"
#include "trainprof/collect/target.h"
#include "trainprof/model/job_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rank that is measured, and the folder of its job. */
struct tp_run_job {
	struct tp_job_place place;
	const char *folder;
};

struct tp_run_options {
	struct tp_analysis_session_options reading; /* options of the report after the run */
	uint64_t delay_ns;
	uint64_t duration_ns;
	const char *collect;
	const char *require;
	double max_overhead;
	double rate_hz;
	uint64_t max_size;
	const char *output;
	bool force;
	const char *label;
	const char *log;
	bool is_live; /* the terminal shows the recording; the program gets neither it nor its keys
		       */
	const char *gpu_trace; /* "windows", "continuous", "off" */
	bool wants_counters;
	const char *summary; /* "short", "full", "none" */
	bool is_dry_run;
	bool is_strict;
	bool is_digest_only;
	bool keeps_last; /* other commands go on reading the recording before */
	uint64_t grace_ns;
	struct tp_words env;
	bool keeps_arguments;
	const struct tp_run_job *job; /* no command-line option; NULL = not a rank of a job */
};

#define TP_RUN_DEFAULTS                                                                            \
	{                                                                                          \
		.reading = {.steps = "auto"}, .max_overhead = 0.01, .rate_hz = 99,                 \
		.max_size = UINT64_C(2) << 30, .summary = "short", .grace_ns = 10 * TP_NS_PER_S,   \
		.gpu_trace = "off"                                                                 \
	}

/* Options of all commands that measure, without the place of their values. */
/* clang-format off */
#define TP_OPTION_DELAY \
	.name = "delay", .type = TP_OPTION_DURATION, .value = "TIME", \
	.text = "start measuring later", .otherwise = "0s"
#define TP_OPTION_DURATION_TIME \
	.letter = 'd', .name = "duration", .type = TP_OPTION_DURATION, .value = "TIME", \
	.text = "stop measuring after TIME"
#define TP_OPTION_COLLECT \
	.name = "collect", .type = TP_OPTION_TEXT, .value = "LIST", \
	.text = "collectors (see trainprof doctor): +name adds, -name removes one", \
	.otherwise = "all available"
#define TP_OPTION_SAMPLE_RATE \
	.name = "rate", .type = TP_OPTION_RATE, .value = "HZ", \
	.text = "stack samples per second and thread", .otherwise = "99", .is_rare = true
#define TP_OPTION_SUMMARY \
	.name = "summary", .type = TP_OPTION_CHOICE, .value = "HOW", \
	.text = "short, full, none", .otherwise = "short", .choices = tp_summary_choices

/* Rows that run and attach share, in the order in which both show them; of struct tp_run_options.
 * Needs recordings.h. */
#define TP_RUN_AT(member) .offset = offsetof(struct tp_run_options, member)
#define TP_RUN_ROWS \
	{TP_OPTION_COLLECT, TP_RUN_AT(collect)}, \
	{.name = "require", .type = TP_OPTION_TEXT, .value = "LIST", \
	 .text = "fail if one of these collectors is not available", .otherwise = "none", \
	 TP_RUN_AT(require)}, \
	{.name = "counters", .type = TP_OPTION_FLAG, \
	 .text = "read GPU counters for 1 s in every 10 s; GPU clocks are locked " \
		 "during that second", \
	 .is_own = true, TP_RUN_AT(wants_counters)}, \
	{.name = "max-overhead", .type = TP_OPTION_PERCENT, .value = "P", \
	 .text = "reduce detail to keep the overhead below P", .otherwise = "1%", TP_RUN_AT(max_overhead)}, \
	{.name = "max-size", .type = TP_OPTION_SIZE, .value = "SIZE", \
	 .text = "maximum size of the recording", .otherwise = "2GiB", TP_RUN_AT(max_size)}, \
	{TP_OPTION_SAMPLE_RATE, TP_RUN_AT(rate_hz)}, \
	{.name = "env", .type = TP_OPTION_WORDS, .value = "NAME", \
	 .text = "record this environment variable too", .is_rare = true, TP_RUN_AT(env)}, \
	{.name = "keep-arguments", .type = TP_OPTION_FLAG, \
	 .text = "do not mask passwords, tokens and keys that are recorded", .is_rare = true, \
	 .is_own = true, TP_RUN_AT(keeps_arguments)}, \
	{TP_OPTION_OUTPUT, .section = "Where it goes", TP_RUN_AT(output)}, \
	{TP_OPTION_LABEL, .otherwise = "program name", TP_RUN_AT(label)}
#define TP_RUN_LAST_ROWS \
	{TP_OPTION_FORCE, TP_RUN_AT(force)}, \
	{.name = "grace", .type = TP_OPTION_DURATION, .value = "TIME", \
	 .text = "abandon the report if it takes longer than TIME", .otherwise = "10s", .is_rare = true, \
	 TP_RUN_AT(grace_ns)}, \
	{TP_OPTION_RULES, .is_rare = true, TP_RUN_AT(reading.rules)}, \
	{TP_OPTION_LENIENT, TP_RUN_AT(reading.is_lenient)}
#define TP_OPTION_GPU_TRACE \
	.name = "gpu-trace", .type = TP_OPTION_CHOICE, .value = "HOW", \
	.text = "trace the GPU: windows, continuous, off", .otherwise = "off", \
	.choices = tp_gpu_trace_choices, .is_own = true
/* clang-format on */

/* Words of --summary and --gpu-trace, NULL-terminated. */
extern const char *const tp_summary_choices[];
extern const char *const tp_gpu_trace_choices[];

/* The result of a measurement. */
struct tp_run_session_result {
	char *directory; /* of the recording, owned */
	struct tp_target_end end;
	bool was_interrupted; /* the user does not want to wait for a report */
	bool is_whole;        /* the recording did not stop early */
	bool is_gone;         /* no path leads to it: `directory` is missing or not ours */
	bool could_run;       /* nothing was measured, but the program can run without it */
	char note[240];       /* "recording stopped after 0:41: …", or "" */
	char program[80];     /* name of the program in messages */
	bool had_no_keys;     /* what was typed meanwhile was not for the program */
};

/* Probes the sources, with the options' selection; prints nothing. The plan borrows host. */
TP_MUST_CHECK enum tp_status tp_run_session_plan(struct tp_plan **out, const struct tp_host *host,
						 const struct tp_run_options *options,
						 bool is_attaching, struct tp_error *err);

/* Appends one line about the sources that are off but could be enabled: "CPU stacks are off:
 * perf_event_paranoid is 4". `next`, if not NULL, receives what to type. Returns false if there is
 * no such source. */
bool tp_run_session_add_missing(struct tp_buf *out, const struct tp_plan *plan,
				const struct tp_host *host, char *next, size_t size);

/* Returns the exit status for a process that cannot be attached to; prints the reason. */
int tp_run_session_refused(const struct tp_error *err);

/* Measures the program to its end. Returns the exit status of run if nothing was measured (125,
 * 126, 127, 2; the reason has been printed), or -1 if `out` has a recording. */
int tp_run_session_run(struct tp_run_session_result *out, const struct tp_cli *cli,
		       const struct tp_run_options *options, char **argv);

/* Measures a running process, and its children, until it ends, until the end of --duration or until
 * a signal stops us; the process continues. Returns -1 if `out` has a recording, otherwise the exit
 * status of attach: 2 (no such process), 4 (no output), 5 (refused). */
int tp_run_session_attach(struct tp_run_session_result *out, const struct tp_cli *cli,
			  const struct tp_run_options *options, pid_t pid);

/* True if the measurement is complete; if not, prints one line about it, before the summary that it
 * affects. */
bool tp_run_session_check_whole(const struct tp_run_session_result *measured);

#endif
