/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "python": the Python stacks of threads, read from outside. */
#include "collect/callstack/python_processes.h"
#include "collect/machine/availability.h"
#include "collect/machine/stage_clock.h"
#include "collect/perf/perf_event.h"
#include "collect/registry.h"
#include "python_sampling.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <stdio.h>
#include <stdlib.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

/* Programs change most during their start. */
#define EARLY_NS        TP_NS_PER_S
#define EARLY_PERIOD_NS (10 * TP_NS_PER_MS)
#define LATER_PERIOD_NS (60 * TP_NS_PER_MS)
/* A process that does not run Python by then starts an interpreter later, if at all. */
#define NATIVE_AFTER_NS  (200 * TP_NS_PER_MS)
#define NATIVE_PERIOD_NS (240 * TP_NS_PER_MS)

/* Share of the requested stacks; above it the report says that many are unknown. */
static const double unknown_ratio_max = 0.02;

struct python {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_python_sampling follow;
	bool is_following;
	bool is_paused;
	uint64_t started_ns;
	uint64_t settle_ns; /* time of the next search for threads */
};

static void python_probe(const struct tp_host *host, struct tp_availability *out)
{
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
	if (host->is_live)
		return;
	out->presence = TP_PRESENCE_NO_DEVICE;
	snprintf(out->reason, sizeof(out->reason), "a recorded machine");
}

static enum tp_status python_open(struct tp_collector **out,
				  const struct tp_collect_context *context, struct tp_error *err)
{
	(void)err;
	struct python *self = tp_alloc(sizeof(*self));
	self->base.type = &tp_python_collector;
	self->context = context;
	python_probe(context->host, &self->base.availability);
	*out = &self->base;
	return TP_OK;
}

/* Uses the setup of perf's own events, which are open by now. Without them threads are not
 * followed, but waiting threads are still read. */
static void start_sampling(struct python *self)
{
	const struct tp_collect_config *actual = self->context->actual;
	bool has_kernel = tp_perf_test_open(true) == 0;
	struct tp_perf_setup setup = {.has_kernel = has_kernel,
				      .stack_bytes = actual->stack_bytes / 8 * 8};
	setup.period_ns = (uint64_t)((double)TP_NS_PER_S /
				     (actual->sample_rate_hz > 0.1 ? actual->sample_rate_hz : 0.1));
	if (!self->context->may_sample || (!has_kernel && tp_perf_test_open(false) != 0))
		return;
	self->is_following = tp_python_sampling_init(&self->follow, self->context, &setup) == 0;
}

static int python_wait_fd(const struct tp_collector *base)
{
	const struct python *self = (const struct python *)base;
	return self->is_following ? self->follow.epoll_fd : -1;
}

/* Sets the time of the next search for threads. After the start, and without Python, a search does
 * not cause a wake-up of its own (see sampler.c), because a wake-up costs more than the search. */
static void arm(struct python *self, uint64_t now_ns)
{
	struct tp_python_processes_stats counts;
	uint64_t age_ns = now_ns - self->started_ns;
	tp_python_processes_get_stats(self->context->pythons, &counts);
	bool is_native = !counts.n_found && age_ns >= NATIVE_AFTER_NS;
	bool is_early = age_ns < EARLY_NS;
	self->settle_ns = now_ns + (is_early ? EARLY_PERIOD_NS : LATER_PERIOD_NS);
	self->base.due_ns = is_early && !is_native ? self->settle_ns : 0;
}

static void update_threads(struct python *self, uint64_t now_ns)
{
	arm(self, now_ns);
	tp_python_processes_search(self->context->pythons, now_ns);
	if (self->is_following && !self->is_paused)
		tp_python_sampling_update(&self->follow, now_ns);
}

/* Called at a time that is independent of the target: periods are drawn again. */
static void on_poll(void *context)
{
	struct python *self = context;
	struct tp_stage_clock *stages = tp_task_tree_stages(self->context->tree);
	uint64_t now_ns = tp_clock_now_ns();
	if (now_ns < self->settle_ns)
		return;
	enum tp_stage before = tp_stage_enter_at(stages, TP_STAGE_RINGS, now_ns);
	update_threads(self, now_ns);
	tp_stage_enter(stages, before);
}

static enum tp_status python_start(struct tp_collector *base, pid_t target, struct tp_error *err)
{
	struct python *self = (struct python *)base;
	(void)target;
	(void)err;
	self->started_ns = tp_clock_now_ns();
	tp_task_tree_add_listener(self->context->tree, on_poll, self);
	start_sampling(self);
	self->base.due_ns = self->started_ns + EARLY_PERIOD_NS;
	return TP_OK;
}

static enum tp_status python_sample(struct tp_collector *base, uint64_t now_ns,
				    struct tp_error *err)
{
	struct python *self = (struct python *)base;
	(void)err;
	if (self->is_following)
		tp_python_sampling_read(&self->follow);
	/* Polls are preferred if there are any. */
	uint64_t patience_ns = self->base.due_ns ? 0 : NATIVE_PERIOD_NS / 2;
	if (now_ns >= self->settle_ns + patience_ns)
		update_threads(self, now_ns);
	return TP_OK;
}

static void python_pause(struct tp_collector *base, bool is_paused, uint64_t now_ns)
{
	struct python *self = (struct python *)base;
	(void)now_ns;
	self->is_paused = is_paused;
	if (is_paused && self->is_following)
		tp_python_sampling_stop(&self->follow);
}

/* The perf source has set its actual rate by now; threads that run Python may have been sampled
 * less. */
static void report_rate(const struct python *self)
{
	double rate_hz = (double)TP_NS_PER_S / (double)self->follow.setup.period_ns *
			 tp_python_sampling_kept_ratio(&self->follow);
	if (rate_hz < self->context->actual->sample_rate_hz)
		self->context->actual->sample_rate_hz = rate_hz;
}

/* Reports quality problems to the user. */
static void report_quality(struct python *self, const struct tp_python_processes_stats *counts)
{
	uint64_t n = counts->n_read + counts->n_unknown;
	const char *refusal = tp_python_processes_first_error(self->context->pythons);
	if (refusal[0])
		tp_availability_degrade(&self->base.availability, "%s", refusal);
	if (n > 0 && (double)counts->n_unknown > unknown_ratio_max * (double)n)
		tp_availability_degrade(&self->base.availability,
					"%.1f %% of the Python stacks did not hold still",
					100.0 * (double)counts->n_unknown / (double)n);
}

static enum tp_status python_stop(struct tp_collector *base, uint64_t now_ns, struct tp_error *err)
{
	struct python *self = (struct python *)base;
	struct tp_python_processes_stats counts;
	(void)now_ns;
	(void)err;
	tp_task_tree_remove_listener(self->context->tree, self);
	if (self->is_following) {
		const struct tp_python_sampling *follow = &self->follow;
		tp_python_sampling_read(&self->follow);
		tp_python_sampling_stop(&self->follow);
		report_rate(self);
		tp_info("%llu samples of Python threads: read %.0f us later, %llu late, %llu "
			"unknown, %llu fit and %llu do not",
			(unsigned long long)follow->n_samples,
			follow->delay_sum_ns / 1000 /
				(double)(follow->n_samples + !follow->n_samples),
			(unsigned long long)follow->n_late, (unsigned long long)follow->n_unread,
			(unsigned long long)follow->stacks.put.n_fitting,
			(unsigned long long)follow->stacks.put.n_unfitting);
	}
	tp_python_processes_get_stats(self->context->pythons, &counts);
	report_quality(self, &counts);
	if (counts.n_found || counts.n_refused)
		/* A stack that changed during the read is a sample without frames, not a lost
		 * record. */
		tp_sink_source(self->context->sink, base->type->name, base->type->summary,
			       &self->base.availability, counts.n_read,
			       self->is_following ? self->follow.n_lost : 0);
	return TP_OK;
}

static void python_close(struct tp_collector *base)
{
	struct python *self = (struct python *)base;
	tp_task_tree_remove_listener(self->context->tree, self);
	if (self->is_following)
		tp_python_sampling_release(&self->follow);
	free(self);
}

const struct tp_collector_type tp_python_collector = {
	.name = "python",
	.summary = "functions and lines of Python programs",
	.gains = "functions and lines of Python programs",
	.probe = python_probe,
	.open = python_open,
	.start = python_start,
	.wait_fd = python_wait_fd,
	.sample = python_sample,
	.pause = python_pause,
	.stop = python_stop,
	.stage = TP_STAGE_RINGS,
	.close = python_close,
	.period_ns = NATIVE_PERIOD_NS,
	.is_urgent = true,
};
