/* SPDX-License-Identifier: Apache-2.0 */
/* Shows steps, one per line: letters stand for parts, their number for the length. */
#include "view_state.h"

#include "report/digest/step_counts.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS_AT = 19, CELLS_MIN = 8, SORTS = 2, DIGIT_BITS = 11 };

/* Steps that are longer than the median times this ratio are outliers. */
static const double outlier_ratio = 1.5;

static const char letters[TP_N_PARTS + 1] = "Cnmdh.";

static uint64_t length_of(const struct tp_step *step)
{
	return step->end_ns - step->start_ns;
}

/* ---- order ---- */

/* One pass of a radix sort: with so many steps, comparisons would delay the response to a key. */
static void sort_by_digit(size_t *to, const size_t *from, const struct tp_profile *profile,
			  unsigned shift)
{
	enum { N_DIGITS = 1 << DIGIT_BITS };
	size_t begins[N_DIGITS + 1] = {0};
	for (size_t i = 0; i < profile->n_steps; i++)
		begins[(length_of(&profile->steps[i]) >> shift & (N_DIGITS - 1)) + 1]++;
	for (size_t i = 0; i < N_DIGITS; i++)
		begins[i + 1] += begins[i];
	for (size_t i = 0; i < profile->n_steps; i++) {
		uint64_t length = length_of(&profile->steps[from[i]]);
		to[begins[length >> shift & (N_DIGITS - 1)]++] = from[i];
	}
}

/* Sorted by length, the longest first; equal steps keep their order. */
static const size_t *steps_by_length(struct tp_view *view)
{
	size_t n = view->profile->n_steps;
	if (view->by_length)
		return view->by_length;
	uint64_t longest = 0;
	size_t *from = tp_alloc((n + 1) * sizeof(*from));
	size_t *to = tp_alloc((n + 1) * sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		from[i] = n - 1 - i;
		if (length_of(&view->profile->steps[i]) > longest)
			longest = length_of(&view->profile->steps[i]);
	}
	for (unsigned shift = 0; shift < 64 && longest >> shift; shift += DIGIT_BITS) {
		sort_by_digit(to, from, view->profile, shift);
		size_t *sorted = to;
		to = from;
		from = sorted;
	}
	for (size_t i = 0; i < n; i++)
		to[i] = from[n - 1 - i];
	free(from);
	view->by_length = to;
	return to;
}

static bool is_long_step(const struct tp_view *view, size_t step)
{
	double median = view->profile->step_time.median;
	return median > 0 &&
	       (double)length_of(&view->profile->steps[step]) > outlier_ratio * median;
}

/* The search word: a number, or part of the name of a kind. */
struct step_word {
	bool is_number;
	uint64_t number;
	bool is_of_kind[TP_N_STEP_KINDS];
};

static struct step_word parse_word(const char *word)
{
	struct step_word meant = {0};
	meant.is_number = tp_text_parse_count(word, &meant.number);
	for (int i = 0; i < TP_N_STEP_KINDS; i++)
		meant.is_of_kind[i] = strstr(tp_step_kind_name((enum tp_step_kind)i), word) ||
				      strstr(tp_step_kind_text((enum tp_step_kind)i), word);
	return meant;
}

static bool is_searched(const struct tp_view *view, const struct step_word *meant, size_t step)
{
	return meant->is_number ? meant->number == step + 1
				: meant->is_of_kind[view->profile->steps[step].kind];
}

static void make(struct tp_view *view, struct tp_view_place *place)
{
	size_t n = view->profile->n_steps;
	bool is_by_length = place->sort % SORTS != 0;
	const size_t *order = is_by_length ? steps_by_length(view) : NULL;
	place->n_items = n;
	if (!order && !place->only_outliers && !place->filter[0])
		return;
	const struct step_word meant = parse_word(place->filter);
	place->rows = tp_alloc((n + 1) * sizeof(*place->rows));
	place->n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		size_t step = order ? order[i] : i;
		bool is_kept = !place->only_outliers || is_long_step(view, step);
		if (is_kept && (!place->filter[0] || is_searched(view, &meant, step)))
			place->rows[place->n_rows++] = step;
	}
}

/* ---- head ---- */

/* The longest step of each of n groups, so that a single slow step is visible. Kept until the width
 * changes. */
static const double *make_strip(struct tp_view *view, size_t n)
{
	const struct tp_profile *profile = view->profile;
	if (view->strip && view->n_strip == n)
		return view->strip;
	free(view->strip);
	view->strip = tp_alloc((n + 1) * sizeof(*view->strip));
	view->n_strip = n;
	for (size_t i = 0; i < n; i++)
		for (size_t k = profile->n_steps * i / n; k < profile->n_steps * (i + 1) / n; k++)
			if ((double)length_of(&profile->steps[k]) > view->strip[i])
				view->strip[i] = (double)length_of(&profile->steps[k]);
	return view->strip;
}

static void add_strip(struct tp_buf *out, struct tp_view *view, size_t n)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const double *longest = make_strip(view, n);
	double most = 0;
	for (size_t i = 0; i < n; i++)
		if (longest[i] > most)
			most = longest[i];
	for (size_t i = 0; i < n; i++) {
		size_t level = most > 0 ? (size_t)(longest[i] / most * 7.999) : 0;
		if (view->style.is_ascii)
			tp_buf_putc(out, "_.-:=+*#"[level]);
		else
			tp_buf_puts(out, blocks[level]);
	}
}

static void print_strip(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	struct tp_buf text = {0};
	size_t room = tp_page_room(page);
	size_t n = room > 4 ? room - 4 : 1;
	if (n > view->profile->n_steps)
		n = view->profile->n_steps;
	add_strip(&text, view, n);
	tp_page_column(page, 1);
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	tp_page_end(page);
	size_t item = tp_view_cursor_item(place);
	if (item != SIZE_MAX) {
		tp_page_column(page, 1 + item * n / view->profile->n_steps);
		tp_page_add(page, TP_PAINT_BOLD, "^");
	}
	tp_page_end(page);
	tp_buf_release(&text);
}

static void print_part_letters(struct tp_view *view, struct tp_view_place *place,
			       struct tp_page *page)
{
	tp_page_add(page, TP_PAINT_DIM, "    step     time ");
	for (int part = 0; part < TP_N_PARTS; part++) {
		if (!view->profile->parts[part].time_ns)
			continue;
		char text[32];
		snprintf(text, sizeof(text), " %c %s", letters[part],
			 tp_part_name((enum tp_part)part));
		if (strlen(text) <= tp_page_room(page))
			tp_page_add(page, TP_PAINT_PART + part, text);
	}
	const char *sort = place->sort % SORTS ? "by length" : "in order";
	if (tp_page_room(page) > strlen(sort) + 1)
		tp_page_right(page, TP_PAINT_DIM, sort);
	else
		tp_page_end(page);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	struct tp_buf text = {0};
	const struct tp_profile *profile = view->profile;
	tp_page_column(page, 1);
	if (!profile->n_steps) {
		tp_buf_printf(&text, "No steps: %s",
			      profile->steps_reason ? profile->steps_reason : "none were found");
		tp_page_wrap(page, 1, TP_PAINT_NONE, tp_buf_text(&text), 0);
		if (profile->steps_next)
			tp_page_addf(page, TP_PAINT_NONE, " next: %s", profile->steps_next);
		tp_page_end(page);
		tp_buf_release(&text);
		return;
	}
	tp_report_add_step_counts(&text, profile);
	if (place->only_outliers)
		tp_buf_printf(&text, "; %zu above 1.5 times the median", place->n_rows);
	tp_page_wrap(page, 1, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
	if (!view->is_plain)
		print_strip(view, place, page);
	print_part_letters(view, place, page);
}

/* ---- rows ---- */

/* The number of cells is proportional to the length; each part has its share of the cells. */
static void print_letters(struct tp_view *view, const struct tp_step *step, struct tp_page *page)
{
	double longest = view->profile->step_time.max;
	uint64_t length = length_of(step);
	size_t room = tp_page_room(page);
	if (longest < (double)length)
		longest = (double)length;
	double cells = (double)room / longest;
	uint64_t sum = 0;
	size_t at = 0;
	for (int part = 0; part < TP_N_PARTS; part++) {
		/* In the order of work: data, memory, compute, communication, host, idle. */
		static const enum tp_part order[TP_N_PARTS] = {
			TP_PART_DATALOADER,    TP_PART_MEMORY, TP_PART_COMPUTE,
			TP_PART_COMMUNICATION, TP_PART_HOST,   TP_PART_IDLE};
		char text[512] = "";
		sum += step->part_ns[order[part]];
		size_t end = (size_t)((double)sum * cells + 0.5);
		if (end > room)
			end = room;
		for (size_t i = 0; at < end && i + 1 < sizeof(text); i++, at++)
			text[i] = letters[order[part]];
		tp_page_add(page, TP_PAINT_PART + order[part], text);
	}
	if (!at)
		tp_page_add(page, TP_PAINT_DIM, ".");
}

static void print_shares(const struct tp_step *step, struct tp_page *page)
{
	double length = length_of(step) ? (double)length_of(step) : 1;
	const char *between = "";
	for (int part = 0; part < TP_N_PARTS; part++) {
		if (!step->part_ns[part])
			continue;
		tp_page_addf(page, TP_PAINT_NONE, "%s%s %s", between,
			     tp_part_name((enum tp_part)part),
			     tp_unit_percent((double)step->part_ns[part] / length).text);
		between = ", ";
	}
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct tp_step *step = &view->profile->steps[item];
	(void)place;
	tp_page_addf(page, TP_PAINT_NONE, "%7zu %s ", item + 1,
		     tp_unit_right(tp_unit_time((double)length_of(step)), 9).text);
	tp_page_add(page, TP_PAINT_DIM,
		    step->kind == TP_STEP_STEADY ? "  "
		    : step->kind == TP_STEP_SLOW ? "! "
						 : "- ");
	if (view->is_plain)
		print_shares(step, page);
	else if (tp_page_room(page) >= CELLS_MIN)
		print_letters(view, step, page);
	tp_page_end(page);
}

/* ---- detail ---- */

static void print_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	const struct tp_profile *profile = view->profile;
	const struct tp_step *step = &profile->steps[item];
	double median = profile->step_time.median;
	(void)place;
	tp_page_addf(page, TP_PAINT_BOLD, " step %zu", item + 1);
	tp_page_addf(page, TP_PAINT_NONE, " (%s): ", tp_step_kind_text(step->kind));
	tp_page_addf(page, TP_PAINT_NONE, "%s, ", tp_unit_time((double)length_of(step)).text);
	if (median > 0)
		tp_page_addf(page, TP_PAINT_NONE, "%.1f times the median (%s)",
			     (double)length_of(step) / median, tp_unit_time(median).text);
	tp_page_end(page);
	for (int part = 0; part < TP_N_PARTS; part++) {
		const struct tp_part_result *all = &profile->parts[part];
		double mean = profile->n_steady && profile->is_of_steps
				      ? (double)all->time_ns / (double)profile->n_steady
				      : 0;
		if (!step->part_ns[part])
			continue;
		tp_page_addf(page, TP_PAINT_PART + part, "   %-14s",
			     tp_part_name((enum tp_part)part));
		tp_page_add(page, TP_PAINT_NONE,
			    tp_unit_right(tp_unit_time((double)step->part_ns[part]), 9).text);
		double more = (double)step->part_ns[part] - mean;
		if (mean > 0 && (more > mean / 4 || more < -mean / 4))
			tp_page_addf(page, TP_PAINT_NONE,
				     "  %s %s than in the mean of steady steps",
				     tp_unit_time(more < 0 ? -more : more).text,
				     more < 0 ? "less" : "more");
		tp_page_end(page);
	}
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	(void)place;
	tp_view_push(view, TP_SCREEN_LANES)->index = item;
	tp_view_make_rows(view, tp_view_top_place(view));
}

static bool find_step(struct tp_view *view, struct tp_view_place *place, const char *word,
		      int direction)
{
	const struct step_word meant = parse_word(word);
	size_t n = place->n_rows;
	for (size_t i = 1; i <= n; i++) {
		size_t row = (place->cursor + (direction > 0 ? i : n - i)) % n;
		if (is_searched(view, &meant, tp_view_item(place, row))) {
			place->cursor = row;
			return true;
		}
	}
	return false;
}

const struct tp_view_screen tp_view_steps = {
	.id = TP_SCREEN_STEPS,
	.name = "steps",
	.title = "Steps",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.print_detail = print_detail,
	.open = open_row,
	.find = find_step,
	.needs_width = true,
};
