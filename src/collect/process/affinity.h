/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs on which the target's processes may run: set by taskset, numactl, a launcher of
 * ranks. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_AFFINITY_H
#define TRAINPROF_SRC_COLLECT_PROCESS_AFFINITY_H

#include "trainprof/base/map.h"
#include "trainprof/model/sink.h"

#include <stddef.h>
#include <stdint.h>

struct tp_task_tree;

/* All zero is valid. */
struct tp_affinity {
	struct tp_map n_cpus; /* pid -> last emitted value */
	uint64_t due_ns;
	uint64_t n_put;
};

void tp_affinity_release(struct tp_affinity *affinity);

/* Called every few seconds: emits the number of CPUs that all threads of a process together may
 * use, if it has changed. A single bound thread does not reduce its process's number. */
void tp_affinity_read(struct tp_affinity *affinity, const struct tp_task_tree *tree,
		      struct tp_sink *sink, uint64_t now_ns);

#endif
