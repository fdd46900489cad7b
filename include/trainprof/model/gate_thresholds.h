/* SPDX-License-Identifier: Apache-2.0 */
/* The thresholds of comparisons: each row of gate_thresholds.def becomes a constant that the
 * compiler folds. Units are in the rows. */
#ifndef TRAINPROF_MODEL_GATE_THRESHOLDS_H
#define TRAINPROF_MODEL_GATE_THRESHOLDS_H

/* NOLINTBEGIN(bugprone-macro-parentheses): a name cannot stand in parentheses */
#define THRESHOLD(name, value, unit, reason, source)                                               \
	__attribute__((unused)) static const double name = (value);
#include "trainprof/model/gate_thresholds.def"
#undef THRESHOLD
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
