/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the period of a sequence of names: if device work is launched in the same order in each
 * step, the smallest lag at which the sequence repeats is one step. */
#ifndef TRAINPROF_SRC_ANALYZE_NUMERIC_SEQUENCE_PERIOD_H
#define TRAINPROF_SRC_ANALYZE_NUMERIC_SEQUENCE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_period {
	size_t lag;   /* symbols per period; 0 = no period */
	double plain; /* share of places that equal the one a lag later */
	double rare;  /* mean of that share over distinct symbols: one that occurs once per period
			 counts as much */
	size_t first; /* place of the first cut; later ones follow at distances of about a lag */
	uint32_t cut; /* symbol with which a period begins */
};

/*
 * Finds the smallest lag of at least `at_least` that both scores accept, and the best symbol to cut
 * at.
 *
 * symbols   n of them, each below n_symbols.
 * times_ns  n, ascending: launch times; they decide which symbol is most regular. Returns false if
 * nothing repeats; at least two periods must fit.
 * Source    method, scores and limits: docs/design/steps.md#steps-of-traces.
 */
bool tp_period_find(struct tp_period *out, const uint32_t *symbols, const uint64_t *times_ns,
		    size_t n, size_t n_symbols, size_t at_least);

#endif
