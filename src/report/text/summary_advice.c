/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the advice on the screen after a run. */
#include "summary_advice.h"

#include "report/digest/gain_text.h"
#include "report/digest/verdict.h"
#include "screen_width.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

enum {
	NARROW_ADVICE_SHOWN = 2,
	COLUMN_TEXT = 4, /* column of the text of an advice */
	SURENESS_WIDTH = 13,
	REASON_LINES_MIN = 2,
};

/* Both columns are aligned right: the gain ends where the word begins, so that the words are
 * aligned. */
static void add_right(struct tp_buf *out, const char *gain, const char *how_sure)
{
	tp_buf_printf(out, "%s  %s", gain, how_sure);
	size_t width = tp_text_width(how_sure);
	tp_buf_pad(out, ' ', width < SURENESS_WIDTH - 2 ? SURENESS_WIDTH - 2 - width : 0);
}

/* If there is only one line, it contains the cost; explain has what to check. */
static void print_price(struct tp_page *page, const struct tp_report_digest *digest,
			const struct tp_finding *finding)
{
	struct tp_buf price = {0};
	tp_buf_printf(&price, "changes the training: %s",
		      finding->price ? finding->price : "check the model's quality");
	tp_page_column(page, COLUMN_TEXT);
	const char *paid = strrchr(tp_buf_text(&price), ':');
	bool is_short = tp_text_width(tp_buf_text(&price)) <= tp_page_room(page);
	size_t len = (size_t)(paid - tp_buf_text(&price));
	if (digest->lines_each == 1 && !is_short && len > sizeof("changes the training"))
		price.data[len] = '\0';
	tp_page_wrap(page, COLUMN_TEXT, TP_PAINT_WARN, tp_buf_text(&price), digest->lines_each);
	tp_buf_release(&price);
}

/* Prints the yardstick of a technique that needs fewer iterations: a shorter training. explain has
 * more about it. */
static void print_yardstick(struct tp_page *page, const struct tp_finding *finding)
{
	const struct tp_references *literature =
		finding->n_actions ? finding->actions[0].literature : NULL;
	if (!literature || !literature->against)
		return;
	tp_page_column(page, COLUMN_TEXT);
	tp_page_addf(page, TP_PAINT_WARN, "to beat: %s", literature->against->title);
	tp_page_end(page);
}

static void print_advice(struct tp_page *page, const struct tp_report_digest *digest, size_t index)
{
	const struct tp_finding *finding = &digest->report->findings->items[index];
	struct tp_buf gain = {0};
	struct tp_buf right = {0};
	if (finding->has_gain)
		tp_report_add_gain(&gain, finding->gain_low, finding->gain_value,
				   finding->gain_high);
	add_right(&right, tp_buf_text(&gain), tp_sureness_name(finding->sureness));
	tp_page_addf(page, TP_PAINT_NONE, "%2zu ", index + 1);
	tp_page_column(page, COLUMN_TEXT);
	const char *headline = finding->headline ? finding->headline : finding->title;
	tp_page_wrap_with_right(page, COLUMN_TEXT, headline, TP_PAINT_BOLD, tp_buf_text(&right), 2);
	if (finding->because) {
		tp_page_column(page, COLUMN_TEXT);
		bool has_room = tp_screen_is_wide(page) &&
				tp_text_width(finding->because) + strlen(finding->rule) + 1 <=
					tp_page_room(page);
		if (has_room) {
			tp_page_add(page, TP_PAINT_NONE, finding->because);
			tp_page_right(page, TP_PAINT_DIM, finding->rule);
		} else {
			/* A reason without its end may say something else. */
			tp_page_wrap(page, COLUMN_TEXT, TP_PAINT_NONE, finding->because,
				     digest->lines_each < REASON_LINES_MIN ? REASON_LINES_MIN
									   : digest->lines_each);
		}
	}
	if (finding->kind == TP_ADVICE_SEMANTIC)
		print_price(page, digest, finding);
	print_yardstick(page, finding);
	tp_buf_release(&right);
	tp_buf_release(&gain);
}

/* Prints the gain of all findings together; `shown` of them are printed above, and the line says
 * where the others are. */
static void print_combined(struct tp_page *page, const struct tp_findings *findings, size_t shown)
{
	bool is_known = tp_gain_is_estimate(findings->combined_low) ||
			tp_gain_has_high(findings->combined_low, findings->combined_high);
	if (!findings->has_combined || findings->n_fired < 2 ||
	    (!is_known && findings->n_fired <= shown))
		return;
	struct tp_buf text = {0};
	struct tp_buf gain = {0};
	struct tp_buf right = {0};
	if (findings->n_fired == 2)
		tp_buf_puts(&text, "both changes");
	else
		tp_buf_printf(&text, "all %zu changes", findings->n_fired);
	if (findings->n_fired > shown)
		tp_buf_printf(&text, " (%zu in explain)", findings->n_fired - shown);
	else
		tp_buf_puts(&text, " together");
	tp_report_add_gain_range(&gain, findings->combined_low, findings->combined_value,
				 findings->combined_high);
	add_right(&right, tp_buf_text(&gain), "");
	tp_page_column(page, COLUMN_TEXT);
	size_t room = tp_page_room(page);
	room -= room < tp_text_width(tp_buf_text(&right)) + 2
			? room
			: tp_text_width(tp_buf_text(&right)) + 2;
	/* Both are also in explain. */
	struct tp_buf limit = {0};
	tp_report_add_next_limit(&limit, findings);
	if (limit.len && tp_text_width(tp_buf_text(&text)) + tp_text_width(limit.data) > room)
		limit.data[strcspn(limit.data, ",")] = '\0';
	if (limit.len && tp_text_width(tp_buf_text(&text)) + tp_text_width(limit.data) <= room)
		tp_buf_puts(&text, limit.data);
	tp_buf_release(&limit);
	tp_page_wrap_with_right(page, COLUMN_TEXT, tp_buf_text(&text), TP_PAINT_BOLD,
				tp_buf_text(&right), 2);
	tp_buf_release(&right);
	tp_buf_release(&text);
	tp_buf_release(&gain);
}

static void print_narrow_advice(struct tp_page *page, const struct tp_report_digest *digest,
				size_t index)
{
	const struct tp_finding *finding = &digest->report->findings->items[index];
	tp_page_addf(page, TP_PAINT_NONE, "%zu ", index + 1);
	tp_page_add(page, TP_PAINT_NONE, tp_sureness_name(finding->sureness));
	if (finding->has_gain) {
		struct tp_buf gain = {0};
		tp_report_add_gain(&gain, finding->gain_low, finding->gain_value,
				   finding->gain_high);
		tp_page_addf(page, TP_PAINT_BOLD, "  %s", tp_buf_text(&gain));
		tp_buf_release(&gain);
	}
	tp_page_end(page);
	tp_page_column(page, 2);
	tp_page_wrap(page, 2, TP_PAINT_NONE, finding->headline ? finding->headline : finding->title,
		     digest->lines_each);
}

/* Prints why no rules were applied: the verdict of devices needs no rules and does not mention
 * them. */
static void print_no_rules(struct tp_page *page, const struct tp_report *report)
{
	struct tp_buf text = {0};
	const char *why = report->no_findings_because;
	tp_buf_printf(&text, "No rules were applied%s%s.", why ? ": " : "", why ? why : "");
	tp_page_end(page);
	tp_page_wrap(page, 2, TP_PAINT_WARN, tp_buf_text(&text), 3);
	tp_buf_release(&text);
}

static void print_heads(struct tp_page *page)
{
	struct tp_buf right = {0};
	add_right(&right, "faster by", "how sure");
	tp_page_wrap_with_right(page, 0, "What to change", TP_PAINT_DIM, tp_buf_text(&right), 1);
	tp_buf_release(&right);
}

void tp_report_print_advices(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_findings *findings = digest->report->findings;
	size_t n = tp_report_n_advice(digest->report);
	if (digest->is_judgeable && digest->has_devices && !findings)
		print_no_rules(page, digest->report);
	if (!digest->is_judgeable || !findings)
		return;
	tp_page_end(page);
	if (!n && tp_report_is_start_up(findings))
		return;
	if (!n) {
		tp_page_add(page, TP_PAINT_NONE,
			    "No advice would gain enough to be worth the work.");
		tp_page_end(page);
		return;
	}
	size_t shown = tp_screen_is_narrow(page) ? NARROW_ADVICE_SHOWN : digest->max_advice;
	if (!tp_screen_is_narrow(page))
		print_heads(page);
	for (size_t i = 0; i < n && i < shown; i++)
		(tp_screen_is_narrow(page) ? print_narrow_advice : print_advice)(page, digest, i);
	if (tp_screen_is_narrow(page))
		return;
	if (n > shown && !findings->has_combined) {
		tp_page_addf(page, TP_PAINT_DIM, "    and %zu more: trainprof explain", n - shown);
		tp_page_end(page);
	}
	print_combined(page, findings, shown);
}
