/*
 * The directory in which GPU agents make their rings, and the rings in it. The program knows it by
 * TRAINPROF_GPU_RINGS; it is ours alone, on a tmpfs where that has room, and gone at the end.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPURINGS_H
#define TRAINPROF_SRC_COLLECT_GPURINGS_H

#include "gpufile.h"
#include "gpuname.h"
#include "gputell.h"

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_collect_context;

/* One ring: one process that uses a GPU, until it ends or executes another program. */
struct tp_gpu_ring {
	char name[64]; /* in the directory */
	struct tp_gpu_file file;
	struct tp_gpu_teller *teller; /* NULL: refused, see `why` */
	struct tp_error why;
};

struct tp_gpu_rings {
	const struct tp_collect_context *context;
	const char *source; /* of the gaps that are put */
	char *directory;    /* heap */
	struct tp_gpu_demangler demangler;
	struct tp_gpu_ring **items; /* heap, each of them too */
	size_t n;
	size_t capacity;
	size_t n_too_many; /* more processes than ranks can be told apart */
	enum tp_gpu_wanted wanted;
};

/* Make the directory, in `parent` or, where that is NULL, where there is room; remove those of
 * profilers that were killed. Errors  TP_IO. */
TP_MUST_CHECK enum tp_status tp_gpu_rings_open(struct tp_gpu_rings *out, const char *parent,
					       const struct tp_collect_context *context,
					       const char *source, struct tp_error *err);
/* Removes the directory too. */
void tp_gpu_rings_close(struct tp_gpu_rings *rings);

/* Look for new rings, and put what the rings hold into the context's sink, at most `most` events of
 * each. Returns how many are left. */
uint64_t tp_gpu_rings_drain(struct tp_gpu_rings *rings, uint64_t now_ns, size_t most);

/* Ask all agents, also those that are found later. */
void tp_gpu_rings_want(struct tp_gpu_rings *rings, enum tp_gpu_wanted wanted);

#endif
