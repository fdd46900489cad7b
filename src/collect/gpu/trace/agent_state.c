/* SPDX-License-Identifier: Apache-2.0 */
/* The states of an agent in words. */
#include "agent_state.h"

#include "trainprof/base/status.h"
#include "trainprof/base/text.h"
#include "trainprof/wire/gpu_faults.h"

#include <stdio.h>
#include <string.h>

/* A newer agent may know more versions than we do. */
static void explain_invalid(const struct tp_gpu_ring_header *header, char *out, size_t size)
{
	const struct tp_gpu_fault *fault =
		tp_gpu_fault_find(TP_GPU_FAULT_STOPS, header->cupti_version,
				  header->driver_version);
	if (!fault)
		fault = tp_gpu_fault_find(TP_GPU_FAULT_NO_JOIN, header->cupti_version,
					  header->driver_version);
	if (fault)
		snprintf(out, size, "%s", fault->text);
	else
		snprintf(out, size, "CUPTI %u is not supported", header->cupti_version);
}

static bool fails_at_start(const struct tp_gpu_ring_header *header)
{
	return strncmp(header->failed_call, "cuptiGetVersion", sizeof(header->failed_call)) == 0 ||
	       strncmp(header->failed_call, "cuGetExportTable", sizeof(header->failed_call)) == 0;
}

enum tp_presence tp_agent_state_explain(const struct tp_gpu_ring_header *header, char *out,
					size_t size)
{
	switch (header->state) {
	case TP_GPU_STATE_NO_CUPTI:
		snprintf(out, size, "the program has no CUPTI, and none was found");
		return TP_PRESENCE_NO_LIBRARY;
	case TP_GPU_STATE_IN_USE:
		snprintf(out, size, "another tool has CUPTI%s%.40s", header->owner[0] ? ": " : "",
			 header->owner);
		return TP_PRESENCE_IN_USE;
	case TP_GPU_STATE_TAKEOVER:
		snprintf(out, size, "another tool took CUPTI over%s%.40s",
			 header->owner[0] ? ": " : " while it ran", header->owner);
		return TP_PRESENCE_DEGRADED;
	case TP_GPU_STATE_SECOND_COPY:
		snprintf(out, size, "two copies of CUPTI in the program, the other is …%.63s",
			 header->owner);
		return TP_PRESENCE_IN_USE;
	case TP_GPU_STATE_FAILED:
		if (fails_at_start(header))
			snprintf(out, size, "CUPTI does not start on this driver (%.40s: %d)",
				 header->failed_call, header->error);
		else
			snprintf(out, size, "%.40s of CUPTI failed (%d)", header->failed_call,
				 header->error);
		return TP_PRESENCE_NO_DEVICE;
	case TP_GPU_STATE_BACKOFF:
		snprintf(out, size, "another tool has CUPTI%s%.40s; it is asked again now and then",
			 header->owner[0] ? ": " : "", header->owner);
		return TP_PRESENCE_IN_USE;
	case TP_GPU_STATE_UNSUPPORTED:
		explain_invalid(header, out, size);
		return TP_PRESENCE_NO_LIBRARY;
	case TP_GPU_STATE_NO_ROOM:
		snprintf(out, size, "no room for GPU events: %s", tp_errno_text(header->error));
		return TP_PRESENCE_NO_DEVICE;
	case TP_GPU_STATE_STARTING:
		snprintf(out, size, "CUPTI had not started when the program ended");
		return TP_PRESENCE_NO_DEVICE;
	case TP_GPU_STATE_UNREAD:
		snprintf(out, size, "the agent gave up: nobody read its events for 10 s");
		return TP_PRESENCE_DEGRADED;
	default:
		out[0] = '\0';
		if (!header->owner[0])
			return TP_PRESENCE_PRESENT;
		snprintf(out, size, "another tool had CUPTI for a time: %.40s", header->owner);
		return TP_PRESENCE_DEGRADED;
	}
}
