/* SPDX-License-Identifier: Apache-2.0 */
/* Interface for the reader of one rank's trace. Ids of strings, tracks and details are the writer's
 * own; they are mapped to those of the sink when a batch is emitted, so readers of several ranks
 * work in parallel and share the session only then. */
#ifndef TRAINPROF_SRC_IMPORT_READER_RANK_WRITER_H
#define TRAINPROF_SRC_IMPORT_READER_RANK_WRITER_H

#include "trainprof/model/run_info.h"
#include "trainprof/model/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_import_reader;
struct tp_import_options;
struct tp_rank_writer;

enum { TP_NO_TRACK = UINT16_MAX };

const struct tp_import_options *tp_import_options(const struct tp_import_reader *import);

/* Begins a rank; returns NULL if there are TP_RANKS_MAX already. `info` belongs to the writer: the
 * reader fills it in (numbers, and texts made with tp_rank_writer_text()) until
 * tp_rank_writer_end(). */
struct tp_rank_writer *tp_rank_writer_begin(struct tp_import_reader *import);
struct tp_rank_info *tp_rank_info(struct tp_rank_writer *writer);
/* Returns a copy that lives as long as the import's result. */
const char *tp_rank_writer_text(struct tp_rank_writer *writer, const char *text, size_t len);
/* Copies the devices that the rank's trace describes, with their names. */
void tp_rank_writer_devices(struct tp_rank_writer *writer, const struct tp_device_info *devices,
			    size_t n);

uint32_t tp_rank_writer_string(struct tp_rank_writer *writer, const char *text, size_t len);
/* Joins two strings with a character between them. 0 on one side: that side is empty, and there is
 * no character. */
uint32_t tp_rank_writer_join(struct tp_rank_writer *writer, uint32_t left, char between,
			     uint32_t right);
/* Returns the track of a thread (device TP_TRACK_THREAD) or of a device's stream, creating it if
 * needed; TP_NO_TRACK if there are too many: then the span is skipped. */
uint16_t tp_rank_writer_track(struct tp_rank_writer *writer, int32_t device, int64_t number);
void tp_rank_writer_name_track(struct tp_rank_writer *writer, uint16_t track, uint32_t name);
/* Links the track to a task that the sink knows and that has the stays and samples of the track's
 * thread. Such a track is emitted even without spans. */
void tp_rank_writer_track_task(struct tp_rank_writer *writer, uint16_t track, uint32_t task);
/* Texts in it are ids of tp_rank_writer_string(). */
uint32_t tp_rank_writer_detail(struct tp_rank_writer *writer, const struct tp_detail *detail);
/* Adds a span and counts it as kept. Times are those of the trace, in ns. */
void tp_rank_writer_span(struct tp_rank_writer *writer, const struct tp_span *span);
/* Counts one as skipped; the first reason is kept (static storage). */
void tp_rank_writer_skip(struct tp_rank_writer *writer, const char *why);

/* Emits the remaining spans. A rank without spans is kept if `stays`, otherwise it is taken
 * back. */
void tp_rank_writer_end(struct tp_rank_writer *writer, bool stays);

#endif
