/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes event names from the CPU's manual, with libpfm4 if it was available at build time. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_LIBPFM_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_LIBPFM_H

#include "pmu_group.h"

#include "trainprof/base/status.h"

/* Encodes "pmu::EVENT:UMASK" or "EVENT". The encoding is compared with a small table of those
 * that libpfm4 is known to get wrong; a wrong one is rejected.
 * Errors  TP_ABSENT (unknown event, or built without libpfm4), TP_VERSION (wrong in this
 * libpfm4). */
TP_MUST_CHECK enum tp_status tp_pmu_libpfm_encode(struct tp_pmu_event *out, const char *name,
						  struct tp_error *err);

#endif
