/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a collective of HCCL says: "hcom_allReduce__586_0_1". */
#ifndef TRAINPROF_SRC_IMPORT_ASCEND_HCCL_NAME_H
#define TRAINPROF_SRC_IMPORT_ASCEND_HCCL_NAME_H

#include "import/reader/rank_writer.h"

/* Fill operation, group (its number) and the place in it; false, and nothing is filled, when the
 * name is none of HCCL's. */
bool tp_hccl_name_read(struct tp_rank_writer *writer, const char *name, size_t len,
		       struct tp_detail *out);

#endif
