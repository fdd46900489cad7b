/* What of another process can be read here, by trying on a child of our own. */
#ifndef TRAINPROF_SRC_COLLECT_REACH_H
#define TRAINPROF_SRC_COLLECT_REACH_H

#include "trainprof/collect/host.h"
#include "trainprof/model/source.h"

/* PRESENT: system calls and memory of a child can be read. DEGRADED: kernel functions only. On a
 * recorded machine the settings decide. */
void tp_reach_probe(const struct tp_host *host, struct tp_availability *out);

#endif
