/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the operations of a job in pipeline stages, and the ranks that each waits for. */
#ifndef TRAINPROF_SRC_IMPORT_PIPELINE_OP_TYPE_H
#define TRAINPROF_SRC_IMPORT_PIPELINE_OP_TYPE_H

#include <stddef.h>

enum tp_op_type_use {
	TP_OP_TYPE_FORWARD,
	TP_OP_TYPE_BACKWARD,
	TP_OP_TYPE_COMPUTE, /* other computing */
	TP_OP_TYPE_SEND,    /* to a neighbouring stage */
	TP_OP_TYPE_RECV,    /* from a neighbouring stage */
	TP_OP_TYPE_DATA,    /* with the same stage of all pipelines */
	TP_OP_TYPE_ENDS,    /* between the first and the last stage of a pipeline */
	TP_OP_TYPE_JOB,     /* of all ranks */
	TP_OP_TYPE_ALONE,   /* with unknown ranks: those of the tensor group */
	TP_OP_TYPE_HOST,    /* a range of the program, not of its device */
};

struct tp_op_type {
	const char *name;
	enum tp_op_type_use use;
	int toward;     /* the neighbour of SEND and RECV: 1 = next stage, -1 = previous stage */
	int pass;       /* pass of SEND and RECV: 0 = forward, 1 = backward */
	const char *op; /* operation with its partners; NULL = does not communicate */
};

/* Returns NULL from the n-th on. Static storage. */
const struct tp_op_type *tp_op_type_at(size_t n);

#endif
