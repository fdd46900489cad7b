/*
 * Source: ByteDance-Seed/StragglerAnalysis, analyzer/metatypes.py, to_timeline.py (more names) and
 * dependency_model.py (who waits for whom), read 2026-11-22 at 8efcd7f and 57b56c4. Gradients of
 * layer norms are summed in the tensor group, which the data do not tell.
 */
#include "op_type.h"

#include "trainprof/base/memory.h"

static const struct tp_optype optypes[] = {
	{"forward-compute", TP_OPTYPE_FORWARD, 0, 0, NULL},
	{"backward-compute", TP_OPTYPE_BACKWARD, 0, 0, NULL},
	{"backward-wgrad-compute", TP_OPTYPE_COMPUTE, 0, 0, NULL},
	{"optimizer", TP_OPTYPE_COMPUTE, 0, 0, NULL},
	{"optimizer-inner-step", TP_OPTYPE_COMPUTE, 0, 0, NULL},

	{"forward-send", TP_OPTYPE_SEND, 1, 0, "sendrecv"},
	{"forward-recv", TP_OPTYPE_RECV, -1, 0, "sendrecv"},
	{"backward-send", TP_OPTYPE_SEND, -1, 1, "sendrecv"},
	{"backward-recv", TP_OPTYPE_RECV, 1, 1, "sendrecv"},
	{"forward-send-backward-recv", TP_OPTYPE_ALONE, 0, 0, "sendrecv"},
	{"backward-send-forward-recv", TP_OPTYPE_ALONE, 0, 0, "sendrecv"},

	{"params-all-gather", TP_OPTYPE_DATA, 0, 0, "allgather"},
	{"params-all-gather-nonoverlapping", TP_OPTYPE_DATA, 0, 0, "allgather"},
	{"grads-reduce-scatter", TP_OPTYPE_DATA, 0, 0, "reduce_scatter"},
	{"grads-reduce-scatter-nonoverlapping", TP_OPTYPE_DATA, 0, 0, "reduce_scatter"},
	{"separate-grads-all-reduce", TP_OPTYPE_DATA, 0, 0, "allreduce"},
	{"embedding-grads-all-reduce", TP_OPTYPE_ENDS, 0, 0, "allreduce"},
	{"optimizer-clip-main-grad", TP_OPTYPE_JOB, 0, 0, "allreduce"},
	{"layernorm-grads-all-reduce", TP_OPTYPE_ALONE, 0, 0, "allreduce"},
	{"tp-allreduce", TP_OPTYPE_ALONE, 0, 0, "allreduce"},
	{"tp-allgather", TP_OPTYPE_ALONE, 0, 0, "allgather"},
	{"tp-reducescatter", TP_OPTYPE_ALONE, 0, 0, "reduce_scatter"},

	{"data-load", TP_OPTYPE_HOST, 0, 0, NULL},
	{"data-sync", TP_OPTYPE_HOST, 0, 0, NULL},
	{"gc", TP_OPTYPE_HOST, 0, 0, NULL},
	/* Encloses what a pass does, so it is no work of its own. */
	{"forward-backward", TP_OPTYPE_HOST, 0, 0, NULL},
};

const struct tp_optype *tp_optype_at(size_t n)
{
	return n < TP_ARRAY_LEN(optypes) ? &optypes[n] : NULL;
}
