/* SPDX-License-Identifier: Apache-2.0 */
/* Marks a source as available with restrictions or as failed. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_AVAILABILITY_H
#define TRAINPROF_SRC_COLLECT_MACHINE_AVAILABILITY_H

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

/* Marks the source as degraded with an additional reason; reasons are joined by "; " as far as they
 * fit. */
void tp_availability_degrade(struct tp_availability *availability, const char *format, ...)
	TP_PRINTF(2, 3);

/* Sets the state and the reason from the error of a source that could not be opened. */
void tp_availability_fail(struct tp_availability *availability, const struct tp_error *err);

#endif
