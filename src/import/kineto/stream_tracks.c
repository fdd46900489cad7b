/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tracks of streams. */
#include "stream_tracks.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

static bool is_stream(const struct tp_stream_entry *entry, int64_t device, int64_t number)
{
	return entry->device == device && entry->number == number;
}

uint16_t tp_stream_track(struct tp_stream_tracks *streams, struct tp_rank_writer *writer,
			 int32_t device, int64_t number)
{
	if (streams->n && is_stream(&streams->items[streams->last], device, number))
		return streams->items[streams->last].track;
	size_t i = 0;
	while (i < streams->n && !is_stream(&streams->items[i], device, number))
		i++;
	if (i == streams->n) {
		uint16_t track = tp_rank_writer_track(writer, device, number);
		if (track == TP_NO_TRACK)
			return track;
		TP_ARRAY_PUSH(streams->items, streams->n, streams->capacity) =
			(struct tp_stream_entry){device, number, track};
	}
	streams->last = i;
	return streams->items[i].track;
}

void tp_stream_tracks_name(const struct tp_stream_tracks *streams, struct tp_rank_writer *writer,
			   const struct tp_thread_map *threads)
{
	for (size_t i = 0; i < threads->n_items; i++) {
		const struct tp_thread *thread = &threads->items[i];
		if (!thread->name)
			continue;
		if (thread->track != TP_NO_TRACK) {
			tp_rank_writer_name_track(writer, thread->track, thread->name);
			continue;
		}
		for (size_t k = 0; k < streams->n; k++)
			if (is_stream(&streams->items[k], thread->pid, thread->tid))
				tp_rank_writer_name_track(writer, streams->items[k].track,
							  thread->name);
	}
}

void tp_stream_tracks_release(struct tp_stream_tracks *streams)
{
	free(streams->items);
	*streams = (struct tp_stream_tracks){0};
}
