/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps by a counter of the program: a variable of a function of the main thread that grows by one
 * per round, as the collector saw it at samples and looks (TP_MARK_COUNTER). The count is exact
 * however short or alike the parts of a round are; a border lies anywhere between two readings, so
 * it is put in the middle, unless a breakpoint saw the write (watch_steps.h).
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_STEPS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_STEPS_H

#include "analyze/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_counter_steps {
	uint64_t *borders; /* heap; the rounds lie between them */
	size_t n;
	size_t n_exact;      /* borders at the instant of a write, by a breakpoint */
	size_t n_writes;     /* that a breakpoint saw, whether they are believed or not */
	size_t n_inferred;   /* borders that no reading shows, but the counter's total or value */
	size_t n_unknown;    /* rounds that may have been where nobody looked */
	uint32_t name;       /* string: which counter */
	uint32_t watched;    /* string: the one with the breakpoint, which counts the same */
	size_t n_restarts;   /* times that it began anew */
	bool is_iterator;    /* of a for loop: it says how far the loop is */
	bool is_of_batches;  /* by its name: an iterator over batches, or an attribute of steps */
	unsigned inner_line; /* of a loop inside it that may have the steps, if these rounds are
			      * epochs; 0: there is none */
	size_t n_inner;      /* rounds of that */
	double period_ns;
	double regularity; /* share of rounds within 50 % of the median of all, or of those in the
			    * same turn of two to four, or by fours 25 %, in time or in CPU time */
};

/* The counter that has the steps between start_ns and end_ns of the main thread; false, and nothing
 * given, when none counts most of that time. */
bool tp_counter_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis,
			   uint64_t start_ns, uint64_t end_ns);
/* The period and regularity of its borders. */
void tp_counter_steps_measure(struct tp_counter_steps *found, const struct tp_analysis *analysis);
void tp_counter_steps_release(struct tp_counter_steps *counted);

#endif
