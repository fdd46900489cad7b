/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of kernels that a fact sums up. They are the member "groups" of a file of
 * rules/patterns/:
 *
 *   "groups": { "matrix": ["gemm", "conv"] }
 *
 * A family is in one group, or in none.
 */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_GROUP_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_GROUP_H

#include "kernel_class.h"

/* Appends the groups of a file; the row's json is the object "groups". Checks the words and every
 * family: one that is in two groups is an error. Errors  TP_PARSE. */
enum tp_status tp_kernel_groups_read(struct tp_kernel_patterns *out,
				     const struct tp_pattern_row *row, struct tp_error *err);
/* Sets the group of every row; call it after all files are read. */
void tp_kernel_groups_apply(struct tp_kernel_patterns *patterns);

/* For the checker: returns a family in a group that no row has, or NULL. */
const struct tp_kernel_family *tp_kernel_groups_unused(const struct tp_kernel_patterns *patterns);

#endif
