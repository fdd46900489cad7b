/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the properties of the machine from /proc and /sys below a root. */
#include "trainprof/collect/host_info.h"

#include "cgroup.h"
#include "cpu_list.h"
#include "host_file.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* include/linux/proc_ns.h: the initial namespaces of every system have these fixed numbers. */
static const char initial_pid_namespace[] = "pid:[4026531836]";
static const char initial_cgroup_namespace[] = "cgroup:[4026531835]";

/* Implementer and part of arm64 CPUs that are used in clouds; /proc/cpuinfo has no name for them.
 * Source: arch/arm64/include/asm/cputype.h, Linux 6.12. */
static const struct arm_model {
	unsigned implementer;
	unsigned part;
	const char *name;
} arm_models[] = {
	{0x41, 0xd03, "ARM Cortex-A53"},   {0x41, 0xd07, "ARM Cortex-A57"},
	{0x41, 0xd08, "ARM Cortex-A72"},   {0x41, 0xd0b, "ARM Cortex-A76"},
	{0x41, 0xd0c, "ARM Neoverse-N1"},  {0x41, 0xd40, "ARM Neoverse-V1"},
	{0x41, 0xd49, "ARM Neoverse-N2"},  {0x41, 0xd4f, "ARM Neoverse-V2"},
	{0x41, 0xd84, "ARM Neoverse-V3"},  {0x41, 0xd8e, "ARM Neoverse-N3"},
	{0x48, 0xd01, "HiSilicon TSV110"}, {0x46, 0x001, "Fujitsu A64FX"},
	{0xc0, 0xac3, "Ampere-1"},
};

static int read_int(const struct tp_host *host, const char *path, int fallback)
{
	char text[32];
	int value;
	return tp_host_file_line(host, path, text, sizeof(text)) && sscanf(text, "%d", &value) == 1
		       ? value
		       : fallback;
}

static const char *read_cpu_model(struct tp_host *host)
{
	char text[256];
	char part_text[32];
	if (tp_host_file_field(host, "/proc/cpuinfo", "model name", text, sizeof(text)))
		return tp_arena_strdup(&host->arena, text);
	if (!tp_host_file_field(host, "/proc/cpuinfo", "CPU implementer", text, sizeof(text)) ||
	    !tp_host_file_field(host, "/proc/cpuinfo", "CPU part", part_text, sizeof(part_text)))
		return "unknown CPU";
	unsigned implementer = (unsigned)strtoul(text, NULL, 0);
	unsigned part = (unsigned)strtoul(part_text, NULL, 0);
	for (size_t i = 0; i < TP_ARRAY_LEN(arm_models); i++) {
		if (arm_models[i].implementer == implementer && arm_models[i].part == part)
			return arm_models[i].name;
	}
	return tp_arena_printf(&host->arena, "ARM implementer 0x%x part 0x%x", implementer, part);
}

static void read_cpus(struct tp_host *host)
{
	struct tp_cpu_list list;
	tp_host_file_online(&list, host);
	host->info.n_cpus = tp_cpu_list_count(&list);
	tp_host_file_allowed(&list, host);
	host->info.n_allowed = tp_cpu_list_count(&list);
	host->info.n_numa_nodes = 1;
	if (tp_host_file_cpu_list(&list, host, "/sys/devices/system/node/online"))
		host->info.n_numa_nodes = tp_cpu_list_count(&list);
}

static bool has_namespace(const struct tp_host *host, const char *path, const char *initial,
			  bool *is_initial)
{
	char link[64];
	if (!tp_host_file_link(host, path, link, sizeof(link)))
		return false;
	*is_initial = strcmp(link, initial) == 0;
	return true;
}

/* Namespaces are exact; the marker files of docker and podman are for kernels without them. */
static bool find_container(const struct tp_host *host)
{
	bool pid_initial;
	bool cgroup_initial = true;
	if (has_namespace(host, "/proc/self/ns/pid", initial_pid_namespace, &pid_initial)) {
		has_namespace(host, "/proc/self/ns/cgroup", initial_cgroup_namespace,
			      &cgroup_initial);
		return !pid_initial || !cgroup_initial;
	}
	return tp_host_file_exists(host, "/.dockerenv") ||
	       tp_host_file_exists(host, "/run/.containerenv");
}

static void read_names(struct tp_host *host)
{
	char type[64];
	char release[128];
	char name[256];
	tp_host_file_line(host, "/proc/sys/kernel/ostype", type, sizeof(type));
	tp_host_file_line(host, "/proc/sys/kernel/osrelease", release, sizeof(release));
	tp_host_file_line(host, "/proc/sys/kernel/hostname", name, sizeof(name));
	host->info.kernel = tp_arena_printf(&host->arena, "%s %s", type[0] ? type : "Linux",
					    release[0] ? release : "of unknown version");
	host->info.name = tp_arena_strdup(&host->arena, name[0] ? name : "unknown");
	host->info.cpu_model = read_cpu_model(host);
}

void tp_host_open(struct tp_host *host, const char *root)
{
	memset(host, 0, sizeof(*host));
	tp_arena_init(&host->arena);
	host->root = tp_arena_strdup(&host->arena, root);
	host->is_live = root[0] == '\0';
	host->perf_paranoid =
		read_int(host, "/proc/sys/kernel/perf_event_paranoid", TP_PARANOID_UNREADABLE);
	host->ptrace_scope = read_int(host, "/proc/sys/kernel/yama/ptrace_scope", 0);
	host->perf_max_rate_hz =
		read_int(host, "/proc/sys/kernel/perf_event_max_sample_rate", 100000);
	host->in_container = find_container(host);
	read_names(host);
	read_cpus(host);
	char text[64];
	if (tp_host_file_field(host, "/proc/meminfo", "MemTotal", text, sizeof(text)))
		host->info.memory_bytes = strtoull(text, NULL, 10) * 1024;
	tp_cgroup_find(host);
}

void tp_host_close(struct tp_host *host)
{
	tp_arena_release(&host->arena);
	memset(host, 0, sizeof(*host));
}
