/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading files, plain and compressed, from the first byte to the last. */
#include "trainprof/base/stream.h"

#include "packed.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];
static char path[96];

static void setup(void)
{
	strcpy(directory, "/tmp/trainprof-stream-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
}

static void teardown(void)
{
	unlink(path);
	rmdir(directory);
}

static void put_file(const void *bytes, size_t size)
{
	ck_assert_int_eq(tp_file_replace(path, bytes, size, NULL), TP_OK);
}

/* More than the ring holds, and no multiple of its block size. */
static void put_noise(struct tp_buf *out, size_t size)
{
	for (uint64_t i = 0; out->len < size; i++) {
		uint64_t word = tp_hash_mix(i, 9);
		tp_buf_add(out, &word, sizeof(word));
	}
	out->len = size;
}

static void assert_reads(const struct tp_buf *wanted, size_t step)
{
	struct tp_stream *stream;
	ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
	char *bytes = tp_alloc(step);
	size_t at = 0;
	size_t n;
	do {
		n = tp_stream_read(stream, bytes, step);
		ck_assert_uint_le(at + n, wanted->len);
		ck_assert(n == 0 || memcmp(bytes, wanted->data + at, n) == 0);
		at += n;
	} while (n == step);
	ck_assert_uint_eq(at, wanted->len);
	ck_assert_uint_eq(tp_stream_read(stream, bytes, step), 0);
	ck_assert_int_eq(tp_stream_ending(stream, NULL), TP_STREAM_WHOLE);
	tp_stream_close(stream);
	free(bytes);
}

static const size_t sizes[] = {0, 1, 2, 3, 8192, 262144, 1048576, 1310720, 3000001};

START_TEST(all_bytes_come_in_order_whatever_is_asked_for)
{
	struct tp_buf bytes = {0};
	struct tp_buf packed = {0};
	put_noise(&bytes, sizes[_i]);
	packed_add(&packed, bytes.data, bytes.len);
	static const size_t steps[] = {1000, 262144, 4000000};
	for (size_t i = 0; i < TP_ARRAY_LEN(steps); i++) {
		put_file(bytes.data, bytes.len);
		assert_reads(&bytes, steps[i]);
		put_file(packed.data, packed.len);
		assert_reads(&bytes, steps[i]);
	}
	tp_buf_release(&bytes);
	tp_buf_release(&packed);
}
END_TEST

START_TEST(peeking_takes_nothing_away)
{
	struct tp_stream *stream;
	const unsigned char *head;
	char bytes[16] = "";
	put_file("0123456789", 10);
	ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
	ck_assert_uint_eq(tp_stream_peek(stream, &head), 10);
	ck_assert(memcmp(head, "0123456789", 10) == 0);
	ck_assert_uint_eq(tp_stream_peek(stream, &head), 10);
	ck_assert_uint_eq(tp_stream_read(stream, bytes, 4), 4);
	ck_assert_uint_eq(tp_stream_read(stream, bytes + 4, 12), 6);
	ck_assert_str_eq(bytes, "0123456789");
	tp_stream_close(stream);
}
END_TEST

START_TEST(the_hash_is_of_the_file_read_or_not)
{
	struct tp_stream *stream;
	char bytes[2];
	put_file("abc", 3);
	for (size_t n = 0; n < 3; n++) {
		ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
		ck_assert_uint_eq(tp_stream_read(stream, bytes, n), n);
		for (int again = 0; again < 2; again++)
			ck_assert_str_eq(tp_stream_sha256(stream),
					 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61"
					 "f20015ad");
		tp_stream_close(stream);
	}
}
END_TEST

/* The expected SHA-256 of the gzip file is not computed here: the file has padding after the gzip
 * data and is not read to the end, and its hash has to be complete and to differ from that of the
 * same bytes with another first byte. */
START_TEST(the_hash_of_a_packed_file_is_that_of_its_packed_bytes)
{
	struct tp_buf packed = {0};
	struct tp_stream *stream;
	char seen[65];
	packed_add(&packed, "text", 4);
	tp_buf_puts(&packed, "padding");
	packed.data[0] = 'x'; /* not a gzip file any more */
	put_file(packed.data, packed.len);
	ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
	strcpy(seen, tp_stream_sha256(stream));
	tp_stream_close(stream);
	packed.data[0] = '\x1f';
	put_file(packed.data, packed.len);
	ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
	ck_assert_str_ne(tp_stream_sha256(stream), seen);
	ck_assert_uint_eq(strlen(tp_stream_sha256(stream)), 64);
	tp_stream_close(stream);
	tp_buf_release(&packed);
}
END_TEST

START_TEST(a_stream_may_be_closed_at_any_time)
{
	struct tp_buf bytes = {0};
	struct tp_stream *stream;
	char scrap[1000];
	put_noise(&bytes, 5000000);
	put_file(bytes.data, bytes.len);
	for (size_t n = 0; n < 3; n++) {
		ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(tp_stream_read(stream, scrap, sizeof(scrap)),
					  sizeof(scrap));
		tp_stream_close(stream);
	}
	tp_stream_close(NULL);
	tp_buf_release(&bytes);
}
END_TEST

START_TEST(a_cut_gives_what_came_before_and_why)
{
	struct tp_buf packed = {0};
	struct tp_stream *stream;
	const char *why;
	char bytes[64] = "";
	packed_add(&packed, "what came before", 16);
	put_file(packed.data, packed.len - 9);
	ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
	ck_assert_uint_eq(tp_stream_read(stream, bytes, sizeof(bytes)), 15);
	ck_assert_str_eq(bytes, "what came befor");
	ck_assert_int_eq(tp_stream_ending(stream, &why), TP_STREAM_CUT);
	ck_assert_str_eq(why, "its gzip data is truncated");
	tp_stream_close(stream);
	tp_buf_release(&packed);
}
END_TEST

/* ---- streams on top of streams ----------------------------------------------------------- */

static size_t read_stream(void *context, void *out, size_t size)
{
	return tp_stream_read(context, out, size);
}

START_TEST(two_layers_of_gzip_need_two_streams)
{
	struct tp_buf inner = {0};
	struct tp_buf outer = {0};
	struct tp_stream *file;
	char bytes[64] = "";
	packed_add(&inner, "nested", 6);
	packed_add(&outer, inner.data, inner.len);
	put_file(outer.data, outer.len);
	ck_assert_int_eq(tp_stream_open(&file, path, NULL), TP_OK);
	struct tp_stream *stream = tp_stream_from_source(read_stream, file);
	ck_assert_uint_eq(tp_stream_read(stream, bytes, sizeof(bytes)), 6);
	ck_assert_str_eq(bytes, "nested");
	ck_assert_str_eq(tp_stream_sha256(stream), "");
	tp_stream_close(stream);
	tp_stream_close(file);
	tp_buf_release(&inner);
	tp_buf_release(&outer);
}
END_TEST

static void *write_pipe(void *argument)
{
	(void)argument;
	FILE *pipe = fopen(path, "w");
	fputs("through a pipe", pipe);
	fclose(pipe);
	return NULL;
}

START_TEST(a_pipe_is_read_as_a_file)
{
	struct tp_stream *stream;
	pthread_t writer;
	char bytes[64] = "";
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_pipe, NULL), 0);
	ck_assert_int_eq(tp_stream_open(&stream, path, NULL), TP_OK);
	ck_assert_uint_eq(tp_stream_read(stream, bytes, sizeof(bytes)), 14);
	ck_assert_str_eq(bytes, "through a pipe");
	pthread_join(writer, NULL);
	tp_stream_close(stream);
}
END_TEST

START_TEST(unreadable_streams_are_reported)
{
	struct tp_stream *stream;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_stream_open(&stream, path, &err), TP_ABSENT);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	ck_assert_int_eq(tp_stream_open(&stream, directory, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "' is a directory"));
}
END_TEST

Suite *suite_base_stream(void);
Suite *suite_base_stream(void)
{
	Suite *suite = suite_create("base/stream");
	TCase *tc = tcase_create("stream");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, all_bytes_come_in_order_whatever_is_asked_for, 0,
			    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(tc, peeking_takes_nothing_away);
	tcase_add_test(tc, the_hash_is_of_the_file_read_or_not);
	tcase_add_test(tc, the_hash_of_a_packed_file_is_that_of_its_packed_bytes);
	tcase_add_test(tc, a_stream_may_be_closed_at_any_time);
	tcase_add_test(tc, a_cut_gives_what_came_before_and_why);
	tcase_add_test(tc, two_layers_of_gzip_need_two_streams);
	tcase_add_test(tc, a_pipe_is_read_as_a_file);
	tcase_add_test(tc, unreadable_streams_are_reported);
	suite_add_tcase(suite, tc);
	return suite;
}
