/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period of a sequence of names: where device work is launched in the same order step after
 * step, the smallest lag at which the sequence repeats is the step.
 */
#ifndef TRAINPROF_SRC_ANALYZE_NUMERIC_SEQUENCE_PERIOD_H
#define TRAINPROF_SRC_ANALYZE_NUMERIC_SEQUENCE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_period {
	size_t lag;   /* symbols of a period; 0: none */
	double plain; /* share of the places that equal the one a lag later */
	double rare;  /* mean of that share over distinct symbols: what comes once counts as much */
	size_t first; /* place of the first cut; the next ones are a lag apart, more or less */
	uint32_t cut; /* symbol that a period begins with */
};

/*
 * The smallest lag of at least `at_least` that both scores accept, and the best symbol to cut at.
 *
 * symbols   n of them, each below n_symbols.
 * times_ns  n, ascending: when each was launched; decides which symbol is most regular.
 * Returns false when nothing repeats; a period has to fit twice.
 * Source    method, scores and limits: docs/design/steps.md#steps-of-traces.
 */
bool tp_period_find(struct tp_period *out, const uint32_t *symbols, const uint64_t *times_ns,
		    size_t n, size_t n_symbols, size_t at_least);

#endif
