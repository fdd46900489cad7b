/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines which GPUs the target uses. NVML lists the processes that compute on a device. If it
 * lists none of ours, the device nodes that they hold open are weaker evidence: many programs open
 * them all.
 *
 * In a pid namespace NVML may report pids of the host, which denote other processes here. A listed
 * pid then counts only if that process also holds the device's node open, and whether others use
 * the device is unknown.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_PROCESS_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_PROCESS_H

#include "nvml_device.h"

#include "trainprof/base/map.h"
#include "trainprof/collect/host_info.h"

#include <sys/types.h>

struct tp_nvml_process {
	const struct tp_host *host; /* borrowed; only the caller's thread reads its root */
	bool is_in_namespace;
	struct tp_map pids; /* pids of the target */
	bool is_changed;    /* since the nodes were last checked */
	uint64_t nodes;     /* bit per minor below 64: one of them holds the node open */
	uint64_t look_ns;   /* time of the next check */
	uint64_t pause_ns;  /* pause between checks */
	struct nvml_process *list;
	size_t list_capacity;
};

void tp_nvml_process_init(struct tp_nvml_process *owner, const struct tp_host *host);
void tp_nvml_process_release(struct tp_nvml_process *owner);

/* Sets the current processes of the target. */
void tp_nvml_process_set_pids(struct tp_nvml_process *owner, const pid_t *pids, size_t n);

/* Sets the fields of `out` about processes: IS_LISTED (NAN: NVML does not report it), OTHERS and
 * both memories. If NVML does not know the memory of one process, the sum is NAN. */
void tp_nvml_process_read(struct tp_nvml_process *owner, struct tp_nvml_device *device,
			  const struct tp_nvml_library *library, struct tp_nvml_reading *out);

/* True if one of the target's processes holds the node open. The answer is up to a second old,
 * later more while nothing changes, because a check takes a system call per descriptor. */
bool tp_nvml_process_holds(struct tp_nvml_process *owner, const struct tp_nvml_device *device,
			   uint64_t now_ns);

#endif
