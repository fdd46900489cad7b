/* SPDX-License-Identifier: Apache-2.0 */
/* The directory in which GPU agents create their rings, and these rings. The program gets its name
 * in TRAINPROF_GPU_RINGS. It belongs to us alone, is on a tmpfs if that has space, and is removed
 * at the end. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_SET_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_RING_SET_H

#include "gpu_event_name.h"
#include "gpu_ring_decode.h"
#include "gpu_ring_reader.h"

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_collect_context;

/* One ring: one process that uses a GPU, until it ends or calls exec. */
struct tp_gpu_ring {
	char name[64]; /* in the directory */
	struct tp_gpu_ring_reader file;
	struct tp_gpu_decoder *decoder; /* NULL = refused, see `why` */
	bool has_no_file;               /* the agent could not create it */
	struct tp_error why;
	pid_t joined; /* for attach: the program whose ring is not a file in the directory; or 0 */
};

struct tp_gpu_ring_set {
	const struct tp_collect_context *context;
	const char *source; /* for gaps */
	char *directory;    /* heap; NULL if all rings are adopted */
	int lock_fd;        /* protects it from other profilers that clean up; or negative */
	struct tp_gpu_demangler demangler;
	struct tp_gpu_ring **items; /* heap, like each of them */
	size_t n;
	size_t capacity;
	size_t n_too_many; /* processes beyond the maximum number of ranks */
	enum tp_gpu_request wanted;
	bool is_spent;                /* enough was recorded: no more ranges */
	struct tp_progress *progress; /* as in tp_gpu_decoder_config; set before the first drain */
};

/* Bytes that must be free in /dev/shm for the rings of one process per GPU, at least four, and for
 * the same amount again, which the program may need there. */
uint64_t tp_gpu_ring_set_room(unsigned n_gpus);

/* Creates the directory in `parent` or, if that is NULL, where there is space; removes those of
 * profilers that were killed. Errors  TP_IO. */
TP_MUST_CHECK enum tp_status tp_gpu_ring_set_open(struct tp_gpu_ring_set *out, const char *parent,
						  const struct tp_collect_context *context,
						  const char *source, struct tp_error *err);
/* Initialises it without a directory, for adopted rings. */
void tp_gpu_ring_set_init(struct tp_gpu_ring_set *out, const struct tp_collect_context *context,
			  const char *source);
/* Takes ownership of the ring of process `pid` by descriptor, even if it fails. Errors  those of
 * tp_gpu_ring_reader_open(). */
TP_MUST_CHECK enum tp_status tp_gpu_ring_set_add_fd(struct tp_gpu_ring_set *rings, int fd,
						    pid_t pid, struct tp_error *err);
/* Removes the directory too. */
void tp_gpu_ring_set_close(struct tp_gpu_ring_set *rings);

/* Finds new rings, and writes at most `most` events of each ring to the context's sink. Returns how
 * many are left. */
uint64_t tp_gpu_ring_set_drain(struct tp_gpu_ring_set *rings, uint64_t now_ns, size_t most);

/* Sends a request to all agents, including those that are found later. */
void tp_gpu_ring_set_request(struct tp_gpu_ring_set *rings, enum tp_gpu_request wanted);

/* Makes the agents of attached programs leave, records their last events, and frees their memory.
 * Waits for them for at most 2 s. */
void tp_gpu_ring_set_detach(struct tp_gpu_ring_set *rings, uint64_t now_ns);

#endif
