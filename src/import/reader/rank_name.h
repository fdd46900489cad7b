/* SPDX-License-Identifier: Apache-2.0 */
/* The number of a rank in the name of its file. */
#ifndef TRAINPROF_SRC_IMPORT_READER_RANK_NAME_H
#define TRAINPROF_SRC_IMPORT_READER_RANK_NAME_H

#include <stdint.h>

/* 34 of "traces/rank-34.Jul_15.json", 3 of "worker3_step_12.json"; -1 where the name tells none. */
int64_t tp_rank_name_number(const char *path);

#endif
