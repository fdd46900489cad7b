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
static bool is_promised(struct tp_ringwriter *ring)
{
	static const char variable[] = "KINETO_USE_DAEMON";
	if (!secure_getenv(variable))
		return false;
	memcpy(ring->header->owner, variable, sizeof(variable));
	tp_ringwriter_set_state(ring, TP_GPU_STATE_TAKEN);
	return true;
}

static bool is_unfit(const struct tp_cuptilib *lib, bool is_late)
{
	return tp_gpu_fault_find(TP_GPU_FAULT_STOPS, lib->version, lib->driver_version) ||
	       (is_late &&
		tp_gpu_fault_find(TP_GPU_FAULT_NO_JOIN, lib->version, lib->driver_version));
}

bool tp_seekcupti(struct tp_session *session, struct tp_ringwriter *ring, bool is_late)
{
	struct tp_cuptilib *lib = &session->lib;
	struct tp_gpu_ring_header *header = ring->header;
	if (is_promised(ring))
		return false;
	bool is_found = lib->version || tp_cuptilib_open(lib);
	memcpy(header->library, lib->path, sizeof(lib->path));
	header->cupti_version = lib->version;
	header->driver_version = lib->driver_version;
	if (!is_found) {
		if (lib->missing)
			strncpy(header->failed_call, lib->missing, sizeof(header->failed_call) - 1);
		tp_ringwriter_set_state(ring, TP_GPU_STATE_NO_CUPTI);
		return false;
	}
	if (is_unfit(lib, is_late)) {
		tp_ringwriter_set_state(ring, TP_GPU_STATE_UNFIT);
		return false;
	}
	return true;
}
