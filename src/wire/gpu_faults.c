/* SPDX-License-Identifier: Apache-2.0 */
/* The table of known faults of CUPTI versions. */
#include "trainprof/wire/gpu_faults.h"

#include <stdio.h>

#define ANY_LATER UINT32_MAX
#define OTHER     "TRAINPROF_CUPTI=/path/of/another/libcupti.so trainprof run …"

static const struct tp_gpu_fault faults[] = {
	{TP_GPU_FAULT_STOPS, 1, 18, false, "CUPTI older than 11.8 is not supported", OTHER,
	 "records before 11.8 have other beginnings: cupti_activity.h of CUDA 13.0, 2026-11-20"},
	{TP_GPU_FAULT_STOPS, 140000, ANY_LATER, false, "CUPTI 14 and later are not known", OTHER,
	 "nothing is known of their records, 2026-11-20"},
	{TP_GPU_FAULT_STOPS, 18, ANY_LATER, true,
	 "this CUPTI is newer than the driver: it would fail", OTHER,
	 "HPCToolkit/hpctoolkit#375, 2026-11-20"},
	{TP_GPU_FAULT_STOPS, 130000, 130001, false,
	 "CUPTI 13.0 may hang or crash where tracing ends (mended in 13.0 update 1)", OTHER,
	 "NVIDIA's forum, CUPTI 13.0, updates in 13.0 update 1: cuptiActivityDisable and "
	 "cuptiActivityFlushAll, 2026-11-22"},
	{TP_GPU_FAULT_NO_JOIN, 0, 24, false,
	 "with CUPTI before 12.6 tracing from the start only (CUDA graphs crash)",
	 "trainprof run --gpu-trace=windows …",
	 "pytorch/pytorch#75504 and #112507: graphs and a late CUPTI, 2026-11-20"},
	{TP_GPU_FAULT_NO_NULL, 0, 27, false, "it crashes where a buffer is refused", NULL,
	 "pytorch/kineto#1534; allowed by the documents of 12.9, 2026-11-20"},
	{TP_GPU_FAULT_NO_FILTER, 0, 23, false, "calls are recorded all or none", NULL,
	 "pytorch/kineto switches single calls on from 12.5, 2026-11-20"},
	{TP_GPU_FAULT_WRONG_DATA, 18, 130101, false,
	 "work of CUDA graphs may be linked to wrong launches after the first window", NULL,
	 "release notes of CUPTI, 13.1 update 1, which do not say since when; "
	 "pytorch/kineto#1165, 2026-11-22"},
	{TP_GPU_FAULT_WRONG_DATA, 130200, 130300, false,
	 "after a window it refuses profilers that share CUPTI (13.3 does not)", NULL,
	 "cupti_calls.txt, measured with 13.2.75 and 13.3.75, 2026-11-26"},
};

enum { N_FAULTS = sizeof(faults) / sizeof(faults[0]) };

/* Major version of the toolkit that it belongs to. */
static uint32_t major_of(uint32_t cupti)
{
	if (cupti >= 130000)
		return cupti / 10000;
	return cupti >= 19 ? 12 : 11;
}

static bool has(const struct tp_gpu_fault *fault, uint32_t cupti, uint32_t driver)
{
	if (cupti < fault->since || cupti >= fault->until)
		return false;
	return !fault->is_beyond_driver || (driver && major_of(cupti) > driver / 1000);
}

const struct tp_gpu_fault *tp_gpu_fault_find(enum tp_gpu_fault_kind kind, uint32_t cupti,
					     uint32_t driver)
{
	for (size_t i = 0; i < N_FAULTS; i++)
		if (faults[i].kind == kind && has(&faults[i], cupti, driver))
			return &faults[i];
	return NULL;
}

const char *tp_gpu_cupti_name(uint32_t cupti, char *out, size_t size)
{
	/* cupti_version.h of CUDA 13.0 lists them. */
	static const char *const older[] = {
		[18] = "11.8", [19] = "12.0", [20] = "12.2", [21] = "12.3", [22] = "12.4",
		[23] = "12.5", [24] = "12.6", [26] = "12.8", [27] = "12.9", [28] = "12.9 update 1"};
	const char *name = cupti < sizeof(older) / sizeof(older[0]) ? older[cupti] : NULL;
	if (cupti >= 130000)
		snprintf(out, size, "%u.%u.%u", cupti / 10000, cupti / 100 % 100, cupti % 100);
	else
		snprintf(out, size, "%s", name ? name : "?");
	return out;
}
