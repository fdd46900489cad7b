/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps from a counter of the program: a variable of a function of the main thread that grows by
 * one per round, as the collector read it at samples and probes (TP_MARK_COUNTER). The count is
 * exact however short or similar the parts of a round are. A border is known only to the time
 * between two readings, so their midpoint is used, unless a breakpoint recorded the write
 * (watch_steps.h).
 */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_STEPS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_STEPS_H

#include "analyze/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_counter_steps {
	uint64_t *borders; /* heap; the borders between rounds */
	size_t n;
	size_t n_exact;    /* number of borders at the time of a write, from a breakpoint */
	size_t n_writes;   /* number of writes that a breakpoint recorded, used or not */
	size_t n_inferred; /* borders that follow from the counter's total or value, not from a
			      reading */
	size_t n_earlier;  /* number of those before the recorded calls of a function */
	size_t n_unknown;  /* number of rounds that may have passed without a reading */
	uint32_t name;     /* string: name of the counter */
	uint32_t watched;  /* string: the counter with the breakpoint, which counts the same */
	size_t n_restarts; /* how often it restarted */
	bool is_one_loop;  /* a counter that never restarts, so its rounds may grow or shrink */
	bool is_iterator;  /* position of a for loop */
	/* There were more rounds: how many is unknown. */
	bool is_part_before;
	bool is_part_after;
	bool is_by_growth;   /* a variable that grows faster than it is read: no form and no write
				shows that it counts rounds */
	bool is_of_batches;  /* by its name: an iterator over batches, or an attribute for steps */
	unsigned inner_line; /* line of an inner loop that may have the steps, if these rounds are
				epochs; 0 = none */
	size_t n_inner;      /* number of its rounds */
	double period_ns;
	double regularity; /* share of rounds within 50 % of the median (of one loop: of their
			      neighbours) or of those at the same place in a cycle of two to four,
			      or of groups of four within 25 %, in time or in CPU time */
};

/* Finds the counter of steps between start_ns and end_ns of the main thread. Returns false and sets
 * nothing if no counter covers most of that time. */
bool tp_counter_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis,
			   uint64_t start_ns, uint64_t end_ns);
/* Measures the period and the regularity of its borders. */
void tp_counter_steps_measure(struct tp_counter_steps *found, const struct tp_analysis *analysis);
/* Returns the usual length of the last rounds. */
double tp_counter_steps_last_ns(const struct tp_counter_steps *found);
void tp_counter_steps_release(struct tp_counter_steps *counted);

#endif
