/*
 * A stand-in for src/import/import.c and rankwriter.c until they are there: one file after the
 * other, straight into the sink. To be removed then; tests use tp_import_files() only.
 */
#include "import/importer.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct tp_import {
	const struct tp_import_options *options;
	struct tp_import_result *result;
	struct tp_sink *sink;
	struct tp_rank_writer *writers[TP_RANKS_MOST];
	uint32_t n_ranks;
	uint32_t n_tracks;
};

struct tp_rank_writer {
	struct tp_import *import;
	struct tp_rank_info info;
	uint32_t rank;
	uint64_t first_ns, last_ns;
	struct tp_track *tracks;
	size_t n_tracks;
	size_t tracks_capacity;
};

const struct tp_import_options *tp_import_options(const struct tp_import *import)
{
	return import->options;
}

struct tp_rank_writer *tp_rank_begin(struct tp_import *import)
{
	if (import->n_ranks == TP_RANKS_MOST)
		return NULL;
	struct tp_rank_writer *writer = tp_alloc(sizeof(*writer));
	writer->import = import;
	writer->rank = import->n_ranks;
	writer->info.number = -1;
	writer->first_ns = UINT64_MAX;
	import->writers[import->n_ranks++] = writer;
	return writer;
}

struct tp_rank_info *tp_rank_info(struct tp_rank_writer *writer)
{
	return &writer->info;
}

const char *tp_rank_text(struct tp_rank_writer *writer, const char *text, size_t len)
{
	return tp_arena_strndup(&writer->import->result->arena, text, len);
}

void tp_rank_devices(struct tp_rank_writer *writer, const struct tp_device_info *devices, size_t n)
{
	struct tp_arena *arena = &writer->import->result->arena;
	struct tp_device_info *copy = tp_arena_array(arena, n, sizeof(*copy));
	for (size_t i = 0; i < n; i++) {
		copy[i] = devices[i];
		copy[i].name = tp_arena_strdup(arena, devices[i].name);
	}
	writer->info.devices = copy;
	writer->info.n_devices = n;
}

uint32_t tp_rank_string(struct tp_rank_writer *writer, const char *text, size_t len)
{
	char *copy = tp_strndup(text, len);
	uint32_t id = tp_sink_string(writer->import->sink, copy);
	free(copy);
	return id;
}

uint16_t tp_rank_track(struct tp_rank_writer *writer, int32_t device, int64_t number)
{
	for (size_t i = 0; i < writer->n_tracks; i++)
		if (writer->tracks[i].device == device && writer->tracks[i].number == number)
			return (uint16_t)writer->tracks[i].id;
	if (writer->import->n_tracks == TP_TRACKS_MOST)
		return TP_NO_TRACK;
	struct tp_track track = {.id = writer->import->n_tracks++,
				 .rank = writer->rank,
				 .device = device,
				 .number = number};
	TP_ARRAY_PUSH(writer->tracks, writer->n_tracks, writer->tracks_capacity) = track;
	tp_sink_track(writer->import->sink, &track);
	return (uint16_t)track.id;
}

void tp_rank_name_track(struct tp_rank_writer *writer, uint16_t track, uint32_t name)
{
	for (size_t i = 0; i < writer->n_tracks; i++) {
		if (writer->tracks[i].id == track) {
			writer->tracks[i].name = name;
			tp_sink_track(writer->import->sink, &writer->tracks[i]);
		}
	}
}

uint32_t tp_rank_detail(struct tp_rank_writer *writer, const struct tp_detail *detail)
{
	return tp_sink_detail(writer->import->sink, detail);
}

void tp_rank_span(struct tp_rank_writer *writer, const struct tp_span *span)
{
	writer->info.n_kept++;
	if (span->start_ns < writer->first_ns)
		writer->first_ns = span->start_ns;
	if (span->end_ns > writer->last_ns)
		writer->last_ns = span->end_ns;
	tp_sink_span(writer->import->sink, span);
}

void tp_rank_skip(struct tp_rank_writer *writer, const char *why)
{
	writer->info.n_skipped++;
	if (!writer->info.skipped_because)
		writer->info.skipped_because = why;
}

void tp_rank_end(struct tp_rank_writer *writer, bool stays)
{
	struct tp_import_result *result = writer->import->result;
	if (writer->info.n_kept || stays) {
		result->ranks[result->n_ranks++] = writer->info;
	}
	if (writer->info.n_kept) {
		if (!result->last_ns || writer->first_ns < result->first_ns)
			result->first_ns = writer->first_ns;
		if (writer->last_ns > result->last_ns)
			result->last_ns = writer->last_ns;
	}
	free(writer->tracks);
	free(writer);
}

enum tp_status tp_import_files(struct tp_import_result *out, const char *const *paths,
			       size_t n_paths, const struct tp_import_options *options,
			       struct tp_sink *sink, struct tp_error *err)
{
	struct tp_import_result result = {0};
	struct tp_import import = {.options = options, .result = &result, .sink = sink};
	enum tp_status status = TP_OK;
	result.ranks = tp_arena_array(&result.arena, TP_RANKS_MOST, sizeof(*result.ranks));
	for (size_t i = 0; i < n_paths && !status; i++) {
		struct tp_import_source source = {.path = paths[i]};
		status = tp_importer_nsys.read(&import, &source, err);
	}
	if (status)
		tp_import_result_release(&result);
	else
		*out = result;
	return status;
}

void tp_import_result_release(struct tp_import_result *result)
{
	tp_arena_release(&result->arena);
}
