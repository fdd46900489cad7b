/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording: a directory that survives kill -9, a full disk and a cut at any byte.
 *
 * Layout and encoding are described for strangers in docs/format.md. A recording holds
 * manifest.json (what is known about the run), records.tpr (the records, in blocks that are each
 * whole or absent) and, when trainprof had time to write it, report.json.
 */
#ifndef TRAINPROF_STORE_RECORDING_H
#define TRAINPROF_STORE_RECORDING_H

#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_store;

/* "trainprof-recording/1.3", as it is written; any 1.x is read. docs/format.md. */
const char *tp_store_format(void);

/*
 * Create the directory (0700) and its files (0600, O_EXCL, O_NOFOLLOW) and write a first manifest.
 *
 * max_bytes  bound on records.tpr; at the bound recording stops and says so.
 * Errors     TP_EXISTS (never overwrites), TP_DENIED, TP_IO; err->next says what to type.
 */
TP_MUST_CHECK enum tp_status tp_store_create(struct tp_store **out, const char *directory,
					     const struct tp_run_info *run, uint64_t max_bytes,
					     struct tp_error *err);

/* Where collectors put records. Borrowed; lives as long as the store. */
struct tp_sink *tp_store_sink(struct tp_store *store);

/* Hand what is buffered to the kernel, so that a crash loses at most what came after. Called about
 * once a second. Costs one write. */
void tp_store_flush(struct tp_store *store);

/* Bytes written, for progress and for --max-size. */
uint64_t tp_store_size(const struct tp_store *store);

/* Whether recording had to stop early; fills err with why ("no space left on device") and sets
 * *until_ns to the CLOCK_MONOTONIC time until which it is whole. */
bool tp_store_has_stopped(const struct tp_store *store, uint64_t *until_ns, struct tp_error *err);

/* Flush, close and write the final manifest. The store is gone afterwards whatever it returns. */
TP_MUST_CHECK enum tp_status tp_store_finish(struct tp_store *store, const struct tp_run_info *run,
					     struct tp_error *err);

/*
 * Load a recording. Everything whole up to the first damage is used; trace->is_partial tells that
 * the recording was not closed or was cut. Never trusts the file: lengths, ids and times are
 * checked, memory is bounded by the size of the file.
 *
 * Errors  TP_ABSENT (no manifest.json: not a recording), TP_VERSION (newer major), TP_PARSE, TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_store_load(struct tp_trace *out, const char *directory,
					   struct tp_error *err);

/*
 * The manifest alone. Texts go into the arena. *is_closed (may be NULL): the writer has come to its
 * end. Errors  as tp_store_load().
 */
TP_MUST_CHECK enum tp_status tp_store_load_info(struct tp_run_info *out, bool *is_closed,
						struct tp_arena *arena, const char *directory,
						struct tp_error *err);

/* A recording that is still being written, on this machine. */
struct tp_follow;

/*
 * Open it at its begin. Needs the right to read it, nothing else; who writes it does not notice.
 * `sink` is borrowed until tp_follow_close().
 *
 * Errors  as tp_store_load(), and TP_EXISTS: nobody writes it any more (it was closed, or its
 * writer is gone).
 */
TP_MUST_CHECK enum tp_status tp_follow_open(struct tp_follow **out, const char *directory,
					    struct tp_sink *sink, struct tp_error *err);
/* As the first manifest told it: without an end. Borrowed until close. */
const struct tp_run_info *tp_follow_run(const struct tp_follow *follow);
/* Pour the records of all blocks that were written since the last time. The newest are about as old
 * as the writer's last flush. Errors  TP_IO, TP_PARSE (damaged: no more will come). */
TP_MUST_CHECK enum tp_status tp_follow_read(struct tp_follow *follow, struct tp_error *err);
/* Whether the writer is gone: what it wrote can be read once more, and that was all. */
bool tp_follow_has_ended(const struct tp_follow *follow);
void tp_follow_close(struct tp_follow *follow); /* NULL is allowed */

#endif
