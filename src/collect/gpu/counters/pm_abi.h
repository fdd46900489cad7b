/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the binary interface of CUPTI's profiler host and PM sampling calls (12.6 to 13.x)
 * that is used. It is declared here, so that neither building nor running needs NVIDIA's headers.
 * Facts from cupti_profiler_host.h, cupti_pmsampling.h, cupti_target.h, cupti_profiler_target.h and
 * cupti_result.h of CUDA 13.0U1 (read 2026-11-22); tests/agent compares where they are installed.
 *
 * Every call takes one structure that begins with its own size, up to the end of its last member: a
 * newer CUPTI knows by it which members the caller has.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_ABI_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_ABI_H

#include <stddef.h>
#include <stdint.h>

/* `last` is the last member; the padding after it does not count. */
#define PM_SIZE(type, last)                                                                        \
	(offsetof(struct type, last) +                                                             \
	 sizeof(((struct type *)0)->last)) /* NOLINT(bugprone-sizeof-expression): pointers too */

enum pm_result {
	PM_OK = 0,
	PM_INVALID_PARAMETER = 1,
	PM_INVALID_DEVICE = 2,
	PM_INVALID_CONTEXT = 3,
	PM_INVALID_OPERATION = 7, /* result of Enable: this device is being sampled already */
	PM_OUT_OF_MEMORY = 8,     /* result of DecodeData: the hardware buffer overflowed */
	PM_NOT_INITIALIZED = 15,
	PM_INVALID_METRIC_NAME = 17,
	PM_HARDWARE_BUSY = 26,
	PM_NOT_SUPPORTED = 27,
	PM_VIRTUALIZED = 33,
	PM_NO_PRIVILEGES = 35,
	PM_VIRTUALIZED_NO_PRIVILEGES = 40,
	PM_CONFIDENTIAL = 41,
	PM_MINING = 42,
	PM_MIG = 43,
	PM_SLI = 44,
	PM_WSL = 45,
	PM_UNKNOWN_CHIP = 46,
	PM_UNKNOWN = 999,
};

enum {
	PM_PROFILER_SAMPLING = 1, /* CUpti_ProfilerType */
	PM_TRIGGER_CLOCK = 0,     /* the interval is in cycles of the system clock */
	PM_TRIGGER_TIME = 1,      /* in ns; not on Turing and GA100 */
	PM_KEEP_OLDEST = 0,       /* a full buffer is an error */
};

/* Opaque to us. */
struct pm_host;
struct pm_sampling;

struct pm_initialize {
	size_t size;
	void *zero;
};

struct pm_chip_name {
	size_t size;
	void *zero;
	size_t device;
	const char *chip; /* out */
};

struct pm_supported_chips {
	size_t size;
	void *zero;
	size_t n;                 /* out */
	const char *const *chips; /* out */
};

struct pm_host_initialize {
	size_t size;
	void *zero;
	int profiler;
	const char *chip;
	const uint8_t *availability; /* NULL = everything that the chip has */
	struct pm_host *host;        /* out */
};

struct pm_host_deinitialize {
	size_t size;
	void *zero;
	struct pm_host *host;
};

struct pm_add_metrics {
	size_t size;
	void *zero;
	struct pm_host *host;
	const char **names;
	size_t n;
};

struct pm_image_size {
	size_t size;
	void *zero;
	struct pm_host *host;
	size_t bytes; /* out */
};

struct pm_image {
	size_t size;
	void *zero;
	struct pm_host *host;
	size_t bytes;
	uint8_t *image; /* filled */
};

struct pm_passes {
	size_t size;
	void *zero;
	size_t bytes;
	uint8_t *image;
	size_t n; /* out */
};

struct pm_evaluate {
	size_t size;
	void *zero;
	struct pm_host *host;
	const uint8_t *data;
	size_t bytes;
	size_t index;
	const char **names;
	size_t n;
	double *values; /* filled */
};

struct pm_enable {
	size_t size;
	void *zero;
	size_t device;
	struct pm_sampling *sampling; /* out */
};

/* Argument of Disable, Start and Stop. */
struct pm_control {
	size_t size;
	void *zero;
	struct pm_sampling *sampling;
};

struct pm_set_config {
	size_t size;
	void *zero;
	struct pm_sampling *sampling;
	size_t bytes;
	const uint8_t *image;
	size_t buffer_bytes;
	uint64_t interval;
	int trigger;
	int append;
};

struct pm_decode {
	size_t size;
	void *zero;
	struct pm_sampling *sampling;
	uint8_t *data;
	size_t bytes;
	int stopped;        /* out */
	uint8_t overflowed; /* out */
};

struct pm_availability {
	size_t size;
	void *zero;
	size_t device;
	size_t bytes;   /* output if image is NULL */
	uint8_t *image; /* filled */
};

struct pm_data_size {
	size_t size;
	void *zero;
	struct pm_sampling *sampling;
	const char **names;
	size_t n;
	uint32_t samples_most;
	size_t bytes; /* out */
};

struct pm_data_initialize {
	size_t size;
	void *zero;
	struct pm_sampling *sampling;
	size_t bytes;
	uint8_t *data;
};

struct pm_data_info {
	size_t size;
	void *zero;
	const uint8_t *data;
	size_t bytes;
	size_t n_total;     /* out */
	size_t n_populated; /* out */
	size_t n_completed; /* out */
};

struct pm_sample_info {
	size_t size;
	void *zero;
	struct pm_sampling *sampling;
	const uint8_t *data;
	size_t bytes;
	size_t index;
	uint64_t start_ns; /* out; the GPU's clock */
	uint64_t end_ns;   /* out */
};

/* call, symbol, argument; all of them are required. */
/* clang-format off */
#define PM_CALL_MAP(X)                                                                             \
	X(supported_chips, "cuptiProfilerHostGetSupportedChips", struct pm_supported_chips)        \
	X(host_initialize, "cuptiProfilerHostInitialize", struct pm_host_initialize)               \
	X(host_deinitialize, "cuptiProfilerHostDeinitialize", struct pm_host_deinitialize)         \
	X(add_metrics, "cuptiProfilerHostConfigAddMetrics", struct pm_add_metrics)                 \
	X(image_size, "cuptiProfilerHostGetConfigImageSize", struct pm_image_size)                 \
	X(image, "cuptiProfilerHostGetConfigImage", struct pm_image)                               \
	X(passes, "cuptiProfilerHostGetNumOfPasses", struct pm_passes)                             \
	X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", struct pm_evaluate)                    \
	X(initialize, "cuptiProfilerInitialize", struct pm_initialize)                             \
	X(chip_name, "cuptiDeviceGetChipName", struct pm_chip_name)                                \
	X(availability, "cuptiPmSamplingGetCounterAvailability", struct pm_availability)           \
	X(enable, "cuptiPmSamplingEnable", struct pm_enable)                                       \
	X(disable, "cuptiPmSamplingDisable", struct pm_control)                                    \
	X(set_config, "cuptiPmSamplingSetConfig", struct pm_set_config)                            \
	X(start, "cuptiPmSamplingStart", struct pm_control)                                        \
	X(stop, "cuptiPmSamplingStop", struct pm_control)                                          \
	X(decode, "cuptiPmSamplingDecodeData", struct pm_decode)                                   \
	X(data_size, "cuptiPmSamplingGetCounterDataSize", struct pm_data_size)                     \
	X(data_initialize, "cuptiPmSamplingCounterDataImageInitialize", struct pm_data_initialize) \
	X(data_info, "cuptiPmSamplingGetCounterDataInfo", struct pm_data_info)                     \
	X(sample_info, "cuptiPmSamplingCounterDataGetSampleInfo", struct pm_sample_info)
/* clang-format on */

#endif
