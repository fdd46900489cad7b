/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of trainprof's own that asks NVML, so that nobody else waits for it: starting takes
 * seconds on some machines, and any call may hang in a driver. What it read is taken from it
 * whenever there is something.
 *
 * Threads: the functions here are for one caller; the thread shares with it only what lies under
 * one lock, which neither side holds during a call of NVML or of the system. All signals are
 * blocked in the thread.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_THREAD_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_THREAD_H

#include "nvml_device.h"

#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum tp_nvml_state {
	TP_NVML_STARTING, /* init() has not returned */
	TP_NVML_RUNNING,
	TP_NVML_FAILED,
};

/* What became known; the arrays are the taker's to free. */
struct tp_nvml_update {
	enum tp_nvml_state state;
	struct tp_availability why;       /* FAILED */
	unsigned n_devices;               /* of the machine; RUNNING */
	uint64_t waits_since_ns;          /* since when it is in calls of NVML; 0: it is not */
	uint64_t n_lost;                  /* readings that nobody took in time, so far */
	unsigned n_lost_devices;          /* GPUs that fell off, so far */
	struct tp_nvml_reading *readings; /* in order of time, of devices that the target uses */
	size_t n_readings;
};

struct tp_nvml_thread;

/* Loads the library here, NULL: the usual one; all else is the thread's. `root` is that of the
 * host, copied. */
enum tp_status tp_nvml_thread_start(struct tp_nvml_thread **out, const char *path, const char *root,
				    struct tp_error *err);
/* The processes of the target as they are now; before the first call there are none. */
void tp_nvml_thread_set_pids(struct tp_nvml_thread *watch, const pid_t *pids, size_t n);
/* From now on every device is read, whoever uses it. */
void tp_nvml_thread_read_all(struct tp_nvml_thread *watch);
void tp_nvml_thread_receive(struct tp_nvml_thread *watch, struct tp_nvml_update *out);
/* The name of a device, "" when it is not known; valid until the end of the watch. */
const char *tp_nvml_thread_device_name(struct tp_nvml_thread *watch, uint32_t device);
/* Waits for the thread a quarter of a second at most; one that hangs in a call is left behind, to
 * clean up after itself should it ever come back. */
void tp_nvml_thread_end(struct tp_nvml_thread *watch);

#endif
