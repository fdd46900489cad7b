/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of device kernels say: communication or math, which family, what bounds it. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_CLASS_H

#include "pattern_row.h"

#include "trainprof/analyze/analyze.h"

#include <stdbool.h>

enum tp_kernel_class {
	TP_KERNEL_COMPUTE, /* math: matrix products, convolutions, attention */
	TP_KERNEL_MEMORY,  /* moves numbers more than it computes: elementwise, layout, norm */
	TP_KERNEL_COMMUNICATION, /* collectives and what belongs to them */
	TP_KERNEL_OTHER,
	TP_N_KERNEL_CLASSES
};

enum tp_kernel_bound { TP_BOUND_UNKNOWN, TP_BOUND_COMPUTE, TP_BOUND_MEMORY };
/* Families that facts add up; kernel_group.h. */
enum tp_kernel_group {
	TP_GROUP_NONE,
	TP_GROUP_ELEMENTWISE,
	TP_GROUP_LAYOUT,
	TP_GROUP_MATRIX,
	TP_GROUP_OPTIMIZER,
};
enum tp_tensor_use { TP_TENSOR_MAYBE, TP_TENSOR_YES, TP_TENSOR_NO };

/* One row of rules/patterns/40-kernels.json, or the one for names that no row knows. */
struct tp_kernel_row {
	const char *id;     /* "cutlass-tensorop"; "unknown" */
	const char *family; /* "gemm", "elementwise", "nccl" … */
	enum tp_kernel_class class;
	enum tp_kernel_bound bound;
	enum tp_tensor_use tensor;
	enum tp_kernel_group group;
	bool is_weak; /* the name is little evidence: a catch-all row */
};

/*
 * Never NULL; lives as long as the patterns. The name may have template arguments and parameters,
 * and be mangled; only its head is looked at (rules/patterns/README.md). About 5 us; callers
 * keep the answer per name.
 */
const struct tp_kernel_row *tp_kernel_row_find(const struct tp_patterns *patterns,
					       const char *name);

/* The rest is for the loader and the checker of patterns. */

/* "^a&b": one text that must begin, one that must be in; has_more: the next one must fit too. */
struct tp_kernel_token {
	const char *text; /* NULL ends a list */
	bool is_start;
	bool has_more;
};

struct tp_kernel_pattern {
	struct tp_kernel_row says;
	const struct tp_kernel_token *base; /* NULL: any */
	const struct tp_kernel_token *head;
	const struct tp_kernel_token *without; /* in the head; NULL: none */
	const char **examples;                 /* or NULL */
	const char *file;
	unsigned line;
};

struct tp_kernel_family {
	const char *name;
	enum tp_kernel_group group;
	const char *file;
	unsigned line;
};

/* In the order of files and rows; the first that fits has the say. */
struct tp_kernel_patterns {
	struct tp_kernel_pattern *items;
	size_t n_items;
	size_t capacity;
	struct tp_kernel_family *families; /* that are in a group */
	size_t n_families;
	size_t families_capacity;
};

bool tp_kernel_pattern_is(const struct tp_pattern_row *row); /* has it the keys of a kernel's? */
/* Append what the row says. Errors  TP_PARSE. */
enum tp_status tp_kernel_pattern_read(struct tp_kernel_patterns *out,
				      const struct tp_pattern_row *row, struct tp_error *err);

#endif
