/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU as seen by NVML, and its readings at one moment. No locks: used by one thread at a time,
 * and every call may block as long as the driver does. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_DEVICE_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_DEVICE_H

#include "nvml_library.h"

#include "trainprof/model/metric.h"

#include <stdbool.h>
#include <stdint.h>

/* Turns a counter of the driver into one that only grows. */
struct tp_nvml_counter {
	bool is_seen;
	bool is_broken; /* it wraps faster than it is read: never reported again */
	uint64_t last;
	double before; /* total before its last reset */
};

enum { TP_NVML_N_FIELDS = 4, TP_NVML_GPM_SAMPLES = 2 };

struct tp_nvml_device {
	nvml_device handle;
	char name[NVML_NAME_BYTES]; /* "NVIDIA H200"; "" unknown */
	int minor;                  /* N in /dev/nvidiaN; -1 = unknown */
	bool is_lost;               /* it is not queried any more */
	bool has_gpm;
	nvml_gpm_sample samples[TP_NVML_GPM_SAMPLES]; /* used alternately */
	unsigned next;                                /* index of the next one */
	bool has_before;                              /* the other one was filled last time */
	struct tp_nvml_counter energy;
	struct tp_nvml_counter fields[TP_NVML_N_FIELDS];
};

/* Indexed by enum tp_metric minus TP_METRIC_GPU_FIRST; NAN = unknown. */
struct tp_nvml_reading {
	uint32_t device; /* NVML's index */
	uint64_t time_ns;
	double free_bytes; /* free memory; NAN = unknown */
	double values[TP_N_GPU_METRICS];
};

static inline double *tp_nvml_value(struct tp_nvml_reading *reading, enum tp_metric metric)
{
	return &reading->values[metric - TP_METRIC_GPU_FIRST];
}

/* Looks up the device. If it succeeds, close it while the library is still loaded. Returns NVML's
 * result; only the handle is required. */
int tp_nvml_device_open(struct tp_nvml_device *out, const struct tp_nvml_library *library,
			unsigned index);
void tp_nvml_device_close(struct tp_nvml_device *device, const struct tp_nvml_library *library);

/* Sets all of out except index and time: levels and counters, but nothing about processes or GPM.
 * Values that a call refuses are NAN. A device that is reported lost stays lost. */
void tp_nvml_device_read(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			 struct tp_nvml_reading *out);
/* Adds GPM's measurements since the last call, at least 100 ms ago; nothing at the first call. */
void tp_nvml_device_read_gpm(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			     struct tp_nvml_reading *out);

#endif
