/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapping that is created in the program, with the code that runs in the program on its own:
 * the code of the held thread and of the thread that it creates, and their data.
 *
 * 	offset 0             code (machine_*.c)
 * 	TP_PAYLOAD_AT          struct tp_payload: written before the held thread gets here
 * 	TP_PAYLOAD_STATE_AT    where the held thread saves its vector registers
 * 	TP_PAYLOAD_STACK_END   end of the stack on which the held thread creates the other one
 *
 * The held thread saves its vector registers, calls pthread_create(), restores them, records that,
 * and pauses; there the tracer takes over if it is still alive. Otherwise the thread restores its
 * signal mask and registers itself and returns. It does not return while a signal is pending that
 * could interrupt its call, unless nobody has come after `rests` pauses, because only the tracer
 * can leave that decision to the kernel. It pauses in ppoll, which, unlike nanosleep, does not
 * overwrite the kernel's record of an interrupted call.
 *
 * The other thread, the guest, detaches itself, unblocks the C library's own signals, creates a
 * memfd, waits until `order` is LOAD, loads `path`, calls `symbol` with this mapping, stores the
 * returned value, closes the memfd and exits. After a failure it waits for LEAVE, so that the
 * reason can be read. `patience` limits the total number of its naps.
 *
 * The assembler code has these offsets as numbers; assertions compare them with the struct.
 */
#ifndef TRAINPROF_SRC_INJECT_PAYLOAD_H
#define TRAINPROF_SRC_INJECT_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define TP_PAYLOAD_AT        4096
#define TP_PAYLOAD_STATE_AT  8192
#define TP_PAYLOAD_STATE_END 24576
#define TP_PAYLOAD_STACK_END 90112
#define TP_PAYLOAD_BYTES     TP_PAYLOAD_STACK_END

/* Offsets in struct tp_payload. */
#define TP_PAYLOAD_MASK     320
#define TP_PAYLOAD_CREATE   328
#define TP_PAYLOAD_DETACH   336
#define TP_PAYLOAD_DLOPEN   344
#define TP_PAYLOAD_DLSYM    352
#define TP_PAYLOAD_DLERROR  360
#define TP_PAYLOAD_THREAD   368
#define TP_PAYLOAD_NAP      376
#define TP_PAYLOAD_REST     392
#define TP_PAYLOAD_REASON   408
#define TP_PAYLOAD_PHASE    416
#define TP_PAYLOAD_ORDER    420
#define TP_PAYLOAD_CREATED  424
#define TP_PAYLOAD_RETURNED 428
#define TP_PAYLOAD_FILE     432
#define TP_PAYLOAD_PATIENCE 436
#define TP_PAYLOAD_NAME     440
#define TP_PAYLOAD_SYMBOL   472
#define TP_PAYLOAD_PATH     504
#define TP_PAYLOAD_GIVEN    568
#define TP_PAYLOAD_PENDING  576
#define TP_PAYLOAD_OPEN     584
#define TP_PAYLOAD_RESTS    592

/* Progress of the guest. */
#define TP_PAYLOAD_PHASE_NONE    0
#define TP_PAYLOAD_PHASE_WAITING 1 /* `file` is set */
#define TP_PAYLOAD_PHASE_DONE    2 /* `returned` holds the result of the entry point */
#define TP_PAYLOAD_PHASE_FAILED  3 /* `reason` is the address of an error message */

#define TP_PAYLOAD_NOT_CREATED (-1)

/* Commands to the guest. */
#define TP_PAYLOAD_ORDER_WAIT  0
#define TP_PAYLOAD_ORDER_LOAD  1
#define TP_PAYLOAD_ORDER_LEAVE 2

struct tp_payload {
	uint64_t registers[40]; /* to return with, in the machine's order */
	uint64_t mask;          /* signal mask to return with */
	uint64_t create;        /* addresses of functions in the program's libc */
	uint64_t detach;
	uint64_t dlopen;
	uint64_t dlsym;
	uint64_t dlerror;
	uint64_t thread;  /* a pthread_t */
	uint64_t nap[2];  /* struct timespec of one nap of the guest */
	uint64_t rest[2]; /* struct timespec of one pause of the held thread */
	uint64_t reason;
	uint32_t phase;
	uint32_t order;
	int32_t created; /* result of pthread_create(); TP_PAYLOAD_NOT_CREATED before */
	int32_t returned;
	int32_t file; /* a memfd, or a negative errno */
	uint32_t patience;
	char name[32];
	char symbol[32];
	char path[64];
	uint64_t given;   /* size of the mapping that is handed over to the entry point; 0 = none */
	uint64_t pending; /* signals pending for the held thread */
	uint64_t open;    /* mask of the guest: everything except the signals that setuid() and the
			     like send */
	uint32_t rests;
};

#define TP_PAYLOAD_IS(member, offset)                                                              \
	_Static_assert(offsetof(struct tp_payload, member) == (offset), "layout")
TP_PAYLOAD_IS(mask, TP_PAYLOAD_MASK);
TP_PAYLOAD_IS(create, TP_PAYLOAD_CREATE);
TP_PAYLOAD_IS(detach, TP_PAYLOAD_DETACH);
TP_PAYLOAD_IS(dlopen, TP_PAYLOAD_DLOPEN);
TP_PAYLOAD_IS(dlsym, TP_PAYLOAD_DLSYM);
TP_PAYLOAD_IS(dlerror, TP_PAYLOAD_DLERROR);
TP_PAYLOAD_IS(thread, TP_PAYLOAD_THREAD);
TP_PAYLOAD_IS(nap, TP_PAYLOAD_NAP);
TP_PAYLOAD_IS(rest, TP_PAYLOAD_REST);
TP_PAYLOAD_IS(reason, TP_PAYLOAD_REASON);
TP_PAYLOAD_IS(phase, TP_PAYLOAD_PHASE);
TP_PAYLOAD_IS(order, TP_PAYLOAD_ORDER);
TP_PAYLOAD_IS(created, TP_PAYLOAD_CREATED);
TP_PAYLOAD_IS(returned, TP_PAYLOAD_RETURNED);
TP_PAYLOAD_IS(file, TP_PAYLOAD_FILE);
TP_PAYLOAD_IS(patience, TP_PAYLOAD_PATIENCE);
TP_PAYLOAD_IS(name, TP_PAYLOAD_NAME);
TP_PAYLOAD_IS(symbol, TP_PAYLOAD_SYMBOL);
TP_PAYLOAD_IS(path, TP_PAYLOAD_PATH);
TP_PAYLOAD_IS(given, TP_PAYLOAD_GIVEN);
TP_PAYLOAD_IS(pending, TP_PAYLOAD_PENDING);
TP_PAYLOAD_IS(open, TP_PAYLOAD_OPEN);
TP_PAYLOAD_IS(rests, TP_PAYLOAD_RESTS);

#endif
