/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a live view: records into a window, analyses the window and shows the result on the
 * screen. */
#include "live_view.h"

#include "cli/terminal/live_screen.h"
#include "cli/terminal/messages.h"
#include "rules_dir.h"
#include "run_info_collect.h"
#include "run_session.h"
#include "viewer.h"

#include "trainprof/analyze/analyze.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/sampler.h"
#include "trainprof/model/window.h"
#include "trainprof/report/live.h"
#include "trainprof/report/units.h"
#include "trainprof/store/recording.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The latest records are still in the kernel's rings, or in the recorder: perf_event.c reads them
 * every 100 ms or up to half as much later. */
#define DELAY_NS (200 * TP_NS_PER_MS)
/* A shorter rest at the end gets no block of its own. */
#define WINDOW_MIN_NS (100 * TP_NS_PER_MS)
/* The recorder flushes once per second; if nothing arrives for longer, it may be stopped. */
#define SILENT_NS (3 * TP_NS_PER_S)
/* Interval of checks while a recording is too short to be shown. */
#define FIRST_NS (250 * TP_NS_PER_MS)

struct view {
	const struct tp_cli *cli;
	const struct tp_live_view_options *options;
	struct tp_live_screen screen;
	struct tp_patterns *patterns;
	struct tp_window *window;
	char subject[80];
	struct tp_buf note;
	bool is_recorded;
	uint64_t n_shown; /* number of intervals shown */
	uint64_t begun_ns;
	uint64_t from_ns; /* begin of the next interval */
	uint64_t cpu_ns;  /* our own CPU time, and when it was read */
	uint64_t cpu_at_ns;
	/* The interval that is shown. */
	struct tp_trace trace;
	struct tp_profile profile;
	uint64_t until_ns;
	uint64_t window_ns;
	double own_ratio;
	char clock[16];
	char end_note[80];
	bool has_profile;
	/* Nothing newer is shown while the user browses the last interval. */
	struct tp_buf typed;
	struct tp_report report;
	struct tp_view *frozen; /* NULL = the user does not browse */
	struct tp_viewer viewer;
};

/* After a long pause up to twice the interval is shown (see show()), and records arrive late. */
static struct tp_window *window_for(const struct tp_live_view_options *options)
{
	return tp_window_new(2 * options->interval_ns + TP_NS_PER_S);
}

static enum tp_status view_open(struct view *view, const struct tp_cli *cli,
				const struct tp_live_view_options *options, struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	*view = (struct view){.cli = cli,
			      .options = options,
			      .begun_ns = tp_clock_now_ns(),
			      .cpu_at_ns = tp_clock_now_ns(),
			      .cpu_ns = tp_clock_self_cpu_ns()};
	view->window = window_for(options);
	enum tp_status status = tp_rules_dir_find(&dirs, &options->rules, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_patterns(&view->patterns, &dirs, err);
	tp_rules_dir_release(&dirs);
	return status;
}

static void close_viewer(struct view *view)
{
	tp_viewer_release(&view->viewer);
	tp_view_free(view->frozen);
	view->frozen = NULL;
}

static void drop_profile(struct view *view)
{
	close_viewer(view);
	if (!view->has_profile)
		return;
	tp_profile_release(&view->profile);
	tp_trace_release(&view->trace);
	view->has_profile = false;
}

static void view_release(struct view *view)
{
	drop_profile(view);
	tp_window_free(view->window);
	if (view->patterns)
		tp_patterns_free(view->patterns);
	tp_buf_release(&view->note);
	tp_buf_release(&view->typed);
}

static int end_status(const struct view *view)
{
	return view->screen.is_failed ? TP_EXIT_FILE : TP_EXIT_OK;
}

/* ---- one block ----------------------------------------------------------------------------- */

/* Draws the last analysis in the current size of the screen. */
static bool draw(struct view *view)
{
	size_t max_lines;
	struct tp_page page;
	if (!view->has_profile)
		return true;
	if (view->frozen)
		return tp_viewer_draw(&view->viewer);
	const struct tp_report_style style = tp_live_screen_style(&view->screen, &max_lines);
	const struct tp_live live = {
		.subject = view->subject,
		.clock = view->clock,
		.watched_ns = view->until_ns > view->begun_ns ? view->until_ns - view->begun_ns : 0,
		.window_ns = view->window_ns,
		.own_ratio = view->own_ratio,
		.is_recorded = view->is_recorded,
		.note = view->note.len ? tp_buf_text(&view->note) : NULL,
		.end_note = view->end_note[0] ? view->end_note : NULL,
		.max_lines = max_lines,
	};
	tp_page_init(&page, &style);
	tp_report_live(&page, &view->profile, &live);
	bool is_shown = tp_live_screen_show(&view->screen, tp_buf_text(&page.out));
	tp_page_release(&page);
	return is_shown;
}

/* Writes a first line, so that the terminal is not empty until there is something to show. */
static void begin_screen(struct view *view, bool takes_ends, const char *who_goes_on)
{
	struct tp_buf text = {0};
	tp_live_screen_open(&view->screen, view->cli, takes_ends);
	view->screen.typed = view->screen.has_keys ? &view->typed : NULL;
	if (view->screen.has_keys)
		snprintf(view->end_note, sizeof(view->end_note),
			 "q: quit (the %s keeps running). Enter: look around.", who_goes_on);
	tp_buf_printf(&text, "trainprof top  %s: the first %s\n", view->subject,
		      tp_unit_elapsed(view->options->interval_ns).text);
	if (view->screen.is_terminal)
		(void)tp_live_screen_show(&view->screen, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void read_self_cost(struct view *view)
{
	uint64_t now_ns = tp_clock_now_ns();
	uint64_t cpu_ns = tp_clock_self_cpu_ns();
	view->own_ratio = (double)(cpu_ns - view->cpu_ns) / (double)(now_ns - view->cpu_at_ns + 1);
	view->cpu_ns = cpu_ns;
	view->cpu_at_ns = now_ns;
}

static void read_clock(struct view *view)
{
	struct tm local;
	time_t now = time(NULL);
	if (localtime_r(&now, &local))
		strftime(view->clock, sizeof(view->clock), "%H:%M:%S", &local);
}

/* Analyses the time since the last call, and shows it. After a long pause only its end. Returns
 * false if nothing reads the output any more. */
static bool show(struct view *view, const struct tp_run_info *run, uint64_t until_ns)
{
	static const struct tp_analyze_options automatic = {.steps = TP_STEPS_AUTO};
	if (until_ns < view->from_ns + WINDOW_MIN_NS || view->frozen)
		return true;
	if (until_ns - view->from_ns > 2 * view->options->interval_ns)
		view->from_ns = until_ns - view->options->interval_ns;
	drop_profile(view);
	tp_window_cut(view->window, &view->trace, run, view->from_ns, until_ns);
	if (tp_analyze(&view->profile, &view->trace, view->patterns, &automatic, NULL) != TP_OK) {
		tp_trace_release(&view->trace);
		return true;
	}
	view->has_profile = true;
	view->window_ns = until_ns - view->from_ns;
	view->from_ns = view->until_ns = until_ns;
	read_self_cost(view);
	read_clock(view);
	view->n_shown++;
	return draw(view);
}

/* ---- browsing the last interval ---- */

static void open_viewer(struct view *view, int key)
{
	static const char no_rules[] = "a few seconds are too short for advice";
	if (!view->has_profile)
		return;
	view->report = (struct tp_report){.profile = &view->profile,
					  .no_findings_because = no_rules,
					  .directory = view->subject};
	const struct tp_view_input input = {.report = &view->report};
	view->frozen = tp_view_new(&input);
	view->viewer =
		(struct tp_viewer){.cli = view->cli, .view = view->frozen, .screen = &view->screen};
	(void)tp_view_handle_key(view->frozen, key == TP_KEY_ENTER || key == '\n' ? '1' : key);
	tp_view_show_message(view->frozen,
			     "These are the last seconds; q continues with new ones.");
}

/* Returns false to quit. The first key opens the viewer, which handles the following ones. */
static bool handle_live_keys(struct view *view)
{
	size_t at = 0;
	while (at < view->typed.len && !view->frozen) {
		int key = (unsigned char)view->typed.data[at++];
		if (key == 'q' || key == 'Q')
			return false;
		if ((key >= '1' && key <= '8') || key == TP_KEY_ENTER || key == '\n')
			open_viewer(view, key);
	}
	size_t rest = view->typed.len - at;
	if (at && rest)
		memmove(view->typed.data, view->typed.data + at, rest);
	view->typed.len = rest;
	return true;
}

/* Escape alone is distinguished from a sequence by whether more bytes arrive soon. */
static bool is_all_typed(const struct view *view)
{
	struct pollfd more = {.fd = view->screen.wait_fd, .events = POLLIN};
	return view->typed.len && poll(&more, 1, TP_VIEWER_ESCAPE_MS) == 0;
}

static bool handle_typed(struct view *view)
{
	bool was_frozen = view->frozen != NULL;
	if (!was_frozen && !handle_live_keys(view))
		return false;
	if (view->frozen && !tp_viewer_handle_typed(&view->viewer, is_all_typed(view)))
		close_viewer(view);
	return draw(view);
}

/* Handles the events of the screen. Returns false to quit. */
static bool handle_events(struct view *view)
{
	unsigned news = tp_live_screen_poll(&view->screen);
	if (news & TP_LIVE_SCREEN_QUIT)
		return false;
	if (news & TP_LIVE_SCREEN_REDRAW)
		view->viewer.has_shown = false;
	if ((news & TP_LIVE_SCREEN_REDRAW) && !draw(view))
		return false;
	return !view->typed.len || handle_typed(view);
}

static bool is_enough(const struct view *view)
{
	return view->options->count && view->n_shown >= view->options->count;
}

/* The user may continue to browse the last interval after the program's end. */
static void finish_viewer(struct view *view)
{
	struct pollfd events = {.fd = view->screen.wait_fd, .events = POLLIN};
	while (view->frozen && poll(&events, 1, -1) > 0 && handle_events(view))
		;
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
	if (!a->view->from_ns)
		a->view->from_ns = now_ns - a->view->options->interval_ns;
	a->run.sample_rate_hz = tp_plan_config(a->plan)->sample_rate_hz;
	if (!show(a->view, &a->run, now_ns - DELAY_NS) || is_enough(a->view))
		return false;
	a->is_to_begin_anew = tp_window_is_full(a->view->window);
	return !a->is_to_begin_anew;
}

static bool on_screen(void *context)
{
	struct attached *a = context;
	return handle_events(a->view);
}

/* Notes in one line what cannot be measured. */
static void note_missing(struct attached *a)
{
	struct tp_availability reach;
	struct tp_buf *note = &a->view->note;
	tp_buf_clear(note);
	(void)tp_run_session_add_missing(note, a->plan, NULL, 0);
	tp_target_check_access(a->target, &a->host, &reach);
	if (reach.presence != TP_PRESENCE_PRESENT)
		tp_buf_printf(note, "%slines of Python are off: %s", note->len ? "; " : "",
			      reach.reason);
}

static enum tp_status prepare(struct attached *a, pid_t pid, struct tp_error *err)
{
	static const struct tp_words no_names;
	struct tp_run_options options = TP_RUN_DEFAULTS;
	options.rate_hz = a->view->options->rate_hz;
	options.collect = a->view->options->collect;
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
		snprintf(view->end_note, sizeof(view->end_note), "pid %d exited %d.", (int)pid,
			 end->code);
	else if (end->kind == TP_END_SIGNALED)
		snprintf(view->end_note, sizeof(view->end_note), "pid %d was killed by signal %d.",
			 (int)pid, end->code);
	else
		snprintf(view->end_note, sizeof(view->end_note), "pid %d %s.", (int)pid,
			 end->kind == TP_END_DETACHED ? "keeps running" : "has ended");
}

/* From here on the view owns the screen: errors are printed after it is closed. */
static enum tp_status follow(struct attached *a, pid_t pid, struct tp_error *err)
{
	struct view *view = a->view;
	uint64_t watched_ns = tp_clock_now_ns() - view->begun_ns;
	uint64_t duration_ns = view->options->duration_ns;
	const struct tp_sampler_config config = {
		.duration_ns = duration_ns > watched_ns ? duration_ns - watched_ns : duration_ns,
		.tick = on_tick,
		.tick_period_ns = view->options->interval_ns,
		.watched = on_screen,
		.watched_fd = view->screen.wait_fd,
		.context = a,
	};
	struct tp_sampler_result result = {0};
	view->from_ns = 0;
	enum tp_status status = tp_sampler_run(a->plan, a->target, &config, &result, err);
	if (status != TP_OK || a->is_to_begin_anew)
		return status;
	note_end(view, &result.end, pid);
	if (!view->from_ns)
		view->from_ns = result.measure_from_ns;
	if (!is_enough(view))
		(void)show(view, &a->run, result.measure_until_ns);
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
	a->view->window = window_for(a->view->options);
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
	snprintf(view.subject, sizeof(view.subject), "pid %d", (int)pid);
	if (status == TP_OK)
		status = tp_target_attach(&a.target, pid, &err);
	if (status == TP_OK)
		status = prepare(&a, pid, &err);
	if (status == TP_OK) {
		begin_screen(&view, false, "program");
		status = follow(&a, pid, &err);
		while (status == TP_OK && a.is_to_begin_anew)
			status = begin_again(&a, pid, &err);
		finish_viewer(&view);
		tp_live_screen_close(&view.screen);
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
	struct pollfd events = {.fd = view->screen.wait_fd, .events = POLLIN};
	for (;;) {
		uint64_t now_ns = tp_clock_now_ns();
		bool is_due = now_ns >= at_ns;
		int left_ms = is_due ? 0 : (int)((at_ns - now_ns) / TP_NS_PER_MS) + 1;
		if (poll(&events, 1, left_ms) > 0 && !handle_events(view))
			return false;
		if (is_due)
			return true;
	}
}

/* The first block covers a whole interval, like all later ones. */
static bool is_first_interval(const struct view *view)
{
	uint64_t full_ns = view->begun_ns + view->options->interval_ns;
	return tp_window_last_ns(view->window) < full_ns + DELAY_NS &&
	       tp_clock_now_ns() < full_ns + SILENT_NS;
}

/* The recording is complete up to its newest record. */
static bool show_recorded(struct view *view, const struct tp_follow *follow, bool has_ended)
{
	uint64_t last_ns = tp_window_last_ns(view->window);
	uint64_t lag_ns = has_ended ? 0 : DELAY_NS;
	uint64_t now_ns = tp_clock_now_ns();
	if (!view->from_ns && last_ns > view->options->interval_ns + DELAY_NS)
		view->from_ns = last_ns - view->options->interval_ns - DELAY_NS;
	if (view->from_ns && view->from_ns < view->begun_ns)
		view->from_ns = view->begun_ns;
	tp_buf_clear(&view->note);
	if (last_ns && now_ns > last_ns + view->options->interval_ns + SILENT_NS)
		tp_buf_printf(&view->note, "nothing was recorded for %s",
			      tp_unit_elapsed(now_ns - last_ns).text);
	if (last_ns < DELAY_NS || !view->from_ns)
		return true;
	return show(view, tp_follow_run(follow), last_ns - lag_ns);
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
	uint64_t interval_ns = view->options->interval_ns;
	uint64_t next_ns = view->begun_ns;
	uint64_t end_ns = view->options->duration_ns ? view->begun_ns + view->options->duration_ns
						     : UINT64_MAX;
	bool is_last = false;
	view->begun_ns = tp_follow_run(follow)->started_ns;
	while (!is_last && !is_enough(view)) {
		bool has_ended = tp_follow_has_ended(follow); /* before the last records are read */
		enum tp_status status = tp_follow_read(follow, err);
		if (status != TP_OK)
			return status;
		if (has_ended)
			snprintf(view->end_note, sizeof(view->end_note),
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
	view.is_recorded = true;
	snprintf(view.subject, sizeof(view.subject), "%s", tp_text_base_name(directory));
	if (status == TP_OK)
		status = tp_follow_open(&follow, directory, tp_window_sink(view.window), &err);
	if (status == TP_OK && tp_follow_run(follow)->mode == TP_MODE_IMPORT) {
		status = tp_fail(&err, TP_USAGE, "'%s' is being imported: no program runs",
				 directory);
		tp_error_next_word(&err, "trainprof report ", directory, "   (when it is done)");
	}
	if (status == TP_OK) {
		begin_screen(&view, true, "recording");
		status = follow_recording(&view, follow, &err);
		finish_viewer(&view);
		tp_live_screen_close(&view.screen);
	}
	tp_follow_close(follow);
	view_release(&view);
	return status == TP_OK ? end_status(&view) : tp_message_error_status(NULL, &err);
}
