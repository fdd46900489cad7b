/* SPDX-License-Identifier: Apache-2.0 */
/* Finds CUPTI and checks whether the agent may use it. */
#include "cupti_find.h"

#include "cupti_session.h"
#include "exit_guard.h"
#include "fork_gate.h"

#include "trainprof/wire/gpu_faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With this variable Kineto takes the callbacks over whenever a daemon requests it, without
 * subscribing. We would not notice, and CUPTI would return our own buffers to Kineto. */
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

static enum tp_cupti_finding reject(struct tp_ring_writer *ring, enum tp_gpu_state state,
				    const char *failed_call, int error)
{
	struct tp_gpu_ring_header *header = ring->header;
	if (failed_call)
		strncpy(header->failed_call, failed_call, sizeof(header->failed_call) - 1);
	header->error = error;
	tp_ring_writer_set_state(ring, state);
	return TP_CUPTI_FIND_NONE;
}

static bool has_second_copy(const struct tp_cupti_library *lib, struct tp_gpu_ring_header *header)
{
	char other[TP_CUPTI_PATH_BYTES];
	tp_cupti_copy_find_other(other, (const void *)(uintptr_t)lib->get_version);
	if (!*other)
		return false;
	/* The end of a long path says more than its beginning. */
	size_t length = strlen(other);
	size_t room = sizeof(header->owner) - 1;
	const char *end = length > room ? other + length - room : other;
	memcpy(header->owner, end, strlen(end) + 1);
	return true;
}

bool tp_cupti_find_second_copy(const struct tp_cupti_library *lib,
			       struct tp_gpu_ring_header *header)
{
	if (!tp_fork_gate_enter())
		return false;
	bool has_other = has_second_copy(lib, header);
	tp_fork_gate_leave();
	return has_other;
}

/* Loads the library without calling any of its functions. */
static enum tp_cupti_finding load(struct tp_cupti_library *lib, struct tp_ring_writer *ring)
{
	if (!tp_fork_gate_enter())
		return TP_CUPTI_FIND_LATER;
	bool is_loaded = tp_cupti_library_load(lib);
	bool is_guarded =
		is_loaded && tp_exit_guard_cover((const void *)(uintptr_t)lib->get_version);
	bool has_other = is_loaded && has_second_copy(lib, ring->header);
	tp_fork_gate_leave();
	memcpy(ring->header->library, lib->path, sizeof(lib->path));
	ring->header->driver_version = lib->driver_version;
	if (!is_loaded)
		return reject(ring, TP_GPU_STATE_NO_CUPTI, lib->missing, 0);
	if (has_other)
		return reject(ring, TP_GPU_STATE_SECOND_COPY, NULL, 0);
	if (!is_guarded)
		return reject(ring, TP_GPU_STATE_FAILED, "__cxa_atexit", EPERM);
	return tp_exit_guard_confirm() ? TP_CUPTI_FIND_DONE : TP_CUPTI_FIND_LATER;
}

enum tp_cupti_finding tp_cupti_find(struct tp_cupti_session *session, struct tp_ring_writer *ring,
				    bool is_late)
{
	struct tp_cupti_library *lib = &session->lib;
	if (is_promised(ring))
		return TP_CUPTI_FIND_NONE;
	enum tp_cupti_finding found = lib->version ? TP_CUPTI_FIND_DONE : load(lib, ring);
	if (found != TP_CUPTI_FIND_DONE)
		return found;
	bool has_begun = lib->version || tp_cupti_library_start(lib);
	ring->header->cupti_version = lib->version;
	if (!has_begun)
		return reject(ring, TP_GPU_STATE_FAILED, lib->failed_call, lib->error);
	if (is_unsupported(lib, is_late))
		return reject(ring, TP_GPU_STATE_UNSUPPORTED, NULL, 0);
	return TP_CUPTI_FIND_DONE;
}
