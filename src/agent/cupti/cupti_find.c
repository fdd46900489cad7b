/* SPDX-License-Identifier: Apache-2.0 */
/* Finds CUPTI, and whether it may be used. */
#include "cupti_find.h"

#include "cupti_session.h"

#include "trainprof/wire/gpu_faults.h"

#include <stdlib.h>
#include <string.h>

/*
 * With this variable Kineto takes the callbacks whenever a daemon tells it to, and does not
 * subscribe: nobody would be told, and the buffers that CUPTI has of ours would come back to it.
 */
static bool is_promised(struct tp_ring_writer *ring)
{
	static const char variable[] = "KINETO_USE_DAEMON";
	if (!secure_getenv(variable))
		return false;
	memcpy(ring->header->owner, variable, sizeof(variable));
	tp_ring_writer_set_state(ring, TP_GPU_STATE_IN_USE);
	return true;
}

static bool is_unsupported(const struct tp_cupti_library *lib, bool is_late)
{
	return tp_gpu_fault_find(TP_GPU_FAULT_STOPS, lib->version, lib->driver_version) ||
	       (is_late &&
		tp_gpu_fault_find(TP_GPU_FAULT_NO_JOIN, lib->version, lib->driver_version));
}

bool tp_cupti_find(struct tp_cupti_session *session, struct tp_ring_writer *ring, bool is_late)
{
	struct tp_cupti_library *lib = &session->lib;
	struct tp_gpu_ring_header *header = ring->header;
	if (is_promised(ring))
		return false;
	bool is_found = lib->version || tp_cupti_library_open(lib);
	memcpy(header->library, lib->path, sizeof(lib->path));
	header->cupti_version = lib->version;
	header->driver_version = lib->driver_version;
	if (!is_found) {
		if (lib->missing)
			strncpy(header->failed_call, lib->missing, sizeof(header->failed_call) - 1);
		tp_ring_writer_set_state(ring, TP_GPU_STATE_NO_CUPTI);
		return false;
	}
	if (is_unsupported(lib, is_late)) {
		tp_ring_writer_set_state(ring, TP_GPU_STATE_UNSUPPORTED);
		return false;
	}
	return true;
}
