/* SPDX-License-Identifier: Apache-2.0 */
/* Self time of the operations of one core, some of which contain others: loops, conditionals. */
#ifndef TRAINPROF_SRC_IMPORT_READER_SELF_TIME_H
#define TRAINPROF_SRC_IMPORT_READER_SELF_TIME_H

#include "rank_writer.h"

/* Emits each operation as the segments of its self time: an instant belongs to the operation that
 * began last. Sorts `ops`, which lie on one track. */
void tp_self_time_emit(struct tp_rank_writer *writer, struct tp_span *ops, size_t n);

#endif
