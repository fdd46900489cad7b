/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members of a Kineto trace that describe its rank, next to the events. */
#ifndef TRAINPROF_SRC_IMPORT_KINETO_KINETO_JOB_H
#define TRAINPROF_SRC_IMPORT_KINETO_KINETO_JOB_H

#include <stdbool.h>

struct tp_json_slice;
struct tp_rank_writer;

/* Reads what is needed from a member next to the list of events. Returns true if only Kineto writes
 * such a member. */
bool tp_kineto_job_read(struct tp_rank_writer *writer, const struct tp_json_slice *key,
			const struct tp_json_slice *value);

#endif
