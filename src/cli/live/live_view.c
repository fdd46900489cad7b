/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a live view: of a process, which it measures, or of a recording that is being written. */
#include "live_view.h"

#include "cli/session/run_info_collect.h"
#include "cli/session/run_session.h"
#include "cli/terminal/messages.h"
#include "live_display.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/text.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/sampler.h"
#include "trainprof/model/window.h"
#include "trainprof/report/units.h"
#include "trainprof/store/recording.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* The latest records are still in the kernel's rings, or in the recorder: perf_event.c reads them
 * every 100 ms or up to half as much later. */
#define DELAY_NS (200 * TP_NS_PER_MS)
/* The recorder flushes once per second; if nothing arrives for longer, it may be stopped. */
#define SILENT_NS (3 * TP_NS_PER_S)
/* Interval of checks while a recording is too short to be shown. */
#define FIRST_NS (250 * TP_NS_PER_MS)

struct view {
	struct tp_live_display display;
	struct tp_window *window;
};

/* After a long pause up to twice the interval is shown, and records arrive late. */
static struct tp_window *window_for(const struct tp_live_view_options *options)
{
	return tp_window_new(2 * options->interval_ns + TP_NS_PER_S);
}

static enum tp_status view_open(struct view *view, const struct tp_cli *cli,
				const struct tp_live_view_options *options, struct tp_error *err)
{
	*view = (struct view){.window = window_for(options)};
	return tp_live_display_init(&view->display, cli, options, err);
}

static void view_release(struct view *view)
{
	tp_live_display_release(&view->display);
	tp_window_free(view->window);
}

static int end_status(const struct view *view)
{
	return view->display.screen.is_failed ? TP_EXIT_FILE : TP_EXIT_OK;
}

static bool is_enough(const struct view *view)
{
	uint64_t count = view->display.options->count;
	return count && view->display.n_shown >= count;
}

/* ---- a process ----------------------------------------------------------------------------- */

struct attached {
	struct view *view;
	struct tp_host host;
	struct tp_arena arena;
	struct tp_run_info run;
	struct tp_plan *plan;
	struct tp_target *target;
	bool is_to_begin_anew;
};

static bool on_tick(void *context, uint64_t now_ns)
{
	struct attached *a = context;
	/* The sampler counts ticks from the moment at which all threads are known. */
	if (!a->view->display.from_ns)
		a->view->display.from_ns = now_ns - a->view->display.options->interval_ns;
	a->run.sample_rate_hz = tp_plan_config(a->plan)->sample_rate_hz;
	if (!tp_live_display_show(&a->view->display, a->view->window, &a->run, now_ns - DELAY_NS) ||
	    is_enough(a->view))
		return false;
	a->is_to_begin_anew = tp_window_is_full(a->view->window);
	return !a->is_to_begin_anew;
}

static bool on_screen(void *context)
{
	struct attached *a = context;
	return tp_live_display_handle_events(&a->view->display);
}

/* Notes in one line what cannot be measured. */
static void note_missing(struct attached *a)
{
	struct tp_availability reach;
	struct tp_buf *note = &a->view->display.note;
	tp_buf_clear(note);
	(void)tp_run_session_add_missing(note, a->plan, &a->host, NULL, 0);
	tp_target_check_access(a->target, &a->host, &reach);
	if (reach.presence != TP_PRESENCE_PRESENT)
		tp_buf_printf(note, "%sPython line numbers are not available: %s",
			      note->len ? "; " : "", reach.reason);
}

static enum tp_status prepare(struct attached *a, pid_t pid, struct tp_error *err)
{
	static const struct tp_words no_names;
	struct tp_run_options options = TP_RUN_DEFAULTS;
	options.rate_hz = a->view->display.options->rate_hz;
	options.collect = a->view->display.options->collect;
	tp_host_open(&a->host, "");
	const struct tp_run_naming naming = {.variables = &no_names};
	tp_run_info_make_attached(&a->run, pid, &naming, &a->host, &a->arena);
	enum tp_status status = tp_run_session_plan(&a->plan, &a->host, &options, true, err);
	if (status == TP_OK)
		status = tp_plan_open(a->plan, tp_window_sink(a->view->window), err);
	if (status == TP_OK)
		note_missing(a);
	return status;
}

static void release(struct attached *a)
{
	tp_target_close(a->target);
	tp_plan_free(a->plan);
	tp_host_close(&a->host);
	tp_arena_release(&a->arena);
}

static void note_end(struct view *view, const struct tp_target_end *end, pid_t pid)
{
	if (end->kind == TP_END_EXITED)
		snprintf(view->display.end_note, sizeof(view->display.end_note),
			 "pid %d exited %d.", (int)pid, end->code);
	else if (end->kind == TP_END_SIGNALED)
		snprintf(view->display.end_note, sizeof(view->display.end_note),
			 "pid %d was killed by signal %d.", (int)pid, end->code);
	else
		snprintf(view->display.end_note, sizeof(view->display.end_note), "pid %d %s.",
			 (int)pid, end->kind == TP_END_DETACHED ? "keeps running" : "has ended");
}

/* From here on the view owns the screen: errors are printed after it is closed. */
static enum tp_status follow(struct attached *a, pid_t pid, struct tp_error *err)
{
	struct view *view = a->view;
	uint64_t watched_ns = tp_clock_now_ns() - view->display.begun_ns;
	uint64_t duration_ns = view->display.options->duration_ns;
	const struct tp_sampler_config config = {
		.duration_ns = duration_ns > watched_ns ? duration_ns - watched_ns : duration_ns,
		.tick = on_tick,
		.tick_period_ns = view->display.options->interval_ns,
		.watched = on_screen,
		.watched_fd = view->display.screen.wait_fd,
		.context = a,
	};
	struct tp_sampler_result result = {0};
	view->display.from_ns = 0;
	enum tp_status status = tp_sampler_run(a->plan, a->target, &config, &result, err);
	if (status != TP_OK || a->is_to_begin_anew)
		return status;
	note_end(view, &result.end, pid);
	if (!view->display.from_ns)
		view->display.from_ns = result.measure_from_ns;
	if (!is_enough(view))
		(void)tp_live_display_show(&view->display, view->window, &a->run,
					   result.measure_until_ns);
	return TP_OK;
}

/* Starts again with another window. The process is held all the time, so that its pid cannot be
 * reused. */
static enum tp_status begin_again(struct attached *a, pid_t pid, struct tp_error *err)
{
	struct attached next = {.view = a->view};
	enum tp_status status = tp_target_attach(&next.target, pid, err);
	bool is_over = tp_target_poll(a->target) != 0;
	if (status == TP_OK) {
		release(a);
		*a = next;
	}
	a->is_to_begin_anew = false;
	if (is_over || status != TP_OK)
		return is_over ? TP_OK : status;
	tp_window_free(a->view->window);
	a->view->window = window_for(a->view->display.options);
	status = prepare(a, pid, err);
	return status == TP_OK ? follow(a, pid, err) : status;
}

/* Prints the advice of attach with the name of this command. */
static int refuse(struct tp_error *err)
{
	static const char verb[] = "trainprof attach ";
	char next[sizeof(err->next)];
	const char *at = strstr(err->next, verb);
	if (at) {
		snprintf(next, sizeof(next), "%.*strainprof top %s", (int)(at - err->next),
			 err->next, at + strlen(verb));
		tp_error_next(err, "%s", next);
	}
	return tp_run_session_refused(err);
}

int tp_live_view_process(const struct tp_cli *cli, const struct tp_live_view_options *options,
			 pid_t pid)
{
	struct view view;
	struct tp_error err = {0};
	struct attached a = {.view = &view};
	enum tp_status status = view_open(&view, cli, options, &err);
	snprintf(view.display.subject, sizeof(view.display.subject), "pid %d", (int)pid);
	if (status == TP_OK)
		status = tp_target_attach(&a.target, pid, &err);
	if (status == TP_OK)
		status = prepare(&a, pid, &err);
	if (status == TP_OK) {
		tp_live_display_open(&view.display, false, "program");
		status = follow(&a, pid, &err);
		while (status == TP_OK && a.is_to_begin_anew)
			status = begin_again(&a, pid, &err);
		tp_live_display_finish(&view.display);
		tp_live_display_close(&view.display);
	}
	release(&a);
	view_release(&view);
	return status == TP_OK ? end_status(&view) : refuse(&err);
}

/* ---- a recording --------------------------------------------------------------------------- */

/* Returns false to quit. Checks the screen even if it is late, so that a slow machine still reacts
 * to q. */
static bool wait_until(struct view *view, uint64_t at_ns)
{
	struct pollfd events = {.fd = view->display.screen.wait_fd, .events = POLLIN};
	for (;;) {
		uint64_t now_ns = tp_clock_now_ns();
		bool is_due = now_ns >= at_ns;
		int left_ms = is_due ? 0 : (int)((at_ns - now_ns) / TP_NS_PER_MS) + 1;
		if (poll(&events, 1, left_ms) > 0 && !tp_live_display_handle_events(&view->display))
			return false;
		if (is_due)
			return true;
	}
}

/* The first block covers a whole interval, like all later ones. */
static bool is_first_interval(const struct view *view)
{
	uint64_t full_ns = view->display.begun_ns + view->display.options->interval_ns;
	return tp_window_last_ns(view->window) < full_ns + DELAY_NS &&
	       tp_clock_now_ns() < full_ns + SILENT_NS;
}

/* The recording is complete up to its newest record. */
static bool show_recorded(struct view *view, const struct tp_follow *follow, bool has_ended)
{
	uint64_t last_ns = tp_window_last_ns(view->window);
	uint64_t lag_ns = has_ended ? 0 : DELAY_NS;
	uint64_t now_ns = tp_clock_now_ns();
	if (!view->display.from_ns && last_ns > view->display.options->interval_ns + DELAY_NS)
		view->display.from_ns = last_ns - view->display.options->interval_ns - DELAY_NS;
	if (view->display.from_ns && view->display.from_ns < view->display.begun_ns)
		view->display.from_ns = view->display.begun_ns;
	tp_buf_clear(&view->display.note);
	if (last_ns && now_ns > last_ns + view->display.options->interval_ns + SILENT_NS)
		tp_buf_printf(&view->display.note, "nothing was recorded for %s",
			      tp_unit_elapsed(now_ns - last_ns).text);
	if (last_ns < DELAY_NS || !view->display.from_ns)
		return true;
	return tp_live_display_show(&view->display, view->window, tp_follow_run(follow),
				    last_ns - lag_ns);
}

/* Missed intervals, for example while stopped, are skipped. */
static uint64_t next_after(uint64_t time_ns, uint64_t interval_ns)
{
	uint64_t now_ns = tp_clock_now_ns();
	return time_ns + interval_ns > now_ns ? time_ns + interval_ns : now_ns;
}

static enum tp_status follow_recording(struct view *view, struct tp_follow *follow,
				       struct tp_error *err)
{
	uint64_t interval_ns = view->display.options->interval_ns;
	uint64_t next_ns = view->display.begun_ns;
	uint64_t end_ns = view->display.options->duration_ns
				  ? view->display.begun_ns + view->display.options->duration_ns
				  : UINT64_MAX;
	bool is_last = false;
	view->display.begun_ns = tp_follow_run(follow)->started_ns;
	while (!is_last && !is_enough(view)) {
		bool has_ended = tp_follow_has_ended(follow); /* before the last records are read */
		enum tp_status status = tp_follow_read(follow, err);
		if (status != TP_OK)
			return status;
		if (has_ended)
			snprintf(view->display.end_note, sizeof(view->display.end_note),
				 "The recording has ended.");
		is_last = has_ended || tp_clock_now_ns() >= end_ns;
		bool is_early = !is_last && is_first_interval(view);
		if (!is_early && !show_recorded(view, follow, has_ended))
			break;
		next_ns =
			is_early ? tp_clock_now_ns() + FIRST_NS : next_after(next_ns, interval_ns);
		if (!is_last && !is_enough(view) &&
		    !wait_until(view, next_ns < end_ns ? next_ns : end_ns))
			break;
	}
	return TP_OK;
}

int tp_live_view_recording(const struct tp_cli *cli, const struct tp_live_view_options *options,
			   const char *directory)
{
	struct view view;
	struct tp_error err = {0};
	struct tp_follow *follow = NULL;
	enum tp_status status = view_open(&view, cli, options, &err);
	view.display.is_recorded = true;
	snprintf(view.display.subject, sizeof(view.display.subject), "%s",
		 tp_text_base_name(directory));
	if (status == TP_OK)
		status = tp_follow_open(&follow, directory, tp_window_sink(view.window), &err);
	if (status == TP_OK && tp_follow_run(follow)->mode == TP_MODE_IMPORT) {
		status = tp_fail(&err, TP_USAGE, "'%s' is being imported: no program runs",
				 directory);
		tp_error_next_word(&err, "trainprof report ", directory, "   (when it is done)");
	}
	if (status == TP_OK) {
		tp_live_display_open(&view.display, true, "recording");
		status = follow_recording(&view, follow, &err);
		tp_live_display_finish(&view.display);
		tp_live_display_close(&view.display);
	}
	tp_follow_close(follow);
	view_release(&view);
	return status == TP_OK ? end_status(&view) : tp_message_error_status(NULL, &err);
}
