/* SPDX-License-Identifier: Apache-2.0 */
/* What a Kineto trace says of its rank, beside the events. */
#ifndef TRAINPROF_SRC_IMPORT_KINETO_KINETO_JOB_H
#define TRAINPROF_SRC_IMPORT_KINETO_KINETO_JOB_H

#include <stdbool.h>

struct tp_json_slice;
struct tp_rank_writer;

/* Take what is wanted of a member beside the list of events. True when only Kineto writes it. */
bool tp_kineto_job_read(struct tp_rank_writer *writer, const struct tp_json_slice *key,
			const struct tp_json_slice *value);

#endif
