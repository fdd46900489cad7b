/* Opens a file, finds who reads it, and unpacks archives. */
#include "import_file.h"

#include "import_session.h"
#include "tarball.h"
#include "unsupported_file.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is open. */
struct opening {
	struct tp_import import;
	const char *path;
	const struct tp_importer_list *importers;
	struct tp_stream *stream;
	const char *archive_fault; /* members may be missing; NULL when none are */
	size_t n_used;             /* members that were traces */
	struct tp_error complaint; /* the first of a member that was none */
};

static const struct tp_importer *importer_find(const struct tp_importer_list *importers,
					       const unsigned char *head, size_t size)
{
	for (size_t i = 0; i < importers->n; i++)
		if (importers->items[i]->recognises(head, size))
			return importers->items[i];
	return NULL;
}

static enum tp_status read_by(struct opening *opening, const struct tp_importer *importer,
			      struct tp_import_source *source, struct tp_error *err)
{
	opening->import.source = source;
	opening->import.format = importer->info.name;
	enum tp_status status = importer->read(&opening->import, source, err);
	opening->import.source = NULL;
	return status;
}

/* ---- what is wrong with the end of a file is wrong with the last rank in it ---- */

/* The rank of the file that was begun last; NULL when there is none. */
static struct tp_rank_info *last_rank(struct tp_session *session, size_t file)
{
	struct tp_session_rank *last = NULL;
	for (size_t i = 0; i < session->n_ranks; i++) {
		struct tp_session_rank *rank = &session->ranks[i];
		if (!rank->is_absent && rank->file == file &&
		    (!last || rank->number > last->number))
			last = rank;
	}
	return last ? &last->info : NULL;
}

static void blame(struct tp_rank_info *rank, const char *why)
{
	if (!rank)
		return;
	rank->is_cut = true;
	if (!rank->n_skipped++)
		rank->skipped_because = why;
}

/* What follows the document belongs to the member, too: a wrong checksum may be all that follows.
 */
static void member_complete(struct opening *opening, struct tp_stream *stream)
{
	enum { SCRAP_BYTES = 64 << 10 };
	struct tp_session *session = opening->import.session;
	const char *why;
	char *scrap = tp_alloc(SCRAP_BYTES);
	while (tp_stream_read(stream, scrap, SCRAP_BYTES) == SCRAP_BYTES)
		;
	free(scrap);
	pthread_mutex_lock(&session->lock);
	if (tp_stream_ending(stream, &why) != TP_STREAM_WHOLE)
		blame(last_rank(session, opening->import.file), why);
	pthread_mutex_unlock(&session->lock);
}

/* ---- archives ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A member may be packed once more. Those that are no traces (notes, settings, what macOS adds) are
 * passed over. */
static enum tp_status read_member(struct opening *opening, struct tp_tarball *tar,
				  struct tp_error *err)
{
	const unsigned char *head;
	struct tp_import_source source = {.path = opening->path, .member = tp_buf_text(&tar->name)};
	enum tp_status status = TP_PARSE;
	struct tp_error complaint = {0};
	source.stream = tp_stream_over(tp_tarball_read, tar);
	size_t size = tp_stream_peek(source.stream, &head);
	const struct tp_importer *importer = importer_find(opening->importers, head, size);
	if (*base_of(source.member) == '.')
		importer = NULL;
	if (importer && !importer->wants_file)
		status = read_by(opening, importer, &source, &complaint);
	else
		(void)tp_fail(&complaint, TP_PARSE, "'%s' holds no traces", opening->path);
	if (!status)
		member_complete(opening, source.stream);
	opening->n_used += status == TP_OK;
	if (status && !opening->complaint.status)
		opening->complaint = complaint;
	tp_stream_close(source.stream);
	if (!status || status == TP_PARSE)
		return TP_OK;
	if (err)
		*err = complaint;
	return status;
}

static enum tp_status read_archive(struct opening *opening, struct tp_error *err)
{
	struct tp_tarball tar;
	enum tp_status status = TP_OK;
	tp_tarball_init(&tar, opening->stream);
	while (!status && tp_tarball_next(&tar))
		status = read_member(opening, &tar, err);
	if (tar.is_cut)
		opening->archive_fault = "the archive ends too early";
	else if (tar.is_damaged)
		opening->archive_fault = "the archive is damaged behind this member";
	if (!status && !opening->n_used) {
		status = TP_PARSE;
		if (opening->complaint.status && err)
			*err = opening->complaint;
		else
			(void)tp_fail(err, TP_PARSE, "'%s' holds no traces", opening->path);
	}
	tp_tarball_release(&tar);
	return status;
}

/* ---- files ---- */

static enum tp_status explain_empty(const struct opening *opening, struct tp_error *err)
{
	const char *why;
	if (tp_stream_ending(opening->stream, &why) != TP_STREAM_WHOLE)
		return tp_fail(err, TP_PARSE, "'%s' cannot be unpacked: %s", opening->path, why);
	return tp_fail(err, TP_PARSE, "'%s' is empty", opening->path);
}

static enum tp_status read_file(struct opening *opening, struct tp_error *err)
{
	const unsigned char *head;
	size_t size = tp_stream_peek(opening->stream, &head);
	struct tp_import_source source = {.path = opening->path, .stream = opening->stream};
	if (!size)
		return explain_empty(opening, err);
	if (tp_tarball_recognises(head, size))
		return read_archive(opening, err);
	const struct tp_importer *importer = importer_find(opening->importers, head, size);
	if (!importer && opening->import.session->options->format) {
		(void)tp_fail(err, TP_PARSE, "'%s' is not in format %s", opening->path,
			      opening->import.session->options->format);
		tp_error_next_word(err, "trainprof import ", opening->path, "");
		return TP_PARSE;
	}
	if (!importer)
		return tp_import_refuse(opening->path, head, size, err);
	if (importer->wants_file && tp_stream_is_packed(opening->stream)) {
		(void)tp_fail(err, TP_PARSE, "'%s' is a packed database", opening->path);
		tp_error_next_word(err, "gunzip -k ", opening->path, "");
		return TP_PARSE;
	}
	if (importer->wants_file) {
		source.stream = NULL;
		source.sha256 = tp_stream_sha256(opening->stream);
	}
	return read_by(opening, importer, &source, err);
}

/* What is known once all of the file has been read. What is wrong with its end is wrong with the
 * last rank in it. */
static void ranks_complete(struct opening *opening)
{
	struct tp_session *session = opening->import.session;
	const char *sha256 = tp_stream_sha256(opening->stream);
	const char *why;
	pthread_mutex_lock(&session->lock);
	sha256 = tp_arena_strdup(session->arena, sha256);
	for (size_t i = 0; i < session->n_ranks; i++)
		if (session->ranks[i].file == opening->import.file)
			session->ranks[i].info.sha256 = sha256;
	struct tp_rank_info *last = last_rank(session, opening->import.file);
	if (tp_stream_ending(opening->stream, &why) != TP_STREAM_WHOLE)
		blame(last, why);
	else if (opening->archive_fault)
		blame(last, opening->archive_fault);
	pthread_mutex_unlock(&session->lock);
}

enum tp_status tp_import_open(struct tp_session *session, size_t file, const char *path,
			      const struct tp_importer_list *importers, struct tp_error *err)
{
	struct opening opening = {.import = {.session = session, .file = file},
				  .path = path,
				  .importers = importers};
	enum tp_status status = tp_stream_open(&opening.stream, path, err);
	if (status)
		return status;
	status = read_file(&opening, err);
	if (!status)
		ranks_complete(&opening);
	tp_stream_close(opening.stream);
	return status;
}
