/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which GPUs the target uses. NVML lists the processes that compute on a device; where it lists
 * none of ours, the device nodes that they hold open tell less: many programs open them all.
 *
 * In a namespace of pids NVML may tell numbers of the host, which mean other processes here: there
 * a listed pid only counts when that process holds the device's node open too, and who else uses
 * the device is not known.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_PROCESS_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_PROCESS_H

#include "nvml_device.h"

#include "trainprof/base/map.h"
#include "trainprof/collect/host_info.h"

#include <sys/types.h>

struct tp_nvml_process {
	const struct tp_host *host; /* borrowed; its root is read by the caller's thread alone */
	bool is_in_namespace;
	struct tp_map pids; /* of the target */
	bool is_changed;    /* since the nodes were last looked at */
	uint64_t nodes;     /* by minor below 64: held open by one of them */
	uint64_t look_ns;   /* when they are looked at next */
	uint64_t pause_ns;  /* from there to the look after that */
	struct nvml_process *list;
	size_t list_capacity;
};

void tp_nvml_process_init(struct tp_nvml_process *owner, const struct tp_host *host);
void tp_nvml_process_release(struct tp_nvml_process *owner);

/* Who the target is now. */
void tp_nvml_process_set_pids(struct tp_nvml_process *owner, const pid_t *pids, size_t n);

/*
 * Sets what `out` says of processes: IS_LISTED (NAN: NVML does not tell), OTHERS and both
 * memories. A process whose memory NVML does not know makes the sum NAN.
 */
void tp_nvml_process_read(struct tp_nvml_process *owner, struct tp_nvml_device *device,
			  const struct tp_nvml_library *library, struct tp_nvml_reading *out);

/* Whether one of the target's processes holds the node open: as of a second ago, later more rarely
 * while nothing changes, since looking takes a system call for each descriptor. */
bool tp_nvml_process_holds(struct tp_nvml_process *owner, const struct tp_nvml_device *device,
			   uint64_t now_ns);

#endif
