/* SPDX-License-Identifier: Apache-2.0 */
/* Converts unwound frames to a stack in the sink: every place is looked up and named once. */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_STACK_INTERN_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_STACK_INTERN_H

#include "python_processes.h"

#include "trainprof/base/map.h"
#include "trainprof/model/sink.h"
#include "trainprof/stack/maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_stack_intern {
	struct tp_sink *sink; /* borrowed */
	struct tp_map ids;    /* hash of (module, address, flags) -> frame id and flag */
	struct tp_map kernel; /* the same for frames of the kernel */
	struct tp_map python; /* hash of a place and its interpreter -> frame id */
	bool fits; /* the two parts of the last merged stack fit together; true without Python */
	uint64_t n_fitting;   /* merged stacks whose parts fitted, */
	uint64_t n_unfitting; /* or did not */
};

void tp_stack_intern_init(struct tp_stack_intern *put, struct tp_sink *sink);
void tp_stack_intern_release(struct tp_stack_intern *put);

/* Frames innermost first; flags: TP_STACK_…. Returns the id of the stack, 0 if n is 0. */
uint32_t tp_stack_intern_frames(struct tp_stack_intern *put, const struct tp_stack_frame *frames,
				size_t n, uint32_t flags);

/* The same with Python frames instead of the interpreter's (python_merge.h). */
uint32_t tp_stack_intern_merged(struct tp_stack_intern *put, const struct tp_stack_frame *frames,
				size_t n, uint32_t flags, const struct tp_python_places *places);

#endif
