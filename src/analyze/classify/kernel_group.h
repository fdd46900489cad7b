/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which families of kernels a fact adds up: "groups" of a file of rules/patterns/, as
 * "groups": { "matrix": ["gemm", "conv"] }. A family is in one group, or in none.
 */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_GROUP_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_GROUP_H

#include "kernel_class.h"

/* Append what a file says; its row's json is the object "groups". The words and every family are
 * checked: one that is in two groups is a mistake. Errors  TP_PARSE. */
enum tp_status tp_kernel_groups_read(struct tp_kernel_patterns *out,
				     const struct tp_pattern_row *row, struct tp_error *err);
/* Once all files are read: tell every row its group. */
void tp_kernel_groups_apply(struct tp_kernel_patterns *patterns);

/* For the checker: a family in a group that no row has, or NULL. */
const struct tp_kernel_family *tp_kernel_groups_unused(const struct tp_kernel_patterns *patterns);

#endif
