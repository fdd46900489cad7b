/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of spans on threads say: operators, runtime calls, annotations. */
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
	X(ALLOC, "alloc")                 /* device or pinned memory: "cudaMalloc" */              \
	X(SYNC, "sync")                   /* waits for the device: "cudaStreamSynchronize" */      \
	X(LAUNCH, "launch")               /* puts work on the device: "cudaLaunchKernel" */        \
	X(COPY, "copy")                   /* asks for a copy or fill: "cudaMemcpyAsync" */         \
	X(COMMUNICATION, "communication") /* a thread moves data itself: "gloo:all_reduce" */      \
	X(COLLECTIVE, "collective")       /* a wrapper that launches one: "nccl:all_reduce" */     \
	X(GC, "gc")                                                                                \
	X(CHECKPOINT, "checkpoint")                                                                \
	X(LOGGING, "logging")                                                                      \
	X(COMPILE, "compile")                                                                      \
	X(EVALUATION, "evaluation")                                                                \
	X(FORWARD, "forward")                                                                      \
	X(BACKWARD, "backward")                                                                    \
	X(OPTIMIZER, "optimizer")                                                                  \
	X(SLEEP, "sleep") /* the next: how a call of the operating system waits */                 \
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

/*
 * First fitting row of rules/patterns/50-spans.json; TP_SENSE_NONE when none fits. About 3 us;
 * callers keep the answer per kind and name.
 */
enum tp_span_sense tp_span_sense_find(const struct tp_patterns *patterns, enum tp_span_kind kind,
				      const char *name);

/* The rest is for the loader and the checker of patterns. */

struct tp_span_pattern {
	const char **globs; /* small letters */
	unsigned kinds;     /* 1 << enum tp_span_kind; all when the row names none */
	enum tp_span_sense sense;
	const char **examples; /* or NULL */
	const char *file;
	unsigned line;
};

/* In the order of files and rows; the first that fits has the say. */
struct tp_span_patterns {
	struct tp_span_pattern *items;
	size_t n_items;
	size_t capacity;
};

bool tp_span_pattern_is(const struct tp_pattern_row *row); /* has it the keys of a span's? */
/* Append what the row says. Errors  TP_PARSE. */
enum tp_status tp_span_pattern_read(struct tp_span_patterns *out, const struct tp_pattern_row *row,
				    struct tp_error *err);

#endif
