/* SPDX-License-Identifier: Apache-2.0 */
/* What measuring costs on this machine: a short run of a program that computes, and its books. */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_DOCTOR_COST_H
#define TRAINPROF_SRC_CLI_COMMANDS_DOCTOR_COST_H

#include "trainprof/base/status.h"
#include "trainprof/report/own_cpu.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_doctor_cost {
	bool is_python;   /* else a loop of the shell: python3 is not there, or not to be read */
	size_t n_looks;   /* samples and looks at waits, at least one */
	double inside_ns; /* what one sample takes from the program, as calibrated; 0: none is taken
			   */
	double look_ns;   /* CPU time of trainprof for each look, of all but the start */
	struct tp_own_cpu own;
};

/* Takes about two seconds of CPU time. What it records, in a folder of its own below TMPDIR, is
 * removed. Errors  TP_IO, TP_TARGET: nothing could be measured. */
TP_MUST_CHECK enum tp_status tp_doctor_cost_measure(struct tp_doctor_cost *out,
						    struct tp_error *err);

#endif
