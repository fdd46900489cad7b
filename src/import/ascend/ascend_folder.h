/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of one rank: HOST_PID_TIME_ascend_pt/, with profiler_info_RANK.json and
 * ASCEND_PROFILER_OUTPUT/, which contains the traces. */
#ifndef TRAINPROF_SRC_IMPORT_ASCEND_ASCEND_FOLDER_H
#define TRAINPROF_SRC_IMPORT_ASCEND_ASCEND_FOLDER_H

#include "import/reader/importer.h"

/* Sets the rank's number, unless it is known, from the name of profiler_info_RANK.json above the
 * source's folder. */
void tp_ascend_folder_rank(struct tp_rank_writer *writer, const struct tp_import_source *source);

#endif
