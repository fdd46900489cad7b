/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a file, finds the importer that reads it, and unpacks archives. */
#include "import_file.h"

#include "import/json/json_scan.h"
#include "import/json/trace_maker.h"

#include "import_session.h"
#include "tarball.h"
#include "unsupported_file.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An open file. */
struct file_reader {
	struct tp_import_reader import;
	const char *path;
	const struct tp_importer_list *importers;
	struct tp_stream *stream;
	const char *archive_fault; /* members may be missing; NULL = none */
	size_t n_used;             /* number of members that were traces */
	struct tp_error complaint; /* error of the first member that was not a trace */
};

/* `path` is that of the bytes; NULL if they are in an archive or compressed. */
static const struct tp_importer *importer_find(const struct tp_importer_list *importers,
					       const unsigned char *head, size_t size,
					       const char *path)
{
	const char *json_reader = tp_trace_maker_reader(head, size);
	for (size_t i = 0; i < importers->n; i++) {
		const struct tp_importer *importer = importers->items[i];
		if (importer->is_of_json_maker) {
			bool is_asked = importers->n == 1 && tp_json_scan_probe(head, size);
			if (is_asked ||
			    (json_reader && strcmp(json_reader, importer->info.name) == 0))
				return importer;
		} else if (importer->recognises(head, size) &&
			   (!importer->matches || (path && importer->matches(path)))) {
			return importer;
		}
	}
	return NULL;
}

static enum tp_status read_by(struct file_reader *file_reader, const struct tp_importer *importer,
			      struct tp_import_source *source, struct tp_error *err)
{
	file_reader->import.source = source;
	file_reader->import.format = importer->info.name;
	enum tp_status status = importer->read(&file_reader->import, source, err);
	file_reader->import.source = NULL;
	return status;
}

/* ---- errors at the end of a file belong to its last rank ---- */

/* Returns the rank of the file that was begun last; NULL if there is none. */
static struct tp_rank_info *last_rank(struct tp_import_session *session, size_t file)
{
	struct tp_import_session_rank *last = NULL;
	for (size_t i = 0; i < session->n_ranks; i++) {
		struct tp_import_session_rank *rank = &session->ranks[i];
		if (!rank->is_absent && rank->file == file &&
		    (!last || rank->number > last->number))
			last = rank;
	}
	return last ? &last->info : NULL;
}

static void mark_failed(struct tp_rank_info *rank, const char *why)
{
	if (!rank)
		return;
	rank->is_cut = true;
	if (!rank->n_skipped++)
		rank->skipped_because = why;
}

/* The bytes after the document belong to the member, too: they may only reveal a wrong checksum. */
static void member_complete(struct file_reader *file_reader, struct tp_stream *stream)
{
	enum { DISCARD_BYTES = 64 << 10 };
	struct tp_import_session *session = file_reader->import.session;
	const char *why;
	char *scrap = tp_alloc(DISCARD_BYTES);
	while (tp_stream_read(stream, scrap, DISCARD_BYTES) == DISCARD_BYTES)
		;
	free(scrap);
	pthread_mutex_lock(&session->lock);
	if (tp_stream_ending(stream, &why) != TP_STREAM_WHOLE)
		mark_failed(last_rank(session, file_reader->import.file), why);
	pthread_mutex_unlock(&session->lock);
}

/* ---- archives ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A member may be compressed again. Members that are not traces (notes, settings, files that macOS
 * adds) are skipped. */
static enum tp_status read_member(struct file_reader *file_reader, struct tp_tarball *tar,
				  struct tp_error *err)
{
	const unsigned char *head;
	struct tp_import_source source = {.path = file_reader->path,
					  .member = tp_buf_text(&tar->name)};
	enum tp_status status = TP_PARSE;
	struct tp_error complaint = {0};
	source.stream = tp_stream_from_source(tp_tarball_read, tar);
	size_t size = tp_stream_peek(source.stream, &head);
	const struct tp_importer *importer =
		importer_find(file_reader->importers, head, size, NULL);
	if (*base_of(source.member) == '.')
		importer = NULL;
	if (importer && !importer->wants_file)
		status = read_by(file_reader, importer, &source, &complaint);
	else
		(void)tp_fail(&complaint, TP_PARSE, "'%s' holds no traces", file_reader->path);
	if (!status)
		member_complete(file_reader, source.stream);
	file_reader->n_used += status == TP_OK;
	if (status && !file_reader->complaint.status)
		file_reader->complaint = complaint;
	tp_stream_close(source.stream);
	if (!status || status == TP_PARSE)
		return TP_OK;
	if (err)
		*err = complaint;
	return status;
}

static enum tp_status read_archive(struct file_reader *file_reader, struct tp_error *err)
{
	struct tp_tarball tar;
	enum tp_status status = TP_OK;
	tp_tarball_init(&tar, file_reader->stream);
	while (!status && tp_tarball_next(&tar))
		status = read_member(file_reader, &tar, err);
	if (tar.is_cut)
		file_reader->archive_fault = "the archive ends too early";
	else if (tar.is_damaged)
		file_reader->archive_fault = "the archive is damaged behind this member";
	if (!status && !file_reader->n_used) {
		status = TP_PARSE;
		if (file_reader->complaint.status && err)
			*err = file_reader->complaint;
		else
			(void)tp_fail(err, TP_PARSE, "'%s' holds no traces", file_reader->path);
	}
	tp_tarball_release(&tar);
	return status;
}

/* ---- files ---- */

static enum tp_status fail_empty(const struct file_reader *file_reader, struct tp_error *err)
{
	const char *why;
	if (tp_stream_ending(file_reader->stream, &why) != TP_STREAM_WHOLE)
		return tp_fail(err, TP_PARSE, "'%s' cannot be unpacked: %s", file_reader->path,
			       why);
	return tp_fail(err, TP_PARSE, "'%s' is empty", file_reader->path);
}

/* Lanes of a tool that is known have meanings that the user need not give. */
static enum tp_status check_named_lanes(const struct file_reader *file_reader,
					const unsigned char *head, size_t size,
					struct tp_error *err)
{
	const char *reader = file_reader->import.session->options->device_lane
				     ? tp_trace_maker_reader(head, size)
				     : NULL;
	if (!reader)
		return TP_OK;
	(void)tp_fail(err, TP_PARSE, "'%s' is in format %s: --device-lane does not apply",
		      file_reader->path, reader);
	tp_error_next_word(err, "trainprof import ", file_reader->path, "");
	return TP_PARSE;
}

static enum tp_status read_file(struct file_reader *file_reader, struct tp_error *err)
{
	const unsigned char *head;
	size_t size = tp_stream_peek(file_reader->stream, &head);
	struct tp_import_source source = {.path = file_reader->path, .stream = file_reader->stream};
	if (!size)
		return fail_empty(file_reader, err);
	if (tp_tarball_probe(head, size))
		return read_archive(file_reader, err);
	enum tp_status status = check_named_lanes(file_reader, head, size, err);
	if (status)
		return status;
	bool is_packed = tp_stream_is_packed(file_reader->stream);
	const struct tp_importer *importer = importer_find(file_reader->importers, head, size,
							   is_packed ? NULL : file_reader->path);
	if (!importer && file_reader->import.session->options->format) {
		(void)tp_fail(err, TP_PARSE, "'%s' is not in format %s", file_reader->path,
			      file_reader->import.session->options->format);
		tp_error_next_word(err, "trainprof import ", file_reader->path, "");
		return TP_PARSE;
	}
	if (!importer)
		return tp_unsupported_file_error(file_reader->path, head, size, err);
	if (importer->wants_file && is_packed) {
		(void)tp_fail(err, TP_PARSE, "'%s' is a packed database", file_reader->path);
		tp_error_next_word(err, "gunzip -k ", file_reader->path, "");
		return TP_PARSE;
	}
	if (importer->wants_file) {
		source.stream = NULL;
		source.sha256 = tp_stream_sha256(file_reader->stream);
	}
	return read_by(file_reader, importer, &source, err);
}

/* Sets the facts that are known once the whole file has been read. Errors at its end belong to the
 * last rank in it. */
static void ranks_complete(struct file_reader *file_reader)
{
	struct tp_import_session *session = file_reader->import.session;
	const char *sha256 = tp_stream_sha256(file_reader->stream);
	const char *why;
	pthread_mutex_lock(&session->lock);
	sha256 = tp_arena_strdup(session->arena, sha256);
	for (size_t i = 0; i < session->n_ranks; i++)
		if (session->ranks[i].file == file_reader->import.file)
			session->ranks[i].info.sha256 = sha256;
	struct tp_rank_info *last = last_rank(session, file_reader->import.file);
	if (tp_stream_ending(file_reader->stream, &why) != TP_STREAM_WHOLE)
		mark_failed(last, why);
	else if (file_reader->archive_fault)
		mark_failed(last, file_reader->archive_fault);
	pthread_mutex_unlock(&session->lock);
}

enum tp_status tp_import_file_read(struct tp_import_session *session, size_t file, const char *path,
				   const struct tp_importer_list *importers, struct tp_error *err)
{
	struct file_reader file_reader = {.import = {.session = session, .file = file},
					  .path = path,
					  .importers = importers};
	if (tp_unsupported_folder_find(path, err))
		return TP_PARSE;
	enum tp_status status = tp_stream_open(&file_reader.stream, path, err);
	if (status)
		return status;
	status = read_file(&file_reader, err);
	if (!status)
		ranks_complete(&file_reader);
	tp_stream_close(file_reader.stream);
	return status;
}

const char *tp_import_file_format(const char *path, const struct tp_importer_list *importers)
{
	const unsigned char *head;
	struct tp_stream *stream;
	const struct tp_importer *importer = NULL;
	if (tp_stream_open(&stream, path, NULL))
		return NULL;
	size_t size = tp_stream_peek(stream, &head);
	if (size && !tp_tarball_probe(head, size))
		importer = importer_find(importers, head, size,
					 tp_stream_is_packed(stream) ? NULL : path);
	tp_stream_close(stream);
	if (importer && importer->confirms && !importer->confirms(path))
		importer = NULL;
	return importer ? importer->info.name : NULL;
}
