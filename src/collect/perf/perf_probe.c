/* SPDX-License-Identifier: Apache-2.0 */
/* Tries perf events and explains refusals. */
#include "perf_probe.h"

#include "perf_event.h"

#include <errno.h>
#include <stdio.h>

void tp_perf_explain_error(const struct tp_host *host, int error, struct tp_availability *out)
{
	out->presence = TP_PRESENCE_NO_PERMISSION;
	if (error == ENOSYS && host->perf_paranoid == TP_PARANOID_UNREADABLE) {
		out->presence = TP_PRESENCE_NO_DEVICE;
		snprintf(out->reason, sizeof(out->reason), "this kernel has no perf events");
	} else if (error == EACCES && host->perf_paranoid > 2) {
		snprintf(out->reason, sizeof(out->reason), "perf_event_paranoid is %d",
			 host->perf_paranoid);
		out->is_granted_at_start = true;
		snprintf(out->remedy, sizeof(out->remedy),
			 "sudo sysctl kernel.perf_event_paranoid=2");
	} else if (error == EPERM || error == EACCES || error == ENOSYS) {
		snprintf(out->reason, sizeof(out->reason), "%s forbids perf_event_open (seccomp)",
			 host->in_container ? "this container" : "something here");
		out->is_granted_at_start = true;
		snprintf(out->remedy, sizeof(out->remedy), "%s (docs/howto/containers.md)",
			 host->in_container ? "start the container with CAP_PERFMON, and a filter "
					      "that allows perf_event_open"
					    : "start it where perf_event_open is allowed");
	} else {
		snprintf(out->reason, sizeof(out->reason), "perf_event_open: %s",
			 tp_errno_text(error));
	}
}

void tp_perf_probe(const struct tp_host *host, struct tp_availability *out)
{
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
	if (!host->is_live) {
		out->presence = TP_PRESENCE_NO_DEVICE;
		snprintf(out->reason, sizeof(out->reason), "a recorded machine");
		return;
	}
	if (tp_perf_test_open(true) == 0)
		return;
	int failure = tp_perf_test_open(false);
	if (failure) {
		tp_perf_explain_error(host, failure, out);
		return;
	}
	out->presence = TP_PRESENCE_DEGRADED;
	out->is_granted_at_start = true;
	snprintf(out->reason, sizeof(out->reason), "user space only: perf_event_paranoid is %d",
		 host->perf_paranoid);
	snprintf(out->remedy, sizeof(out->remedy), "sudo sysctl kernel.perf_event_paranoid=1");
}
