/* SPDX-License-Identifier: Apache-2.0 */
/* A run as described by its report.json, or a job by the report of its ranks: the input of
 * comparisons, budgets and baselines. No recording is needed, so an artifact of a CI job is
 * enough. */
#ifndef TRAINPROF_MODEL_RUN_VALUES_H
#define TRAINPROF_MODEL_RUN_VALUES_H

#include "trainprof/base/arena.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/model/finding.h"
#include "trainprof/model/part.h"
#include "trainprof/model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rule and its result. Texts are NULL if the report has none. */
struct tp_value_finding {
	const char *rule;
	enum tp_finding_state state;
	const char *title;
	const char *headline; /* the advice */
	const char *because;
	const char *verify; /* the metric that must move */
	const char *confidence;
	const char *fingerprint;
	bool is_advice; /* fired and shown: neither a note nor suppressed by a more specific rule */
	bool has_gain;
	double gain_low; /* speed-up factors */
	double gain_value;
	double gain_high;
	bool is_gain_of_loop; /* not of a step; false in reports that do not say it */
	tp_fact_id moves;     /* the fact that `verify` names; tp_n_facts if none */
};

/* Where time goes: a line of a program, or a kernel of a device. */
struct tp_value_place {
	const char *text; /* "train.py:41 (load)", a kernel's name */
	const char *part; /* name of the part; NULL for a kernel */
	const char *file; /* NULL for a kernel */
	uint64_t line;
	bool is_own; /* innermost line in the user's files; other lines are those of the loop */
	double per_step_ns;
};

/* Largest first; NULL where the report has none of them. */
struct tp_value_places {
	const struct tp_value_place *items;
	size_t n;
};

struct tp_value_pair {
	const char *name;
	const char *value;
};

/* All pointers are into the caller's arena. Zero and NULL = unknown. */
struct tp_run_values {
	const char *name; /* as typed by the user */
	const char *id;   /* of the recording; NULL for a job */
	const char *label;
	const char *mode; /* "run", "attach", "import", "job" */
	bool is_job;      /* of several ranks: rules without advice are neither fired nor quiet */
	const char *const *command;
	size_t n_command;
	const char *end; /* "exited", "signaled" … */
	uint64_t end_code;
	const char *end_signal;
	bool is_partial; /* it was not closed; of a job also: ranks are missing */
	const char *started_at;
	const char *version; /* of trainprof */
	const char *commit;  /* of the repository in which it ran */
	const char *host;
	const char *kernel;
	const char *cpu_model;
	double n_allowed; /* CPUs */
	double quota_cpus;
	const char *device; /* name of the first one */
	uint64_t n_devices;
	uint64_t n_ranks;
	const struct tp_value_pair *variables;
	size_t n_variables;
	struct tp_quantity facts[TP_MAX_FACTS];
	/* Per step, or for the whole window if there are no steps. */
	bool has_steps;
	uint64_t n_steps;
	bool has_parts;
	double part_ns[TP_N_PARTS];
	double part_error_ns[TP_N_PARTS]; /* standard error within the run */
	const char *verdict_title;
	const struct tp_value_finding *findings;
	size_t n_findings;
	struct tp_value_places places;
	struct tp_value_places loader_lines; /* in CPU time of the threads that make batches */
};

#endif
