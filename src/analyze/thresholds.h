/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where analysis draws its lines: every threshold of src/analyze, a row of thresholds.def each, as
 * a constant of its own that the compiler folds. Rules compare facts with thresholds of their own
 * (rules/thresholds.json); these decide what a fact counts, or which label an instant has, before
 * there are facts. Units stand in the rows.
 */
#ifndef TRAINPROF_SRC_ANALYZE_THRESHOLDS_H
#define TRAINPROF_SRC_ANALYZE_THRESHOLDS_H

#include <stddef.h>
#include <stdint.h>

/* `make sensitivity` moves them, one at a time; tests/bench/sensitivity.c has them then. */
#ifdef TP_THRESHOLDS_VARIABLE
#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled) extern type name;
#else
#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled)                        \
	static const type name = value;
#endif
#include "thresholds.def"
#undef THRESHOLD

#endif
