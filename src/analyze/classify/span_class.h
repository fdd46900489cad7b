/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies spans on threads by their names: operators, runtime calls, annotations. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_SPAN_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_SPAN_CLASS_H

#include "pattern_row.h"

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/span.h"

/* name in code, name in rules/patterns/50-spans.json */
#define TP_SENSE_MAP(X)                                                                            \
	X(NONE, "none")                                                                            \
	X(STEP, "step")                   /* one training step: "ProfilerStep#5" */                \
	X(DATALOADER, "dataloader")       /* the loader's next: "enumerate(DataLoader)#…" */     \
	X(FETCH, "fetch")                 /* an operation fetches a batch for its graph */         \
	X(ALLOC, "alloc")                 /* allocates device or pinned memory: "cudaMalloc" */    \
	X(SYNC, "sync")                   /* waits for the device: "cudaStreamSynchronize" */      \
	X(LAUNCH, "launch")               /* submits work to the device: "cudaLaunchKernel" */     \
	X(COPY, "copy")                   /* requests a copy or fill: "cudaMemcpyAsync" */         \
	X(COMMUNICATION, "communication") /* the thread itself moves data: "gloo:all_reduce" */    \
	X(COLLECTIVE, "collective") /* a wrapper that launches a collective: "nccl:all_reduce" */  \
	X(GC, "gc")                                                                                \
	X(CHECKPOINT, "checkpoint")                                                                \
	X(LOGGING, "logging")                                                                      \
	X(COMPILE, "compile")                                                                      \
	X(EVALUATION, "evaluation")                                                                \
	X(FORWARD, "forward")                                                                      \
	X(BACKWARD, "backward")                                                                    \
	X(OPTIMIZER, "optimizer")                                                                  \
	X(SLEEP, "sleep") /* from here on: how a system call waits */                              \
	X(IO, "io")                                                                                \
	X(LOCK, "lock")                                                                            \
	X(CHILD, "child")                                                                          \
	X(PEER, "peer")

enum tp_span_sense {
#define X(id, name) TP_SENSE_##id,
	TP_SENSE_MAP(X)
#undef X
		TP_N_SENSES
};

const char *tp_span_sense_name(enum tp_span_sense sense); /* "dataloader" */

/* Returns the meaning of the first matching row of rules/patterns/50-spans.json; TP_SENSE_NONE if
 * none matches. Takes about 3 us; callers cache the result per kind and name. */
enum tp_span_sense tp_span_sense_find(const struct tp_patterns *patterns, enum tp_span_kind kind,
				      const char *name);

/* The rest is for the loader and the checker of patterns. */

struct tp_span_pattern {
	const char **globs; /* lower case */
	unsigned kinds;     /* 1 << enum tp_span_kind; all bits if the row names none */
	enum tp_span_sense sense;
	const char **examples; /* may be NULL */
	const char *file;
	unsigned line;
};

/* In the order of files and rows; the first match decides. */
struct tp_span_patterns {
	struct tp_span_pattern *items;
	size_t n_items;
	size_t capacity;
};

bool tp_span_pattern_is(const struct tp_pattern_row *row); /* has the keys of a span row */
/* Appends the row. Errors  TP_PARSE. */
enum tp_status tp_span_pattern_read(struct tp_span_patterns *out, const struct tp_pattern_row *row,
				    struct tp_error *err);

#endif
