/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the sources while the target runs. */
#include "trainprof/collect/sampler.h"
#include "trainprof/collect/collector.h"

#include "collect/machine/sched_priority.h"
#include "collect/machine/stage_clock.h"
#include "plan_source.h"
#include "standstill.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define TICK_PERIOD_NS      TP_NS_PER_S
#define SECOND_INTERRUPT_NS (2 * TP_NS_PER_S)
#define NEVER_NS            UINT64_MAX
#define FRESH_NS            (2 * TP_NS_PER_MS) /* within this time the tree counts as current */

enum { MAX_EVENTS = 16, TIMEOUT_MAX_MS = 60000 };

/* The events that wake the loop in addition to timers and sources; sources have the number of their
 * row. */
enum { WAKE_TARGET = -1, WAKE_CALLER = -2 };

enum phase {
	PHASE_DELAY, /* sources update their state and emit nothing */
	PHASE_MEASURE,
	PHASE_OVER, /* finished; only waits for the end of the target */
};

struct loop {
	struct tp_plan *plan;
	struct tp_stage_clock *stages;
	struct tp_target *target;
	const struct tp_sampler_config *config;
	struct tp_sampler_result *out;
	int epoll_fd;
	enum phase phase;
	uint64_t *due_ns; /* by row; NEVER_NS if it has no timer */
	uint64_t fed_ns;  /* when the tree was last updated */
	uint64_t tick_ns;
	uint64_t change_ns;      /* time of the next phase */
	uint64_t interrupted_ns; /* time of the last Ctrl-C */
};

/* Sources with the same period are due together, so that one wake-up serves them all. */
static uint64_t next_due_ns(uint64_t now_ns, uint64_t period_ns)
{
	return period_ns ? (now_ns / period_ns + 1) * period_ns : NEVER_NS;
}

/* Returns when a source is due next. */
static uint64_t source_due_ns(const struct tp_collector *source, uint64_t now_ns)
{
	uint64_t due_ns = next_due_ns(now_ns, source->type->period_ns);
	return source->due_ns && source->due_ns < due_ns ? source->due_ns : due_ns;
}

/* A configured tick is due one whole period from now; the default tick of one second is due
 * together with the sources. */
static uint64_t next_tick_ns(const struct loop *loop, uint64_t now_ns)
{
	uint64_t period_ns = loop->config->tick_period_ns;
	return period_ns ? now_ns + period_ns : next_due_ns(now_ns, TICK_PERIOD_NS);
}

static bool loop_watch(const struct loop *loop, int fd, int who)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)(int64_t)who};
	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static enum tp_status loop_open(struct loop *loop, struct tp_error *err)
{
	size_t n = tp_plan_count(loop->plan);
	loop->due_ns = tp_alloc((n + 1) * sizeof(*loop->due_ns));
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0 || !loop_watch(loop, tp_target_wait_fd(loop->target), WAKE_TARGET) ||
	    (loop->config->watched && !loop_watch(loop, loop->config->watched_fd, WAKE_CALLER)))
		return tp_fail(err, TP_TARGET, "cannot wait for the program: %s",
			       tp_errno_text(errno));
	return TP_OK;
}

static void loop_close(struct loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	free(loop->due_ns);
}

/* Registers descriptors and due times after all sources were started. */
static void loop_arm(struct loop *loop, uint64_t now_ns)
{
	for (size_t i = 0; i < tp_plan_count(loop->plan); i++) {
		const struct tp_collector *source = tp_plan_source(loop->plan, i);
		loop->due_ns[i] = NEVER_NS;
		if (!source)
			continue;
		loop->due_ns[i] = source_due_ns(source, now_ns);
		int fd = source->type->wait_fd ? source->type->wait_fd(source) : -1;
		if (fd >= 0)
			loop_watch(loop, fd, (int)i);
	}
	loop->tick_ns = next_tick_ns(loop, now_ns);
}

static void loop_sample_one(struct loop *loop, size_t i)
{
	struct tp_collector *source = tp_plan_source(loop->plan, i);
	if (!source || !source->type->sample)
		return;
	uint64_t now_ns = tp_clock_now_ns();
	loop->due_ns[i] = next_due_ns(now_ns, source->type->period_ns);
	if (loop->phase == PHASE_DELAY && !source->type->pause)
		return;
	struct tp_error why = {0};
	tp_stage_enter_at(loop->stages, (enum tp_stage)source->type->stage, now_ns);
	enum tp_status status = source->type->sample(source, now_ns, &why);
	tp_stage_enter(loop->stages, TP_STAGE_NONE);
	if (status == TP_OK) {
		loop->due_ns[i] = source_due_ns(source, now_ns);
		return;
	}
	int fd = source->type->wait_fd ? source->type->wait_fd(source) : -1;
	if (fd >= 0)
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	tp_plan_drop(loop->plan, i, now_ns, &why);
	loop->due_ns[i] = NEVER_NS;
}

/* Sources that update the tree run first, unless they have just run. */
static void loop_sample(struct loop *loop, size_t i)
{
	const struct tp_collector *asked = tp_plan_source(loop->plan, i);
	bool is_urgent = asked && asked->type->is_urgent;
	for (size_t k = 0; k < tp_plan_count(loop->plan); k++) {
		const struct tp_collector *source = tp_plan_source(loop->plan, k);
		if (!source || !source->type->feeds_tree || (k != i && is_urgent))
			continue;
		uint64_t now_ns = tp_clock_now_ns();
		if (k != i && now_ns - loop->fed_ns < FRESH_NS)
			continue;
		loop->fed_ns = now_ns;
		loop_sample_one(loop, k);
		if (k == i)
			return;
		/* A whole period from now: no wake-up of its own while other sources run often. */
		if (loop->due_ns[k] != NEVER_NS && loop->due_ns[k] != source->due_ns)
			loop->due_ns[k] = now_ns + source->type->period_ns;
	}
	loop_sample_one(loop, i);
}

static void note_exit(const struct loop *loop, const char *text)
{
	if (loop->config->notice)
		loop->config->notice(loop->config->context, text);
}

/* Ends measuring; the target continues. */
static void loop_finish(struct loop *loop)
{
	if (loop->phase == PHASE_OVER)
		return;
	uint64_t now_ns = tp_clock_now_ns();
	if (loop->phase == PHASE_DELAY)
		loop->out->measure_from_ns = now_ns;
	loop->phase = PHASE_OVER;
	loop->out->measure_until_ns = now_ns;
	loop->change_ns = NEVER_NS;
	for (size_t i = 0; i < tp_plan_count(loop->plan); i++) {
		const struct tp_collector *source = tp_plan_source(loop->plan, i);
		int fd = source && source->type->wait_fd ? source->type->wait_fd(source) : -1;
		if (fd >= 0)
			epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	}
	tp_plan_finish(loop->plan, now_ns);
}

static void loop_begin(struct loop *loop, uint64_t now_ns)
{
	const struct tp_sampler_config *config = loop->config;
	loop->phase = PHASE_MEASURE;
	loop->out->measure_from_ns = now_ns;
	loop->change_ns = config->duration_ns ? now_ns + config->duration_ns : NEVER_NS;
}

/* Handles what is due: a change of phase, samples, a tick. */
static void loop_catch_up(struct loop *loop)
{
	uint64_t now_ns = tp_clock_now_ns();
	if (now_ns >= loop->change_ns && loop->phase == PHASE_DELAY) {
		tp_plan_pause(loop->plan, false, now_ns);
		loop_begin(loop, now_ns);
	} else if (now_ns >= loop->change_ns) {
		loop_finish(loop);
	}
	for (size_t i = 0; loop->phase != PHASE_OVER && i < tp_plan_count(loop->plan); i++) {
		const struct tp_collector *source = tp_plan_source(loop->plan, i);
		if (!source || now_ns < loop->due_ns[i])
			continue;
		loop_sample(loop, i);
	}
	if (loop->phase != PHASE_OVER && now_ns >= loop->tick_ns) {
		loop->tick_ns = next_tick_ns(loop, now_ns);
		tp_stage_enter(loop->stages, TP_STAGE_STORE);
		bool goes_on =
			!loop->config->tick || loop->config->tick(loop->config->context, now_ns);
		tp_stage_enter(loop->stages, TP_STAGE_NONE);
		if (!goes_on)
			loop_finish(loop);
	}
}

/* A second Ctrl-C shortly after the first: the user wants the prompt back, not data. */
static void loop_interrupt(struct loop *loop)
{
	uint64_t now_ns = tp_clock_now_ns();
	bool is_second =
		loop->interrupted_ns && now_ns - loop->interrupted_ns <= SECOND_INTERRUPT_NS;
	loop->interrupted_ns = now_ns;
	if (!is_second || loop->phase == PHASE_OVER)
		return;
	loop->out->was_interrupted = true;
	note_exit(loop, "measuring stopped at the second Ctrl-C");
	loop_finish(loop);
}

/* Returns the time until something must run, in ms for epoll_wait(): one system call per round,
 * whereas a timer takes three. -1 = nothing. A source that is due by its period may be late by half
 * of it: usually something else has woken us by then, and a wake-up costs more than the work. */
static int loop_timeout_ms(const struct loop *loop)
{
	uint64_t at_ns = loop->change_ns;
	if (loop->phase != PHASE_OVER) {
		if (loop->tick_ns < at_ns)
			at_ns = loop->tick_ns;
		for (size_t i = 0; i < tp_plan_count(loop->plan); i++) {
			const struct tp_collector *source = tp_plan_source(loop->plan, i);
			bool has_slack = source && loop->due_ns[i] != source->due_ns;
			uint64_t slack_ns = has_slack ? source->type->period_ns / 2 : 0;
			if (loop->due_ns[i] < at_ns && loop->due_ns[i] + slack_ns < at_ns)
				at_ns = loop->due_ns[i] + slack_ns;
		}
	}
	if (at_ns == NEVER_NS)
		return -1;
	uint64_t now_ns = tp_clock_now_ns();
	uint64_t left_ns = at_ns > now_ns ? at_ns - now_ns : 0;
	uint64_t left_ms = (left_ns + TP_NS_PER_MS - 1) / TP_NS_PER_MS;
	return left_ms < TIMEOUT_MAX_MS ? (int)left_ms : TIMEOUT_MAX_MS;
}

/* From the end of its own work to the next wake-up the loop only sleeps and does nothing that takes
 * long. */
static void loop_check_standstill(const struct loop *loop, const struct tp_standstill_now *before,
				  int timeout_ms, unsigned news)
{
	const struct tp_standstill_now after = tp_standstill_read();
	if (loop->phase != PHASE_MEASURE)
		return;
	uint64_t meant_ns = timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * TP_NS_PER_MS;
	tp_standstill_check(tp_plan_sink(loop->plan), before, &after, meant_ns,
			    (news & TP_TARGET_STOPPED) != 0, tp_target_pid(loop->target));
}

/* Sleeps until an event occurs; returns the target's news, the rest is in `events`. */
static unsigned loop_wait(const struct loop *loop, struct epoll_event *events, int *n)
{
	int timeout_ms = loop_timeout_ms(loop);
	const struct tp_standstill_now before = tp_standstill_read();
	unsigned news = 0;
	if (tp_stage_end_round(loop->stages))
		tp_stage_update(loop->stages, tp_clock_thread_cpu_ns());
	*n = epoll_wait(loop->epoll_fd, events, MAX_EVENTS, timeout_ms);
	/* After a stop and continue: the target's signals are pending, but not yet among the
	 * events. */
	bool is_for_target = *n < 0;
	for (int i = 0; i < *n; i++)
		is_for_target |= (int)(int64_t)events[i].data.u64 == WAKE_TARGET;
	if (is_for_target)
		news = tp_target_poll(loop->target);
	loop_check_standstill(loop, &before, timeout_ms, news);
	return news;
}

static void loop_run(struct loop *loop)
{
	for (;;) {
		struct epoll_event events[MAX_EVENTS];
		int n;
		unsigned news = loop_wait(loop, events, &n);
		for (int i = 0; i < n; i++) {
			int who = (int)(int64_t)events[i].data.u64;
			if (who == WAKE_CALLER && !loop->config->watched(loop->config->context))
				loop_finish(loop);
			else if (who >= 0 && loop->phase != PHASE_OVER)
				loop_sample(loop, (size_t)who);
		}
		if (news & (TP_TARGET_ENDED | TP_TARGET_DETACH))
			return;
		if (news & TP_TARGET_INTERRUPTED)
			loop_interrupt(loop);
		loop_catch_up(loop);
		if (loop->phase == PHASE_OVER && tp_target_is_attached(loop->target))
			return; /* its end is not awaited */
	}
}

enum tp_status tp_sampler_run(struct tp_plan *plan, struct tp_target *target,
			      const struct tp_sampler_config *config, struct tp_sampler_result *out,
			      struct tp_error *err)
{
	struct loop loop = {.plan = plan,
			    .stages = tp_plan_stages(plan),
			    .target = target,
			    .config = config,
			    .out = out,
			    .epoll_fd = -1};
	struct tp_sched_priority priority;
	*out = (struct tp_sampler_result){0};
	tp_sched_priority_raise(&priority);
	enum tp_status status = loop_open(&loop, err);
	if (status)
		goto out;
	if (config->delay_ns)
		tp_plan_pause(plan, true, tp_clock_now_ns());
	out->started_ns = tp_clock_now_ns();
	status = tp_plan_start(plan, tp_target_pid(target), err);
	if (status)
		goto out;
	if (config->started)
		config->started(config->context);
	/* When attaching, measuring begins when all threads are known. */
	uint64_t ready_ns = tp_clock_now_ns();
	if (!tp_target_is_attached(target))
		out->started_ns = ready_ns;
	status = tp_target_release(target, err);
	if (status) {
		out->measure_from_ns = out->measure_until_ns = tp_clock_now_ns();
		tp_plan_finish(plan, out->measure_until_ns);
		out->end = *tp_target_reap(target);
		goto out;
	}
	uint64_t now_ns = tp_clock_now_ns();
	loop.phase = PHASE_DELAY;
	loop.change_ns = out->started_ns + config->delay_ns;
	if (!config->delay_ns)
		loop_begin(&loop, ready_ns);
	loop_arm(&loop, now_ns);
	tp_stage_update(loop.stages, tp_clock_thread_cpu_ns());
	loop_run(&loop);
	/* A zombie until it is reaped: its final accounting can still be read. */
	loop_finish(&loop);
	if (!tp_target_is_attached(target))
		tp_plan_wait_for_threads(plan);
	out->end = *tp_target_reap(target);
out:
	loop_close(&loop);
	tp_sched_priority_restore(&priority);
	return status;
}
