/* What Kineto says of an operation of a device besides its times. */
#ifndef TRAINPROF_SRC_IMPORT_KINETO_OP_ARGS_H
#define TRAINPROF_SRC_IMPORT_KINETO_OP_ARGS_H

#include "import/json/json_walk.h"

#include <stdint.h>

struct tp_rank_writer;

/* Members of "args"; TP_PIECE_NONE for those that are not there. */
struct tp_op_args {
	struct tp_piece device;
	struct tp_piece stream;
	struct tp_piece correlation;
	struct tp_piece bytes;
	struct tp_piece grid;
	struct tp_piece block;
	struct tp_piece collective;
	struct tp_piece type;
	struct tp_piece group;
	struct tp_piece group_words; /* its description */
	struct tp_piece group_ranks;
	struct tp_piece group_size;
	struct tp_piece sequence;
	struct tp_piece n_elements;
};

void tp_op_args_read(struct tp_op_args *out, const struct tp_piece *args);

/* Id of the writer; 0 when nothing is known. */
uint32_t tp_op_args_detail(const struct tp_op_args *args, struct tp_rank_writer *writer,
			   struct tp_buf *scratch);

#endif
