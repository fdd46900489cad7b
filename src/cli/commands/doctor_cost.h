/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of profiling on this machine: a short run of a program that computes, and the
 * overhead that it recorded. */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_DOCTOR_COST_H
#define TRAINPROF_SRC_CLI_COMMANDS_DOCTOR_COST_H

#include "trainprof/base/status.h"
#include "trainprof/report/own_cpu.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_doctor_cost {
	bool is_python; /* false: a shell loop, because python3 does not exist or cannot be read */
	size_t n_looks; /* number of samples and inspected waits, at least one */
	double inside_ns; /* time that one sample takes from the program, as calibrated; 0 = none */
	double look_ns; /* CPU time of trainprof per sample or inspected wait, without the start */
	struct tp_own_cpu own;
};

/* Takes about two seconds of CPU time. The recording, in its own folder below TMPDIR, is removed.
 * Errors  TP_IO, TP_TARGET: nothing could be measured. */
TP_MUST_CHECK enum tp_status tp_doctor_cost_measure(struct tp_doctor_cost *out,
						    struct tp_error *err);

#endif
