/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of facts, literals and results: which ones can be added or compared, and how they are
 * printed.
 *
 * Values are computed in base units: ns and bytes. A rate is per ns internally and per second
 * externally.
 */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_DIMENSION_H
#define TRAINPROF_SRC_ADVISE_CONDITION_DIMENSION_H

#include "trainprof/model/fact_id.h"

#include <stdbool.h>

struct tp_dimension {
	signed char time;  /* exponent of time: 1 a duration, -1 a rate */
	signed char bytes; /* exponent of bytes */
	bool is_ratio;     /* a share: the same number, printed as percent */
	bool is_bool;
	double scale; /* number of base units in one written unit */
};

struct tp_dimension tp_dimension_of_fact(tp_fact_id fact);
/* Parses the unit after a number: "", "%", "ms", "MiB" …; `is_rate` adds "/s". False if unknown. */
bool tp_dimension_of_suffix(const char *suffix, bool is_rate, struct tp_dimension *out);

/* True if both can be added and compared. */
bool tp_dimension_match(const struct tp_dimension *a, const struct tp_dimension *b);
/* Results have the scale in which they are best written: ns, bytes, per second. Returns false if
 * the result has no meaning here (time squared). */
bool tp_dimension_mul(const struct tp_dimension *a, const struct tp_dimension *b, int sign,
		      struct tp_dimension *out);
/* "time", "bytes per second" …, for messages. */
const char *tp_dimension_name(const struct tp_dimension *dimension);

#endif
