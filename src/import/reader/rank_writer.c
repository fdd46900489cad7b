/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the spans of one rank and emits them in batches.
 *
 * Between two batches nothing is shared, so readers do not wait for each other; under the lock only
 * texts, tracks and details that are new to the sink are emitted, and the spans themselves.
 */
#include "rank_writer.h"

#include "import_session.h"
#include "importer.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/detail_table.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096, FIRST_SLOTS = 4096, NOT_EMITTED = 0 };

/* The sink's ids are in arrays of their own, plus one if 0 is a valid id; NOT_EMITTED = not emitted
 * yet. */
struct text {
	const char *bytes; /* NUL-terminated, in the arena */
	uint32_t len;
	uint32_t hash;
};

struct local_track {
	struct tp_track track; /* id and name are the writer's */
	uint32_t emitted_as;   /* the sink's id, plus one */
	uint16_t next;         /* with the same hash; TP_NO_TRACK ends the chain */
	bool is_refused;       /* the sink has too many */
};

struct tp_rank_writer {
	struct tp_import_reader *import;
	struct tp_rank_info info;
	size_t place; /* index in the session's ranks */
	struct tp_arena arena;

	struct text *texts; /* by id; 0 is "" */
	uint32_t *sink_texts;
	uint32_t *text_slots; /* hash table of ids, 0 = empty */
	size_t n_texts;
	size_t texts_capacity;
	size_t sink_texts_capacity;
	size_t n_slots;

	struct local_track *tracks;
	size_t n_tracks;
	size_t tracks_capacity;
	struct tp_map track_ids; /* hash -> head of a chain */

	struct tp_detail_table details; /* texts are the writer's */
	uint32_t *sink_details;         /* by id */
	size_t sink_details_capacity;

	struct tp_span batch[BATCH];
	size_t n_batch;
};

const struct tp_import_options *tp_import_options(const struct tp_import_reader *import)
{
	return import->session->options;
}

/* ---- beginning ---- */

static bool place_reserve(struct tp_import_reader *import, size_t *place)
{
	struct tp_import_session *session = import->session;
	pthread_mutex_lock(&session->lock);
	if (!session->ranks)
		session->ranks = tp_alloc(TP_RANKS_MAX * sizeof(*session->ranks));
	/* The place of a rank that was taken back is reused: nothing of it was emitted. */
	for (*place = 0; *place < session->n_ranks && !session->ranks[*place].is_absent;)
		++*place;
	bool has_place = *place < TP_RANKS_MAX;
	if (has_place) {
		session->n_ranks += *place == session->n_ranks;
		session->ranks[*place] =
			(struct tp_import_session_rank){.file = import->file,
							.number = session->n_begun++};
	}
	pthread_mutex_unlock(&session->lock);
	return has_place;
}

struct tp_rank_writer *tp_rank_writer_begin(struct tp_import_reader *import)
{
	size_t place;
	if (!place_reserve(import, &place))
		return NULL;
	struct tp_rank_writer *writer = tp_alloc(sizeof(*writer));
	writer->import = import;
	writer->place = place;
	writer->info.number = -1;
	writer->info.stage = -1;
	writer->info.format = import->format;
	if (import->source) {
		const char *member = import->source->member;
		writer->info.path = tp_rank_writer_text(writer, import->source->path,
							strlen(import->source->path));
		writer->info.member =
			member ? tp_rank_writer_text(writer, member, strlen(member)) : NULL;
	}
	writer->n_slots = FIRST_SLOTS;
	writer->text_slots = tp_alloc(FIRST_SLOTS * sizeof(*writer->text_slots));
	TP_ARRAY_PUSH(writer->texts, writer->n_texts, writer->texts_capacity) =
		(struct text){.bytes = ""};
	size_t n_mapped = 0;
	TP_ARRAY_PUSH(writer->sink_texts, n_mapped, writer->sink_texts_capacity) = NOT_EMITTED;
	tp_detail_table_init(&writer->details);
	n_mapped = 0;
	TP_ARRAY_PUSH(writer->sink_details, n_mapped, writer->sink_details_capacity) = NOT_EMITTED;
	return writer;
}

struct tp_rank_info *tp_rank_info(struct tp_rank_writer *writer)
{
	return &writer->info;
}

const char *tp_rank_writer_text(struct tp_rank_writer *writer, const char *text, size_t len)
{
	struct tp_import_session *session = writer->import->session;
	pthread_mutex_lock(&session->lock);
	const char *copy = tp_arena_strndup(session->arena, text, strnlen(text, len));
	pthread_mutex_unlock(&session->lock);
	return copy;
}

void tp_rank_writer_devices(struct tp_rank_writer *writer, const struct tp_device_info *devices,
			    size_t n)
{
	struct tp_import_session *session = writer->import->session;
	pthread_mutex_lock(&session->lock);
	struct tp_device_info *copy = tp_arena_array(session->arena, n, sizeof(*copy));
	for (size_t i = 0; i < n; i++) {
		copy[i] = devices[i];
		copy[i].name = tp_arena_strdup(session->arena, devices[i].name);
	}
	pthread_mutex_unlock(&session->lock);
	writer->info.devices = copy;
	writer->info.n_devices = n;
}

/* ---- texts ---- */

/* The 64-bit golden ratio, and the same of the square root of 2. */
#define HASH_FIRST  UINT64_C(0x9e3779b97f4a7c15)
#define HASH_SECOND UINT64_C(0x6a09e667f3bcc909)

static uint64_t hash_step(uint64_t hash, uint64_t word, uint64_t factor)
{
	hash = (hash ^ word) * factor;
	return hash ^ hash >> 32;
}

/* Reads up to 16 bytes as two words; those of shorter texts overlap. */
static void last_words(const char *text, size_t len, uint64_t words[2])
{
	uint32_t half[2];
	if (len >= sizeof(*words)) {
		memcpy(&words[0], text, sizeof(*words));
		memcpy(&words[1], text + len - sizeof(*words), sizeof(*words));
	} else if (len >= sizeof(*half)) {
		memcpy(&half[0], text, sizeof(*half));
		memcpy(&half[1], text + len - sizeof(*half), sizeof(*half));
		words[0] = half[0];
		words[1] = half[1];
	} else {
		words[0] = (unsigned char)text[0];
		words[1] =
			(uint64_t)(unsigned char)text[len / 2] << 8 | (unsigned char)text[len - 1];
	}
}

/* Sixteen bytes at a time, because names of kernels have hundreds: two multiplications that do not
 * wait for each other. */
static uint32_t text_hash(const char *text, size_t len)
{
	uint64_t first = len;
	uint64_t second = 0;
	uint64_t words[2];
	for (; len > sizeof(words); len -= sizeof(words), text += sizeof(words)) {
		memcpy(words, text, sizeof(words));
		first = hash_step(first, words[0], HASH_FIRST);
		second = hash_step(second, words[1], HASH_SECOND);
	}
	last_words(text, len, words);
	first = hash_step(first, words[0], HASH_FIRST);
	second = hash_step(second, words[1], HASH_SECOND);
	return (uint32_t)((first + second * HASH_FIRST) >> 32);
}

static size_t slot_find(const struct tp_rank_writer *w, const char *text, size_t len, uint32_t hash)
{
	size_t slot = hash & (w->n_slots - 1);
	for (; w->text_slots[slot]; slot = (slot + 1) & (w->n_slots - 1)) {
		const struct text *there = &w->texts[w->text_slots[slot]];
		if (there->hash == hash && there->len == len &&
		    memcmp(there->bytes, text, len) == 0)
			break;
	}
	return slot;
}

static void slots_double(struct tp_rank_writer *w)
{
	free(w->text_slots);
	w->n_slots *= 2;
	w->text_slots = tp_alloc(w->n_slots * sizeof(*w->text_slots));
	for (uint32_t id = 1; id < w->n_texts; id++) {
		const struct text *text = &w->texts[id];
		w->text_slots[slot_find(w, text->bytes, text->len, text->hash)] = id;
	}
}

uint32_t tp_rank_writer_string(struct tp_rank_writer *writer, const char *text, size_t len)
{
	if (len == 0 || len > UINT32_MAX)
		return 0;
	uint32_t hash = text_hash(text, len);
	size_t slot = slot_find(writer, text, len, hash);
	if (writer->text_slots[slot])
		return writer->text_slots[slot];
	/* Texts of the sink end at their first NUL, and a file may contain one. */
	size_t before_nul = strnlen(text, len);
	if (before_nul < len)
		return tp_rank_writer_string(writer, text, before_nul);
	uint32_t id = (uint32_t)writer->n_texts;
	size_t n_mapped = id;
	struct text added = {.len = (uint32_t)len, .hash = hash};
	added.bytes = tp_arena_strndup(&writer->arena, text, len);
	TP_ARRAY_PUSH(writer->texts, writer->n_texts, writer->texts_capacity) = added;
	TP_ARRAY_PUSH(writer->sink_texts, n_mapped, writer->sink_texts_capacity) = NOT_EMITTED;
	writer->text_slots[slot] = id;
	if (writer->n_texts * 2 > writer->n_slots)
		slots_double(writer);
	return id;
}

uint32_t tp_rank_writer_join(struct tp_rank_writer *writer, uint32_t left, char between,
			     uint32_t right)
{
	struct tp_buf both = {0};
	tp_buf_add(&both, writer->texts[left].bytes, writer->texts[left].len);
	if (left && right)
		tp_buf_putc(&both, between);
	tp_buf_add(&both, writer->texts[right].bytes, writer->texts[right].len);
	uint32_t id = tp_rank_writer_string(writer, tp_buf_text(&both), both.len);
	tp_buf_release(&both);
	return id;
}

/* ---- tracks and details ---- */

uint16_t tp_rank_writer_track(struct tp_rank_writer *writer, int32_t device, int64_t number)
{
	uint64_t hash = tp_hash_mix((uint64_t)number, (uint32_t)device);
	uint64_t head = TP_NO_TRACK;
	(void)tp_map_get(&writer->track_ids, hash, &head);
	for (uint16_t id = (uint16_t)head; id != TP_NO_TRACK; id = writer->tracks[id].next) {
		const struct tp_track *there = &writer->tracks[id].track;
		if (there->device == device && there->number == number)
			return id;
	}
	if (writer->n_tracks >= TP_TRACKS_MAX)
		return TP_NO_TRACK;
	uint16_t id = (uint16_t)writer->n_tracks;
	TP_ARRAY_PUSH(writer->tracks, writer->n_tracks, writer->tracks_capacity) =
		(struct local_track){.track = {.device = device, .number = number},
				     .next = (uint16_t)head};
	tp_map_set(&writer->track_ids, hash, id);
	return id;
}

void tp_rank_writer_name_track(struct tp_rank_writer *writer, uint16_t track, uint32_t name)
{
	if (track < writer->n_tracks)
		writer->tracks[track].track.name = name;
}

void tp_rank_writer_track_task(struct tp_rank_writer *writer, uint16_t track, uint32_t task)
{
	if (track < writer->n_tracks)
		writer->tracks[track].track.task_plus_1 = task + 1;
}

uint32_t tp_rank_writer_detail(struct tp_rank_writer *writer, const struct tp_detail *detail)
{
	size_t n_mapped = writer->details.n;
	uint32_t id = tp_detail_table_intern(&writer->details, detail);
	if (writer->details.n != n_mapped)
		TP_ARRAY_PUSH(writer->sink_details, n_mapped, writer->sink_details_capacity) =
			NOT_EMITTED;
	return id;
}

/* ---- emitting; the session is locked ---- */

static uint32_t text_emit(struct tp_rank_writer *w, uint32_t id)
{
	if (id >= w->n_texts)
		return 0;
	if (w->sink_texts[id] == NOT_EMITTED)
		w->sink_texts[id] = tp_sink_string(w->import->session->sink, w->texts[id].bytes);
	return w->sink_texts[id];
}

static uint32_t detail_emit(struct tp_rank_writer *w, uint32_t id)
{
	if (id >= w->details.n)
		return 0;
	if (id && w->sink_details[id] == NOT_EMITTED) {
		struct tp_detail detail = *tp_detail_table_get(&w->details, id);
		detail.op = text_emit(w, detail.op);
		detail.type = text_emit(w, detail.type);
		detail.group = text_emit(w, detail.group);
		w->sink_details[id] = tp_sink_detail(w->import->session->sink, &detail);
	}
	return w->sink_details[id];
}

/* Emits the current state of the track; assigns its id the first time. */
static void track_emit(struct tp_rank_writer *w, struct local_track *local)
{
	struct tp_import_session *session = w->import->session;
	struct tp_track track = local->track;
	if (local->emitted_as == NOT_EMITTED) {
		if (session->n_tracks >= TP_TRACKS_MAX) {
			local->is_refused = true;
			return;
		}
		local->emitted_as = (uint32_t)session->n_tracks + 1;
		TP_ARRAY_PUSH(session->tracks, session->n_tracks, session->tracks_capacity) =
			(struct tp_track){0};
	}
	track.id = local->emitted_as - 1;
	track.rank = (uint32_t)w->place;
	track.name = text_emit(w, track.name);
	session->tracks[track.id] = track;
	tp_sink_track(session->sink, &track);
}

static void reject_span(struct tp_rank_writer *w)
{
	w->info.n_kept--;
	tp_rank_writer_skip(w, "more threads and streams than can be distinguished");
}

static void span_emit(struct tp_rank_writer *w, struct tp_span *span)
{
	struct tp_import_session *session = w->import->session;
	struct local_track *track = &w->tracks[span->track];
	if (track->emitted_as == NOT_EMITTED && !track->is_refused)
		track_emit(w, track);
	if (track->is_refused) {
		reject_span(w);
		return;
	}
	span->track = (uint16_t)(track->emitted_as - 1);
	span->name = text_emit(w, span->name);
	span->detail = detail_emit(w, span->detail);
	if (span->start_ns < session->first_ns)
		session->first_ns = span->start_ns;
	if (span->end_ns > session->last_ns)
		session->last_ns = span->end_ns;
	tp_sink_span(session->sink, span);
}

static void flush_batch(struct tp_rank_writer *w)
{
	struct tp_import_session *session = w->import->session;
	pthread_mutex_lock(&session->lock);
	for (size_t i = 0; i < w->n_batch; i++)
		span_emit(w, &w->batch[i]);
	pthread_mutex_unlock(&session->lock);
	w->n_batch = 0;
}

void tp_rank_writer_span(struct tp_rank_writer *writer, const struct tp_span *span)
{
	writer->info.n_kept++;
	if (span->track >= writer->n_tracks) {
		reject_span(writer);
		return;
	}
	writer->batch[writer->n_batch++] = *span;
	if (writer->n_batch == BATCH)
		flush_batch(writer);
}

void tp_rank_writer_skip(struct tp_rank_writer *writer, const char *why)
{
	if (!writer->info.n_skipped++)
		writer->info.skipped_because = why;
}

/* ---- ending ---- */

static void writer_free(struct tp_rank_writer *w)
{
	tp_arena_release(&w->arena);
	free(w->texts);
	free(w->sink_texts);
	free(w->text_slots);
	free(w->tracks);
	tp_map_release(&w->track_ids);
	tp_detail_table_release(&w->details);
	free(w->sink_details);
	free(w);
}

void tp_rank_writer_end(struct tp_rank_writer *writer, bool stays)
{
	struct tp_import_session *session = writer->import->session;
	flush_batch(writer);
	pthread_mutex_lock(&session->lock);
	/* Names and tasks may have been set after the spans. */
	for (size_t i = 0; i < writer->n_tracks; i++) {
		const struct local_track *local = &writer->tracks[i];
		bool is_emitted = local->emitted_as != NOT_EMITTED && local->track.name;
		if ((is_emitted || local->track.task_plus_1) && !local->is_refused)
			track_emit(writer, &writer->tracks[i]);
	}
	struct tp_import_session_rank *rank = &session->ranks[writer->place];
	rank->info = writer->info;
	rank->is_absent = !stays && !writer->info.n_kept;
	pthread_mutex_unlock(&session->lock);
	writer_free(writer);
}
