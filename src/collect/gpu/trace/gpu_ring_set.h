/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory in which GPU agents make their rings, and the rings in it. The program knows it by
 * TRAINPROF_GPU_RINGS; it is ours alone, on a tmpfs where that has room, and gone at the end.
 */
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

/* One ring: one process that uses a GPU, until it ends or executes another program. */
struct tp_gpu_ring {
	char name[64]; /* in the directory */
	struct tp_gpu_ring_reader file;
	struct tp_gpu_decoder *teller; /* NULL: refused, see `why` */
	struct tp_error why;
	pid_t joined; /* the program that ran already, whose ring is no file of the directory; or 0
		       */
};

struct tp_gpu_ring_set {
	const struct tp_collect_context *context;
	const char *source; /* of the gaps that are put */
	char *directory;    /* heap; NULL where all rings are adopted */
	int lock_fd; /* holds it against other profilers that look for what is left; or negative */
	struct tp_gpu_demangler demangler;
	struct tp_gpu_ring **items; /* heap, each of them too */
	size_t n;
	size_t capacity;
	size_t n_too_many; /* more processes than ranks can be told apart */
	enum tp_gpu_request wanted;
	bool is_spent;                /* enough was recorded: ranges are not put any more */
	struct tp_progress *progress; /* as in tp_gpu_decoder_config; before the first drain */
};

/* Bytes that must be free in /dev/shm for the rings of one process for each of so many GPUs, four
 * at least, and for as much again that the program may want there. */
uint64_t tp_gpu_ring_set_room(unsigned n_gpus);

/* Make the directory, in `parent` or, where that is NULL, where there is room; remove those of
 * profilers that were killed. Errors  TP_IO. */
TP_MUST_CHECK enum tp_status tp_gpu_ring_set_open(struct tp_gpu_ring_set *out, const char *parent,
						  const struct tp_collect_context *context,
						  const char *source, struct tp_error *err);
/* Without a directory, for rings that are adopted. */
void tp_gpu_ring_set_init(struct tp_gpu_ring_set *out, const struct tp_collect_context *context,
			  const char *source);
/* Take over the ring of process `pid`, as a descriptor, also when it fails.
 * Errors  those of tp_gpu_ring_reader_open(). */
TP_MUST_CHECK enum tp_status tp_gpu_ring_set_add_fd(struct tp_gpu_ring_set *rings, int fd,
						    pid_t pid, struct tp_error *err);
/* Removes the directory too. */
void tp_gpu_ring_set_close(struct tp_gpu_ring_set *rings);

/* Look for new rings, and put what the rings hold into the context's sink, at most `most` events of
 * each. Returns how many are left. */
uint64_t tp_gpu_ring_set_drain(struct tp_gpu_ring_set *rings, uint64_t now_ns, size_t most);

/* Ask all agents, also those that are found later. */
void tp_gpu_ring_set_request(struct tp_gpu_ring_set *rings, enum tp_gpu_request wanted);

/* Have the agents of joined programs leave, put what they still tell, and give their memory back.
 * Waits for them, 2 s at most. */
void tp_gpu_ring_set_detach(struct tp_gpu_ring_set *rings, uint64_t now_ns);

#endif
