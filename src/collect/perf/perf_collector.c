/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "perf": stacks of running threads and every context switch, from the kernel's
 * events. */
#include "collect/machine/stage_clock.h"
#include "collect/registry.h"

#include "collect/callstack/python_processes.h"
#include "collect/machine/availability.h"
#include "collect/process/task_tree.h"
#include "perf_attach.h"
#include "perf_cost.h"
#include "perf_dispatch.h"
#include "perf_epoll.h"
#include "perf_event.h"
#include "perf_governor.h"
#include "perf_period_update.h"
#include "perf_pin.h"
#include "perf_probe.h"
#include "perf_ring.h"
#include "perf_setup.h"
#include "perf_system_wide.h"
#include "switched_stack_watch.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

/* A record is written within this time after its timestamp was taken. */
#define WRITE_DELAY_MAX_NS (5 * TP_NS_PER_MS)
/* Time limit of one call; the rest waits for the next call. */
#define WORK_LIMIT_NS    (20 * TP_NS_PER_MS)
#define UPDATE_PERIOD_NS TP_NS_PER_S

enum {
	CLOCK_EVERY = 64, /* records between readings of the clock */
};

/* Stacks are dropped when a ring is fuller than fill_high, and unwound again below fill_low. */
static const double fill_high = 0.75;
static const double fill_low = 0.40;

struct perf {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_perf_setup setup;
	struct tp_perf_cost cost;
	struct tp_perf_events events;
	struct tp_perf_ring_merge merge;
	struct tp_perf_dispatch feed;
	struct tp_perf_governor governor;
	struct tp_perf_attach attach; /* if the target already runs */
	bool is_started;
	struct tp_perf_epoll wait;
	struct tp_perf_period_update redraw;
	struct tp_perf_system_wide wide;
	struct tp_perf_pins pins;
	struct tp_switched_stack_watch watch;
	bool has_watch;
	uint64_t settle_at_ns;
	uint64_t govern_at_ns;
	uint64_t switches_off_ns; /* start time; 0 = they are on */
	double unseen_switches;   /* switches while records were off, in units of a recorded one */
};

static struct perf *perf_of(struct tp_collector *self)
{
	return (struct perf *)self; /* its first member */
}

static enum tp_status perf_open(struct tp_collector **out, const struct tp_collect_context *context,
				struct tp_error *err)
{
	struct perf *perf = tp_alloc(sizeof(*perf));
	perf->context = context;
	perf->redraw.pace.seed = tp_clock_now_ns() ^ (uint64_t)getpid() << 40;
	int failure = tp_perf_epoll_open(&perf->wait);
	if (failure) {
		free(perf);
		return tp_fail_errno(err, failure, "cannot wait for perf rings");
	}
	tp_perf_probe(context->host, &perf->base.availability);
	tp_perf_setup_choose(&perf->setup, &perf->cost, context, &perf->base.availability);
	tp_perf_setup_load_symbols(&perf->setup, context);
	*out = &perf->base;
	return TP_OK;
}

/* Collects the counts for the governor; `out` borrows from the dispatcher. */
static void current_usage(const struct perf *perf, uint64_t now_ns, struct tp_perf_usage *out)
{
	uint64_t period_ns = perf->events.setup.period_ns * perf->governor.period_factor;
	const struct tp_python_processes *pythons = perf->context->pythons;
	*out = (struct tp_perf_usage){
		.now_ns = now_ns,
		.n_switches = perf->feed.n_switches,
		.n_samples = perf->feed.n_samples + perf->feed.n_leavings,
		.n_leavings = perf->feed.n_leavings,
		.self_cpu_ns = tp_clock_self_cpu_ns() -
			       (pythons ? tp_python_processes_cost_ns(pythons) : 0),
		.stacks_ns = perf->feed.stacks.took_ns,
		.target_cpu_ns = perf->feed.n_samples * period_ns,
	};
}

/* Processes records up to the horizon, for at most limit_ns. */
static void drain(struct perf *perf, uint64_t horizon_ns, uint64_t limit_ns)
{
	uint64_t until_ns = tp_clock_now_ns() + limit_ns;
	tp_perf_ring_merge_refresh(&perf->merge);
	struct tp_perf_dispatch *feed = &perf->feed;
	feed->drops_stacks = perf->merge.fill > (feed->drops_stacks ? fill_low : fill_high);
	size_t size;
	size_t ring;
	const void *record;
	unsigned n = 0;
	while ((record = tp_perf_ring_merge_next(&perf->merge, horizon_ns, &size, &ring))) {
		tp_perf_dispatch_record(feed, record, size);
		if ((++n % CLOCK_EVERY == 0 || size > 1024) && tp_clock_now_ns() > until_ns)
			break;
	}
	tp_perf_ring_merge_consume(&perf->merge);
}

/* Processes all records that are in a ring now, without a time limit. */
static void drain_all(struct perf *perf)
{
	drain(perf, UINT64_MAX, UINT64_MAX / 2);
}

/* Begins to watch for callers that are gone by the time their records are read. */
static void begin_watch(struct perf *perf)
{
	perf->has_watch =
		tp_switched_stack_watch_init(&perf->watch, perf->context->tree, &perf->feed.stacks,
					     perf->events.setup.period_ns,
					     perf->redraw.pace.seed) == 0;
	if (perf->has_watch)
		tp_perf_epoll_add_fd(&perf->wait, perf->watch.epoll_fd);
}

/* Sets up the rings and the dispatcher. */
static void begin_dispatch(struct perf *perf, pid_t target)
{
	const struct tp_collect_context *context = perf->context;
	const struct tp_perf_setup *setup = &perf->events.setup;
	struct tp_perf_layout layout = tp_perf_events_layout(setup);
	bool was_paused = perf->feed.is_paused;
	tp_perf_ring_merge_init(&perf->merge, perf->events.rings, perf->events.n_cpus);
	tp_perf_dispatch_init(&perf->feed, context->host, context->tree, context->sink, &layout,
			      perf->events.cpu_limit);
	perf->feed.is_paused = was_paused;
	perf->feed.target = target;
	perf->feed.leaves = setup->has_leaves ? &perf->events.leave_ids : NULL;
	tp_perf_epoll_add_rings(&perf->wait, &perf->events);
	begin_watch(perf);
}

static void begin_governor(struct perf *perf, uint64_t now_ns)
{
	const struct tp_collect_config *config = perf->context->config;
	struct tp_perf_usage usage;
	perf->governor.period_factor = 1;
	perf->govern_at_ns = now_ns + 2 * WRITE_DELAY_MAX_NS;
	current_usage(perf, now_ns, &usage);
	tp_perf_governor_init(&perf->governor, config->max_switch_rate_hz,
			      config->max_overhead_ratio, &perf->cost, perf->events.cpu_limit,
			      &usage);
	if (!perf->events.setup.has_switches)
		tp_perf_governor_no_switches(&perf->governor);
}

static void drain_joining(void *context)
{
	drain_all(context);
}

/* Joins all existing threads; nothing is emitted until all are joined. */
static void join_all(struct perf *perf, pid_t target, pid_t first)
{
	struct tp_perf_attach *attach = &perf->attach;
	bool was_paused = perf->feed.is_paused;
	perf->feed.is_paused = true;
	perf->feed.is_joining = true;
	perf->feed.listeners = &attach->listeners;
	tp_perf_attach_join(attach, &perf->events, target, first, &perf->redraw.pace.seed,
			    drain_joining, perf);
	if (attach->n_joined < attach->n_met)
		tp_availability_degrade(&perf->base.availability,
					"%zu of %zu threads have events: too few file descriptors",
					attach->n_joined, attach->n_met);
	if (attach->n_joined < attach->n_met || !attach->has_converged)
		tp_task_tree_mark_stale(perf->context->tree); /* forks may be missed */
	drain_all(perf);
	perf->feed.is_joining = false;
	perf->feed.is_paused = was_paused;
}

static void begin_switches(struct perf *perf)
{
	uint64_t now_ns = tp_clock_now_ns();
	if (!perf->events.setup.has_switches || perf->feed.is_paused) {
		perf->switches_off_ns = now_ns;
		return;
	}
	if (perf->setup.is_attaching) {
		tp_perf_events_switches(&perf->events, true);
		now_ns = tp_clock_now_ns(); /* from then on records are complete */
	}
	tp_perf_oncpu_enable(&perf->feed.runs, now_ns);
	if (perf->setup.is_attaching)
		tp_perf_attach_mark_blocked(&perf->attach, now_ns);
}

/* A poll of threads is about to begin. */
static void on_poll(void *context)
{
	struct perf *perf = context;
	tp_perf_dispatch_peek(&perf->feed, perf->events.rings, perf->events.n_cpus);
	tp_perf_period_update_on_poll(&perf->redraw);
}

static enum tp_status perf_start(struct tp_collector *self, pid_t target, struct tp_error *err)
{
	struct perf *perf = perf_of(self);
	const struct tp_collect_context *context = perf->context;
	struct tp_perf_setup asked = perf->setup;
	pid_t first = target;
	perf->setup.switches_start_off = perf->feed.is_paused;
	perf->setup.is_attaching = context->config->is_attaching;
	if (perf->setup.is_attaching) {
		tp_perf_attach_plan(&perf->attach, context->host, context->tree,
				    context->host->info.n_cpus, &perf->setup);
		first = tp_perf_attach_first(&perf->attach, target);
		if (!first)
			return tp_fail(err, TP_TARGET, "process %d has ended", (int)target);
	}
	enum tp_status status = tp_perf_events_open(&perf->events, context->host, first,
						    &perf->setup, &perf->redraw.pace.seed, err);
	if (status) {
		tp_perf_attach_release(&perf->attach);
		return status;
	}
	begin_dispatch(perf, target);
	if (perf->setup.is_attaching)
		join_all(perf, target, first);
	begin_switches(perf);
	uint64_t now_ns = tp_clock_now_ns();
	begin_governor(perf, now_ns);
	tp_task_tree_set_has_events(context->tree, true);
	tp_task_tree_add_listener(context->tree, on_poll, perf);
	tp_perf_setup_report(&asked, &perf->events, context, &perf->base.availability);
	perf->is_started = true;
	tp_perf_period_update_start(&perf->redraw, context->host, &perf->events, &perf->feed,
				    now_ns);
	(void)tp_perf_system_wide_fits(&perf->wide, context->host,
				       tp_perf_system_wide_used_ns(context->tree));
	perf->settle_at_ns = now_ns + UPDATE_PERIOD_NS;
	return TP_OK;
}

static int perf_wait_fd(const struct tp_collector *self)
{
	return ((const struct perf *)self)->wait.fd;
}

/* Python frames are read at samples of another kind; see handle_switch_out() in perf_dispatch.c. */
static void set_switch_out(struct perf *perf, bool may)
{
	const struct tp_task_tree_task *first =
		tp_task_tree_find(perf->context->tree, perf->feed.target);
	bool was_on = perf->governor.has_leaves;
	may = may && first && !first->followed_ns && !perf->feed.is_paused;
	if (!may)
		perf->governor.has_leaves = false;
	else
		tp_perf_governor_switch_out(&perf->governor, TP_PERF_SWITCH_OUT_EVERY);
	if (perf->governor.has_leaves != was_on)
		tp_perf_events_switch_out(&perf->events, perf->governor.has_leaves);
}

static void switches_off(struct perf *perf)
{
	tp_perf_events_switches(&perf->events, false);
	set_switch_out(perf, false);
	/* A thread that switches often must not pay for a pin, and switches are not counted now. */
	tp_perf_pins_release(&perf->pins);
	drain_all(perf);
	uint64_t now_ns = tp_clock_now_ns();
	tp_perf_oncpu_disable(&perf->feed.runs, now_ns);
	perf->switches_off_ns = now_ns;
}

/* Emits the gap with its reason, and counts the unrecorded switches. */
static void emit_switch_gap(struct perf *perf, uint64_t now_ns)
{
	char reason[100];
	snprintf(reason, sizeof(reason), TP_GAP_SWITCHES_OFF " above %.0f/s per CPU",
		 perf->governor.switch_limit_hz);
	if (!perf->feed.is_paused && perf->events.setup.has_switches)
		tp_sink_gap(perf->context->sink, tp_perf_source, reason, perf->switches_off_ns,
			    now_ns, 0);
	double seconds = (double)(now_ns - perf->switches_off_ns) / (double)TP_NS_PER_S;
	bool is_free = perf->events.setup.is_wide; /* no event is involved in a switch */
	double event_share = is_free ? 0 : 1 - perf->cost.record_ns / perf->cost.switch_ns;
	perf->unseen_switches += perf->governor.switches_all_hz * seconds * event_share;
	perf->switches_off_ns = 0;
}

static void switches_on(struct perf *perf)
{
	if (!tp_perf_events_prepare_switches(&perf->events)) {
		tp_perf_governor_no_switches(&perf->governor);
		return;
	}
	drain_all(perf);
	/* Taken before the call: a switch may be recorded as soon as they are on. */
	uint64_t now_ns = tp_clock_now_ns();
	tp_perf_events_switches(&perf->events, true);
	emit_switch_gap(perf, now_ns);
	tp_perf_oncpu_enable(&perf->feed.runs, now_ns);
	tp_perf_governor_switches_on(&perf->governor, now_ns);
}

/* Changes to per-CPU events. At one instant both kinds are on: older records come from the
 * per-thread events, newer ones from the per-CPU events, so that no fork is missed and nothing is
 * recorded twice. */
static void go_system_wide(struct perf *perf)
{
	const struct tp_host *host = perf->context->host;
	struct tp_perf_events events;
	uint64_t target_ns = tp_perf_system_wide_used_ns(perf->context->tree);
	if (perf->events.setup.is_wide || perf->wide.is_refused || perf->context->has_counters ||
	    !tp_perf_system_wide_fits(&perf->wide, host, target_ns) ||
	    !tp_perf_system_wide_open(&perf->wide, &events, host, &perf->events,
				      &perf->redraw.pace.seed))
		return;
	uint64_t both_ns = tp_clock_now_ns();
	tp_perf_events_samples(&perf->events, false);
	drain(perf, both_ns - 1, UINT64_MAX / 2);
	tp_perf_ring_merge_release(&perf->merge);
	tp_perf_events_close(&perf->events);
	perf->events = events;
	const struct tp_perf_layout layout = tp_perf_events_layout(&events.setup);
	tp_perf_dispatch_go_system_wide(&perf->feed, &layout, both_ns);
	tp_perf_ring_merge_init(&perf->merge, perf->events.rings, perf->events.n_cpus);
	tp_perf_epoll_add_rings(&perf->wait, &perf->events);
	tp_perf_period_update_system_wide(&perf->redraw, tp_clock_now_ns());
	tp_info("events of CPUs instead of threads");
}

static void apply_commands(struct perf *perf, unsigned orders)
{
	const struct tp_perf_governor *governor = &perf->governor;
	if (orders & TP_PERF_SWITCH_OUT_OFF)
		tp_perf_events_switch_out(&perf->events, false);
	if (orders & TP_PERF_SWITCHES_OFF) {
		switches_off(perf);
		tp_info("%.0f switches/s on a CPU: switch records off", governor->switch_rate_hz);
	}
	if (orders & TP_PERF_GO_SYSTEM_WIDE)
		go_system_wide(perf);
	if (orders & TP_PERF_SWITCHES_ON)
		switches_on(perf);
	if (orders & TP_PERF_DETAIL) {
		tp_perf_period_schedule_set_factor(&perf->redraw.pace, governor->period_factor,
						   tp_clock_now_ns());
		perf->feed.keep_one_in = governor->keep_one_in;
		tp_perf_period_update_all(&perf->redraw);
		tp_perf_events_set_joined_period(&perf->events, perf->events.setup.period_ns *
									governor->period_factor);
		tp_info("cost %.2f %%: unwinding 1 of %u stacks, period times %u",
			governor->last_ratio * 100, governor->keep_one_in, governor->period_factor);
	}
}

static void run_governor(struct perf *perf, uint64_t now_ns)
{
	struct tp_perf_usage usage;
	current_usage(perf, now_ns - WRITE_DELAY_MAX_NS, &usage); /* records were counted to here */
	apply_commands(perf, tp_perf_governor_tick(&perf->governor, &usage));
	perf->govern_at_ns = now_ns + tp_perf_governor_period_ns(&perf->governor);
}

static double n_switches_total(const struct perf *perf)
{
	double n = perf->unseen_switches;
	for (uint32_t i = 0; i <= perf->events.cpu_limit; i++)
		n += (double)perf->feed.n_switches[i];
	return n - (double)perf->feed.n_strange_switches;
}

static void emit_gauges(struct perf *perf, uint64_t now_ns)
{
	struct tp_sink *sink = perf->context->sink;
	tp_sink_gauge(sink, TP_METRIC_SELF_SAMPLES, TP_NO_TASK, now_ns,
		      (double)(perf->feed.n_samples + perf->feed.n_leavings));
	tp_sink_gauge(sink, TP_METRIC_SELF_SWITCHES, TP_NO_TASK, now_ns, n_switches_total(perf));
	tp_sink_gauge(sink, TP_METRIC_SELF_SAMPLE_COST, TP_NO_TASK, now_ns, perf->cost.sample_ns);
	tp_sink_gauge(sink, TP_METRIC_SELF_SWITCH_COST, TP_NO_TASK, now_ns, perf->cost.switch_ns);
}

static enum tp_status perf_sample(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct perf *perf = perf_of(self);
	if (perf->has_watch)
		tp_switched_stack_watch_read(&perf->watch);
	drain(perf, now_ns - WRITE_DELAY_MAX_NS, WORK_LIMIT_NS);
	if (perf->has_watch && !perf->feed.is_paused)
		tp_switched_stack_watch_update(&perf->watch, now_ns);
	tp_perf_epoll_drain(&perf->wait, &perf->events, perf->merge.fill, now_ns);
	if (!perf->feed.is_paused && now_ns >= perf->govern_at_ns)
		run_governor(perf, now_ns);
	bool is_hurried = !perf->feed.is_paused && perf->governor.is_hurried;
	perf->base.due_ns = is_hurried ? perf->govern_at_ns : 0;
	uint64_t hurry_ns = perf->feed.n_leavers ? UPDATE_PERIOD_NS * 3 / 4 : 0;
	if (now_ns + hurry_ns >= perf->settle_at_ns) {
		perf->settle_at_ns = now_ns + UPDATE_PERIOD_NS;
		tp_perf_dispatch_flush(&perf->feed, now_ns, false);
		if (perf->feed.runs.is_on && !perf->events.setup.is_wide)
			tp_perf_pins_update(&perf->pins, perf->context->tree, now_ns);
		set_switch_out(perf, true);
		emit_gauges(perf, now_ns);
	}
	return TP_OK;
}

static void perf_pause(struct tp_collector *self, bool is_paused, uint64_t now_ns)
{
	struct perf *perf = perf_of(self);
	(void)now_ns;
	if (!perf->is_started || !perf->events.setup.has_switches) {
		perf->feed.is_paused = is_paused;
		return;
	}
	if (is_paused && !perf->switches_off_ns)
		switches_off(perf);
	if (!is_paused && perf->governor.has_switches)
		switches_on(perf);
	perf->feed.is_paused = is_paused;
}

static void report_budget(struct perf *perf)
{
	double ratio;
	if (tp_perf_governor_has_failed(&perf->governor, &ratio))
		tp_availability_degrade(
			&perf->base.availability,
			"measuring took %.2g %% of the CPUs in use, above the limit of "
			"%.2g %%: less detail would not have helped",
			ratio * 100, perf->governor.max_ratio * 100);
}

static enum tp_status perf_stop(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct perf *perf = perf_of(self);
	if (!perf->is_started)
		return TP_OK;
	tp_perf_events_switches(&perf->events, false);
	now_ns = tp_clock_now_ns(); /* the last records are newer than the call */
	drain_all(perf);
	if (perf->switches_off_ns)
		emit_switch_gap(perf, now_ns);
	else
		tp_perf_oncpu_disable(&perf->feed.runs, now_ns);
	tp_perf_dispatch_flush(&perf->feed, now_ns, true);
	double rate_hz = tp_perf_period_schedule_rate_hz(&perf->redraw.pace, now_ns);
	if (rate_hz > 0)
		perf->context->actual->sample_rate_hz = rate_hz;
	emit_gauges(perf, now_ns);
	report_budget(perf);
	tp_sink_source(perf->context->sink, tp_perf_source, self->type->summary,
		       &self->availability, perf->feed.n_samples + perf->feed.runs.n_put,
		       perf->feed.n_lost);
	const struct tp_perf_callchain *stacks = &perf->feed.stacks;
	tp_info("%llu samples, %llu stays, %llu stacks whole, %llu cut, %llu skipped",
		(unsigned long long)perf->feed.n_samples, (unsigned long long)perf->feed.runs.n_put,
		(unsigned long long)stacks->n_whole, (unsigned long long)stacks->n_cut,
		(unsigned long long)stacks->n_skipped);
	return TP_OK;
}

static void perf_close(struct tp_collector *self)
{
	struct perf *perf = perf_of(self);
	if (perf->is_started) {
		tp_task_tree_remove_listener(perf->context->tree, perf);
		tp_perf_governor_release(&perf->governor);
		tp_perf_pins_release(&perf->pins);
		if (perf->has_watch)
			tp_switched_stack_watch_release(&perf->watch);
		tp_perf_dispatch_release(&perf->feed);
		tp_perf_ring_merge_release(&perf->merge);
		tp_perf_events_close(&perf->events);
		tp_perf_attach_release(&perf->attach);
	}
	tp_perf_period_update_release(&perf->redraw);
	tp_perf_epoll_close(&perf->wait);
	free(perf);
}

const struct tp_collector_type tp_perf_collector = {
	.name = tp_perf_source,
	.summary = "CPU stacks",
	.gains = "call stacks of running threads, exact times off the CPU",
	.probe = tp_perf_probe,
	.open = perf_open,
	.start = perf_start,
	.wait_fd = perf_wait_fd,
	.sample = perf_sample,
	.pause = perf_pause,
	.stop = perf_stop,
	.stage = TP_STAGE_RINGS,
	.close = perf_close,
	.period_ns = 100 * TP_NS_PER_MS, /* rings wake us earlier if they fill */
	.feeds_tree = true,
};
