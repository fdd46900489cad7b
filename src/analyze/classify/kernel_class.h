/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies device kernels by their names: communication or compute, family, and limiting
 * resource. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_CLASS_H

#include "pattern_row.h"

#include "trainprof/analyze/analyze.h"

#include <stdbool.h>

enum tp_kernel_class {
	TP_KERNEL_COMPUTE,       /* matrix products, convolutions, attention */
	TP_KERNEL_MEMORY,        /* moves more data than it computes: elementwise, layout, norm */
	TP_KERNEL_COMMUNICATION, /* collectives and related kernels */
	TP_KERNEL_OTHER,
	TP_N_KERNEL_CLASSES
};

enum tp_kernel_bound { TP_BOUND_UNKNOWN, TP_BOUND_COMPUTE, TP_BOUND_MEMORY };
/* Families that facts sum up; see kernel_group.h. */
enum tp_kernel_group {
	TP_GROUP_NONE,
	TP_GROUP_ELEMENTWISE,
	TP_GROUP_LAYOUT,
	TP_GROUP_MATRIX,
	TP_GROUP_OPTIMIZER,
};
enum tp_tensor_use { TP_TENSOR_MAYBE, TP_TENSOR_YES, TP_TENSOR_NO };

/* One row of rules/patterns/40-kernels.json, or the one for names that no row matches. */
struct tp_kernel_row {
	const char *id;     /* "cutlass-tensorop"; "unknown" */
	const char *family; /* "gemm", "elementwise", "nccl" … */
	enum tp_kernel_class class;
	enum tp_kernel_bound bound;
	enum tp_tensor_use tensor;
	enum tp_kernel_group group;
	bool is_weak; /* the name is weak evidence: a catch-all row */
};

/* Never returns NULL; the row lives as long as the patterns. The name may have template arguments
 * and parameters, and may be mangled; only its head is examined (rules/patterns/README.md). Takes
 * about 5 us; callers cache the result per name. */
const struct tp_kernel_row *tp_kernel_row_find(const struct tp_patterns *patterns,
					       const char *name);

/* The rest is for the loader and the checker of patterns. */

/* "^a&b": one text at the start, one anywhere; has_more: the next token must match, too. */
struct tp_kernel_token {
	const char *text; /* NULL ends a list */
	bool is_start;
	bool has_more;
};

struct tp_kernel_pattern {
	struct tp_kernel_row says;
	const struct tp_kernel_token *base; /* NULL = any */
	const struct tp_kernel_token *head;
	const struct tp_kernel_token *without; /* must not be in the head; NULL = none */
	const char **examples;                 /* may be NULL */
	const char *file;
	unsigned line;
};

struct tp_kernel_family {
	const char *name;
	enum tp_kernel_group group;
	const char *file;
	unsigned line;
};

/* In the order of files and rows; the first match decides. */
struct tp_kernel_patterns {
	struct tp_kernel_pattern *items;
	size_t n_items;
	size_t capacity;
	struct tp_kernel_family *families; /* families that are in a group */
	size_t n_families;
	size_t families_capacity;
};

bool tp_kernel_pattern_is(const struct tp_pattern_row *row); /* has the keys of a kernel row */
/* Appends the row. Errors  TP_PARSE. */
enum tp_status tp_kernel_pattern_read(struct tp_kernel_patterns *out,
				      const struct tp_pattern_row *row, struct tp_error *err);

#endif
