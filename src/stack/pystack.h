/*
 * One thread's frames, as they all were at one instant.
 *
 * One system call reads, in this order: the thread state, the chunks and loose frames that the plan
 * names (copy A); the heads of code objects; the same again in copy B. What is equal in A and B did not
 * change from the end of A to the begin of B, so it held together then, unless it changed and changed
 * back to the same bytes within that microsecond. A caller's frame has to be equal in all its bytes
 * (with the place of the call); the innermost one in its code and link. The stack has to end at a frame
 * that can be a thread's first.
 */
#ifndef TRAINPROF_SRC_STACK_PYSTACK_H
#define TRAINPROF_SRC_STACK_PYSTACK_H

#include "pylayout.h"
#include "pymem.h"
#include "pyplan.h"

#include <stdbool.h>

enum { TP_PYSTACK_MAX_FRAMES = 8192 };

struct tp_pystack_frame {
	uint64_t address;
	uint64_t back;
	uint64_t code;
	uint64_t instr; /* from 3.11 on an address, before an index in bytes, -1 = not begun */
	size_t at;      /* of its bytes in a copy */
	uint8_t owner;
	bool is_entry;
	bool is_mark; /* no Python function: left by a C function that called one (3.12 on) */
};

/* The thread whose state is read, and what must be true of it. */
struct tp_pystack_thread {
	uint64_t state; /* address of its PyThreadState */
	uint64_t interp;
	uint64_t pthread;
	uint32_t tid;           /* as the process sees it; 0 = not checked */
	uint64_t tid_address;   /* before 3.11: where the C library keeps the number */
	uint64_t link;          /* address of the pointer that keeps the state in its list */
	struct tp_pyplan plan;
};

enum tp_pystack_outcome {
	TP_PYSTACK_READ,
	TP_PYSTACK_NONE,   /* no frames */
	TP_PYSTACK_MOVED,  /* try again */
	TP_PYSTACK_AGAIN,  /* the plan was wrong and is better now */
	TP_PYSTACK_GONE,   /* the state is not this thread's any more */
	TP_PYSTACK_BROKEN, /* makes no sense */
};

struct tp_pystack {
	struct tp_pymem *mem;
	const struct tp_pylayout *layout;
	size_t thread_bytes, frame_bytes, code_bytes;
	struct tp_pystack_frame *frames; /* innermost first, without marks */
	size_t n_frames;
	size_t cut; /* frames from here on are the outermost; n_frames = none is left out */
	/* What was read: copy A from 0 on, heads of code objects, copy B. */
	uint8_t *bytes;
	size_t bytes_capacity;
	size_t copy_bytes;
	size_t heads_at;
	size_t second_at;
	size_t n_heads;
	struct tp_pymem_piece *pieces;
	size_t n_pieces;
	size_t pieces_capacity;
};

void tp_pystack_init(struct tp_pystack *self, struct tp_pymem *mem,
		     const struct tp_pylayout *layout);
void tp_pystack_release(struct tp_pystack *self);

/* One attempt. */
enum tp_pystack_outcome tp_pystack_take(struct tp_pystack *self, struct tp_pystack_thread *thread);
/* The head of a code object as it was between the copies of the last attempt; NULL = not read. */
const uint8_t *tp_pystack_head(const struct tp_pystack *self, const struct tp_pyplan *plan,
			       uint64_t code);

#endif
