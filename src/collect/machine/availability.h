/* SPDX-License-Identifier: Apache-2.0 */
/* Saying that a source works, but with less. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_AVAILABILITY_H
#define TRAINPROF_SRC_COLLECT_MACHINE_AVAILABILITY_H

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

/* Mark as degraded, with one reason more; reasons are joined by "; " as far as there is room. */
void tp_availability_degrade(struct tp_availability *availability, const char *format, ...)
	TP_PRINTF(2, 3);

/* What an error says about a source that could not be opened. */
void tp_availability_fail(struct tp_availability *availability, const struct tp_error *err);

#endif
