/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json: what is known about a run besides its records, and what became of those. */
#ifndef TRAINPROF_SRC_STORE_MANIFEST_H
#define TRAINPROF_SRC_STORE_MANIFEST_H

#include "trainprof/base/arena.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stdint.h>

/* How the writing of records.tpr went. */
struct tp_store_result {
	bool is_closed; /* the rest is only known then */
	uint64_t n_bytes;
	uint64_t n_blocks;
	uint64_t n_records;
	bool has_stopped;            /* early; what follows was not recorded */
	uint64_t until_ns;           /* whole until then, when stopped */
	uint64_t n_lost;             /* records */
	const char *stopped_because; /* one line */
};

/* The document, at most LAYOUT_NEXT_MANIFEST_BYTES long: what would make it longer is cut. */
void tp_manifest_write(struct tp_buf *out, const struct tp_run_info *run,
		       const struct tp_store_result *ledger);

/*
 * Read `directory`/manifest.json; texts go into the arena. What is missing or of a wrong type reads
 * as unknown (zero, NULL).
 *
 * Errors  TP_ABSENT (no manifest: not a recording), TP_DENIED, TP_IO, TP_PARSE, TP_VERSION.
 */
TP_MUST_CHECK enum tp_status tp_manifest_load(struct tp_run_info *run,
					      struct tp_store_result *ledger,
					      struct tp_arena *arena, const char *directory,
					      struct tp_error *err);

#endif
