/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the name of an HCCL collective: "hcom_allReduce__586_0_1". */
#ifndef TRAINPROF_SRC_IMPORT_ASCEND_HCCL_NAME_H
#define TRAINPROF_SRC_IMPORT_ASCEND_HCCL_NAME_H

#include "import/reader/rank_writer.h"

/* Fills in operation, group (its number) and the index within the group. Returns false, and fills
 * in nothing, if the name is not an HCCL name. */
bool tp_hccl_name_read(struct tp_rank_writer *writer, const char *name, size_t len,
		       struct tp_detail *out);

#endif
