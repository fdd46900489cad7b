/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in sorted arrays. */
#ifndef TRAINPROF_BASE_SEARCH_H
#define TRAINPROF_BASE_SEARCH_H

#include <stddef.h>

/*
 * Sets `at`, a size_t, to the first index in [from, to) for which `holds` is true, or to `to` if
 * there is none. `holds` is an expression in `at`; once true it must be true for all later indices.
 *   TP_FIND_FIRST(at, 0, trace->n_runs, trace->runs[at].end_ns > time_ns);
 */
#define TP_FIND_FIRST(at, from, to, holds)                                                         \
	do {                                                                                       \
		size_t tp_low = (from);                                                            \
		size_t tp_high = (to);                                                             \
		while (tp_low < tp_high) {                                                         \
			(at) = tp_low + (tp_high - tp_low) / 2;                                    \
			if (holds)                                                                 \
				tp_high = (at);                                                    \
			else                                                                       \
				tp_low = (at) + 1;                                                 \
		}                                                                                  \
		(at) = tp_low;                                                                     \
	} while (0)

#endif
