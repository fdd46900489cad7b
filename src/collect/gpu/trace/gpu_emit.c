/* SPDX-License-Identifier: Apache-2.0 */
/* Emits the tracks and spans of a program's GPU work into the sink. */
#include "collect/process/task_tree.h"
#include "gpu_decoder_internal.h"
#include "gpu_ring_reader.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/sink.h"

#include <stdio.h>

void tp_gpu_decoder_emit_thread(struct tp_gpu_decoder *decoder, struct tp_gpu_thread *thread,
				uint64_t time_ns)
{
	const struct tp_gpu_decoder_config *config = &decoder->config;
	struct tp_track track = {.id = thread->track,
				 .rank = config->rank,
				 .device = TP_TRACK_THREAD,
				 .number = thread->tid};
	uint32_t task =
		tp_task_tree_task_at(config->tree, (pid_t)thread->tid, config->pid, time_ns);
	const struct tp_task_tree_task *alive = tp_task_tree_find(config->tree, (pid_t)thread->tid);
	thread->has_task |= task != TP_NO_TASK;
	track.task_plus_1 = task == TP_NO_TASK ? 0 : task + 1;
	if (alive && alive->info.id == task)
		track.name = alive->info.comm;
	tp_sink_track(config->sink, &track);
}

struct tp_gpu_thread *tp_gpu_decoder_thread(struct tp_gpu_decoder *decoder, uint32_t tid,
					    unsigned flags, uint64_t time_ns)
{
	bool is_tid = !(flags & TP_GPU_FLAG_PTHREAD);
	uint64_t key = (uint64_t)tid << 1 | is_tid;
	uint64_t at;
	if (tp_map_get(&decoder->thread_ids, key, &at))
		return &decoder->threads[at];
	uint32_t track = tp_sink_new_track(decoder->config.sink);
	if (track >= TP_TRACKS_MAX)
		return NULL;
	tp_map_set(&decoder->thread_ids, key, decoder->n_threads);
	struct tp_gpu_thread *thread =
		&TP_ARRAY_PUSH(decoder->threads, decoder->n_threads, decoder->threads_capacity);
	*thread = (struct tp_gpu_thread){.tid = tid, .track = track};
	tp_gpu_decoder_emit_thread(decoder, thread, is_tid ? time_ns : 0);
	thread->has_task |= !is_tid;
	return thread;
}

uint32_t tp_gpu_decoder_emit_stream(struct tp_gpu_decoder *decoder, uint16_t id)
{
	uint64_t known;
	if (tp_map_get(&decoder->places, id, &known))
		return (uint32_t)known;
	const struct tp_gpu_place *place = tp_gpu_ring_reader_place(decoder->config.file, id);
	uint32_t track = place && place->device <= INT32_MAX
				 ? tp_sink_new_track(decoder->config.sink)
				 : (uint32_t)TP_TRACKS_MAX;
	/* An invalid place is not remembered, because its table entry may still arrive. */
	if (track >= TP_TRACKS_MAX)
		return TP_TRACKS_MAX;
	char name[32];
	snprintf(name, sizeof(name), "stream %u", place->stream);
	tp_map_set(&decoder->places, id, track);
	tp_sink_track(decoder->config.sink,
		      &(struct tp_track){.id = track,
					 .rank = decoder->config.rank,
					 .device = (int32_t)place->device,
					 .number = place->stream,
					 .name = tp_sink_string(decoder->config.sink, name)});
	return track;
}

void tp_gpu_decoder_emit_span(struct tp_gpu_decoder *decoder, uint32_t track,
			      enum tp_span_kind kind, uint32_t name, uint64_t start_ns,
			      uint64_t end_ns, uint32_t link, uint32_t detail)
{
	tp_sink_span(decoder->config.sink, &(struct tp_span){.start_ns = start_ns,
							     .end_ns = end_ns,
							     .name = name,
							     .link = link,
							     .detail = detail,
							     .track = (uint16_t)track,
							     .kind = (uint8_t)kind});
	decoder->stats.n_spans++;
}
