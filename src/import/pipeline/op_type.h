/* What the operations of a job in pipeline stages are called, and whom they wait for. */
#ifndef TRAINPROF_SRC_IMPORT_PIPELINE_OP_TYPE_H
#define TRAINPROF_SRC_IMPORT_PIPELINE_OP_TYPE_H

#include <stddef.h>

enum tp_optype_use {
	TP_OPTYPE_FORWARD,
	TP_OPTYPE_BACKWARD,
	TP_OPTYPE_COMPUTE, /* of another kind */
	TP_OPTYPE_SEND,    /* to a neighbouring stage */
	TP_OPTYPE_RECV,    /* from it */
	TP_OPTYPE_DATA,    /* with the same stage of all pipelines */
	TP_OPTYPE_ENDS,    /* of the first and the last stage of a pipeline */
	TP_OPTYPE_JOB,     /* of all ranks */
	TP_OPTYPE_ALONE,   /* with ranks that are not known: those of the tensor group */
	TP_OPTYPE_HOST,    /* a range of the program, not of its device */
};

struct tp_optype {
	const char *name;
	enum tp_optype_use use;
	int toward; /* the neighbour of SEND and RECV: 1 = the next stage, -1 = the one before */
	int pass;   /* of SEND and RECV: 0 = forward, 1 = backward */
	const char *op; /* what it does with its partners; NULL = does not communicate */
};

/* NULL from the n-th on. Static storage. */
const struct tp_optype *tp_optype_at(size_t n);

#endif
