/*
 * Tries, once, all that the collector "nvml" would ask of every GPU of this machine, whoever uses
 * it. For doctor: takes as long as the driver does, but not longer than asked for.
 */
#ifndef TRAINPROF_COLLECT_GPUTRIAL_H
#define TRAINPROF_COLLECT_GPUTRIAL_H

#include "trainprof/model/source.h"

#include <stddef.h>

/* One GPU, or the driver as a whole where that does not come up. */
struct tp_gpu_trial {
	char name[16];  /* "gpu 0" */
	char text[200]; /* "NVIDIA H200: use, memory …; not told: PCIe" */
	struct tp_availability availability;
};

/* Returns how many of `most` rows were filled; at least one, if most > 0. */
size_t tp_gpu_try(struct tp_gpu_trial *rows, size_t most, double seconds);

#endif
