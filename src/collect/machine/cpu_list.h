/* Sets of CPUs as the kernel writes them: "0-3,8". */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_CPU_LIST_H
#define TRAINPROF_SRC_COLLECT_MACHINE_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_CPULIST_MAX = 8192 }; /* NR_CPUS of the largest distribution kernels */

/* CPUs beyond TP_CPULIST_MAX are not in any set. */
struct tp_cpulist {
	uint64_t words[TP_CPULIST_MAX / 64];
};

/* Text up to its end or a newline. False, and the set empty, when it is no list. */
bool tp_cpulist_parse(struct tp_cpulist *out, const char *text);
bool tp_cpulist_has(const struct tp_cpulist *list, uint32_t cpu);
uint32_t tp_cpulist_count(const struct tp_cpulist *list);
/* Keep what is in both. */
void tp_cpulist_intersect(struct tp_cpulist *list, const struct tp_cpulist *other);

#endif
