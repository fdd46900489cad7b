/* From a command line to a recording on disk: the first half of run. */
#ifndef TRAINPROF_SRC_CLI_MEASURING_H
#define TRAINPROF_SRC_CLI_MEASURING_H

#include "command.h"
#include "options.h"
#include "trainprof/base/clock.h"
#include "trainprof/collect/host.h"
#include "trainprof/collect/plan.h"
#include "trainprof/collect/target.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_run_options {
	const char *steps;
	uint64_t skip;
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
	const char *summary; /* "short", "full", "none" */
	bool is_dry_run;
	bool is_strict;
	uint64_t grace_ns;
	struct tp_words env;
	struct tp_words rules;
};

#define TP_RUN_DEFAULTS                                                                            \
	{                                                                                          \
		.steps = "auto", .max_overhead = 0.01, .rate_hz = 99,                              \
		.max_size = UINT64_C(2) << 30, .summary = "short", .grace_ns = 10 * TP_NS_PER_S    \
	}

/* What came of it. */
struct tp_measured {
	char *directory; /* of the recording, owned */
	struct tp_target_end end;
	bool was_interrupted; /* the reader does not want to wait for a report */
	bool is_whole;        /* recording never stopped early */
	char note[240];       /* "recording stopped after 0:41: …", or "" */
};

/* Probe, with the options' selection; prints nothing. The plan borrows host. */
TP_MUST_CHECK enum tp_status tp_measure_plan(struct tp_plan **out, const struct tp_host *host,
					     const struct tp_run_options *options,
					     struct tp_error *err);

/*
 * Measure the program to its end. Returns the exit status that run must have when nothing was
 * measured (125, 126, 127, 2; the reason has been said), or -1 when `out` holds a recording.
 */
int tp_measure(struct tp_measured *out, const struct tp_cli *cli,
	       const struct tp_run_options *options, char **argv);

#endif
