/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which GPUs the target uses. */
#include "nvml_process.h"

#include "collect/machine/host_file.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's number of the initial pid namespace (PROC_PID_INIT_INO). */
static const char first_namespace[] = "pid:[4026531836]";

enum { LIST_CAPACITY = 64, LIST_TRIES = 4, N_MINORS = 64, PATH_SIZE = 4096 };

#define SCAN_PERIOD_MIN_NS TP_NS_PER_S
#define SCAN_PERIOD_MAX_NS (16 * TP_NS_PER_S)

void tp_nvml_process_init(struct tp_nvml_process *owner, const struct tp_host *host)
{
	char name[64];
	*owner = (struct tp_nvml_process){.host = host, .pause_ns = SCAN_PERIOD_MIN_NS};
	owner->is_in_namespace =
		!tp_host_file_link(host, "/proc/self/ns/pid", name, sizeof(name)) ||
		strcmp(name, first_namespace) != 0;
}

void tp_nvml_process_release(struct tp_nvml_process *owner)
{
	tp_map_release(&owner->pids);
	free(owner->list);
}

void tp_nvml_process_set_pids(struct tp_nvml_process *owner, const pid_t *pids, size_t n)
{
	struct tp_map now = {0};
	for (size_t i = 0; i < n; i++) {
		owner->is_changed |= !tp_map_get(&owner->pids, (uint64_t)pids[i], NULL);
		tp_map_set(&now, (uint64_t)pids[i], 1);
	}
	tp_map_release(&owner->pids);
	owner->pids = now;
}

/* ---- device nodes -------------------------------------------------------------------------- */

/* Parses the number in "/dev/nvidia7"; false for "/dev/nvidiactl" and everything else. */
static bool minor_of(const char *target, unsigned *out)
{
	static const char start[] = "/dev/nvidia";
	if (strncmp(target, start, sizeof(start) - 1) != 0)
		return false;
	const char *digits = target + sizeof(start) - 1;
	if (!*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 3)
		return false;
	*out = (unsigned)strtoul(digits, NULL, 10);
	return *out < N_MINORS;
}

static uint64_t nodes_of(const struct tp_host *host, pid_t pid)
{
	char folder[64];
	char full[PATH_SIZE];
	uint64_t nodes = 0;
	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(tp_host_path(host, full, sizeof(full), folder));
	if (!dir)
		return 0;
	const struct dirent *entry;
	while ((entry = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		char path[sizeof(folder) + sizeof(entry->d_name)];
		char target[32]; /* longer links are no device of ours */
		unsigned minor;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.' &&
		    tp_host_file_link(host, path, target, sizeof(target)) &&
		    minor_of(target, &minor))
			nodes |= UINT64_C(1) << minor;
	}
	closedir(dir);
	return nodes;
}

static void scan_nodes(struct tp_nvml_process *owner, uint64_t now_ns)
{
	size_t cursor = 0;
	uint64_t pid;
	uint64_t unused;
	uint64_t nodes = 0;
	while (tp_map_next(&owner->pids, &cursor, &pid, &unused))
		nodes |= nodes_of(owner->host, (pid_t)pid);
	bool is_news = owner->is_changed || nodes != owner->nodes;
	owner->nodes = nodes;
	owner->is_changed = false;
	owner->pause_ns = is_news ? SCAN_PERIOD_MIN_NS : owner->pause_ns * 2;
	if (owner->pause_ns > SCAN_PERIOD_MAX_NS)
		owner->pause_ns = SCAN_PERIOD_MAX_NS;
	owner->look_ns = now_ns + owner->pause_ns;
}

bool tp_nvml_process_holds(struct tp_nvml_process *owner, const struct tp_nvml_device *device,
			   uint64_t now_ns)
{
	if (now_ns >= owner->look_ns)
		scan_nodes(owner, now_ns);
	return device->minor >= 0 && device->minor < N_MINORS &&
	       (owner->nodes >> device->minor & 1);
}

/* ---- processes that NVML lists ------------------------------------------------------------- */

static int list_once(struct tp_nvml_process *owner, struct tp_nvml_device *device,
		     const struct tp_nvml_library *library, unsigned *n)
{
	*n = (unsigned)owner->list_capacity;
	if (library->processes)
		return library->processes(device->handle, n, owner->list);
	if (!library->processes_v1)
		return NVML_NOT_SUPPORTED;
	struct nvml_process_v1 *list = tp_alloc(owner->list_capacity * sizeof(*list));
	int result = library->processes_v1(device->handle, n, list);
	for (unsigned i = 0; result == NVML_SUCCESS && i < *n; i++)
		owner->list[i] =
			(struct nvml_process){.pid = list[i].pid, .used_bytes = list[i].used_bytes};
	free(list);
	return result;
}

/* Lists all of them, although their number may grow meanwhile. False if NVML does not report
 * them. */
static bool list_all(struct tp_nvml_process *owner, struct tp_nvml_device *device,
		     const struct tp_nvml_library *library, size_t *out)
{
	unsigned n = LIST_CAPACITY;
	for (int i = 0; i < LIST_TRIES; i++) {
		if (n > owner->list_capacity) {
			owner->list_capacity = n;
			owner->list = tp_realloc(owner->list, n * sizeof(*owner->list));
		}
		int result = list_once(owner, device, library, &n);
		if (result == NVML_GPU_IS_LOST)
			device->is_lost = true;
		*out = n;
		if (result != NVML_INSUFFICIENT_SIZE)
			return result == NVML_SUCCESS && n <= owner->list_capacity;
		n = n > owner->list_capacity ? n + n / 4 : (unsigned)owner->list_capacity * 2;
	}
	return false;
}

static bool is_ours(const struct tp_nvml_process *owner, const struct tp_nvml_device *device,
		    unsigned pid)
{
	if (!tp_map_get(&owner->pids, pid, NULL))
		return false;
	return !owner->is_in_namespace ||
	       (device->minor >= 0 && device->minor < N_MINORS &&
		(nodes_of(owner->host, (pid_t)pid) >> device->minor & 1));
}

void tp_nvml_process_read(struct tp_nvml_process *owner, struct tp_nvml_device *device,
			  const struct tp_nvml_library *library, struct tp_nvml_reading *out)
{
	size_t n;
	double own_bytes = 0;
	double other_bytes = 0;
	size_t n_own = 0;
	if (device->is_lost || !list_all(owner, device, library, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct nvml_process *process = &owner->list[i];
		bool ours = is_ours(owner, device, process->pid);
		double bytes = process->used_bytes == NVML_NOT_AVAILABLE
				       ? NAN
				       : (double)process->used_bytes;
		*(ours ? &own_bytes : &other_bytes) += bytes;
		n_own += ours;
	}
	*tp_nvml_value(out, TP_METRIC_GPU_IS_LISTED) = n_own > 0;
	if (n_own)
		*tp_nvml_value(out, TP_METRIC_GPU_MEM_OWN) = own_bytes;
	if (owner->is_in_namespace)
		return;
	*tp_nvml_value(out, TP_METRIC_GPU_OTHERS) = (double)(n - n_own);
	*tp_nvml_value(out, TP_METRIC_GPU_MEM_OTHERS) = other_bytes;
}
