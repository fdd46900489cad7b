/* SPDX-License-Identifier: Apache-2.0 */
/* All thresholds of src/analyze: each row of thresholds.def becomes a constant that the compiler
 * folds. Rules compare facts with thresholds of their own (rules/thresholds.json); the thresholds
 * here decide what a fact counts, or which label an instant has, before facts exist. Units are in
 * the rows. */
#ifndef TRAINPROF_SRC_ANALYZE_THRESHOLDS_H
#define TRAINPROF_SRC_ANALYZE_THRESHOLDS_H

#include <stddef.h>
#include <stdint.h>

/* `make sensitivity` varies them one at a time; then tests/bench/sensitivity.c defines them. */
#ifdef TP_THRESHOLDS_VARIABLE
#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled) extern type name;
#else
#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled)                        \
	static const type name = value;
#endif
#include "thresholds.def"
#undef THRESHOLD

#endif
