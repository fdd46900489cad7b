/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks of the streams of devices. */
#ifndef TRAINPROF_SRC_IMPORT_KINETO_STREAM_TRACKS_H
#define TRAINPROF_SRC_IMPORT_KINETO_STREAM_TRACKS_H

#include "import/reader/rank_writer.h"
#include "import/reader/thread_map.h"

#include <stddef.h>
#include <stdint.h>

struct tp_stream_entry {
	int32_t device;
	int64_t number;
	uint16_t track;
};

struct tp_stream_tracks {
	struct tp_stream_entry *items; /* heap */
	size_t n;
	size_t capacity;
	size_t last; /* index of the last one found */
};

/* Returns the track of a stream, creating it if needed; TP_NO_TRACK if there are too many. */
uint16_t tp_stream_track(struct tp_stream_tracks *streams, struct tp_rank_writer *writer,
			 int32_t device, int64_t number);
/* Names the tracks of threads and of streams. Both are named alike and in any order: a stream is
 * the thread of a process that has the number of the device. */
void tp_stream_tracks_name(const struct tp_stream_tracks *streams, struct tp_rank_writer *writer,
			   const struct tp_thread_map *threads);
void tp_stream_tracks_release(struct tp_stream_tracks *streams);

#endif
