/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the screen after a run. */
#include "summary.h"

#include "gpu_table.h"
#include "report/digest/job_notes.h"
#include "report/digest/source_lines.h"
#include "report/digest/step_counts.h"
#include "report/digest/verdict.h"
#include "report/digest/verdict_gaps.h"
#include "report/digest/work_lines.h"
#include "screen_width.h"
#include "summary_advice.h"
#include "summary_footer.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"
#include "trainprof/model/fact.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Different step times of host and device are printed from this relative difference on. */
static const double LENGTHS_ALIKE = 0.02;

enum {
	SCREEN_LINES = 21,   /* 24, minus the prompt and the program's last output */
	COMMAND_LEAST = 9,   /* minimum columns for the command in the first line */
	PARTS_SHOWN_MIN = 3, /* on a screen that has no room for more */
	SMALL_PART = 5,      /* percent; below it a part makes room for advice */
};

/* The number of lines that a page has of both, including the empty line above them. */
struct summary_lines {
	size_t advice;
	size_t footer;
};

/* ---- the first line ------------------------------------------------------------------------ */

/* Appends the most detailed extent that leaves room for the whole command or, with a command that
 * is too long, the step rate if that leaves COMMAND_LEAST columns. */
static void add_extent(struct tp_buf *extent, const struct tp_page *page,
		       const struct tp_buf *command, const struct tp_report_digest *digest)
{
	bool is_narrow = tp_screen_is_narrow(page);
	size_t room = is_narrow ? page->style->width : tp_page_room(page);
	size_t beside = is_narrow ? 0 : tp_text_width(tp_buf_text(command)) + 2;
	size_t least = is_narrow ? 0 : COMMAND_LEAST + 2;
	for (int detail = TP_EXTENT_ALL; detail >= TP_EXTENT_STEPS; detail--) {
		bool is_short = detail <= TP_EXTENT_STEP_RATE && least < beside;
		tp_buf_clear(extent);
		tp_report_add_extent(extent, digest, (enum tp_extent_detail)detail);
		if (tp_text_width(tp_buf_text(extent)) + (is_short ? least : beside) <= room)
			return;
	}
}

static void print_header(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf command = {0};
	struct tp_buf extent = {0};
	tp_report_add_subject(&command, digest);
	tp_page_addf(page, TP_PAINT_NONE, "trainprof %s  ", tp_version());
	add_extent(&extent, page, &command, digest);
	size_t needed = tp_text_width(tp_buf_text(&extent)) + 2;
	size_t room = tp_page_room(page);
	if (!tp_screen_is_narrow(page) && tp_text_width(tp_buf_text(&command)) + needed > room &&
	    needed + COMMAND_LEAST <= room) {
		/* The command is cut, the figures are not. */
		struct tp_report_style style = *page->style;
		style.width -= (unsigned)needed;
		const struct tp_report_style *whole = page->style;
		page->style = &style;
		tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&command));
		page->style = whole;
	} else {
		tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&command));
	}
	if (tp_screen_is_narrow(page)) {
		tp_page_end(page);
		tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&extent));
		tp_page_end(page);
	} else {
		tp_page_right(page, TP_PAINT_NONE, tp_buf_text(&extent));
	}
	if (digest->has_step_line)
		tp_report_print_step_counts(page, digest->profile);
	tp_page_end(page);
	tp_buf_release(&command);
	tp_buf_release(&extent);
}

static void print_crash(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (digest->run->end != TP_END_SIGNALED)
		return;
	struct tp_buf text = {0};
	tp_report_add_end(&text, digest);
	tp_buf_printf(&text, " after %s. The report ends there",
		      tp_unit_elapsed(digest->trace->end_ns).text);
	if (digest->profile->n_steps)
		tp_buf_printf(&text, ", at step %s",
			      tp_unit_count(tp_profile_all_steps(digest->profile)).text);
	tp_buf_putc(&text, '.');
	tp_page_wrap(page, 0, TP_PAINT_BAD, tp_buf_text(&text), 0);
	tp_page_end(page);
	tp_buf_release(&text);
}

/* ---- the verdict --------------------------------------------------------------------------- */

static void add_upper(struct tp_buf *out, const char *text)
{
	for (; *text; text++)
		tp_buf_putc(out, (char)toupper((unsigned char)*text));
}

static void add_step_time(struct tp_buf *out, const struct tp_report_digest *digest,
			  bool with_device)
{
	const struct tp_profile *profile = digest->profile;
	if (!digest->is_judgeable || !profile->is_of_steps || !profile->step_time.n)
		return;
	tp_buf_printf(out, "%s, p95 %s", tp_unit_time(profile->step_time.mean).text,
		      tp_unit_time(profile->step_time.p95).text);
	/* A device may run later than the thread that marks the steps: its parts add up to the
	 * device's own step time. */
	double ratio = digest->mean_ns / profile->step_time.mean;
	if (!with_device || !digest->has_devices ||
	    (ratio >= 1 - LENGTHS_ALIKE && ratio <= 1 + LENGTHS_ALIKE))
		return;
	/* Without work of a device the parts are those of the marks, and what lies between two
	 * marks was not recorded. */
	tp_buf_printf(out,
		      digest->job.span_ns ? " on the host; %s on the device"
					  : "; the marks of a step cover %s",
		      tp_unit_time(digest->mean_ns).text);
}

static void print_verdict(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf title = {0};
	struct tp_buf sentence = {0};
	struct tp_buf step = {0};
	add_upper(&title, tp_report_verdict_title(digest->report));
	tp_report_add_verdict(&sentence, digest->report);
	add_step_time(&step, digest, !tp_screen_is_wide(page));
	tp_page_add(page, TP_PAINT_BOLD, tp_buf_text(&title));
	if (tp_screen_is_narrow(page)) {
		tp_page_end(page);
		tp_page_wrap(page, 0, TP_PAINT_NONE, tp_buf_text(&sentence), 4);
		tp_page_end(page);
		goto out;
	}
	tp_page_add(page, TP_PAINT_NONE, "  ");
	size_t needed = tp_text_width(tp_buf_text(&sentence)) + 1 + step.len + 12;
	if (tp_screen_is_wide(page) && needed < tp_page_room(page)) {
		tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&sentence));
		struct tp_buf named = {0};
		tp_buf_printf(&named, step.len ? "step: mean %s" : "%s", tp_buf_text(&step));
		tp_page_right(page, TP_PAINT_NONE, tp_buf_text(&named));
		tp_buf_release(&named);
		goto out;
	}
	bool is_beside = step.len && needed - 12 + strlen(" Step") <= tp_page_room(page);
	if (is_beside)
		tp_buf_printf(&sentence, " Step %s", tp_buf_text(&step));
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&sentence), 3);
	if (step.len && !is_beside) {
		tp_page_addf(page, TP_PAINT_NONE, "  step: mean %s", tp_buf_text(&step));
		tp_page_end(page);
	}
out:
	tp_buf_release(&title);
	tp_buf_release(&sentence);
	tp_buf_release(&step);
}

/* ---- the bars ------------------------------------------------------------------------------ */

static void add_percent(struct tp_page *page, unsigned percent)
{
	if (percent)
		tp_page_addf(page, TP_PAINT_NONE, "  %2u %%", percent);
	else
		tp_page_add(page, TP_PAINT_NONE, "  <1 %");
}

/* Adds the interval of the share and the time hidden behind other parts, on wide screens only. */
static void add_extra(struct tp_page *page, const struct tp_report_digest *digest,
		      const struct tp_part_result *part, size_t column)
{
	if (part->share.has_interval) {
		double low = part->share.low < 0 ? 0 : part->share.low;
		double shown = digest->percent[part - digest->profile->parts];
		double least = round(low * 100);
		double most = round(part->share.high * 100);
		char text[32];
		snprintf(text, sizeof(text), "%.0f–%.0f %%", least, most);
		size_t width = tp_text_width(text);
		tp_page_column(page, column + (width < 7 ? 9 - width : 2));
		/* An interval that does not contain the printed share says nothing. */
		if (least < most && least <= shown && shown <= most)
			tp_page_add(page, TP_PAINT_NONE, text);
	}
	tp_page_column(page, column + 9);
	if (part->hidden_ns)
		tp_page_addf(page, TP_PAINT_DIM, "  +%s hidden",
			     tp_unit_scaled(digest->scale,
					    (double)part->hidden_ns / digest->divisor)
				     .text);
	tp_page_column(page, column + 26);
}

static void print_bar(struct tp_page *page, const struct tp_report_digest *digest, enum tp_part id)
{
	const struct tp_part_result *part = &digest->profile->parts[id];
	size_t indent = tp_screen_is_narrow(page) ? 0 : 2;
	tp_page_column(page, indent);
	tp_page_add(page, TP_PAINT_PART + id, tp_profile_part_name(digest->profile, id));
	tp_page_column(page, indent + 13);
	struct tp_unit_text time =
		tp_unit_scaled(digest->scale, (double)part->time_ns / digest->divisor);
	tp_page_add(page, TP_PAINT_NONE,
		    tp_unit_right(time, tp_screen_is_narrow(page) ? 8 : 9).text);
	add_percent(page, digest->percent[id]);
	if (tp_screen_is_wide(page))
		add_extra(page, digest, part, page->columns);
	tp_page_add(page, TP_PAINT_NONE, "  ");
	size_t spare = tp_screen_is_narrow(page) ? 0 : 2;
	size_t cells = tp_page_room(page) > spare ? tp_page_room(page) - spare : 0;
	tp_page_bar(page, TP_PAINT_PART + id,
		    (double)part->time_ns / (double)digest->profile->total_ns, cells);
	tp_page_end(page);
}

void tp_report_bars(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->is_judgeable && !digest->is_hang)
		return;
	for (size_t i = 0; i < digest->n_shown; i++)
		print_bar(page, digest, digest->order[i]);
}

/* Prints the lines with most time of a Python program. */
static void print_top_line(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->is_judgeable || tp_screen_is_narrow(page))
		return;
	/* The last columns of a second line stay free, because words are not split. */
	enum { UNUSED = 12 };
	size_t columns = digest->lines_each * tp_page_room(page);
	struct tp_buf text = {0};
	columns -= digest->lines_each > 1 ? UNUSED : 0;
	tp_report_add_unknown_cause(&text, digest, columns);
	if (!text.len)
		tp_report_add_top_lines(&text, digest, columns);
	if (text.len)
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), digest->lines_each);
	tp_buf_clear(&text);
	tp_report_add_loading_work(&text, digest, tp_page_room(page));
	if (text.len)
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 1);
	tp_buf_release(&text);
}

/* ---- devices and ranks --------------------------------------------------------------------- */

static void print_notes(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->is_judgeable || tp_screen_is_narrow(page))
		return;
	size_t shown = 0;
	for (int i = 0; i < TP_JOB_NOTES_MAX && shown < digest->max_notes; i++) {
		struct tp_buf text = {0};
		tp_report_add_job_note(&text, digest, i);
		if (text.len) {
			tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text),
				     digest->lines_each);
			shown++;
		}
		tp_buf_release(&text);
	}
}

static void print_gpus(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_gpu_note(&text, digest);
	if (text.len && digest->is_judgeable)
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), digest->lines_each);
	tp_buf_release(&text);
}

/* ---- what else must be known ------------------------------------------------------------------
 */

static void print_steps_note(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!digest->is_judgeable || profile->steps_found_by != TP_STEPS_NONE ||
	    !profile->steps_reason)
		return;
	/* The first reason is enough here; --full has all of them. */
	const char *rest = page->style->is_full ? NULL : strchr(profile->steps_reason, ';');
	struct tp_buf text = {0};
	tp_buf_add(&text, profile->steps_reason,
		   rest ? (size_t)(rest - profile->steps_reason) : strlen(profile->steps_reason));
	tp_page_add(page, TP_PAINT_NONE, "No steps: ");
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 3);
	tp_buf_release(&text);
	if (!profile->steps_next)
		return;
	/* One line, or two that the shell joins, so that it can be copied. */
	tp_page_add(page, TP_PAINT_NONE, "next: ");
	const char *program = strstr(profile->steps_next, " -- ");
	if (program && tp_text_width(profile->steps_next) > tp_page_room(page)) {
		tp_page_addf(page, TP_PAINT_NONE, "%.*s -- \\",
			     (int)(program - profile->steps_next), profile->steps_next);
		tp_page_end(page);
		tp_page_add(page, TP_PAINT_NONE, "  ");
		tp_page_add(page, TP_PAINT_NONE, program + strlen(" -- "));
	} else {
		tp_page_add(page, TP_PAINT_NONE, profile->steps_next);
	}
	tp_page_end(page);
}

/* Prints what the main thread of a hanging program waits for. */
static void print_hang(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (digest->is_hang && digest->profile->hang_text)
		tp_page_wrap(page, 2, TP_PAINT_NONE, digest->profile->hang_text, 3);
}

static struct summary_lines print_summary(struct tp_page *page,
					  const struct tp_report_digest *digest)
{
	struct summary_lines lines;
	print_header(page, digest);
	print_crash(page, digest);
	print_verdict(page, digest);
	tp_report_bars(page, digest);
	print_hang(page, digest);
	print_top_line(page, digest);
	print_notes(page, digest);
	print_gpus(page, digest);
	print_steps_note(page, digest);
	size_t above = page->n_lines;
	tp_report_print_advices(page, digest);
	lines.advice = page->n_lines - above;
	above = page->n_lines;
	tp_report_print_footer(page, digest);
	lines.footer = page->n_lines - above;
	return lines;
}

static bool fits(const struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_page trial;
	tp_page_init(&trial, page->style);
	print_summary(&trial, digest);
	bool does = trial.n_lines <= SCREEN_LINES;
	tp_page_release(&trial);
	return does;
}

/* Advice matters more than how the run was measured. */
static bool is_footer_long(const struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_page trial;
	tp_page_init(&trial, page->style);
	struct summary_lines lines = print_summary(&trial, digest);
	tp_page_release(&trial);
	return lines.footer > lines.advice;
}

/* Number of parts with at least 1 %, which are the first ones. */
static size_t count_visible_parts(const struct tp_report_digest *digest)
{
	size_t n = digest->n_shown;
	while (n > 1 && digest->percent[digest->order[n - 1]] == 0)
		n--;
	return n;
}

void tp_report_summary(struct tp_page *page, const struct tp_report_digest *digest)
{
	/* The diagnosis must not scroll away the program's last output: long texts are cut, and
	 * explain has them in full. If that is not enough, items that are in --full are left
	 * out. */
	static const struct {
		size_t max_advice;
		size_t max_notes;
		bool has_step_line;
	} ladder[] = {{3, SIZE_MAX, true}, {3, 2, true},  {3, 1, true},  {2, 2, true},
		      {2, 1, true},        {2, 1, false}, {2, 0, false}, {1, 2, true},
		      {1, 1, true},        {1, 0, true},  {1, 0, false}};
	struct tp_report_digest shorter = *digest;
	shorter.is_footer_short =
		!page->style->is_full && (is_footer_long(page, &shorter) || !fits(page, &shorter));
	if (!fits(page, &shorter))
		shorter.lines_each = 1;
	if (!fits(page, &shorter))
		shorter.n_shown = count_visible_parts(&shorter);
	while (!fits(page, &shorter) && shorter.n_shown > PARTS_SHOWN_MIN &&
	       shorter.percent[shorter.order[shorter.n_shown - 1]] < SMALL_PART)
		shorter.n_shown--;
	for (size_t i = 0; i < TP_ARRAY_LEN(ladder); i++) {
		shorter.max_advice = ladder[i].max_advice;
		shorter.max_notes = ladder[i].max_notes;
		shorter.has_step_line = digest->has_step_line && ladder[i].has_step_line;
		if (fits(page, &shorter))
			break;
	}
	while (!fits(page, &shorter) && shorter.n_shown > PARTS_SHOWN_MIN)
		shorter.n_shown--;
	print_summary(page, &shorter);
}
