/* SPDX-License-Identifier: Apache-2.0 */
/* Draws sampling periods at moments that do not favour any place in a loop. */
#include "perf_period_update.h"

#include "collect/process/procfs_stat.h"
#include "perf_period.h"

#include "trainprof/base/clock.h"

/* With per-CPU events: draws for the first thread's CPU per draw for another CPU. */
enum { DRAWS_PER_OTHER_CPU = 4 };

/* While the first thread has an event of its own, these periods are only what later threads begin
 * with. */
#define FOLLOWED_PERIOD_NS TP_NS_PER_S

void tp_perf_period_update_start(struct tp_perf_period_update *redraw, const struct tp_host *host,
				 const struct tp_perf_events *events,
				 const struct tp_perf_dispatch *feed, uint64_t now_ns)
{
	redraw->host = host;
	redraw->events = events;
	redraw->feed = feed;
	tp_perf_period_schedule_start(&redraw->pace, events->setup.period_ns, now_ns);
}

void tp_perf_period_update_release(struct tp_perf_period_update *redraw)
{
	tp_fd_cache_drop(&redraw->shelf, &redraw->stat_file);
}

/* The count that must grow between draws: samples of the first thread; with per-CPU events, which
 * continue while it waits, periods. */
static uint64_t n_samples_total(const struct tp_perf_period_update *redraw, uint64_t now_ns)
{
	if (!redraw->events->setup.is_wide)
		return redraw->feed->n_target_samples;
	return (uint64_t)(redraw->n_before +
			  tp_perf_period_schedule_periods(&redraw->pace, now_ns));
}

static void draw(struct tp_perf_period_update *redraw, uint32_t i, uint64_t now_ns)
{
	uint64_t period_ns = tp_perf_period_schedule_draw(&redraw->pace,
							  n_samples_total(redraw, now_ns), now_ns);
	tp_perf_events_set_period(redraw->events, i, period_ns);
}

/* Called so rarely that the time cut off by draws is negligible. */
static void draw_other(struct tp_perf_period_update *redraw, uint32_t i)
{
	const struct tp_perf_period_schedule *pace = &redraw->pace;
	uint64_t period_ns = pace->period_ns * pace->factor;
	tp_perf_events_set_period(redraw->events, i,
				  tp_perf_period(period_ns, pace->seed, redraw->n_rare++));
}

/* True if it is time to look whether the first thread runs. */
static bool is_due(const struct tp_perf_period_update *redraw, uint64_t now_ns)
{
	const struct tp_perf_dispatch *feed = redraw->feed;
	const struct tp_task_tree_task *first = tp_task_tree_find(feed->tree, feed->target);
	if (first && first->followed_ns && !redraw->events->setup.is_wide &&
	    now_ns - redraw->pace.drawn_ns < FOLLOWED_PERIOD_NS)
		return false;
	return tp_perf_period_schedule_is_due(&redraw->pace, n_samples_total(redraw, now_ns),
					      now_ns);
}

/*
 * Sets a new period on the CPU on which the target's first thread runs at this very instant, when a
 * poll begins. The samples then lie at random places of a loop of any length, even one as long as
 * the period. This must not happen while the thread waits: a period that is set then begins when
 * the wait ends, and the code after waits would get too few samples. The latest records cannot be
 * used to find the CPU: they are late, so the thread would mostly be found at the end of its stays,
 * and with stays of 8 ms the code at their beginning got 21 instead of 30 per cent.
 *
 * The time of a CPU does not stop when the thread waits: with per-CPU events its state must not
 * matter.
 */
void tp_perf_period_update_on_poll(struct tp_perf_period_update *redraw)
{
	const struct tp_perf_events *events = redraw->events;
	pid_t target = redraw->feed->target;
	uint64_t now_ns = tp_clock_now_ns();
	struct tp_procfs_stat stat;
	if (!is_due(redraw, now_ns) ||
	    !tp_procfs_stat_reread(&stat, redraw->host, target, target, &redraw->shelf,
				   &redraw->stat_file) ||
	    (stat.state != 'R' && !events->setup.is_wide))
		return;
	for (uint32_t i = 0; i < events->n_cpus; i++)
		if (events->cpus[i] == stat.last_cpu)
			draw(redraw, i, now_ns);
	/* A thread on another CPU has the period of that CPU. */
	if (events->setup.is_wide && redraw->pace.n_drawn % DRAWS_PER_OTHER_CPU == 0) {
		redraw->turn = redraw->turn + 1 < events->n_cpus ? redraw->turn + 1 : 0;
		draw_other(redraw, redraw->turn);
	}
}

void tp_perf_period_update_all(struct tp_perf_period_update *redraw)
{
	for (uint32_t i = 0; i < redraw->events->n_cpus; i++)
		draw_other(redraw, i);
}

void tp_perf_period_update_system_wide(struct tp_perf_period_update *redraw, uint64_t now_ns)
{
	redraw->n_before = (double)redraw->feed->n_target_samples -
			   tp_perf_period_schedule_periods(&redraw->pace, now_ns);
	tp_perf_period_update_all(redraw);
}
