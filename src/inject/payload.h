/*
 * The mapping that is made in the program, with code in it that is not ours any more: what the held
 * thread and the thread that it creates run, and what they need for that.
 *
 *	offset 0             code (machine_*.c)
 *	TP_BLOCK_AT          struct tp_block: written before the held thread gets here
 *	TP_BLOCK_STATE_AT    where the held thread keeps its vector registers
 *	TP_BLOCK_STACK_END   of the stack that the held thread creates the other one on
 *
 * The held thread: keeps its vector registers, calls pthread_create(), restores them, says so, and
 * rests: there the tracer takes over, if it still lives. Else it restores signal mask and registers
 * itself and goes back: it does not go while a signal waits that could end its call, unless nobody
 * comes after `rests` rests, because only the tracer can have the kernel decide. It rests in a call
 *that leaves the kernel's memory of what remains of an interrupted one alone (ppoll; not
 *nanosleep). The other one, the guest: detaches itself, lets the C library's own signals in, makes
 *a memfd, waits until `order` says LOAD, loads `path`, calls `symbol` with this mapping, tells what
 *it returned, closes the memfd and ends. Where something fails it waits for LEAVE, so that the
 *reason can be read. All its waiting together is `patience` naps.
 *
 * The assembler has these offsets as numbers; asserts hold them to the struct.
 */
#ifndef TRAINPROF_SRC_INJECT_PAYLOAD_H
#define TRAINPROF_SRC_INJECT_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define TP_BLOCK_AT        4096
#define TP_BLOCK_STATE_AT  8192
#define TP_BLOCK_STATE_END 24576
#define TP_BLOCK_STACK_END 90112
#define TP_BLOCK_BYTES     TP_BLOCK_STACK_END

/* Offsets in struct tp_block. */
#define TP_BLOCK_MASK     320
#define TP_BLOCK_CREATE   328
#define TP_BLOCK_DETACH   336
#define TP_BLOCK_DLOPEN   344
#define TP_BLOCK_DLSYM    352
#define TP_BLOCK_DLERROR  360
#define TP_BLOCK_THREAD   368
#define TP_BLOCK_NAP      376
#define TP_BLOCK_REST     392
#define TP_BLOCK_REASON   408
#define TP_BLOCK_PHASE    416
#define TP_BLOCK_ORDER    420
#define TP_BLOCK_CREATED  424
#define TP_BLOCK_RETURNED 428
#define TP_BLOCK_FILE     432
#define TP_BLOCK_PATIENCE 436
#define TP_BLOCK_NAME     440
#define TP_BLOCK_SYMBOL   472
#define TP_BLOCK_PATH     504
#define TP_BLOCK_GIVEN    568
#define TP_BLOCK_PENDING  576
#define TP_BLOCK_OPEN     584
#define TP_BLOCK_RESTS    592

/* What the guest has reached. */
#define TP_PHASE_NONE    0
#define TP_PHASE_WAITING 1 /* `file` is there */
#define TP_PHASE_DONE    2 /* `returned` is what the door returned */
#define TP_PHASE_FAILED  3 /* `reason` is the address of a text */

#define TP_CREATED_NOT (-1)

/* What it is told. */
#define TP_ORDER_WAIT  0
#define TP_ORDER_LOAD  1
#define TP_ORDER_LEAVE 2

struct tp_block {
	uint64_t registers[40]; /* to go back with; the machine's order */
	uint64_t mask;          /* of signals, to go back with */
	uint64_t create;        /* addresses of functions of the program's libc */
	uint64_t detach;
	uint64_t dlopen;
	uint64_t dlsym;
	uint64_t dlerror;
	uint64_t thread;  /* a pthread_t */
	uint64_t nap[2];  /* of the guest; a struct timespec */
	uint64_t rest[2]; /* of the held thread, when it is done */
	uint64_t reason;
	uint32_t phase;
	uint32_t order;
	int32_t created; /* what pthread_create() returned; TP_CREATED_NOT before */
	int32_t returned;
	int32_t file; /* a memfd, or a negative errno */
	uint32_t patience;
	char name[32];
	char symbol[32];
	char path[64];
	uint64_t given;   /* bytes of the mapping that the door is told are its own; 0: none */
	uint64_t pending; /* signals that wait for the held thread */
	uint64_t open;    /* mask of the guest: all but what setuid() and its like send */
	uint32_t rests;
};

#define TP_BLOCK_IS(member, offset)                                                                \
	_Static_assert(offsetof(struct tp_block, member) == (offset), "layout")
TP_BLOCK_IS(mask, TP_BLOCK_MASK);
TP_BLOCK_IS(create, TP_BLOCK_CREATE);
TP_BLOCK_IS(detach, TP_BLOCK_DETACH);
TP_BLOCK_IS(dlopen, TP_BLOCK_DLOPEN);
TP_BLOCK_IS(dlsym, TP_BLOCK_DLSYM);
TP_BLOCK_IS(dlerror, TP_BLOCK_DLERROR);
TP_BLOCK_IS(thread, TP_BLOCK_THREAD);
TP_BLOCK_IS(nap, TP_BLOCK_NAP);
TP_BLOCK_IS(rest, TP_BLOCK_REST);
TP_BLOCK_IS(reason, TP_BLOCK_REASON);
TP_BLOCK_IS(phase, TP_BLOCK_PHASE);
TP_BLOCK_IS(order, TP_BLOCK_ORDER);
TP_BLOCK_IS(created, TP_BLOCK_CREATED);
TP_BLOCK_IS(returned, TP_BLOCK_RETURNED);
TP_BLOCK_IS(file, TP_BLOCK_FILE);
TP_BLOCK_IS(patience, TP_BLOCK_PATIENCE);
TP_BLOCK_IS(name, TP_BLOCK_NAME);
TP_BLOCK_IS(symbol, TP_BLOCK_SYMBOL);
TP_BLOCK_IS(path, TP_BLOCK_PATH);
TP_BLOCK_IS(given, TP_BLOCK_GIVEN);
TP_BLOCK_IS(pending, TP_BLOCK_PENDING);
TP_BLOCK_IS(open, TP_BLOCK_OPEN);
TP_BLOCK_IS(rests, TP_BLOCK_RESTS);

#endif
