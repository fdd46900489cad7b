/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether the CPUs' counters can be used here, by counting a loop. */
#include "pmu_probe.h"

#include "collect/machine/host_file.h"
#include "collect/perf/perf_probe.h"
#include "pmu_event_alias.h"
#include "pmu_group.h"
#include "pmu_topdown.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_KINDS = TP_CORE_PMUS_MAX };

static bool is_virtual(const struct tp_host *host)
{
	char text[4096];
	/* ARM's /proc/cpuinfo has no such flag; the firmware's machine name usually shows it. */
	static const char *const vendors[] = {"QEMU", "KVM",    "Amazon EC2", "Google",
					      "Xen",  "VMware", "Bochs"};
	if (tp_host_file_field(host, "/proc/cpuinfo", "flags", text, sizeof(text)))
		return strstr(text, " hypervisor") != NULL;
	if (tp_host_file_exists(host, "/sys/hypervisor/type"))
		return true;
	if (!tp_host_file_line(host, "/sys/class/dmi/id/sys_vendor", text, sizeof(text)) &&
	    !tp_host_file_line(host, "/proc/device-tree/compatible", text, sizeof(text)))
		return false;
	for (size_t i = 0; i < TP_ARRAY_LEN(vendors); i++) {
		if (strncasecmp(text, vendors[i], strlen(vendors[i])) == 0)
			return true;
	}
	return strstr(text, "dummy-virt") != NULL;
}

static void report_no_device(const struct tp_host *host, struct tp_availability *out)
{
	out->presence = TP_PRESENCE_NO_DEVICE;
	snprintf(out->reason, sizeof(out->reason), "this %s exposes no hardware counters",
		 is_virtual(host) ? "virtual machine" : "machine");
}

static void report_refused(const struct tp_host *host, int error, struct tp_availability *out)
{
	const char *cause = tp_errno_text(error);
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		report_no_device(host, out);
		return;
	case ENOSYS:
		tp_perf_explain_error(host, error, out);
		return;
	case EBUSY:
		out->presence = TP_PRESENCE_IN_USE;
		snprintf(out->reason, sizeof(out->reason), "another tool holds the counters");
		return;
	default:
		out->presence = TP_PRESENCE_NO_PERMISSION;
		out->is_granted_at_start = true;
	}
	if (host->perf_paranoid > 2) {
		snprintf(out->reason, sizeof(out->reason), "kernel.perf_event_paranoid is %d",
			 host->perf_paranoid);
		snprintf(out->remedy, sizeof(out->remedy), "sysctl kernel.perf_event_paranoid=2");
		return;
	}
	snprintf(out->reason, sizeof(out->reason), "perf_event_open: %s", cause);
	snprintf(out->remedy, sizeof(out->remedy), "%s",
		 host->in_container ? "start the container with CAP_PERFMON" : "run as root");
}

/* True if a loop is counted. Some virtual machines offer counters that do not count. */
static bool has_counts(const struct tp_pmu_group *group)
{
	struct tp_pmu_counts counts;
	for (volatile int i = 0; i < 100000; i = i + 1)
		continue;
	return tp_pmu_group_read(group, &counts) && counts.values[0] > 0 && counts.values[1] > 0;
}

static void test_counting(const struct tp_host *host, const struct tp_core_pmu *pmus, size_t n,
			  struct tp_availability *out)
{
	struct tp_pmu_group_options options = {.n_required = 2};
	int error = ENOENT;
	/* On a CPU with two kinds of cores only the counter of the current core counts. */
	for (size_t i = 0; i < n; i++) {
		struct tp_pmu_event events[TP_N_BASIC];
		struct tp_pmu_group group;
		tp_pmu_topdown_basic(events, host, &pmus[i]);
		error = tp_pmu_group_open(&group, events, 2, &options);
		if (error)
			break;
		bool moves = has_counts(&group);
		tp_pmu_group_close(&group);
		if (moves)
			return;
	}
	if (error)
		report_refused(host, error, out);
	else
		report_no_device(host, out);
}

void tp_pmu_probe(const struct tp_host *host, struct tp_availability *out)
{
	struct tp_core_pmu pmus[MAX_KINDS];
	struct tp_pmu_topdown recipe;
	memset(out, 0, sizeof(*out));
	size_t n = tp_core_pmu_find(pmus, MAX_KINDS, host);
	if (n == 0) {
		report_no_device(host, out);
		return;
	}
	if (host->is_live)
		test_counting(host, pmus, n, out);
	if (out->presence != TP_PRESENCE_PRESENT)
		return;
	if (n > 1) {
		snprintf(out->reason, sizeof(out->reason),
			 "no top-down counters: this CPU has %zu kinds of core", n);
		out->presence = TP_PRESENCE_DEGRADED;
	} else if (!tp_pmu_topdown_find(&recipe, host, &pmus[0], out->reason,
					sizeof(out->reason))) {
		out->presence = TP_PRESENCE_DEGRADED;
	}
}
