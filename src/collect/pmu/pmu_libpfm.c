/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes event names with libpfm4; the only file that uses the library. */
#include "pmu_libpfm.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TP_HAVE_PFM

#include <perfmon/pfmlib_perf_event.h>

/*
 * Encodings that libpfm4 4.13.0 gets wrong, with the right ones: event 0xa4 of Intel's tables
 * (perfmon/ICX and SPR, "TOPDOWN.BACKEND_BOUND_SLOTS", "TOPDOWN.MEMORY_BOUND_SLOTS"; read 2026-11).
 */
static const struct checked {
	const char *name;
	uint64_t config;
} checked[] = {
	{"icl*::TOPDOWN:BACKEND_BOUND_SLOTS*", 0x2a4},
	{"icx*::TOPDOWN:BACKEND_BOUND_SLOTS*", 0x2a4},
	{"spr*::TOPDOWN:BACKEND_BOUND_SLOTS*", 0x2a4},
	{"emr*::TOPDOWN:BACKEND_BOUND_SLOTS*", 0x2a4},
	{"spr*::TOPDOWN:MEMORY_BOUND_SLOTS*", 0x10a4},
	{"emr*::TOPDOWN:MEMORY_BOUND_SLOTS*", 0x10a4},
	{"icl*::TOPDOWN:SLOTS*", 0x400},
	{"icx*::TOPDOWN:SLOTS*", 0x400},
	{"spr*::TOPDOWN:SLOTS*", 0x400},
};

static enum tp_status check_encoding(const char *full_name, const char *name, uint64_t config,
				     struct tp_error *err)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(checked); i++) {
		if (tp_text_glob(checked[i].name, full_name) && checked[i].config != config)
			return tp_fail(
				err, TP_VERSION,
				"libpfm4 encodes '%s' as 0x%llx; the CPU's tables say 0x%llx", name,
				(unsigned long long)config, (unsigned long long)checked[i].config);
	}
	return TP_OK;
}

enum tp_status tp_pmu_libpfm_encode(struct tp_pmu_event *out, const char *name,
				    struct tp_error *err)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	char *full_name = NULL;
	int result = pfm_initialize(); /* a second call does nothing */
	if (result != PFM_SUCCESS)
		return tp_fail(err, TP_ABSENT, "libpfm4 does not start: %s", pfm_strerror(result));
	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.size = sizeof(arg);
	arg.attr = &attr;
	arg.fstr = &full_name;
	/* libpfm4 ignores perf_event_paranoid; the caller that opens the event decides about the
	 * kernel. */
	result = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (result != PFM_SUCCESS)
		return tp_fail(err, TP_ABSENT, "libpfm4 does not know '%s' on this CPU: %s", name,
			       pfm_strerror(result));
	enum tp_status status =
		check_encoding(full_name ? full_name : name, name, attr.config, err);
	free(full_name);
	if (!status)
		*out = (struct tp_pmu_event){attr.type, attr.config, attr.config1};
	return status;
}

#else

enum tp_status tp_pmu_libpfm_encode(struct tp_pmu_event *out, const char *name,
				    struct tp_error *err)
{
	(void)out;
	return tp_fail(err, TP_ABSENT, "built without libpfm4, which knows '%s'", name);
}

#endif
