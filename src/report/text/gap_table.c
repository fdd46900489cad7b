/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the gaps of a recording: when, for how long, why, and what was lost. */
#include "gap_table.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/report/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_COLUMN = 2, LENGTH_COLUMN = 16, CAUSE_COLUMN = 30, AT_SIZE = 40 };

/* All gaps with one cause. */
struct cause {
	const struct tp_timed_gap *first;
	size_t n;
	/* Sums of those that have no line. */
	uint64_t length_ns;
	uint64_t n_lost;
};

struct causes {
	struct cause *items; /* heap; one for each gap is room enough */
	size_t n;
	struct tp_map numbers;
};

/* Texts are interned by the trace, so that addresses identify them. */
static struct cause *find_cause(struct causes *causes, const struct tp_timed_gap *gap)
{
	uint64_t texts =
		tp_hash_mix((uint64_t)(uintptr_t)gap->source, (uint64_t)(uintptr_t)gap->reason);
	uint64_t key = tp_hash_mix(texts, (uint64_t)gap->pid);
	uint64_t number = causes->n;
	if (!tp_map_get(&causes->numbers, key, &number)) {
		tp_map_set(&causes->numbers, key, number);
		causes->items[causes->n++] = (struct cause){.first = gap};
	}
	return &causes->items[number];
}

static void print_row(struct tp_page *page, const char *at, uint64_t length_ns,
		      const struct tp_timed_gap *of, uint64_t n_lost)
{
	bool is_stop = strcmp(of->source, TP_STOP_SOURCE) == 0;
	struct tp_buf cause = {0};
	tp_buf_printf(&cause, "%s%s%s", is_stop ? "" : of->source, is_stop ? "" : ": ", of->reason);
	if (of->pid)
		tp_buf_printf(&cause, ", process %d", (int)of->pid);
	if (n_lost)
		tp_buf_printf(&cause, ", %s lost", tp_unit_counted(n_lost, "record").text);
	tp_page_column(page, AT_COLUMN);
	tp_page_add(page, TP_PAINT_NONE, at);
	tp_page_column(page, LENGTH_COLUMN);
	/* Often only the moment is known at which losses were noticed. */
	tp_page_add(page, TP_PAINT_NONE, length_ns ? tp_unit_elapsed(length_ns).text : "-");
	tp_page_column(page, CAUSE_COLUMN);
	tp_page_wrap(page, CAUSE_COLUMN, TP_PAINT_NONE, tp_buf_text(&cause), 0);
	tp_buf_release(&cause);
}

static void print_head(struct tp_page *page)
{
	tp_page_add_section(page, "Gaps in the recording");
	tp_page_column(page, AT_COLUMN);
	tp_page_add(page, TP_PAINT_DIM, "at");
	tp_page_column(page, LENGTH_COLUMN);
	tp_page_add(page, TP_PAINT_DIM, "for");
	tp_page_column(page, CAUSE_COLUMN);
	tp_page_add(page, TP_PAINT_DIM, "cause");
	tp_page_end(page);
}

void tp_report_gap_table(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_trace *trace = digest->trace;
	if (!trace->n_timed_gaps)
		return;
	struct causes causes = {.items = tp_alloc(trace->n_timed_gaps * sizeof(*causes.items))};
	print_head(page);
	for (size_t i = 0; i < trace->n_timed_gaps; i++) {
		const struct tp_timed_gap *gap = &trace->timed_gaps[i];
		struct cause *cause = find_cause(&causes, gap);
		uint64_t length_ns = gap->end_ns > gap->start_ns ? gap->end_ns - gap->start_ns : 0;
		if (cause->n++ < TP_REPORT_GAPS_OF_CAUSE) {
			print_row(page, tp_unit_elapsed(gap->start_ns).text, length_ns, gap,
				  gap->n_lost);
			continue;
		}
		cause->length_ns += length_ns;
		cause->n_lost += gap->n_lost;
	}
	for (size_t i = 0; i < causes.n; i++) {
		const struct cause *cause = &causes.items[i];
		char at[AT_SIZE];
		if (cause->n <= TP_REPORT_GAPS_OF_CAUSE)
			continue;
		snprintf(at, sizeof(at), "%zu more", cause->n - TP_REPORT_GAPS_OF_CAUSE);
		print_row(page, at, cause->length_ns, cause->first, cause->n_lost);
	}
	tp_map_release(&causes.numbers);
	free(causes.items);
}
