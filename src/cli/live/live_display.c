/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses intervals of a running program and shows them. */
#include "live_display.h"

#include "cli/session/rules_dir.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/report/units.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A shorter rest at the end gets no block of its own. */
#define WINDOW_MIN_NS (100 * TP_NS_PER_MS)

enum tp_status tp_live_display_init(struct tp_live_display *display, const struct tp_cli *cli,
				    const struct tp_live_view_options *options,
				    struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	*display = (struct tp_live_display){.cli = cli,
					    .options = options,
					    .begun_ns = tp_clock_now_ns(),
					    .cpu_at_ns = tp_clock_now_ns(),
					    .cpu_ns = tp_clock_self_cpu_ns()};
	enum tp_status status = tp_rules_dir_find(&dirs, &options->rules, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_patterns(&display->patterns, &dirs, err);
	tp_rules_dir_release(&dirs);
	return status;
}

void tp_live_display_release(struct tp_live_display *display)
{
	tp_viewer_release(&display->viewer);
	tp_view_free(display->view);
	tp_live_analysis_free(display->shown);
	if (display->patterns)
		tp_patterns_free(display->patterns);
	tp_buf_release(&display->note);
	tp_buf_release(&display->typed);
}

/* ---- output --------------------------------------------------------------------------------- */

static void update_live(struct tp_live_display *display)
{
	struct tp_live *live = &display->live;
	live->subject = display->subject;
	live->clock = display->clock;
	live->is_recorded = display->is_recorded;
	live->note = display->note.len ? tp_buf_text(&display->note) : NULL;
	live->end_note = display->end_note[0] ? display->end_note : NULL;
	live->history = &display->history;
}

static void add_block(struct tp_buf *out, struct tp_live_display *display)
{
	struct tp_page page;
	const struct tp_report_style style =
		tp_live_screen_style(&display->screen, &display->live.max_lines);
	tp_page_init(&page, &style);
	tp_report_live(&page, tp_live_analysis_profile(display->shown), &display->live);
	tp_buf_puts(out, tp_buf_text(&page.out));
	tp_page_release(&page);
}

/* Draws the last interval in the current size of the screen. */
static bool draw(struct tp_live_display *display)
{
	struct tp_buf out = {0};
	bool is_written;
	if (!display->shown)
		return true;
	update_live(display);
	if (display->screen.is_terminal)
		return tp_viewer_draw(&display->viewer);
	if (display->options->is_json) {
		tp_report_live_add_json(&out, tp_live_analysis_profile(display->shown),
					&display->live);
		is_written = tp_live_screen_write(&display->screen, &out);
	} else {
		add_block(&out, display);
		is_written = tp_live_screen_show(&display->screen, tp_buf_text(&out));
	}
	tp_buf_release(&out);
	return is_written;
}

/* Writes a first line, so that the terminal is not empty until there is something to show. */
void tp_live_display_open(struct tp_live_display *display, bool takes_ends, const char *who)
{
	struct tp_buf text = {0};
	tp_live_screen_open(&display->screen, display->cli, takes_ends, !display->options->is_json);
	display->screen.typed = display->screen.has_keys ? &display->typed : NULL;
	if (display->screen.has_keys)
		snprintf(display->end_note, sizeof(display->end_note),
			 "q: quit (the %s keeps running). z: hold. ?: all keys.", who);
	tp_buf_printf(&text, "trainprof top  %s: the first %s\n", display->subject,
		      tp_unit_elapsed(display->options->interval_ns).text);
	if (display->screen.is_terminal)
		(void)tp_live_screen_show(&display->screen, tp_buf_text(&text));
	tp_buf_release(&text);
}

void tp_live_display_close(struct tp_live_display *display)
{
	struct tp_buf text = {0};
	if (display->screen.is_terminal && display->leaves_nothing) {
		tp_live_screen_keep(&display->screen, "");
	} else if (display->screen.is_terminal && display->shown) {
		update_live(display);
		add_block(&text, display);
		tp_live_screen_keep(&display->screen, tp_buf_text(&text));
	}
	tp_live_screen_close(&display->screen);
	tp_buf_release(&text);
}

/* ---- one interval ---------------------------------------------------------------------------- */

static void read_self_cost(struct tp_live_display *display)
{
	uint64_t now_ns = tp_clock_now_ns();
	uint64_t cpu_ns = tp_clock_self_cpu_ns();
	display->live.own_ratio =
		(double)(cpu_ns - display->cpu_ns) / (double)(now_ns - display->cpu_at_ns + 1);
	display->cpu_ns = cpu_ns;
	display->cpu_at_ns = now_ns;
}

static void read_clock(char *out, size_t size)
{
	struct tm local;
	time_t now = time(NULL);
	if (localtime_r(&now, &local))
		strftime(out, size, "%H:%M:%S", &local);
}

static void update_view(struct tp_live_display *display)
{
	const struct tp_report *report = &display->shown->report;
	const struct tp_view_input input = {.report = report, .live = &display->live};
	if (display->view) {
		tp_view_update(display->view, report, &display->live);
		return;
	}
	display->view = tp_view_new(&input);
	display->viewer = (struct tp_viewer){.cli = display->cli,
					     .view = display->view,
					     .screen = &display->screen};
	tp_view_show_message(display->view, display->end_note);
}

static void replace_analysis(struct tp_live_display *display, struct tp_live_analysis *analysis,
			     uint64_t until_ns)
{
	struct tp_live_analysis *before = display->shown;
	display->shown = analysis;
	display->shown_pid = tp_live_analysis_pid(analysis);
	display->live.ranks = analysis->ranks;
	display->live.n_ranks = analysis->ranks ? analysis->n_profiles : 0;
	display->live.shown_rank = analysis->shown;
	display->live.window_ns = until_ns - display->from_ns;
	display->live.watched_ns = until_ns > display->begun_ns ? until_ns - display->begun_ns : 0;
	read_clock(display->clock, sizeof(display->clock));
	update_live(display);
	if (display->screen.is_terminal)
		update_view(display);
	tp_live_analysis_free(before);
}

bool tp_live_display_show(struct tp_live_display *display, struct tp_window *window,
			  const struct tp_run_info *run, uint64_t until_ns)
{
	char clock[sizeof(display->clock)] = "";
	if (until_ns < display->from_ns + WINDOW_MIN_NS)
		return true;
	if (until_ns - display->from_ns > 2 * display->options->interval_ns)
		display->from_ns = until_ns - display->options->interval_ns;
	struct tp_live_analysis *analysis =
		tp_live_analysis_new(window, run, display->from_ns, until_ns, display->patterns,
				     display->shown_pid);
	if (!analysis)
		return true;
	analysis->report.directory = display->subject;
	read_clock(clock, sizeof(clock));
	/* Another rank has a history of its own. */
	if (tp_live_analysis_pid(analysis) != display->history_pid)
		display->history = (struct tp_live_history){0};
	display->history_pid = tp_live_analysis_pid(analysis);
	tp_live_history_add(&display->history, tp_live_analysis_profile(analysis), clock);
	read_self_cost(display);
	display->n_shown++;
	/* The screen that the user looks at stays; an alarm is shown all the same. */
	if (display->view && tp_view_is_held(display->view)) {
		tp_live_analysis_free(analysis);
		if (display->history.is_new)
			tp_view_show_message(display->view, display->history.alarm);
	} else {
		replace_analysis(display, analysis, until_ns);
	}
	display->from_ns = until_ns;
	return draw(display);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Escape alone is distinguished from a sequence by whether more bytes arrive soon. */
static bool is_all_typed(const struct tp_live_display *display)
{
	struct pollfd more = {.fd = display->screen.wait_fd, .events = POLLIN};
	return display->typed.len && poll(&more, 1, TP_VIEWER_ESCAPE_MS) == 0;
}

/* Before anything is shown only q has a meaning. */
static bool handle_early_keys(struct tp_live_display *display)
{
	bool goes_on = true;
	for (size_t i = 0; i < display->typed.len; i++)
		if (display->typed.data[i] == 'q' || display->typed.data[i] == 'Q')
			goes_on = false;
	tp_buf_clear(&display->typed);
	return goes_on;
}

bool tp_live_display_handle_events(struct tp_live_display *display)
{
	unsigned news = tp_live_screen_poll(&display->screen);
	display->leaves_nothing |= (news & TP_LIVE_SCREEN_END) != 0;
	if (news & TP_LIVE_SCREEN_QUIT)
		return false;
	if (news & TP_LIVE_SCREEN_REDRAW)
		display->viewer.has_shown = false;
	if (display->typed.len && !display->view && !handle_early_keys(display))
		return false;
	if (display->typed.len && !tp_viewer_handle_typed(&display->viewer, is_all_typed(display)))
		return false;
	return !display->screen.is_terminal || draw(display);
}

void tp_live_display_finish(struct tp_live_display *display)
{
	struct pollfd events = {.fd = display->screen.wait_fd, .events = POLLIN};
	while (display->view && display->screen.has_keys && tp_view_is_held(display->view) &&
	       poll(&events, 1, -1) > 0 && tp_live_display_handle_events(display))
		;
}
