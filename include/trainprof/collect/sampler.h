/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a measurement: wakes when a source is due or has something, until the target ends.
 *
 * One thread on purpose. All sources share the tree of threads and the sink, and what they do is
 * short and bounded: a second thread would buy locks around both, and context switches on the CPUs
 * that the target computes on. A source that fails is stopped and leaves a gap; the run goes on.
 */
#ifndef TRAINPROF_COLLECT_SAMPLER_H
#define TRAINPROF_COLLECT_SAMPLER_H

#include "trainprof/base/status.h"
#include "trainprof/collect/plan.h"
#include "trainprof/collect/target.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_sampler_config {
	uint64_t delay_ns;    /* measure only from then on; 0 = from the start */
	uint64_t duration_ns; /* of measuring; 0 = until the end. The target goes on. */
	/* The sources have started, and it is known which could not. May be NULL. */
	void (*started)(void *context);
	/* About once a period while measuring: flush, look at limits. False stops the measuring.
	 * May be NULL. */
	bool (*tick)(void *context, uint64_t now_ns);
	uint64_t tick_period_ns; /* 0 = a second */
	/* A descriptor of the caller's, looked at with ours: `watched` is called when it is
	 * readable, and takes what is there. False stops the measuring. NULL: there is none. */
	bool (*watched)(void *context);
	int watched_fd;
	/* One line for the user, without "trainprof:" and newline. May be NULL. */
	void (*notice)(void *context, const char *text);
	void *context;
};

struct tp_sampler_result {
	uint64_t started_ns;       /* the target's exec; when attaching to it began */
	uint64_t measure_from_ns;  /* when measuring began; equal to until when it never did */
	uint64_t measure_until_ns; /* when it stopped */
	bool was_interrupted;      /* by a second Ctrl-C: the report may be skipped */
	struct tp_target_end end;
};

/*
 * Release the target and follow it to its end; sources are started before and finished here. Fills
 * `out` also when the target could not be executed. One that was attached to is left at the end of
 * duration_ns or when a signal tells us to leave.
 * Errors  TP_TARGET (exec failed: see tp_target_exit_status()), TP_DENIED (a required source).
 */
TP_MUST_CHECK enum tp_status tp_sampler_run(struct tp_plan *plan, struct tp_target *target,
					    const struct tp_sampler_config *config,
					    struct tp_sampler_result *out, struct tp_error *err);

#endif
