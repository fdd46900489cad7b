/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of facts that were written by hand, for commands. */
#ifndef TRAINPROF_SRC_CLI_SESSION_FACTS_INPUT_H
#define TRAINPROF_SRC_CLI_SESSION_FACTS_INPUT_H

#include "trainprof/advise/fact_file.h"

/* `path` is a regular file, or "-" for stdin.
 * Errors  as tp_file_read(), tp_json_parse() and tp_fact_file_read(). */
TP_MUST_CHECK enum tp_status tp_facts_input_read(struct tp_fact_file *out, const char *path,
						 struct tp_error *err);

#endif
