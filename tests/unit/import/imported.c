/* SPDX-License-Identifier: Apache-2.0 */
/* A test sink that keeps spans and tracks. */
#include "imported.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void imported_put(struct tp_sink *self, const struct tp_record *record)
{
	struct imported *imported = (struct imported *)(void *)self;
	if (record->kind == TP_RECORD_SPAN) {
		/* The ids of a span are already defined, and its track was emitted. */
		ck_assert_uint_lt(record->of.span.track, imported->n_tracks);
		ck_assert_uint_lt(record->of.span.name, self->strings.n);
		ck_assert_uint_lt(record->of.span.detail, self->details.n);
		ck_assert_uint_le(record->of.span.start_ns, record->of.span.end_ns);
		TP_ARRAY_PUSH(imported->spans, imported->n_spans, imported->spans_capacity) =
			record->of.span;
	} else if (record->kind == TP_RECORD_TRACK) {
		ck_assert_uint_le(record->of.track.id, imported->n_tracks);
		if (record->of.track.id == imported->n_tracks)
			TP_ARRAY_PUSH(imported->tracks, imported->n_tracks,
				      imported->tracks_capacity) = record->of.track;
		imported->tracks[record->of.track.id] = record->of.track;
	}
}

static const struct tp_sink_type imported_type = {.name = "imported", .put = imported_put};

void imported_files(struct imported *out, const char *const *paths, size_t n,
		    const struct tp_import_options *options)
{
	static const struct tp_import_options plain;
	*out = (struct imported){0};
	tp_sink_init(&out->sink, &imported_type);
	out->status = tp_import_files(&out->result, paths, n, options ? options : &plain,
				      &out->sink, &out->err);
	/* Kinds of spans match their tracks; ranks of tracks exist. */
	for (size_t i = 0; i < out->n_spans; i++)
		ck_assert_int_eq(tp_span_kind_is_device(out->spans[i].kind),
				 imported_track(out, i)->device != TP_TRACK_THREAD);
	for (size_t i = 0; !out->status && i < out->n_tracks; i++)
		ck_assert_uint_lt(out->tracks[i].rank, out->result.n_ranks);
}

void imported_bytes(struct imported *out, const void *bytes, size_t size,
		    const struct tp_import_options *options)
{
	char directory[] = "/tmp/trainprof-import-XXXXXX";
	char path[64];
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/trace", directory);
	ck_assert_int_eq(tp_file_replace(path, bytes, size, NULL), TP_OK);
	imported_files(out, &(const char *){path}, 1, options);
	unlink(path);
	rmdir(directory);
}

void imported_text(struct imported *out, const char *text)
{
	imported_bytes(out, text, strlen(text), NULL);
}

void imported_release(struct imported *imported)
{
	if (!imported->status)
		tp_import_result_release(&imported->result);
	tp_sink_release(&imported->sink);
	free(imported->spans);
	free(imported->tracks);
}

const char *imported_name(const struct imported *imported, size_t i)
{
	return tp_strtab_text(&imported->sink.strings, imported->spans[i].name);
}

const struct tp_track *imported_track(const struct imported *imported, size_t i)
{
	return &imported->tracks[imported->spans[i].track];
}

struct tp_detail imported_detail(const struct imported *imported, size_t i)
{
	struct tp_detail detail;
	tp_sink_detail_get(&imported->sink, imported->spans[i].detail, &detail);
	return detail;
}

size_t imported_count(const struct imported *imported, enum tp_span_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < imported->n_spans; i++)
		n += imported->spans[i].kind == kind;
	return n;
}
