/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's frames, as they all were at one instant.
 *
 * A frame whose link and code object are equal in both copies (py_copy_plan.h) had them when the
 * entry between them was read; so everything reachable from the entry was the stack then. Only a
 * change that was reverted within that microsecond goes unnoticed. Callers also have to be at the
 * same instruction in both copies. The stack has to end at a frame that can be a thread's first
 * one.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_STACK_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_STACK_H

#include "py_copy_plan.h"

#include <stdbool.h>

enum { TP_PY_STACK_MAX_FRAMES = 8192 };

struct tp_py_stack_frame {
	struct tp_py_copy_pair bytes;
	uint64_t address;
	uint64_t back;
	uint64_t code;
	uint64_t instr; /* address from 3.11 on, before that a byte index, -1 = not begun */
	uint8_t owner;
	bool is_entry;
	bool is_running; /* runs or calls, according to the frame; not suspended or freed */
	bool is_late;    /* was found running only after the innermost frame was known */
	bool is_mark; /* not a Python function: left by a C function that called one (from 3.12 on)
		       */
};

enum tp_py_stack_outcome {
	TP_PY_STACK_READ,
	TP_PY_STACK_NONE,   /* no frames */
	TP_PY_STACK_MOVED,  /* try again */
	TP_PY_STACK_RETRY,  /* the plan was wrong and has been improved */
	TP_PY_STACK_STALE,  /* the state does not belong to this thread any more */
	TP_PY_STACK_BROKEN, /* invalid memory */
};

struct tp_py_stack {
	struct tp_py_copy copy;
	struct tp_py_stack_frame *frames; /* innermost first, without marks */
	size_t n_frames;
	size_t cut; /* index of the first frame of the outermost part; n_frames = no frame is left
		       out */
	/* The longest part of a stack, from the outermost frame on, that was unchanged in the first
	 * attempt since tp_py_stack_begin() that found such a part, or in later ones that go on
	 * from it. */
	struct tp_py_stack_frame *still;
	size_t n_still;
	bool is_whole; /* `frames` are all frames of the thread */
};

void tp_py_stack_init(struct tp_py_stack *self, struct tp_py_memory *mem,
		      const struct tp_py_layout *layout);
void tp_py_stack_release(struct tp_py_stack *self);

void tp_py_stack_begin(struct tp_py_stack *self);
/* Makes one attempt with this number of looks (py_copy_plan.h). */
enum tp_py_stack_outcome tp_py_stack_read(struct tp_py_stack *self,
					  struct tp_py_copy_thread *thread, size_t n_looks);
/* After failed attempts: replaces the frames by the unchanged part. Returns false if there is
 * none. */
bool tp_py_stack_use_still(struct tp_py_stack *self);

#endif
