/* SPDX-License-Identifier: Apache-2.0 */
/* On which CPUs the target's processes may run: taskset, numactl, a launcher of ranks. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_AFFINITY_H
#define TRAINPROF_SRC_COLLECT_PROCESS_AFFINITY_H

#include "trainprof/base/map.h"
#include "trainprof/model/sink.h"

#include <stddef.h>
#include <stdint.h>

struct tp_task_tree;

/* Zero-initialised is valid. */
struct tp_affinity {
	struct tp_map n_cpus; /* pid -> as it was put last */
	uint64_t due_ns;
	uint64_t n_put;
};

void tp_affinity_release(struct tp_affinity *affinity);

/* Every few seconds: puts how many CPUs a process may use, all its threads together, where that has
 * changed. A thread that is bound alone does not narrow its process. */
void tp_affinity_read(struct tp_affinity *affinity, const struct tp_task_tree *tree,
		      struct tp_sink *sink, uint64_t now_ns);

#endif
