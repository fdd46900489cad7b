/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the sums that a tool wrote about a rank with those of the work that was read. */
#ifndef TRAINPROF_SRC_IMPORT_READER_MAKER_SUMS_H
#define TRAINPROF_SRC_IMPORT_READER_MAKER_SUMS_H

#include "trainprof/model/run_info.h"

#include <stddef.h>
#include <stdint.h>

enum tp_maker_sum {
	TP_MAKER_NONE,
	TP_MAKER_COMPUTING,
	TP_MAKER_COMMUNICATION,
	TP_MAKER_EXPOSED, /* communication while nothing computes: only tools write it */
	TP_MAKER_SUMS
};

#define TP_MAKER_END_MAX_NS ((UINT64_C(1) << 62) - 1)

/* It has only 16 bytes, because there is one for each operation of a device. 62 bits are 146
 * years. */
struct tp_maker_work {
	uint64_t start_ns;
	uint64_t end_ns : 62;
	uint64_t sum : 2; /* enum tp_maker_sum */
};

/* Zero-initialised is empty and valid. */
struct tp_maker_sums {
	uint64_t written_ns[TP_MAKER_SUMS]; /* by the tool */
	struct tp_maker_work *work;         /* heap; as it was read */
	size_t n;
	size_t capacity;
};

/* Adds work of a device as it was read; TP_MAKER_NONE adds nothing. */
void tp_maker_sums_add(struct tp_maker_sums *sums, enum tp_maker_sum sum, uint64_t start_ns,
		       uint64_t end_ns);
/* Sets both sums in `info` if the tool wrote any. */
void tp_maker_sums_set(struct tp_maker_sums *sums, struct tp_rank_info *info);
void tp_maker_sums_release(struct tp_maker_sums *sums);

#endif
