/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares labels with marks: a recording of a program that marks its phases is analyzed as if it
 * had no marks, and each piece of the main thread is compared with the mark at that time.
 *
 * 	confusion [--rows N] [--pieces] DIRECTORY
 *
 * Prints shares of the window, in per cent, with the number of pieces, largest first: the phase,
 * the label that was assigned, the state of the thread, and the origin of the sample: taken in that
 * very piece, taken in a similar one, or none. --pieces lists all pieces in order of time, in
 * seconds and ms. Run it in the directory that contains rules/patterns. Exit status: 0, 2 misuse, 4
 * unreadable.
 */
#include "analyze/analysis.h"

#include "trainprof/analyze/analyze.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/part.h"
#include "trainprof/store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_ROWS = 4096, ROW_TEXT = 160 };

struct phase {
	uint64_t start_ns;
	uint64_t end_ns;
	const char *name; /* of the innermost mark; "-" = outside all marks */
};

struct row {
	char text[ROW_TEXT];
	double ns;
	size_t n;
};

struct table {
	struct row rows[MAX_ROWS];
	size_t n;
	double sum_ns;
	bool lists_pieces;
};

static void add(struct table *table, const char *text, uint64_t start_ns, uint64_t end_ns)
{
	double ns = (double)(end_ns - start_ns);
	size_t i = 0;
	while (i < table->n && strcmp(table->rows[i].text, text) != 0)
		i++;
	if (i == MAX_ROWS)
		return;
	if (i == table->n)
		snprintf(table->rows[table->n++].text, ROW_TEXT, "%s", text);
	table->rows[i].ns += ns;
	table->rows[i].n++;
	table->sum_ns += ns;
	if (table->lists_pieces)
		printf("%.6f %9.3f  %s\n", (double)start_ns / 1e9, ns / 1e6, text);
}

/* Returns phases without gaps; heap. `marks` are in order of time. */
static size_t flatten(struct phase **out, const struct tp_trace *trace, size_t n_marks,
		      uint32_t task)
{
	const char *open[MAX_DEPTH] = {"-"};
	size_t depth = 0;
	size_t n = 0;
	uint64_t at_ns = 0;
	struct phase *phases = tp_alloc((n_marks + 1) * sizeof(*phases));
	for (size_t i = 0; i < n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		bool begins = mark->kind == TP_MARK_PHASE_BEGIN;
		if (mark->task != task || (!begins && mark->kind != TP_MARK_PHASE_END))
			continue;
		phases[n++] = (struct phase){at_ns, mark->time_ns, open[depth]};
		at_ns = mark->time_ns;
		if (begins && depth + 1 < MAX_DEPTH)
			open[++depth] = tp_trace_string(trace, mark->name);
		else if (!begins && depth > 0)
			depth--;
	}
	phases[n++] = (struct phase){at_ns, UINT64_MAX, "-"};
	*out = phases;
	return n;
}

static void describe(char text[ROW_TEXT], const char *phase, const struct tp_segment *piece)
{
	static const char *const states[TP_N_STATES] = {
		[TP_STATE_ON_CPU] = "on CPU",
		[TP_STATE_RUNNABLE] = "runnable",
	};
	const char *state =
		states[piece->state] ? states[piece->state] : tp_cause_name(piece->cause);
	const char *seen = piece->is_inferred ? "inferred" : "seen";
	snprintf(text, ROW_TEXT, "%-12s -> %-14s %-12s %-10s %s", phase,
		 tp_part_name(tp_label_part(piece->label)), tp_label_name(piece->label), state,
		 piece->sample == TP_NO_SAMPLE ? "none" : seen);
}

static void compare(struct table *table, const struct tp_analysis *analysis,
		    const struct phase *phases, size_t n_phases)
{
	const struct tp_timeline *timeline = &analysis->timelines[analysis->main_task];
	uint64_t from_ns = analysis->profile->window_start_ns;
	uint64_t to_ns = analysis->profile->window_end_ns;
	size_t first = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		while (first < n_phases && phases[first].end_ns <= piece->start_ns)
			first++;
		for (size_t k = first; k < n_phases && phases[k].start_ns < piece->end_ns; k++) {
			char text[ROW_TEXT];
			uint64_t start =
				phases[k].start_ns > from_ns ? phases[k].start_ns : from_ns;
			uint64_t end = phases[k].end_ns < to_ns ? phases[k].end_ns : to_ns;
			start = start > piece->start_ns ? start : piece->start_ns;
			end = end < piece->end_ns ? end : piece->end_ns;
			describe(text, phases[k].name, piece);
			if (end > start)
				add(table, text, start, end);
		}
	}
}

/* Runs the passes of tp_analyze() up to the window. */
static enum tp_status judge(struct tp_analysis *analysis, struct tp_error *err)
{
	enum tp_status (*const passes[])(struct tp_analysis *, struct tp_error *) = {
		tp_pass_timelines, tp_pass_roles,    tp_pass_inferred_phases, tp_pass_main_thread,
		tp_pass_steps,     tp_pass_launches, tp_pass_steady,
	};
	enum tp_status status = TP_OK;
	for (size_t i = 0; !status && i < TP_ARRAY_LEN(passes); i++)
		status = passes[i](analysis, err);
	return status;
}

static int larger_first(const void *a, const void *b)
{
	double x = ((const struct row *)a)->ns;
	double y = ((const struct row *)b)->ns;
	return (x < y) - (x > y);
}

static void print_table(struct table *table, size_t most)
{
	qsort(table->rows, table->n, sizeof(*table->rows), larger_first);
	for (size_t i = 0; i < table->n && i < most; i++)
		printf("%7.3f %6zu  %s\n", 100 * table->rows[i].ns / table->sum_ns,
		       table->rows[i].n, table->rows[i].text);
}

static int confuse(struct table *table, const char *directory, size_t most)
{
	static const struct tp_analyze_options options;
	struct tp_trace trace = {0};
	struct tp_profile profile = {0};
	struct tp_patterns *patterns = NULL;
	struct tp_error err = {0};
	int status = 4;
	if (tp_store_load(&trace, directory, &err) != TP_OK ||
	    tp_patterns_load(&patterns, "rules/patterns", &err) != TP_OK) {
		fprintf(stderr, "confusion: %s\n", err.text);
		return status;
	}
	size_t n_marks = trace.n_marks;
	trace.n_marks = 0;
	tp_profile_init(&profile, &trace);
	struct tp_analysis analysis = {.trace = &trace,
				       .patterns = patterns,
				       .options = &options,
				       .profile = &profile,
				       .arena = &profile.arena,
				       .main_task = TP_NO_TASK};
	if (judge(&analysis, &err) != TP_OK || analysis.main_task == TP_NO_TASK) {
		fprintf(stderr, "confusion: %s: no training thread\n", directory);
	} else {
		struct phase *phases;
		size_t n = flatten(&phases, &trace, n_marks, analysis.main_task);
		compare(table, &analysis, phases, n);
		print_table(table, most);
		free(phases);
		status = 0;
	}
	trace.n_marks = n_marks;
	tp_profile_release(&profile);
	tp_trace_release(&trace);
	tp_patterns_free(patterns);
	return status;
}

int main(int argc, char **argv)
{
	static struct table table;
	size_t most = 40;
	int i = 1;
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--pieces") == 0)
			table.lists_pieces = true;
		else if (strcmp(argv[i], "--rows") == 0 && i + 1 < argc)
			most = strtoul(argv[++i], NULL, 10);
		else
			break;
	}
	if (i + 1 != argc || strncmp(argv[i], "--", 2) == 0) {
		fprintf(stderr, "usage: confusion [--rows N] [--pieces] DIRECTORY\n");
		return 2;
	}
	return confuse(&table, argv[i], most);
}
