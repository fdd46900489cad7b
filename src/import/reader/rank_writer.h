/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader of one rank's trace fills. Ids of strings, tracks and details are the writer's own;
 * they become those of the sink when a batch is handed over, so that readers of several ranks can
 * work at the same time and meet only there.
 */
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

/*
 * Begin a rank; NULL when there are TP_RANKS_MAX already. `info` is the writer's: the reader fills
 * what it learns (numbers, and texts by tp_rank_writer_text()) until tp_rank_writer_end().
 */
struct tp_rank_writer *tp_rank_writer_begin(struct tp_import_reader *import);
struct tp_rank_info *tp_rank_info(struct tp_rank_writer *writer);
/* A copy that lives as long as the import's result. */
const char *tp_rank_writer_text(struct tp_rank_writer *writer, const char *text, size_t len);
/* Devices that the rank's trace describes, copied with their names. */
void tp_rank_writer_devices(struct tp_rank_writer *writer, const struct tp_device_info *devices,
			    size_t n);

uint32_t tp_rank_writer_string(struct tp_rank_writer *writer, const char *text, size_t len);
/* The track of a thread (device TP_TRACK_THREAD) or of a device's stream, made when it is new;
 * TP_NO_TRACK when there are too many, and then the span is skipped. */
uint16_t tp_rank_writer_track(struct tp_rank_writer *writer, int32_t device, int64_t number);
void tp_rank_writer_name_track(struct tp_rank_writer *writer, uint16_t track, uint32_t name);
/* The sink knows that task: it has the stays and samples of the track's thread. Such a track is
 * told even without spans. */
void tp_rank_writer_track_task(struct tp_rank_writer *writer, uint16_t track, uint32_t task);
/* Texts in it are ids of tp_rank_writer_string(). */
uint32_t tp_rank_writer_detail(struct tp_rank_writer *writer, const struct tp_detail *detail);
/* Counts it as kept. Times are those of the trace, ns. */
void tp_rank_writer_span(struct tp_rank_writer *writer, const struct tp_span *span);
/* Counts one as skipped; the first reason is kept (static storage). */
void tp_rank_writer_skip(struct tp_rank_writer *writer, const char *why);

/* Hand over what is left. A rank without spans stays when `stays`, else it never was. */
void tp_rank_writer_end(struct tp_rank_writer *writer, bool stays);

#endif
