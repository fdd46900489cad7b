/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers move rarely executed code out of a function: "train.cold" is a part of train() at
 * another place of the file (GCC's -freorder-blocks-and-partition, LLVM's hot-cold splitting;
 * checked 2026-11-24). */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_COLD_SPLIT_H
#define TRAINPROF_SRC_ANALYZE_STEPS_COLD_SPLIT_H

struct tp_map;   /* trainprof/base/map.h */
struct tp_trace; /* trainprof/model/trace.h */

/* Maps each frame in a cold part to a frame in the hot part of the same function, if there is one.
 * The caller releases the map. */
void tp_cold_split_find(struct tp_map *hot_of_cold, const struct tp_trace *trace);

#endif
