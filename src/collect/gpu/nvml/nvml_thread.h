/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of trainprof that queries NVML, so that nothing else waits for it: initialisation takes
 * seconds on some machines, and any call may hang in a driver. Its readings are fetched when they
 * are available.
 *
 * Threads: the functions here are for one caller. Caller and thread share only data under one lock,
 * which neither holds during a call of NVML or a system call. All signals are blocked in the
 * thread.
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

/* New information; the caller frees the arrays. */
struct tp_nvml_update {
	enum tp_nvml_state state;
	struct tp_availability why;       /* FAILED */
	unsigned n_devices;               /* on the machine; RUNNING */
	uint64_t waits_since_ns;          /* since when the thread is inside NVML; 0 = it is not */
	uint64_t n_lost;                  /* readings that were not fetched in time so far */
	unsigned n_lost_devices;          /* GPUs that were lost so far */
	struct tp_nvml_reading *readings; /* in order of time, for devices that the target uses */
	size_t n_readings;
};

struct tp_nvml_thread;

/* Loads the library (NULL: the usual one); the thread does everything else. `root` is that of the
 * host, copied. */
enum tp_status tp_nvml_thread_start(struct tp_nvml_thread **out, const char *path, const char *root,
				    struct tp_error *err);
/* Sets the current processes of the target; before the first call there are none. */
void tp_nvml_thread_set_pids(struct tp_nvml_thread *watch, const pid_t *pids, size_t n);
/* From now on every device is read, no matter who uses it. */
void tp_nvml_thread_read_all(struct tp_nvml_thread *watch);
void tp_nvml_thread_receive(struct tp_nvml_thread *watch, struct tp_nvml_update *out);
/* The name of a device, "" if unknown; valid until tp_nvml_thread_end(). */
const char *tp_nvml_thread_device_name(struct tp_nvml_thread *watch, uint32_t device);
/* Waits at most a quarter of a second for the thread; a thread that hangs in a call is left behind
 * and cleans up if it ever returns. */
void tp_nvml_thread_end(struct tp_nvml_thread *watch);

#endif
