/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One GPU as NVML sees it, and what it says at one moment. No locks: used by one thread at a time,
 * and every call may block as long as the driver does.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_DEVICE_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_DEVICE_H

#include "nvml_library.h"

#include "trainprof/model/metric.h"

#include <stdbool.h>
#include <stdint.h>

/* A counter of the driver made one that only grows. */
struct tp_nvml_counter {
	bool is_seen;
	bool is_broken; /* it wraps faster than it is read: never told again */
	uint64_t last;
	double before; /* what it had counted before it last began anew */
};

enum { TP_NVML_N_FIELDS = 4, TP_NVML_GPM_SAMPLES = 2 };

struct tp_nvml_device {
	nvml_device handle;
	char name[NVML_NAME_BYTES]; /* "NVIDIA H200"; "" unknown */
	int minor;                  /* of /dev/nvidiaN; -1 unknown */
	bool is_lost;               /* nothing is asked of it any more */
	bool has_gpm;
	nvml_gpm_sample samples[TP_NVML_GPM_SAMPLES]; /* used in turns */
	unsigned next;                                /* of them */
	bool has_before;                              /* the other one was filled last time */
	struct tp_nvml_counter energy;
	struct tp_nvml_counter fields[TP_NVML_N_FIELDS];
};

/* By enum tp_metric less TP_METRIC_GPU_FIRST; NAN: not known. */
struct tp_nvml_reading {
	uint32_t device; /* index, as NVML counts */
	uint64_t time_ns;
	double free_bytes; /* of its memory, what anybody may have; NAN unknown */
	double values[TP_N_GPU_METRICS];
};

static inline double *tp_nvml_value(struct tp_nvml_reading *reading, enum tp_metric metric)
{
	return &reading->values[metric - TP_METRIC_GPU_FIRST];
}

/* Look up the device. On success it is closed with the library still loaded. Returns what NVML
 * says; only the handle is indispensable. */
int tp_nvml_device_open(struct tp_nvml_device *out, const struct tp_nvml_library *library,
			unsigned index);
void tp_nvml_device_close(struct tp_nvml_device *device, const struct tp_nvml_library *library);

/* Sets all of out but index and time: levels and counters, nothing of processes and of GPM. What a
 * call refuses is NAN. A device that says it is lost stays lost. */
void tp_nvml_device_read(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			 struct tp_nvml_reading *out);
/* Adds what GPM measured since the last call, at least 100 ms ago; nothing at the first. */
void tp_nvml_device_read_gpm(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			     struct tp_nvml_reading *out);

#endif
