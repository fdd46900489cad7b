/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events as the CPU's manual has them, by libpfm4 where it was there at build time. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_LIBPFM_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_LIBPFM_H

#include "pmu_group.h"

#include "trainprof/base/status.h"

/*
 * Encode "pmu::EVENT:UMASK" or "EVENT". The encoding is compared with a small table of those that
 * libpfm4 has been seen to get wrong; a wrong one is refused.
 * Errors  TP_ABSENT (unknown event, or built without libpfm4), TP_VERSION (wrong in this libpfm4).
 */
TP_MUST_CHECK enum tp_status tp_pmu_libpfm_encode(struct tp_pmu_event *out, const char *name,
						  struct tp_error *err);

#endif
