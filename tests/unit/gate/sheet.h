/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made reports, for tests of the code that reads them. */
#ifndef TRAINPROF_TESTS_UNIT_GATE_SHEET_H
#define TRAINPROF_TESTS_UNIT_GATE_SHEET_H

#include "trainprof/gate/gate.h"

/* The fields of a report that a test sets; zero fields are not written. */
struct sheet {
	const char *schema; /* "trainprof-report/1.0" */
	double step_ns;     /* 0 = unknown */
	double dataloader;  /* share of the step */
	const char *cpu;
	const char *command; /* one word */
	int exit_code;
	const char *findings;  /* members of the array, as JSON */
	const char *metrics;   /* more members of summary.metrics, each with a comma before it */
	const char *lines;     /* members of partition.lines */
	const char *functions; /* members of functions */
	const char *missing;   /* members of summary.missing */
};

/* Reads the report; the arena keeps the values. */
enum tp_status sheet_read(struct tp_run_values *out, const struct sheet *sheet, const char *name,
			  struct tp_arena *arena, struct tp_error *err);
/* The same, and fails the test on error. */
const struct tp_run_values *sheet_run(const struct sheet *sheet, const char *name,
				      struct tp_arena *arena);

#endif
