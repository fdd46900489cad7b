/* SPDX-License-Identifier: Apache-2.0 */
/* The six parts of a step and their sub-labels, in the fixed order of reports.
 * docs/design/waits.md#parts says how analyze assigns an instant to a part. */
#ifndef TRAINPROF_MODEL_PART_H
#define TRAINPROF_MODEL_PART_H

#include <stdint.h>

#define TP_PART_MAP(X)                                                                             \
	X(COMPUTE, "compute", "Compute")                                                           \
	X(COMMUNICATION, "communication", "Communication")                                         \
	X(MEMORY, "memory", "Memory")                                                              \
	X(DATALOADER, "dataloader", "Dataloader")                                                  \
	X(HOST, "host", "Host")                                                                    \
	X(IDLE, "idle", "Idle")

enum tp_part {
#define X(id, name, title) TP_PART_##id,
	TP_PART_MAP(X)
#undef X
		TP_N_PARTS
};

/* Sub-labels: part, name in data. */
#define TP_LABEL_MAP(X)                                                                            \
	X(COMPUTE_MATH, COMPUTE, "math")                                                           \
	X(COMPUTE_SPIN, COMPUTE, "team_wait") /* waits for its own thread team, or spins in it */  \
	X(COMMUNICATION_TRANSFER, COMMUNICATION, "transfer")                                       \
	X(COMMUNICATION_WAIT, COMMUNICATION, "wait")                                               \
	X(COMMUNICATION_COLLECTIVE, COMMUNICATION, "collective")   /* either of the two */         \
	X(COMMUNICATION_UNCAPTURED, COMMUNICATION, "not_captured") /* work of the late rank */     \
	X(MEMORY_FAULT, MEMORY, "page_fault")                                                      \
	X(MEMORY_SWAP, MEMORY, "swap")                                                             \
	X(MEMORY_ALLOC, MEMORY, "alloc")                                                           \
	X(MEMORY_COPY, MEMORY, "copy")                                                             \
	X(MEMORY_H2D, MEMORY, "copy_h2d") /* host to device, and so on */                          \
	X(MEMORY_D2H, MEMORY, "copy_d2h")                                                          \
	X(MEMORY_D2D, MEMORY, "copy_d2d")                                                          \
	X(MEMORY_P2P, MEMORY, "copy_p2p") /* from device to device */                              \
	X(MEMORY_SET, MEMORY, "set")                                                               \
	X(DATALOADER_PREP, DATALOADER, "prep")         /* a CPU decodes or augments */             \
	X(DATALOADER_FETCH, DATALOADER, "fetch")       /* storage is read */                       \
	X(DATALOADER_HANDOVER, DATALOADER, "handover") /* pickling, pipe, queue, shared memory */  \
	X(DATALOADER_PAUSE, DATALOADER, "pause")       /* the producer sleeps or is idle */        \
	X(DATALOADER_QUEUE, DATALOADER, "cpu_queue")   /* the producer waits for a CPU */          \
	X(DATALOADER_NEXT, DATALOADER, "next") /* in the loader's next(), whatever it does */      \
	X(HOST_INTERPRETER, HOST, "interpreter")                                                   \
	X(HOST_GIL, HOST, "gil") /* waits for the interpreter lock */                              \
	X(HOST_LOGGING, HOST, "logging")                                                           \
	X(HOST_CHECKPOINT, HOST, "checkpoint")                                                     \
	X(HOST_KERNEL, HOST, "kernel")     /* system calls on the CPU, without a known phase */    \
	X(HOST_DISPATCH, HOST, "dispatch") /* operators of the framework */                        \
	X(HOST_LAUNCH, HOST, "launch")     /* calls that put work on the device */                 \
	X(HOST_SYNC, HOST, "sync")         /* calls that wait for the device */                    \
	X(HOST_COMPILE, HOST, "compile")                                                           \
	X(HOST_GC, HOST, "gc")                                                                     \
	X(HOST_OTHER, HOST, "other")                                                               \
	X(IDLE_RUNNABLE, IDLE, "runnable") /* ready to run, but without a CPU */                   \
	X(IDLE_SLEEP, IDLE, "sleep")                                                               \
	X(IDLE_IO, IDLE, "blocked_io")                                                             \
	X(IDLE_LOCK, IDLE, "blocked_lock")                                                         \
	X(IDLE_CHILD, IDLE, "blocked_child")                                                       \
	X(IDLE_PEER, IDLE, "blocked_peer") /* for an unknown thread, process or host */            \
	X(IDLE_UNKNOWN, IDLE, "unknown")

enum tp_label {
#define X(id, part, name) TP_LABEL_##id,
	TP_LABEL_MAP(X)
#undef X
		TP_N_LABELS
};

const char *tp_part_name(enum tp_part part);    /* "dataloader" */
const char *tp_part_title(enum tp_part part);   /* "Dataloader" */
const char *tp_label_name(enum tp_label label); /* "prep" */
enum tp_part tp_label_part(enum tp_label label);
/* TP_N_PARTS / TP_N_LABELS if unknown; a label is written "dataloader.prep". */
enum tp_part tp_part_find(const char *name);
enum tp_label tp_label_find(const char *dotted);

#endif
