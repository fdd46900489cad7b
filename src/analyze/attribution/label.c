/* SPDX-License-Identifier: Apache-2.0 */
/* Labels for the time of a thread on a CPU. */
#include "label.h"

static enum tp_label loader_leaf_label(enum tp_leaf leaf)
{
	switch (leaf) {
	case TP_LEAF_READ:
	case TP_LEAF_OPEN:
		return TP_LABEL_DATALOADER_FETCH;
	case TP_LEAF_PICKLE:
	case TP_LEAF_LOCK:
	case TP_LEAF_NET:
		return TP_LABEL_DATALOADER_HANDOVER;
	default:
		return TP_LABEL_DATALOADER_PREP;
	}
}

enum tp_label tp_label_of_phase(enum tp_phase phase, enum tp_leaf leaf)
{
	switch (phase) {
	case TP_PHASE_DATALOADER:
		return loader_leaf_label(leaf);
	case TP_PHASE_COMMUNICATION:
		return leaf == TP_LEAF_SPIN ? TP_LABEL_COMMUNICATION_WAIT
					    : TP_LABEL_COMMUNICATION_TRANSFER;
	case TP_PHASE_CHECKPOINT:
		return TP_LABEL_HOST_CHECKPOINT;
	case TP_PHASE_LOGGING:
		return TP_LABEL_HOST_LOGGING;
	case TP_PHASE_COMPILE:
		return TP_LABEL_HOST_COMPILE;
	case TP_PHASE_GC:
		return TP_LABEL_HOST_GC;
	case TP_PHASE_HOST:
	case TP_PHASE_IMPORT:
		return TP_LABEL_HOST_OTHER;
	default:
		return TP_N_LABELS;
	}
}

enum tp_label tp_label_of_leaf(const struct tp_stack_class *class, bool is_interpreted)
{
	static const enum tp_label by_leaf[TP_N_LEAVES] = {
		[TP_LEAF_MATH] = TP_LABEL_COMPUTE_MATH,
		[TP_LEAF_SPIN] = TP_LABEL_COMPUTE_SPIN,
		[TP_LEAF_COPY] = TP_LABEL_MEMORY_COPY,
		[TP_LEAF_ALLOC] = TP_LABEL_MEMORY_ALLOC,
		[TP_LEAF_FAULT] = TP_LABEL_MEMORY_FAULT,
		[TP_LEAF_READ] = TP_LABEL_DATALOADER_FETCH,
		[TP_LEAF_OPEN] = TP_LABEL_DATALOADER_FETCH,
		[TP_LEAF_WRITE] = TP_LABEL_HOST_LOGGING,
		[TP_LEAF_NET] = TP_LABEL_COMMUNICATION_TRANSFER,
		[TP_LEAF_DECODE] = TP_LABEL_DATALOADER_PREP,
		[TP_LEAF_PICKLE] = TP_LABEL_DATALOADER_HANDOVER,
		[TP_LEAF_INTERPRETER] = TP_LABEL_HOST_INTERPRETER,
		[TP_LEAF_LOCK] = TP_LABEL_HOST_OTHER,
		[TP_LEAF_KERNEL] = TP_LABEL_HOST_KERNEL,
	};
	if (class->leaf != TP_LEAF_NONE)
		return by_leaf[class->leaf];
	/* The innermost function is unknown. In a compiled trainer the program's own code is the
	 * training; below an interpreter the nearest known caller decides. */
	if (!is_interpreted || class->owner == TP_LEAF_MATH || class->phase == TP_PHASE_COMPUTE)
		return TP_LABEL_COMPUTE_MATH;
	return class->owner == TP_LEAF_INTERPRETER ? TP_LABEL_HOST_INTERPRETER
						   : TP_LABEL_HOST_OTHER;
}
