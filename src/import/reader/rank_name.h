/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the number of a rank in the name of its file, or in the environment of its process. */
#ifndef TRAINPROF_SRC_IMPORT_READER_RANK_NAME_H
#define TRAINPROF_SRC_IMPORT_READER_RANK_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Returns 34 for "traces/rank-34.Jul_15.json", 3 for "worker3_step_12.json"; -1 if the name
 * contains none. */
int64_t tp_rank_name_number(const char *path);
/* Returns what launchers set, in a text as RANK=3 or {"RANK": "3"}; -1 if they set nothing. */
int64_t tp_rank_environment_number(const char *text, size_t len);

#endif
