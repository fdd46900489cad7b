/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the lines that are worth a sentence, and writes the sentences. */
#include "source_lines.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

/* minimum share of the step for a line on the first screen */
static const double min_share = 0.05;
/* minimum share of the loop line's time for an inner line to be named with it */
static const double min_inner_share = 0.5;
/* minimum share of a line's time for a second part to be named */
static const double min_second_share = 0.25;

static double share_of(const struct tp_profile *profile, const struct tp_line_result *line)
{
	return profile->total_ns ? (double)line->time_ns / (double)profile->total_ns : 0;
}

static const char *whole(const struct tp_profile *profile)
{
	return profile->is_of_steps ? "each step" : "the measured time";
}

static void add_file(struct tp_buf *out, const struct tp_trace *trace,
		     const struct tp_line_result *line)
{
	tp_buf_printf(out, "%s:%u", tp_text_base_name(tp_trace_string(trace, line->file)),
		      line->line);
}

/* Python calls a module's own code <module>, which is no useful name. */
static void add_function(struct tp_buf *out, const struct tp_trace *trace, uint32_t symbol)
{
	const char *name = tp_trace_string(trace, symbol);
	if (strcmp(name, "<module>") != 0)
		tp_buf_printf(out, " in %s()", name);
}

void tp_report_add_place(struct tp_buf *out, const struct tp_trace *trace,
			 const struct tp_line_result *line)
{
	add_file(out, trace, line);
	add_function(out, trace, line->symbol);
}

/* True if the user's own lines describe the run, not the lines of the loop. */
static bool uses_self_lines(const struct tp_profile *profile)
{
	return !profile->loop.is_known || profile->loop.is_library;
}

/* The lines are sorted: the first of a kind is the largest. */
static const struct tp_line_result *first_line(const struct tp_profile *profile, enum tp_part part,
					       bool is_own)
{
	for (size_t i = 0; i < profile->n_lines; i++)
		if (profile->lines[i].part == part && profile->lines[i].is_own == is_own)
			return &profile->lines[i];
	return NULL;
}

/* Returns the most useful line for a part: a line of the loop, or the user's own line if a library
 * runs the loop; NULL if the part has none. */
static const struct tp_line_result *line_of(const struct tp_profile *profile, enum tp_part part)
{
	const struct tp_line_result *line = first_line(profile, part, uses_self_lines(profile));
	return line ? line : first_line(profile, part, !uses_self_lines(profile));
}

/* A function and a generator expression in it share a line, for which a reader sees one time. */
static bool is_same_line(const struct tp_line_result *a, const struct tp_line_result *b)
{
	return a->file == b->file && a->line == b->line && a->is_own == b->is_own;
}

double tp_report_line_share(const struct tp_profile *profile, const struct tp_line_result *line)
{
	double sum = 0;
	for (size_t i = 0; i < profile->n_lines; i++)
		if (is_same_line(&profile->lines[i], line))
			sum += share_of(profile, &profile->lines[i]);
	return sum;
}

static bool is_in_list(const struct tp_line_result *line, const struct tp_line_result *const *lines,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_same_line(line, lines[i]))
			return true;
	return false;
}

/* Returns the line with most time, with its largest part; NULL if no line has a notable share. */
static const struct tp_line_result *largest_line(const struct tp_profile *profile, bool is_own,
						 const struct tp_line_result *const *but, size_t n)
{
	const struct tp_line_result *best = NULL;
	for (size_t i = 0; i < profile->n_lines; i++) {
		const struct tp_line_result *line = &profile->lines[i];
		if (line->is_own != is_own || is_in_list(line, but, n) ||
		    tp_report_line_share(profile, line) < min_share)
			continue;
		bool is_same = best && is_same_line(line, best);
		if (!best || (is_same ? line->time_ns > best->time_ns
				      : tp_report_line_share(profile, line) >
						tp_report_line_share(profile, best)))
			best = line;
	}
	return best;
}

/* "39 % of each step (dataloader)"; for a line with much time in two parts " (compute, idle)". */
static void add_share(struct tp_buf *out, const struct tp_profile *profile,
		      const struct tp_line_result *line, bool with_whole)
{
	double total = tp_report_line_share(profile, line);
	tp_buf_printf(out, "%s", tp_unit_percent(total).text);
	if (with_whole)
		tp_buf_printf(out, " of %s", whole(profile));
	tp_buf_printf(out, " (%s", tp_part_name(line->part));
	for (size_t i = 0; i < profile->n_lines; i++)
		if (&profile->lines[i] != line && is_same_line(&profile->lines[i], line) &&
		    share_of(profile, &profile->lines[i]) >= min_second_share * total)
			tp_buf_printf(out, ", %s", tp_part_name(profile->lines[i].part));
	tp_buf_putc(out, ')');
}

/* Returns the inner line that holds most of the time of the loop's line; NULL if there is none. */
static const struct tp_line_result *inner_line(const struct tp_profile *profile,
					       const struct tp_line_result *line)
{
	if (line->is_own)
		return NULL;
	const struct tp_line_result *own = first_line(profile, line->part, true);
	return own && (double)own->time_ns >= min_inner_share * (double)line->time_ns ? own : NULL;
}

enum {
	WITH_SECOND = 1,
	WITH_INNER = 2,
	WITH_WHOLE = 4,
	WITH_FUNCTION = 8,
	WITH_INNER_FUNCTION = 16
};

static void add_second(struct tp_buf *out, const struct tp_report_digest *digest,
		       const struct tp_line_result *first)
{
	const struct tp_profile *profile = digest->profile;
	const struct tp_line_result *second =
		largest_line(profile, uses_self_lines(profile), &first, 1);
	if (!second)
		return;
	tp_buf_puts(out, "; next ");
	if (second->file == first->file && second->symbol == first->symbol)
		tp_buf_printf(out, ":%u", second->line);
	else
		tp_report_add_place(out, digest->trace, second);
	tp_buf_puts(out, ", ");
	add_share(out, profile, second, false);
}

static void add_top_line(struct tp_buf *out, const struct tp_report_digest *digest,
			 const struct tp_line_result *first, unsigned what)
{
	const struct tp_profile *profile = digest->profile;
	const struct tp_line_result *inner = inner_line(profile, first);
	tp_buf_puts(out, "Most time: ");
	add_file(out, digest->trace, first);
	if (what & WITH_FUNCTION)
		add_function(out, digest->trace, first->symbol);
	tp_buf_puts(out, ", ");
	add_share(out, profile, first, (what & WITH_WHOLE) != 0);
	if (inner && (what & WITH_INNER)) {
		tp_buf_puts(out, ", mostly ");
		add_file(out, digest->trace, inner);
		if (what & WITH_INNER_FUNCTION)
			add_function(out, digest->trace, inner->symbol);
	}
	if (what & WITH_SECOND)
		add_second(out, digest, first);
	tp_buf_putc(out, '.');
}

void tp_report_add_top_lines(struct tp_buf *out, const struct tp_report_digest *digest,
			     size_t columns)
{
	enum { INNER = WITH_INNER | WITH_INNER_FUNCTION };
	/* The inner line is where the work is: it is left out last. */
	static const unsigned ways[] = {
		WITH_WHOLE | WITH_FUNCTION | INNER | WITH_SECOND,
		WITH_WHOLE | WITH_FUNCTION | INNER,
		WITH_FUNCTION | INNER,
		INNER,
		WITH_FUNCTION | WITH_INNER,
		WITH_INNER,
		WITH_WHOLE | WITH_FUNCTION | WITH_SECOND,
		WITH_WHOLE | WITH_FUNCTION,
		WITH_FUNCTION,
	};
	const struct tp_profile *profile = digest->profile;
	const struct tp_line_result *first =
		largest_line(profile, uses_self_lines(profile), NULL, 0);
	bool has_inner = first && inner_line(profile, first);
	for (size_t i = 0; first && i < TP_ARRAY_LEN(ways); i++) {
		struct tp_buf text = {0};
		if ((ways[i] & WITH_INNER) && !has_inner)
			continue;
		add_top_line(&text, digest, first, ways[i]);
		bool is_last = i + 1 == TP_ARRAY_LEN(ways);
		bool fits = !columns || tp_text_width(tp_buf_text(&text)) <= columns;
		if (fits || is_last)
			tp_buf_puts(out, tp_buf_text(&text));
		tp_buf_release(&text);
		if (fits)
			return;
	}
}

size_t tp_report_top_lines(const struct tp_line_result **out, size_t most,
			   const struct tp_profile *profile)
{
	size_t n = 0;
	const struct tp_line_result *line;
	while (n < most && (line = largest_line(profile, uses_self_lines(profile), out, n)))
		out[n++] = line;
	return n;
}

size_t tp_report_top_own_lines(const struct tp_line_result **out, size_t most,
			       const struct tp_profile *profile)
{
	size_t n = 0;
	const struct tp_line_result *line;
	while (n < most && (line = largest_line(profile, true, out, n)))
		out[n++] = line;
	return n ? n : tp_report_top_lines(out, most, profile);
}

void tp_report_add_line_share(struct tp_buf *out, const struct tp_profile *profile,
			      const struct tp_line_result *line)
{
	const struct tp_line_result *inner = inner_line(profile, line);
	tp_buf_printf(out, "%5s  ", tp_unit_percent(tp_report_line_share(profile, line)).text);
	tp_report_add_place(out, profile->trace, line);
	tp_buf_printf(out, ", %s", tp_part_name(line->part));
	if (inner) {
		tp_buf_puts(out, ", mostly ");
		tp_report_add_place(out, profile->trace, inner);
	}
}

void tp_report_add_loop(struct tp_buf *out, const struct tp_profile *profile)
{
	const struct tp_source_loop *loop = &profile->loop;
	if (!loop->is_known || !loop->first_line)
		return;
	tp_buf_puts(out, "the loop");
	add_function(out, profile->trace, loop->symbol);
	tp_buf_printf(out, " at %s:%u",
		      tp_text_base_name(tp_trace_string(profile->trace, loop->file)),
		      loop->first_line);
	if (loop->last_line > loop->first_line)
		tp_buf_printf(out, "–%u", loop->last_line);
}

/* Returns the part in the fact's name, dataloader for "step.dataloader_prep_ratio"; TP_N_PARTS if
 * there is none. */
static enum tp_part part_of_fact(tp_fact_id fact)
{
	const char *name = tp_fact_desc(fact)->name;
	if (!tp_text_starts_with(name, "step."))
		return TP_N_PARTS;
	for (int part = 0; part < TP_N_PARTS; part++)
		if (tp_text_starts_with(name + 5, tp_part_name((enum tp_part)part)))
			return (enum tp_part)part;
	return TP_N_PARTS;
}

enum tp_part tp_report_evidence_part(const struct tp_finding *finding)
{
	enum tp_part part = TP_N_PARTS;
	for (size_t i = 0; i < finding->n_evidence && part == TP_N_PARTS; i++)
		part = part_of_fact(finding->evidence[i].fact);
	return part;
}

void tp_report_add_evidence_line(struct tp_buf *out, const struct tp_profile *profile,
				 const struct tp_finding *finding)
{
	enum tp_part part = tp_report_evidence_part(finding);
	const struct tp_line_result *line = part == TP_N_PARTS ? NULL : line_of(profile, part);
	if (!line)
		return;
	tp_report_add_place(out, profile->trace, line);
	tp_buf_printf(out, " holds %s of %s (%s.%s)", tp_unit_percent(share_of(profile, line)).text,
		      whole(profile), tp_part_name(part), tp_label_name(line->label));
	const struct tp_line_result *inner = inner_line(profile, line);
	if (inner) {
		tp_buf_puts(out, ", mostly ");
		tp_report_add_place(out, profile->trace, inner);
	}
}
