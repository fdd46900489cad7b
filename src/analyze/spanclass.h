/* What the names of spans on threads say: operators, runtime calls, annotations. */
#ifndef TRAINPROF_SRC_ANALYZE_SPANCLASS_H
#define TRAINPROF_SRC_ANALYZE_SPANCLASS_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/span.h"

enum tp_span_sense {
	TP_SENSE_NONE,
	TP_SENSE_STEP,          /* one training step: "ProfilerStep#5" */
	TP_SENSE_DATALOADER,    /* the loader's next: "enumerate(DataLoader)#…" */
	TP_SENSE_ALLOC,         /* device or pinned memory: "cudaMalloc" */
	TP_SENSE_SYNC,          /* waits for the device: "cudaStreamSynchronize" */
	TP_SENSE_LAUNCH,        /* puts work on the device: "cudaLaunchKernel" */
	TP_SENSE_COPY,          /* asks for a copy or fill: "cudaMemcpyAsync" */
	TP_SENSE_COMMUNICATION, /* a thread that moves data itself: "gloo:all_reduce" */
	TP_SENSE_COLLECTIVE,    /* a wrapper that launches a collective: "nccl:all_reduce" */
	TP_SENSE_GC,
	TP_SENSE_CHECKPOINT,
	TP_SENSE_LOGGING,
	TP_SENSE_COMPILE,
	TP_SENSE_EVALUATION,
	TP_SENSE_FORWARD,
	TP_SENSE_BACKWARD,
	TP_SENSE_OPTIMIZER,
	TP_N_SENSES
};

const char *tp_span_sense_name(enum tp_span_sense sense); /* "dataloader" */

/* First fitting row of rules/patterns/50-spans.json; TP_SENSE_NONE when none fits. */
enum tp_span_sense tp_span_sense_find(const struct tp_patterns *patterns, enum tp_span_kind kind,
				      const char *name);

#endif
