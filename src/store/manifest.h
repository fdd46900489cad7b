/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json: information about a run in addition to its records, and how their recording
 * ended. */
#ifndef TRAINPROF_SRC_STORE_MANIFEST_H
#define TRAINPROF_SRC_STORE_MANIFEST_H

#include "trainprof/base/arena.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stdint.h>

/* Result of writing records.tpr. */
struct tp_store_result {
	bool is_closed; /* the other members are known only then */
	uint64_t n_bytes;
	uint64_t n_blocks;
	uint64_t n_records;
	bool has_stopped;            /* stopped early; later records are missing */
	uint64_t until_ns;           /* if stopped: complete up to this time */
	uint64_t n_lost;             /* lost records */
	const char *stopped_because; /* one line */
};

/* Writes the document, at most LAYOUT_NEXT_MANIFEST_BYTES long: longer content is truncated. */
void tp_manifest_write(struct tp_buf *out, const struct tp_run_info *run,
		       const struct tp_store_result *ledger);

/*
 * Reads `directory`/manifest.json; texts go into the arena. A member that is missing or has a wrong
 * type is unknown (zero, NULL).
 *
 * Errors  TP_ABSENT (no manifest: not a recording), TP_DENIED, TP_IO, TP_PARSE, TP_VERSION.
 */
TP_MUST_CHECK enum tp_status tp_manifest_load(struct tp_run_info *run,
					      struct tp_store_result *ledger,
					      struct tp_arena *arena, const char *directory,
					      struct tp_error *err);

#endif
