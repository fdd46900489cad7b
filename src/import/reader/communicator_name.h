/* SPDX-License-Identifier: Apache-2.0 */
/* Names a communicator: its name, and its members if the trace records them, since several may have
 * one name ("tp" of ranks 0 and 1, "tp" of ranks 2 and 3). */
#ifndef TRAINPROF_SRC_IMPORT_READER_COMMUNICATOR_NAME_H
#define TRAINPROF_SRC_IMPORT_READER_COMMUNICATOR_NAME_H

#include "import/json/json_walk.h"

/* Writes `name` unchanged, or "tp (ranks 0-3,8)", to `out`. Members are a list of numbers, or a
 * text that looks like one, as Kineto writes it ("[0, 1, 2]", with "..." in the middle of a long
 * one). An empty list counts as unknown. */
void tp_communicator_name(struct tp_buf *out, const char *name, size_t name_len,
			  const struct tp_json_slice *members);

#endif
