/* SPDX-License-Identifier: Apache-2.0 */
/* Source: ByteDance-Seed/StragglerAnalysis, analyzer/metatypes.py, to_timeline.py (more names)
 * and dependency_model.py (which operations wait for each other), read 2026-11-22 at 8efcd7f and
 * 57b56c4. Gradients of layer norms are summed in the tensor group, which the data do not
 * record. */
#include "op_type.h"

#include "trainprof/base/memory.h"

static const struct tp_op_type op_types[] = {
	{"forward-compute", TP_OP_TYPE_FORWARD, 0, 0, NULL},
	{"backward-compute", TP_OP_TYPE_BACKWARD, 0, 0, NULL},
	{"backward-wgrad-compute", TP_OP_TYPE_COMPUTE, 0, 0, NULL},
	{"optimizer", TP_OP_TYPE_COMPUTE, 0, 0, NULL},
	{"optimizer-inner-step", TP_OP_TYPE_COMPUTE, 0, 0, NULL},

	{"forward-send", TP_OP_TYPE_SEND, 1, 0, "sendrecv"},
	{"forward-recv", TP_OP_TYPE_RECV, -1, 0, "sendrecv"},
	{"backward-send", TP_OP_TYPE_SEND, -1, 1, "sendrecv"},
	{"backward-recv", TP_OP_TYPE_RECV, 1, 1, "sendrecv"},
	{"forward-send-backward-recv", TP_OP_TYPE_ALONE, 0, 0, "sendrecv"},
	{"backward-send-forward-recv", TP_OP_TYPE_ALONE, 0, 0, "sendrecv"},

	{"params-all-gather", TP_OP_TYPE_DATA, 0, 0, "allgather"},
	{"params-all-gather-nonoverlapping", TP_OP_TYPE_DATA, 0, 0, "allgather"},
	{"grads-reduce-scatter", TP_OP_TYPE_DATA, 0, 0, "reduce_scatter"},
	{"grads-reduce-scatter-nonoverlapping", TP_OP_TYPE_DATA, 0, 0, "reduce_scatter"},
	{"separate-grads-all-reduce", TP_OP_TYPE_DATA, 0, 0, "allreduce"},
	{"embedding-grads-all-reduce", TP_OP_TYPE_ENDS, 0, 0, "allreduce"},
	{"optimizer-clip-main-grad", TP_OP_TYPE_JOB, 0, 0, "allreduce"},
	{"layernorm-grads-all-reduce", TP_OP_TYPE_ALONE, 0, 0, "allreduce"},
	{"tp-allreduce", TP_OP_TYPE_ALONE, 0, 0, "allreduce"},
	{"tp-allgather", TP_OP_TYPE_ALONE, 0, 0, "allgather"},
	{"tp-reducescatter", TP_OP_TYPE_ALONE, 0, 0, "reduce_scatter"},

	{"data-load", TP_OP_TYPE_HOST, 0, 0, NULL},
	{"data-sync", TP_OP_TYPE_HOST, 0, 0, NULL},
	{"gc", TP_OP_TYPE_HOST, 0, 0, NULL},
	/* Encloses the operations of a pass, so it is no work of its own. */
	{"forward-backward", TP_OP_TYPE_HOST, 0, 0, NULL},
};

const struct tp_op_type *tp_op_type_at(size_t n)
{
	return n < TP_ARRAY_LEN(op_types) ? &op_types[n] : NULL;
}
