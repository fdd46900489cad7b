/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that the parser of conditions builds and the evaluator visits. */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_NODE_H
#define TRAINPROF_SRC_ADVISE_CONDITION_NODE_H

#include "dimension.h"

#include "trainprof/model/fact_id.h"

enum tp_node_kind {
	TP_NODE_NUMBER,
	TP_NODE_FACT,
	TP_NODE_ADD,
	TP_NODE_SUBTRACT,
	TP_NODE_MULTIPLY,
	TP_NODE_DIVIDE,
	TP_NODE_NEGATE,
	TP_NODE_MIN,
	TP_NODE_MAX,
	TP_NODE_FIRST,
	TP_NODE_CEIL,
	TP_NODE_FLOOR,
	TP_NODE_COMPARE,
	TP_NODE_AND,
	TP_NODE_OR,
	TP_NODE_NOT,
	TP_NODE_CONSTANT, /* true, false */
	TP_NODE_KNOWN,
	TP_NODE_SURE,
};

enum tp_compare { TP_LT, TP_LE, TP_GT, TP_GE, TP_EQ, TP_NE, TP_N_COMPARES };

struct tp_expr {
	enum tp_node_kind kind;
	enum tp_compare compare;
	tp_fact_id fact; /* for FACT, KNOWN */
	double number;   /* for NUMBER; for CONSTANT: 0 or 1 */
	struct tp_dimension dimension;
	unsigned size; /* number of nodes including this one; shared nodes count each time */
	const struct tp_expr *left;
	const struct tp_expr *right;
};

#endif
