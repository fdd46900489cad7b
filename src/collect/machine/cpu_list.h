/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPUs in the kernel's format: "0-3,8". */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_CPU_LIST_H
#define TRAINPROF_SRC_COLLECT_MACHINE_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_CPU_LIST_MAX = 8192 }; /* NR_CPUS of the largest distribution kernels */

/* CPUs above TP_CPU_LIST_MAX are ignored. */
struct tp_cpu_list {
	uint64_t words[TP_CPU_LIST_MAX / 64];
};

/* Parses text up to its end or a newline. Returns false and an empty set if it is not a list. */
bool tp_cpu_list_parse(struct tp_cpu_list *out, const char *text);
bool tp_cpu_list_has(const struct tp_cpu_list *list, uint32_t cpu);
uint32_t tp_cpu_list_count(const struct tp_cpu_list *list);
/* Keeps only CPUs that are in both. */
void tp_cpu_list_intersect(struct tp_cpu_list *list, const struct tp_cpu_list *other);

#endif
