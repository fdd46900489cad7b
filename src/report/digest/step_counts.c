/* SPDX-License-Identifier: Apache-2.0 */
/* Counts steps by kind, and draws their times over the run. */
#include "step_counts.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/report.h"
#include "trainprof/report/units.h"

#include <ctype.h>

enum { MIN_CELLS = 8, MAX_CELLS = 40, LEVELS = 8 };

static const double NS_PER_S = 1e9;

void tp_report_count_steps(const struct tp_profile *profile, uint64_t counts[TP_N_STEP_KINDS])
{
	for (int kind = 0; kind < TP_N_STEP_KINDS; kind++)
		counts[kind] = 0;
	for (size_t i = 0; i < profile->n_steps; i++)
		counts[profile->steps[i].kind]++;
}

double tp_report_step_rate(const struct tp_profile *profile)
{
	bool is_known = profile->is_of_steps && profile->step_time.n && profile->step_time.mean > 0;
	return is_known ? NS_PER_S / profile->step_time.mean : 0;
}

double tp_report_sample_rate(const struct tp_profile *profile)
{
	tp_fact_id id = tp_fact_find("throughput.samples_per_s");
	return id < tp_n_facts && profile->facts[id].is_known ? profile->facts[id].value : 0;
}

void tp_report_add_step_rate(struct tp_buf *out, const struct tp_profile *profile)
{
	double rate = tp_report_step_rate(profile);
	double sample_rate = tp_report_sample_rate(profile);
	if (rate > 0)
		tp_buf_printf(out, "%s steps/s", tp_unit_number(rate).text);
	if (sample_rate > 0)
		tp_buf_printf(out, " (%s samples/s)", tp_unit_number(sample_rate).text);
}

const char *tp_report_count_words(const struct tp_profile *profile)
{
	if (profile->steps_are_part)
		return "at least ";
	return profile->steps_are_about ? "about " : "";
}

void tp_report_add_step_counts(struct tp_buf *out, const struct tp_profile *profile)
{
	static const char *const names[TP_N_STEP_KINDS] = {
		[TP_STEP_STEADY] = "steady",
		[TP_STEP_WARMUP] = "warm-up",
		[TP_STEP_CHECKPOINT] = "with a checkpoint",
		[TP_STEP_EVALUATION] = "with an evaluation",
		[TP_STEP_SLOW] = "slow",
		[TP_STEP_CUT] = "incomplete",
		[TP_STEP_COUNTED] = "with counters read",
		[TP_STEP_OTHER] = "at another speed",
	};
	static const enum tp_step_kind order[TP_N_STEP_KINDS] = {
		TP_STEP_STEADY,     TP_STEP_WARMUP,     TP_STEP_OTHER,   TP_STEP_SLOW,
		TP_STEP_CHECKPOINT, TP_STEP_EVALUATION, TP_STEP_COUNTED, TP_STEP_CUT};
	uint64_t counts[TP_N_STEP_KINDS];
	if (!profile->n_steps)
		return;
	tp_report_count_steps(profile, counts);
	size_t start = out->len;
	tp_buf_printf(out, "%s%s: ", tp_report_count_words(profile),
		      tp_unit_counted(tp_profile_all_steps(profile), "step").text);
	out->data[start] = (char)toupper((unsigned char)out->data[start]);
	const char *between = "";
	for (int i = 0; i < TP_N_STEP_KINDS; i++) {
		if (!counts[order[i]])
			continue;
		tp_buf_printf(out, "%s%s %s", between, tp_unit_count(counts[order[i]]).text,
			      names[order[i]]);
		between = ", ";
	}
	if (profile->n_untraced)
		tp_buf_printf(out, ", %s not traced", tp_unit_count(profile->n_untraced).text);
}

static uint64_t length_of(const struct tp_step *step)
{
	return step->end_ns - step->start_ns;
}

/* Mean length of the complete steps in the i-th of `n` groups of equal size; 0 if there are
 * none. */
static double mean_of_group(const struct tp_profile *profile, size_t i, size_t n)
{
	double sum = 0;
	size_t n_complete = 0;
	size_t end = profile->n_steps * (i + 1) / n;
	for (size_t k = profile->n_steps * i / n; k < end; k++) {
		if (profile->steps[k].kind == TP_STEP_CUT)
			continue;
		sum += (double)length_of(&profile->steps[k]);
		n_complete++;
	}
	return n_complete ? sum / (double)n_complete : 0;
}

void tp_report_add_heights(struct tp_buf *out, const double *values, size_t n, bool is_ascii)
{
	static const char *const blocks[LEVELS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const letters[LEVELS + 1] = {" ", "_", ".", "-", ":",
							"=", "+", "*", "#"};
	double most = 0;
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		if (values[i] > most)
			most = values[i];
	}
	if (most < 2 * sum / (double)n)
		most = 2 * sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		size_t level = most > 0 ? (size_t)(values[i] / most * LEVELS + 0.5) : 0;
		if (!level && values[i] > 0)
			level = 1;
		tp_buf_puts(out, (is_ascii ? letters : blocks)[level]);
	}
}

static void add_times(struct tp_buf *out, const struct tp_profile *profile, size_t n, bool is_ascii)
{
	double means[MAX_CELLS];
	for (size_t i = 0; i < n; i++)
		means[i] = mean_of_group(profile, i, n);
	tp_report_add_heights(out, means, n, is_ascii);
}

bool tp_report_has_step_line(const struct tp_profile *profile)
{
	return profile->n_steps >= MIN_CELLS || profile->n_steps > profile->n_steady;
}

void tp_report_print_step_counts(struct tp_page *page, const struct tp_profile *profile)
{
	struct tp_buf text = {0};
	tp_report_add_step_counts(&text, profile);
	if (!text.len) {
		tp_buf_release(&text);
		return;
	}
	if (tp_text_width(tp_buf_text(&text)) > tp_page_room(page)) {
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 3);
		tp_buf_release(&text);
		return;
	}
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	size_t room = tp_page_room(page);
	size_t n = room > 2 ? room - 2 : 0;
	if (n > MAX_CELLS)
		n = MAX_CELLS;
	if (n > profile->n_steps)
		n = profile->n_steps;
	if (n >= MIN_CELLS) {
		tp_buf_clear(&text);
		add_times(&text, profile, n, page->style->is_ascii);
		tp_page_add(page, TP_PAINT_NONE, "  ");
		tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	}
	tp_page_end(page);
	tp_buf_release(&text);
}
