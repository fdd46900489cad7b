/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how the bytes of planes are kept: small ones, large ones, and where no file can be made. */
#include "import/xprof/plane_bytes.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Delivers bytes that follow from their place, up to `end`. */
struct places {
	size_t at;
	size_t end;
};

static unsigned char byte_at(size_t place)
{
	return (unsigned char)(place * 31 + (place >> 12));
}

static size_t places_read(void *context, void *out, size_t size)
{
	struct places *places = context;
	unsigned char *bytes = out;
	size_t n = 0;
	for (; n < size && places->at < places->end; n++)
		bytes[n] = byte_at(places->at++);
	return n;
}

/* Every 61st byte, and the last one. */
static void check_bytes(const struct tp_protobuf *body, size_t first, size_t len)
{
	ck_assert_uint_eq(body->len, len);
	for (size_t i = 0; i < len; i += 61)
		ck_assert_msg(body->bytes[i] == byte_at(first + i), "byte %zu", i);
	ck_assert_uint_eq(body->bytes[len - 1], byte_at(first + len - 1));
}

enum { SMALL = 1000, LARGE = 50 << 20 };

static void check_planes(const char *folder, bool has_file)
{
	struct places places = {.end = 2 * SMALL + 2 * LARGE + 7};
	struct tp_stream *stream = tp_stream_from_source(places_read, &places);
	struct tp_plane_bytes bytes = TP_PLANE_BYTES_INIT;
	struct tp_protobuf body;
	char *before = getenv("TMPDIR") ? tp_strdup(getenv("TMPDIR")) : NULL;
	if (folder)
		setenv("TMPDIR", folder, 1);
	ck_assert(tp_plane_bytes_read(&bytes, stream, SMALL, &body));
	check_bytes(&body, 0, SMALL);
	for (size_t i = 0; i < 2; i++) {
		ck_assert(tp_plane_bytes_read(&bytes, stream, LARGE, &body));
		ck_assert_int_eq(bytes.map != NULL, has_file);
		/* Bytes that were dropped are read again. */
		tp_plane_bytes_drop(&bytes, body.bytes + LARGE / 2);
		ck_assert_int_eq(bytes.n_dropped > 0, has_file);
		tp_plane_bytes_drop(&bytes, body.bytes + LARGE - 1);
		check_bytes(&body, SMALL + i * LARGE, LARGE);
	}
	ck_assert(tp_plane_bytes_read(&bytes, stream, SMALL, &body));
	check_bytes(&body, SMALL + 2 * (size_t)LARGE, SMALL);
	/* The file ends before the length that it names. */
	ck_assert(!tp_plane_bytes_read(&bytes, stream, UINT64_MAX, &body));
	check_bytes(&body, 2 * SMALL + 2 * (size_t)LARGE, 7);
	ck_assert(!tp_plane_bytes_read(&bytes, stream, 1, &body));
	ck_assert_uint_eq(body.len, 0);
	tp_plane_bytes_release(&bytes);
	tp_stream_close(stream);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
}

START_TEST(large_planes_are_in_a_file)
{
	check_planes(NULL, true);
}
END_TEST

START_TEST(without_a_file_planes_are_in_memory)
{
	check_planes("/nowhere/at/all", false);
}
END_TEST

/* Writing fails after the first 45 MiB, as on a full disk. */
START_TEST(a_full_disk_costs_nothing_but_memory)
{
	struct rlimit limit = {45 << 20, 45 << 20};
	struct places places = {.end = LARGE};
	struct tp_stream *stream = tp_stream_from_source(places_read, &places);
	struct tp_plane_bytes bytes = TP_PLANE_BYTES_INIT;
	struct tp_protobuf body;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert(tp_plane_bytes_read(&bytes, stream, LARGE, &body));
	check_bytes(&body, 0, LARGE);
	ck_assert_ptr_null(bytes.map);
	ck_assert(bytes.has_no_file);
	tp_plane_bytes_release(&bytes);
	tp_stream_close(stream);
}
END_TEST

Suite *suite_import_plane_bytes(void);
Suite *suite_import_plane_bytes(void)
{
	Suite *suite = suite_create("import/plane_bytes");
	TCase *tcase = tcase_create("planes");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, large_planes_are_in_a_file);
	tcase_add_test(tcase, without_a_file_planes_are_in_memory);
	tcase_add_test(tcase, a_full_disk_costs_nothing_but_memory);
	suite_add_tcase(suite, tcase);
	return suite;
}
