/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a measurement: wakes when a source is due or has data, until the target ends.
 *
 * It has only one thread on purpose. All sources share the tree of threads and the sink, and their
 * work is short and bounded: a second thread would need locks around both and cause context
 * switches on the CPUs on which the target computes. A source that fails is stopped and leaves a
 * gap; the run continues.
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
	uint64_t duration_ns; /* length of the measurement; 0 = until the end. The target continues.
			       */
	/* The sources have started, and failures are known. May be NULL. */
	void (*started)(void *context);
	/* Called about once a period while measuring, to flush and to check limits. False stops the
	 * measurement. May be NULL. */
	bool (*tick)(void *context, uint64_t now_ns);
	uint64_t tick_period_ns; /* 0 = a second */
	/* For a descriptor of the caller that is polled together with ours: `watched` is called
	 * when it is readable, and reads it. False stops the measurement. NULL = none. */
	bool (*watched)(void *context);
	int watched_fd;
	/* One line for the user, without "trainprof:" and newline. May be NULL. */
	void (*notice)(void *context, const char *text);
	void *context;
};

struct tp_sampler_result {
	uint64_t started_ns;       /* time of the target's exec, or of attaching */
	uint64_t measure_from_ns;  /* when measuring began; equal to until if it never did */
	uint64_t measure_until_ns; /* when it stopped */
	bool was_interrupted;      /* by a second Ctrl-C: the report may be skipped */
	struct tp_target_end end;
};

/* Releases the target and follows it to its end; sources are started before and finished in here.
 * Fills `out` even if the target could not be executed. An attached target is left at the end of
 * duration_ns or when a signal requests it. Errors  TP_TARGET (exec failed: see
 * tp_target_exit_status()), TP_DENIED (a required source). */
TP_MUST_CHECK enum tp_status tp_sampler_run(struct tp_plan *plan, struct tp_target *target,
					    const struct tp_sampler_config *config,
					    struct tp_sampler_result *out, struct tp_error *err);

#endif
