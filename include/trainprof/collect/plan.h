/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what is measured here: probes every known source, and keeps those that are missing with
 * reason and remedy. Then manages the running sources, from open to finish. */
#ifndef TRAINPROF_COLLECT_PLAN_H
#define TRAINPROF_COLLECT_PLAN_H

#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_plan;
struct tp_host;           /* trainprof/collect/host_info.h */
struct tp_env;            /* trainprof/collect/env.h */
struct tp_collect_config; /* trainprof/collect/collector.h */
struct tp_collector_type; /* the same */

/* Lists of source names, separated by commas. */
struct tp_selection {
	const char *collect; /* "a,b": only these; "+a,-b": all available ones, changed; NULL */
	const char *require; /* a missing one is an error; NULL */
};

/* One row each for --dry-run, doctor and the report, in the order of sampling. */
struct tp_plan_row {
	const struct tp_collector_type *type;
	struct tp_availability availability;
	bool is_chosen;   /* will run, or is running */
	bool is_required; /* by the selection */
};

/*
 * Probe all sources and choose. `config` is copied; host and its strings are borrowed.
 * Errors  TP_USAGE (a name that does not exist, with the nearest one), TP_DENIED (a required source
 * cannot run: the text says why, err->next what to type).
 */
TP_MUST_CHECK enum tp_status tp_plan_make(struct tp_plan **out, const struct tp_host *host,
					  const struct tp_collect_config *config,
					  const struct tp_selection *selection,
					  struct tp_error *err);
void tp_plan_free(struct tp_plan *plan); /* NULL is allowed; closes what is open */

size_t tp_plan_count(const struct tp_plan *plan);
const struct tp_plan_row *tp_plan_row(const struct tp_plan *plan, size_t i);
/* Depends on the chosen sources and how well they work; exact after tp_plan_start(). */
enum tp_tier tp_plan_tier(const struct tp_plan *plan);
/* Rates and stack bytes as lowered to what works here. Exact after tp_plan_start(). */
const struct tp_collect_config *tp_plan_config(const struct tp_plan *plan);

/* Opens the chosen sources. Raises the soft limit of open files to the hard one, so save the
 * inherited limits before. A source that cannot be opened is marked as missing in its row. Errors
 * TP_DENIED if a required one cannot be opened. */
TP_MUST_CHECK enum tp_status tp_plan_open(struct tp_plan *plan, struct tp_sink *sink,
					  struct tp_error *err);
/* Collects the sources' additions to the target's environment. */
void tp_plan_child_env(struct tp_plan *plan, struct tp_env *env);
/* The target exists and is held before its exec. Errors as tp_plan_open(). */
TP_MUST_CHECK enum tp_status tp_plan_start(struct tp_plan *plan, pid_t target,
					   struct tp_error *err);
/* Stops all sources; buffered data and losses go to the sink. Called once. */
void tp_plan_finish(struct tp_plan *plan, uint64_t now_ns);

#endif
