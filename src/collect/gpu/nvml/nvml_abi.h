/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the binary interface of libnvidia-ml.so.1 that is used. It is declared here, so that
 * neither building nor running needs NVIDIA's headers. Facts from nvml.h of drivers 470 to 580
 * (read 2026-11-22 in public copies); NVIDIA keeps this ABI, new layouts get new symbols. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_ABI_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_ABI_H

#include <stddef.h>

typedef struct nvml_device *nvml_device; /* opaque to us */
typedef void *nvml_gpm_sample;

enum nvml_return {
	NVML_SUCCESS = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_LIBRARY_NOT_FOUND = 12,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_OPERATING_SYSTEM = 17,
	NVML_LIB_RM_MISMATCH = 18, /* library and kernel module have different versions */
	NVML_NO_DATA = 21,
	NVML_UNKNOWN = 999,
};

enum { NVML_NAME_BYTES = 96, NVML_CLOCK_SM = 1 };

/* the memory of a process is not reported */
#define NVML_NOT_AVAILABLE (~0ull)

struct nvml_utilization {
	unsigned gpu; /* percent of the last sample period (1/6 to 1 s) in which a kernel ran */
	unsigned memory;
};

struct nvml_memory {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used; /* includes what the driver reserves for itself */
};

struct nvml_memory_v2 {
	unsigned version; /* size | 2 << 24 */
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used; /* with or without the reserved memory: sources disagree */
};

struct nvml_process_v1 {
	unsigned pid;
	unsigned long long used_bytes;
};

struct nvml_process { /* Layout of _v2 and _v3. */
	unsigned pid;
	unsigned long long used_bytes;
	unsigned gpu_instance;
	unsigned compute_instance;
};

enum nvml_value_type {
	NVML_TYPE_DOUBLE,
	NVML_TYPE_UINT,
	NVML_TYPE_ULONG,
	NVML_TYPE_ULONGLONG,
	NVML_TYPE_LONGLONG,
	NVML_TYPE_INT,
};

struct nvml_field {
	unsigned id;
	unsigned scope;
	long long timestamp_us;
	long long latency_us;
	int type; /* enum nvml_value_type */
	int result;
	union {
		double as_double;
		unsigned as_uint;
		unsigned long as_ulong;
		unsigned long long as_ulonglong;
		long long as_longlong;
		int as_int;
	} value;
};

/* Only field numbers that have the same meaning in every driver. The newer counters of hardware
 * throttling do not: 251 to 253 in driver 580, 269 to 271 in headers of CUDA 13, where 251 is
 * something else. */
enum {
	NVML_FIELD_POWER_CAPPED = 74, /* ns throttled for power; since CUDA 9 */
	NVML_FIELD_HEAT_CAPPED = 75,  /* ns throttled for temperature */
	NVML_FIELD_PCIE_TX = 197,     /* bytes */
	NVML_FIELD_PCIE_RX = 198,
};

/* Bits of the current reasons for reduced clocks. */
enum {
	NVML_REASON_POWER_CAP = 0x4,
	NVML_REASON_HW_SLOWDOWN = 0x8,
	NVML_REASON_SW_THERMAL = 0x20,
	NVML_REASON_HW_THERMAL = 0x40,
	NVML_REASON_HW_POWER_BRAKE = 0x80,
};

struct nvml_gpm_support {
	unsigned version; /* 1 */
	unsigned is_supported;
};

enum {
	NVML_GPM_SM = 2,        /* percent of SM cycles with a warp */
	NVML_GPM_OCCUPANCY = 3, /* percent of the warps that fit */
	NVML_GPM_TENSOR = 5,    /* percent of cycles in which a tensor pipe is active */
	NVML_GPM_DRAM = 10,     /* percent of peak bandwidth */
	NVML_GPM_PCIE_TX = 20,  /* MiB/s */
	NVML_GPM_PCIE_RX = 21,
	NVML_GPM_NVLINK_RX = 60, /* MiB/s, all links */
	NVML_GPM_NVLINK_TX = 61,
};

struct nvml_gpm_metric {
	unsigned id;
	int result;
	double value;
	const char *short_name;
	const char *long_name;
	const char *unit;
};

/* NVML's struct ends in an array that grows from version to version (333 today); the library reads
 * only n of its elements. Ours is longer than any known version. */
enum { NVML_GPM_CAPACITY = 512 };

struct nvml_gpm_query {
	unsigned version; /* 1 */
	unsigned n;
	nvml_gpm_sample from;
	nvml_gpm_sample to;
	struct nvml_gpm_metric metrics[NVML_GPM_CAPACITY];
};

_Static_assert(sizeof(struct nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(offsetof(struct nvml_gpm_query, metrics) == 24, "nvmlGpmMetricsGet_t");

/* Functions that are called: name here, symbols in order of preference, arguments, is it required?
 * Each returns an enum nvml_return as int. */
/* clang-format off */
#define NVML_CALL_MAP(X)                                                                           \
	X(init, "nvmlInit_v2", NULL, true, (void))                                                 \
	X(shutdown, "nvmlShutdown", NULL, true, (void))                                            \
	X(driver_version, "nvmlSystemGetDriverVersion", NULL, false, (char *, unsigned))           \
	X(count, "nvmlDeviceGetCount_v2", NULL, true, (unsigned *))                                \
	X(device, "nvmlDeviceGetHandleByIndex_v2", NULL, true, (unsigned, nvml_device *))          \
	X(name, "nvmlDeviceGetName", NULL, false, (nvml_device, char *, unsigned))                 \
	X(minor, "nvmlDeviceGetMinorNumber", NULL, false, (nvml_device, unsigned *))               \
	X(utilization, "nvmlDeviceGetUtilizationRates", NULL, false,                               \
	  (nvml_device, struct nvml_utilization *))                                                \
	X(memory_v2, "nvmlDeviceGetMemoryInfo_v2", NULL, false,                                    \
	  (nvml_device, struct nvml_memory_v2 *))                                                  \
	X(memory, "nvmlDeviceGetMemoryInfo", NULL, false, (nvml_device, struct nvml_memory *))     \
	X(processes, "nvmlDeviceGetComputeRunningProcesses_v3",                                    \
	  "nvmlDeviceGetComputeRunningProcesses_v2", false,                                        \
	  (nvml_device, unsigned *, struct nvml_process *))                                        \
	X(processes_v1, "nvmlDeviceGetComputeRunningProcesses", NULL, false,                       \
	  (nvml_device, unsigned *, struct nvml_process_v1 *))                                     \
	X(power, "nvmlDeviceGetPowerUsage", NULL, false, (nvml_device, unsigned *))                \
	X(energy, "nvmlDeviceGetTotalEnergyConsumption", NULL, false,                              \
	  (nvml_device, unsigned long long *))                                                     \
	X(clock, "nvmlDeviceGetClockInfo", NULL, false, (nvml_device, int, unsigned *))            \
	X(clock_max, "nvmlDeviceGetMaxClockInfo", NULL, false, (nvml_device, int, unsigned *))     \
	X(reasons, "nvmlDeviceGetCurrentClocksEventReasons",                                       \
	  "nvmlDeviceGetCurrentClocksThrottleReasons", false,                                      \
	  (nvml_device, unsigned long long *))                                                     \
	X(fields, "nvmlDeviceGetFieldValues", NULL, false,                                         \
	  (nvml_device, int, struct nvml_field *))                                                 \
	X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", NULL, false, (nvml_device, unsigned *))  \
	X(power_default, "nvmlDeviceGetPowerManagementDefaultLimit", NULL, false,                  \
	  (nvml_device, unsigned *))                                                               \
	X(link_generation, "nvmlDeviceGetCurrPcieLinkGeneration", NULL, false,                     \
	  (nvml_device, unsigned *))                                                               \
	X(link_width, "nvmlDeviceGetCurrPcieLinkWidth", NULL, false, (nvml_device, unsigned *))    \
	X(link_generation_max, "nvmlDeviceGetMaxPcieLinkGeneration", NULL, false,                  \
	  (nvml_device, unsigned *))                                                               \
	X(link_width_max, "nvmlDeviceGetMaxPcieLinkWidth", NULL, false, (nvml_device, unsigned *)) \
	X(capability, "nvmlDeviceGetCudaComputeCapability", NULL, false,                           \
	  (nvml_device, int *, int *))                                                             \
	X(gpm_support, "nvmlGpmQueryDeviceSupport", NULL, false,                                   \
	  (nvml_device, struct nvml_gpm_support *))                                                \
	X(gpm_alloc, "nvmlGpmSampleAlloc", NULL, false, (nvml_gpm_sample *))                       \
	X(gpm_free, "nvmlGpmSampleFree", NULL, false, (nvml_gpm_sample))                           \
	X(gpm_sample, "nvmlGpmSampleGet", NULL, false, (nvml_device, nvml_gpm_sample))             \
	X(gpm_metrics, "nvmlGpmMetricsGet", NULL, false, (struct nvml_gpm_query *))
/* clang-format on */

#endif
