/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the choice of importers for a file, with importers of streams and of files defined here. */
#include "import/reader/import_file.h"

#include "import/reader/import_session.h"

#include "base/packed.h"
#include "import/archive.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64];
static char path[96];
static struct tp_import_session session;
static struct tp_arena arena;
static struct tp_buf seen; /* sources that importers received */

static bool is_stream(const unsigned char *head, size_t size)
{
	return size >= 6 && memcmp(head, "stream", 6) == 0;
}

static bool is_database(const unsigned char *head, size_t size)
{
	return size >= 8 && memcmp(head, "database", 8) == 0;
}

static enum tp_status read_any(struct tp_import_reader *import,
			       const struct tp_import_source *source, struct tp_error *err)
{
	char bytes[32];
	tp_buf_printf(&seen, "%s %s ", import->format, source->member ? source->member : "file");
	if (source->sha256)
		tp_buf_printf(&seen, "%.8s ", source->sha256);
	if (source->stream) {
		size_t n = tp_stream_read(source->stream, bytes, sizeof(bytes));
		tp_buf_add(&seen, bytes, n);
	}
	tp_buf_puts(&seen, ";");
	tp_rank_writer_end(tp_rank_writer_begin(import), true);
	if (seen.len > 3 && strstr(tp_buf_text(&seen), "bad"))
		return tp_fail(err, TP_IO, "bad");
	return TP_OK;
}

static const struct tp_importer streamer = {.info = {.name = "streamer"},
					    .recognises = is_stream,
					    .read = read_any};
static const struct tp_importer librarian = {.info = {.name = "librarian"},
					     .wants_file = true,
					     .recognises = is_database,
					     .read = read_any};
static const struct tp_importer *const both[] = {&streamer, &librarian};
static const struct tp_importer_list importers = {both, 2};

static void setup(void)
{
	strcpy(directory, "/tmp/trainprof-opening-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	static const struct tp_import_options plain;
	session = (struct tp_import_session){.arena = &arena, .options = &plain};
	pthread_mutex_init(&session.lock, NULL);
}

static void teardown(void)
{
	unlink(path);
	rmdir(directory);
	pthread_mutex_destroy(&session.lock);
	free(session.ranks);
	tp_arena_release(&arena);
	tp_buf_release(&seen);
}

static enum tp_status open_bytes(const void *bytes, size_t size, struct tp_error *err)
{
	ck_assert_int_eq(tp_file_replace(path, bytes, size, NULL), TP_OK);
	return tp_import_file_read(&session, 0, path, &importers, err);
}

START_TEST(streams_are_unpacked_and_ranks_get_the_hash)
{
	struct tp_buf packed = {0};
	packed_add(&packed, "stream of bytes", 15);
	ck_assert_int_eq(open_bytes("stream of bytes", 15, NULL), TP_OK);
	ck_assert_int_eq(open_bytes(packed.data, packed.len, NULL), TP_OK);
	ck_assert_str_eq(tp_buf_text(&seen),
			 "streamer file stream of bytes;streamer file stream of bytes;");
	ck_assert_uint_eq(session.n_ranks, 2);
	ck_assert_uint_eq(strlen(session.ranks[1].info.sha256), 64);
	ck_assert_str_eq(session.ranks[1].info.path, path);
	ck_assert_str_eq(session.ranks[1].info.format, "streamer");
	tp_buf_release(&packed);
}
END_TEST

START_TEST(databases_are_read_by_path_and_not_packed)
{
	struct tp_error err = {0};
	struct tp_buf packed = {0};
	struct tp_buf wanted = {0};
	ck_assert_int_eq(open_bytes("database", 8, NULL), TP_OK);
	/* printf database | sha256sum */
	ck_assert_str_eq(tp_buf_text(&seen), "librarian file 3549b002 ;");
	packed_add(&packed, "database", 8);
	ck_assert_int_eq(open_bytes(packed.data, packed.len, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "/file' is a packed database"));
	tp_buf_printf(&wanted, "gunzip -k %s", path);
	ck_assert_str_eq(err.next, tp_buf_text(&wanted));
	tp_buf_release(&packed);
	tp_buf_release(&wanted);
}
END_TEST

START_TEST(members_are_read_as_streams_only)
{
	struct tp_buf archive = {0};
	struct tp_error err = {0};
	archive_add(&archive, "a", '0', "database", 8);
	archive_add(&archive, "b", '0', "stream", 6);
	archive_add(&archive, ".c", '0', "stream", 6);
	archive_end(&archive);
	ck_assert_int_eq(open_bytes(archive.data, archive.len, &err), TP_OK);
	ck_assert_str_eq(tp_buf_text(&seen), "streamer b stream;");
	ck_assert_str_eq(session.ranks[0].info.member, "b");
	tp_buf_release(&archive);
}
END_TEST

START_TEST(what_a_reader_cannot_go_on_with_ends_the_archive)
{
	struct tp_buf archive = {0};
	struct tp_error err = {0};
	archive_add(&archive, "a", '0', "stream bad", 10);
	archive_add(&archive, "b", '0', "stream", 6);
	archive_end(&archive);
	ck_assert_int_eq(open_bytes(archive.data, archive.len, &err), TP_IO);
	ck_assert_str_eq(err.text, "bad");
	ck_assert_str_eq(tp_buf_text(&seen), "streamer a stream bad;");
	tp_buf_release(&archive);
}
END_TEST

Suite *suite_import_import_file(void);
Suite *suite_import_import_file(void)
{
	Suite *suite = suite_create("import/opening");
	TCase *tc = tcase_create("opening");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, streams_are_unpacked_and_ranks_get_the_hash);
	tcase_add_test(tc, databases_are_read_by_path_and_not_packed);
	tcase_add_test(tc, members_are_read_as_streams_only);
	tcase_add_test(tc, what_a_reader_cannot_go_on_with_ends_the_archive);
	suite_add_tcase(suite, tc);
	return suite;
}
