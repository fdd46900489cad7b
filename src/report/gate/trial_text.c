/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the outcome of advice that was tried. */
#include "trainprof/report/trial_text.h"

#include "report/digest/gain_text.h"
#include "report/digest/markdown_escape.h"

#include "trainprof/base/memory.h"

enum { COLUMN_TITLE = 4 };

static const char *state_name(enum tp_trial_state state)
{
	static const char *const names[] = {"not tried", "failed", "faster",
					    "slower",    "alike",  "undecided"};
	return names[state];
}

static bool is_measured(const struct tp_trial *trial)
{
	return trial->state >= TP_TRIAL_FASTER;
}

static void add_measured(struct tp_buf *out, const struct tp_trial *trial)
{
	static const char *const words[] = {[TP_TRIAL_FASTER] = "",
					    [TP_TRIAL_SLOWER] = ": slower",
					    [TP_TRIAL_ALIKE] = ": no difference",
					    [TP_TRIAL_UNDECIDED] = ": undecided"};
	tp_buf_printf(out, "measured %.2f× (%.2f to %.2f) in %zu pairs%s%s", trial->speedup,
		      trial->speedup_low, trial->speedup_high, trial->n_pairs,
		      trial->is_of_runs ? " of whole runs, start included" : "",
		      words[trial->state]);
}

static void describe(struct tp_buf *out, const struct tp_trial *trial)
{
	const struct tp_finding *finding = trial->finding;
	if (!is_measured(trial)) {
		tp_buf_printf(out, "%s: %s", state_name(trial->state), trial->because);
		return;
	}
	if (finding && finding->has_gain) {
		tp_buf_puts(out, "promised ");
		tp_report_add_gain(out, finding->gain_low, finding->gain_value, finding->gain_high);
		bool is_other = finding->is_gain_of_loop && !trial->is_of_runs;
		tp_buf_puts(out, is_other ? " of the loop, " : ", ");
	}
	add_measured(out, trial);
}

static const struct tp_trial *best_of(const struct tp_trial *trials, size_t n)
{
	const struct tp_trial *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (trials[i].state == TP_TRIAL_FASTER &&
		    (!best || trials[i].speedup > best->speedup))
			best = &trials[i];
	return best;
}

static bool is_any_measured(const struct tp_trial *trials, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_measured(&trials[i]))
			return true;
	return false;
}

static bool needs_command(const struct tp_trial *best)
{
	return best->is_command_changed || !best->n_lines;
}

/* Prints what to change so that the program runs as it was tried. */
static void print_best(struct tp_page *page, const struct tp_trial *best)
{
	if (needs_command(best)) {
		tp_page_add(page, TP_PAINT_NONE, "Start it from now on as");
		tp_page_end(page);
		tp_page_column(page, 2);
		tp_page_wrap(page, 2, TP_PAINT_BOLD, best->command, 0);
	}
	if (!best->n_lines)
		return;
	tp_page_add(page, TP_PAINT_NONE, "Change in the program");
	tp_page_end(page);
	for (size_t i = 0; i < best->n_lines; i++) {
		tp_page_column(page, 2);
		tp_page_wrap(page, 4, TP_PAINT_BOLD, best->lines[i], 0);
	}
}

void tp_report_trials_text(struct tp_page *page, const struct tp_trial *trials, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_trial *trial = &trials[i];
		struct tp_buf text = {0};
		if (trial->number)
			tp_page_addf(page, TP_PAINT_BOLD, "%2zu  ", trial->number);
		tp_page_column(page, COLUMN_TITLE);
		tp_page_wrap(page, COLUMN_TITLE, TP_PAINT_NONE,
			     trial->finding ? trial->finding->headline
					    : "All that helped, together",
			     0);
		describe(&text, trial);
		tp_page_column(page, COLUMN_TITLE);
		tp_page_wrap(page, COLUMN_TITLE, TP_PAINT_NONE, tp_buf_text(&text), 0);
		tp_buf_release(&text);
	}
	if (!is_any_measured(trials, n))
		return;
	const struct tp_trial *best = best_of(trials, n);
	tp_page_end(page);
	if (!best) {
		tp_page_wrap(page, 0, TP_PAINT_NONE, "Nothing that was tried made it faster.", 0);
		return;
	}
	print_best(page, best);
}

/* A line of several, such as the script of `sh -c`, stays in the block. */
static void add_code(struct tp_buf *out, const char *title, const char *const *lines, size_t n)
{
	tp_buf_printf(out, "\n%s\n\n", title);
	for (size_t i = 0; i < n; i++) {
		tp_buf_puts(out, "    ");
		for (const char *c = lines[i]; *c; c++) {
			tp_buf_putc(out, *c);
			if (*c == '\n')
				tp_buf_puts(out, "    ");
		}
		tp_buf_putc(out, '\n');
	}
}

void tp_report_trials_markdown(struct tp_buf *out, const struct tp_trial *trials, size_t n)
{
	struct tp_buf text = {0};
	for (size_t i = 0; i < n; i++) {
		const struct tp_trial *trial = &trials[i];
		if (trial->number)
			tp_buf_printf(&text, "%zu: ", trial->number);
		tp_buf_printf(&text, "%s",
			      trial->finding ? trial->finding->headline
					     : "All that helped, together");
		tp_buf_puts(out, "- **");
		tp_markdown_add_plain(out, tp_buf_text(&text));
		tp_buf_puts(out, "**: ");
		tp_buf_clear(&text);
		describe(&text, trial);
		tp_markdown_add_plain(out, tp_buf_text(&text));
		tp_buf_putc(out, '\n');
		tp_buf_clear(&text);
	}
	tp_buf_release(&text);
	const struct tp_trial *best = best_of(trials, n);
	if (!best && is_any_measured(trials, n))
		tp_buf_puts(out, "\nNothing that was tried made it faster.\n");
	if (best && needs_command(best))
		add_code(out, "Start it from now on as", &best->command, 1);
	if (best && best->n_lines)
		add_code(out, "Change in the program", best->lines, best->n_lines);
}

static void write_interval(struct tp_json_writer *w, const char *key, double low, double value,
			   double high)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '{');
	tp_json_put_number(w, "value", value);
	tp_json_put_number(w, "low", low);
	tp_json_put_number(w, "high", high);
	tp_json_close(w, '}');
}

static void write_trial(struct tp_json_writer *w, const struct tp_trial *trial)
{
	const struct tp_finding *finding = trial->finding;
	tp_json_open(w, '{');
	if (trial->number)
		tp_json_put_uint(w, "advice", trial->number);
	if (finding) {
		tp_json_put_string(w, "rule", finding->rule);
		tp_json_put_string(w, "headline", finding->headline);
	}
	tp_json_put_string(w, "state", state_name(trial->state));
	tp_json_put_known_string(w, "because", trial->because);
	tp_json_put_known_string(w, "command", trial->command);
	tp_json_put_known_string(w, "loader", trial->loader);
	if (trial->n_lines) {
		tp_json_write_key(w, "lines");
		tp_json_open(w, '[');
		for (size_t i = 0; i < trial->n_lines; i++)
			tp_json_write_string(w, trial->lines[i]);
		tp_json_close(w, ']');
	}
	if (finding && finding->has_gain) {
		tp_json_put_string(w, "promised_of", finding->is_gain_of_loop ? "loop" : "step");
		write_interval(w, "promised", finding->gain_low, finding->gain_value,
			       finding->gain_high);
		tp_json_put_string(w, "promise",
				   tp_report_gain_kind(finding->gain_low, finding->gain_high));
	}
	if (is_measured(trial)) {
		write_interval(w, "measured", trial->speedup_low, trial->speedup,
			       trial->speedup_high);
		tp_json_put_uint(w, "pairs", trial->n_pairs);
		tp_json_put_string(w, "of", trial->is_of_runs ? "run" : "step");
	}
	tp_json_close(w, '}');
}

void tp_report_trials_json(struct tp_json_writer *w, const struct tp_trial *trials, size_t n)
{
	tp_json_write_key(w, "trials");
	tp_json_open(w, '[');
	for (size_t i = 0; i < n; i++)
		write_trial(w, &trials[i]);
	tp_json_close(w, ']');
}
