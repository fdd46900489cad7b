/* SPDX-License-Identifier: Apache-2.0 */
/* The args that Kineto writes for an operation of a device. */
#ifndef TRAINPROF_SRC_IMPORT_KINETO_OP_ARGS_H
#define TRAINPROF_SRC_IMPORT_KINETO_OP_ARGS_H

#include "import/json/json_walk.h"

#include <stdint.h>

struct tp_rank_writer;

/* Members of "args"; TP_JSON_SLICE_NONE for missing ones. */
struct tp_op_args {
	struct tp_json_slice device;
	struct tp_json_slice stream;
	struct tp_json_slice correlation;
	struct tp_json_slice bytes;
	struct tp_json_slice grid;
	struct tp_json_slice block;
	struct tp_json_slice collective;
	struct tp_json_slice type;
	struct tp_json_slice group;
	struct tp_json_slice group_words; /* its description */
	struct tp_json_slice group_ranks;
	struct tp_json_slice group_size;
	struct tp_json_slice sequence;
	struct tp_json_slice n_elements;
	struct tp_json_slice rank;     /* of the process itself */
	struct tp_json_slice receiver; /* rank that a send goes to */
	struct tp_json_slice sender;   /* rank that a receive comes from */
};

void tp_op_args_read(struct tp_op_args *out, const struct tp_json_slice *args);

/* Returns an id of the writer; 0 if nothing is known. */
uint32_t tp_op_args_detail(const struct tp_op_args *args, struct tp_rank_writer *writer,
			   struct tp_buf *scratch);

#endif
