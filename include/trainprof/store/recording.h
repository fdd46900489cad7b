/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording: a directory that survives kill -9, a full disk and truncation at any byte.
 *
 * docs/format.md documents layout and encoding. A recording contains manifest.json (what is known
 * about the run), records.tpr (the records, in blocks that are each complete or absent) and, if
 * trainprof had time to write it, report.json.
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
 * Creates the directory (0700) and its files (0600, O_EXCL, O_NOFOLLOW) and writes a first
 * manifest.
 *
 * max_bytes  limit of records.tpr; when it is reached, recording stops and reports it. Errors
 * TP_EXISTS (never overwrites), TP_DENIED, TP_IO; err->next says what to type.
 */
TP_MUST_CHECK enum tp_status tp_store_create(struct tp_store **out, const char *directory,
					     const struct tp_run_info *run, uint64_t max_bytes,
					     struct tp_error *err);

/* The sink for collectors. Borrowed; lives as long as the store. */
struct tp_sink *tp_store_sink(struct tp_store *store);

/* Writes buffered data to the kernel, so that a crash loses only what came after. Called about once
 * per second. Costs one write. */
void tp_store_flush(struct tp_store *store);

/* From now on data waits in memory when the disk is full, at most 4 MiB of it, and is tried again
 * at each flush; what comes meanwhile is lost, counted, and becomes a gap of TP_STOP_DISK_FULL.
 * Without this call a full disk ends the recording. */
void tp_store_wait_for_room(struct tp_store *store);

/* Flushes for the last time: what does not fit on the disk now is lost. Called after the last
 * record. */
void tp_store_end(struct tp_store *store);

/* Where the recording, which was made at `path` (absolute), is now, on the heap: NULL if no path
 * leads to it, because it was removed, or its disk was unmounted. */
char *tp_store_find(const struct tp_store *store, const char *path);

/* Bytes written, for progress and for --max-size. */
uint64_t tp_store_size(const struct tp_store *store);

/* True if recording had to stop early for good; fills err with the reason ("no space left on
 * device") and sets *until_ns to the CLOCK_MONOTONIC time up to which it is complete. */
bool tp_store_has_stopped(const struct tp_store *store, uint64_t *until_ns, struct tp_error *err);

/* Flushes, closes and writes the final manifest. Frees the store in any case. */
TP_MUST_CHECK enum tp_status tp_store_finish(struct tp_store *store, const struct tp_run_info *run,
					     struct tp_error *err);

/*
 * Loads a recording. Everything complete up to the first damage is used; trace->is_partial says
 * that the recording was not closed or was truncated. Never trusts the file: lengths, ids and times
 * are checked, memory is bounded by the size of the file.
 *
 * Errors  TP_ABSENT (no manifest.json: not a recording), TP_VERSION (newer major), TP_PARSE, TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_store_load(struct tp_trace *out, const char *directory,
					   struct tp_error *err);

/* Loads only the manifest. Texts go into the arena. *is_closed (may be NULL): the writer has
 * finished. Errors  as tp_store_load(). */
TP_MUST_CHECK enum tp_status tp_store_load_info(struct tp_run_info *out, bool *is_closed,
						struct tp_arena *arena, const char *directory,
						struct tp_error *err);

/* A recording that is still being written, on this machine. */
struct tp_follow;

/*
 * Opens it at its start. Needs only permission to read; the writer does not notice. `sink` is
 * borrowed until tp_follow_close().
 *
 * Errors  as tp_store_load(), and TP_EXISTS: it is no longer being written (it was closed, or its
 * writer is gone).
 */
TP_MUST_CHECK enum tp_status tp_follow_open(struct tp_follow **out, const char *directory,
					    struct tp_sink *sink, struct tp_error *err);
/* The contents of the first manifest: without an end. Borrowed until close. */
const struct tp_run_info *tp_follow_run(const struct tp_follow *follow);
/* Writes the records of all new blocks to the sink. The newest are about as old as the writer's
 * last flush. Errors  TP_IO, TP_PARSE (damaged: no more will come). */
TP_MUST_CHECK enum tp_status tp_follow_read(struct tp_follow *follow, struct tp_error *err);
/* True if the writer is gone: one more read returns the rest. */
bool tp_follow_has_ended(const struct tp_follow *follow);
void tp_follow_close(struct tp_follow *follow); /* NULL is allowed */

#endif
