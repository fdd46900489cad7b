/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the environment of a machine's GPUs. */
#include "gpu_environment.h"

#include "collect/machine/host_file.h"
#include "gpu_tools.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS "/proc/driver/nvidia/params"

enum { CAP_SYS_ADMIN = 21, CAP_PERFMON = 38, LINE = 512, PATH_SIZE = 4096 };

struct env_check {
	struct tp_gpu_selftest_row *rows;
	size_t n;
	size_t most;
	const struct tp_host *host;
	char *const *environment;
};

/* A problem has a presence other than PRESENT; NULL: there is none. Rows beyond the maximum are
 * dropped. */
static void add_row(struct env_check *env_check, const char *name, const char *text,
		    enum tp_presence presence, const char *reason, const char *remedy)
{
	if (env_check->n == env_check->most)
		return;
	struct tp_gpu_selftest_row *row = &env_check->rows[env_check->n++];
	*row = (struct tp_gpu_selftest_row){.availability.presence = presence};
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->text, sizeof(row->text), "%.199s", text);
	snprintf(row->availability.reason, sizeof(row->availability.reason), "%.119s", reason);
	snprintf(row->availability.remedy, sizeof(row->availability.remedy), "%.119s", remedy);
}

/* NULL = not set */
static const char *value_of(const struct env_check *env_check, const char *name)
{
	size_t len = strlen(name);
	for (char *const *entry = env_check->environment; *entry; entry++)
		if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
			return *entry + len + 1;
	return NULL;
}

/* ---- the driver ----------------------------------------------------------------------------- */

/* Returns the first word that begins with a digit and contains a dot; the whole line if there is
 * none. */
static const char *find_version(const char *line)
{
	for (const char *word = line; *word; word += strspn(word, " \t")) {
		size_t len = strcspn(word, " \t");
		if (isdigit((unsigned char)*word) && memchr(word, '.', len))
			return word;
		word += len;
	}
	return line;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …", "… UNIX Open Kernel Module
 * for x86_64  580.65.06  Release …". */
static void check_driver(struct env_check *env_check)
{
	char line[LINE];
	char text[LINE];
	if (!tp_host_file_line(env_check->host, "/proc/driver/nvidia/version", line,
			       sizeof(line))) {
		add_row(env_check, "driver", "NVIDIA's kernel module", TP_PRESENCE_NO_DEVICE,
			"it is not loaded", "sudo modprobe nvidia");
		return;
	}
	const char *at = find_version(line);
	snprintf(text, sizeof(text), "NVIDIA's kernel module %.*s", (int)strcspn(at, " \t"), at);
	add_row(env_check, "driver", text, TP_PRESENCE_PRESENT, "", "");
}

/* According to the kernel's capabilities of this process; since driver 565 CAP_PERFMON is
 * required. */
static bool has_root_rights(const struct tp_host *host)
{
	char text[LINE];
	if (!tp_host_file_field(host, "/proc/self/status", "CapEff", text, sizeof(text)))
		return false;
	unsigned long long mask = strtoull(text, NULL, 16);
	return mask >> CAP_SYS_ADMIN & 1 || mask >> CAP_PERFMON & 1;
}

/* The users that may read hardware counters; drivers report it in one of two ways. */
enum readers { READERS_UNKNOWN, READERS_ALL, READERS_ADMINISTRATORS };

static enum readers readers_of_counters(const struct tp_host *host)
{
	char value[LINE];
	if (!tp_host_file_field(host, PARAMETERS, "RmProfilingAdminOnly", value, sizeof(value)) &&
	    !tp_host_file_field(host, PARAMETERS, "RestrictProfilingToAdminUsers", value,
				sizeof(value)))
		return READERS_UNKNOWN;
	return strcmp(value, "0") == 0 ? READERS_ALL : READERS_ADMINISTRATORS;
}

bool tp_gpu_counters_are_restricted(const struct tp_host *host)
{
	return readers_of_counters(host) == READERS_ADMINISTRATORS && !has_root_rights(host);
}

static void check_counters(struct env_check *env_check)
{
	enum readers readers = readers_of_counters(env_check->host);
	if (readers == READERS_UNKNOWN)
		return;
	if (readers == READERS_ALL)
		add_row(env_check, "counters", "counters of GPUs, by CUPTI: for everybody",
			TP_PRESENCE_PRESENT, "", "");
	else if (!tp_gpu_counters_are_restricted(env_check->host))
		add_row(env_check, "counters",
			"counters of GPUs, by CUPTI: for administrators, as here",
			TP_PRESENCE_PRESENT, "", "");
	else
		add_row(env_check, "counters", "counters of GPUs, by CUPTI",
			TP_PRESENCE_NO_PERMISSION, "for administrators only (RmProfilingAdminOnly)",
			"options nvidia NVreg_RestrictProfilingToAdminUsers=0   in "
			"/etc/modprobe.d");
}

/* ---- the environment ------------------------------------------------------------------------ */

static void check_injection(struct env_check *env_check)
{
	static const char *const doors[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
	size_t before = env_check->n;
	char reason[LINE];
	char remedy[LINE];
	for (size_t i = 0; i < TP_ARRAY_LEN(doors); i++) {
		const char *path = value_of(env_check, doors[i]);
		if (!path || !*path)
			continue;
		const char *tool = tp_gpu_tool_of_library(path);
		snprintf(reason, sizeof(reason), "%s is of %s", doors[i], tool ? tool : path);
		snprintf(remedy, sizeof(remedy), "unset %s", doors[i]);
		add_row(env_check, "injection", "what CUDA loads into programs", TP_PRESENCE_IN_USE,
			reason, remedy);
	}
	for (char *const *entry = env_check->environment; *entry; entry++) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*entry, "="), *entry);
		const char *tool = tp_gpu_tool_of_variable(name);
		if (!tool)
			continue;
		snprintf(reason, sizeof(reason), "%s: %s", name, tool);
		snprintf(remedy, sizeof(remedy), "unset %s, or measure without that tool", name);
		add_row(env_check, "injection", "another tool is in the environment",
			TP_PRESENCE_IN_USE, reason, remedy);
	}
	if (env_check->n == before)
		add_row(env_check, "injection", "no other tool asks to be loaded into programs",
			TP_PRESENCE_PRESENT, "", "");
}

/* A folder named "stubs" in a list "A:B:C": a program that is linked against it finds no driver. */
static bool has_stubs(const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ":");
		size_t end = len;
		while (end && list[end - 1] == '/')
			end--;
		if (end >= 6 && strncmp(list + end - 6, "/stubs", 6) == 0)
			return true;
		list += len + (list[len] == ':');
	}
	return false;
}

static void check_variables(struct env_check *env_check)
{
	const char *wish = value_of(env_check, "TRAINPROF_GPU");
	const char *libraries = value_of(env_check, "LD_LIBRARY_PATH");
	if (wish && strcmp(wish, "0") == 0)
		add_row(env_check, "switch", "sources of GPUs", TP_PRESENCE_OFF,
			"switched off by TRAINPROF_GPU=0", "unset TRAINPROF_GPU");
	if (libraries && has_stubs(libraries))
		add_row(env_check, "libraries", "LD_LIBRARY_PATH", TP_PRESENCE_DEGRADED,
			"a folder of stubs is in it: CUPTI does not start (15)",
			"export LD_LIBRARY_PATH=…   without the folder of stubs");
}

/* ---- other programs ------------------------------------------------------------------------- */

static void report_process(struct env_check *env_check, enum tp_gpu_process_kind kind,
			   const char *tool, const char *pid)
{
	char text[LINE];
	char remedy[LINE];
	snprintf(text, sizeof(text), "%s runs (process %.16s)", tool, pid);
	switch (kind) {
	case TP_GPU_PROCESS_TRACES:
		snprintf(remedy, sizeof(remedy), "measure other programs than %s does", tool);
		add_row(env_check, "tools", text, TP_PRESENCE_IN_USE,
			"CUPTI serves one tool in a program", remedy);
		break;
	case TP_GPU_PROCESS_COUNTS:
		add_row(env_check, "tools", text, TP_PRESENCE_IN_USE,
			"it may hold the counters of GPUs",
			"dcgmi profile --pause   and --resume afterwards");
		break;
	case TP_GPU_PROCESS_SHARES:
		add_row(env_check, "mps", text, TP_PRESENCE_DEGRADED,
			"programs share a GPU, and counters are not available",
			"echo quit | nvidia-cuda-mps-control");
		break;
	case TP_GPU_PROCESS_OTHER:
		break;
	}
}

/* One row per tool, because many tools have several processes. */
static bool is_reported(const struct env_check *env_check, const char *tool)
{
	for (size_t i = 0; i < env_check->n; i++)
		if (tp_text_starts_with(env_check->rows[i].text, tool))
			return true;
	return false;
}

static void check_processes(struct env_check *env_check)
{
	char full[PATH_SIZE];
	DIR *dir = opendir(tp_host_path(env_check->host, full, sizeof(full), "/proc"));
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		char path[sizeof(entry->d_name) + 16];
		char comm[32];
		const char *tool = NULL;
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (!tp_host_file_line(env_check->host, path, comm, sizeof(comm)))
			continue;
		enum tp_gpu_process_kind kind = tp_gpu_process_kind_of(comm, &tool);
		if (kind != TP_GPU_PROCESS_OTHER && !is_reported(env_check, tool))
			report_process(env_check, kind, tool, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static bool has_entry(const struct tp_host *host, const char *folder, const char *start)
{
	char full[PATH_SIZE];
	bool is_there = false;
	DIR *dir = opendir(tp_host_path(host, full, sizeof(full), folder));
	const struct dirent *entry;
	while (dir && !is_there && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe) */
		is_there = tp_text_starts_with(entry->d_name, start);
	if (dir)
		closedir(dir);
	return is_there;
}

/* Each MIG instance has a folder while it exists. */
static void check_mig(struct env_check *env_check)
{
	for (unsigned i = 0; i < 16; i++) {
		char folder[64];
		char text[64];
		snprintf(folder, sizeof(folder), "/proc/driver/nvidia/capabilities/gpu%u/mig", i);
		if (!has_entry(env_check->host, folder, "gi"))
			continue;
		snprintf(text, sizeof(text), "GPU %u is in parts (MIG)", i);
		add_row(env_check, "mig", text, TP_PRESENCE_DEGRADED,
			"its use is not reported, and counters cover the whole GPU instance",
			"nvidia-smi mig -lgi");
	}
}

size_t tp_gpu_environment_check(struct tp_gpu_selftest_row *rows, size_t most,
				const struct tp_host *host, char *const *environment)
{
	struct env_check env_check = {.rows = rows,
				      .most = most,
				      .host = host,
				      .environment = environment};
	check_driver(&env_check);
	check_counters(&env_check);
	check_mig(&env_check);
	check_injection(&env_check);
	check_variables(&env_check);
	check_processes(&env_check);
	return env_check.n;
}
