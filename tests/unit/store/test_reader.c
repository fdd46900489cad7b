/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading recordings that were truncated, damaged, made by another version or
 * crafted. */
#include "trainprof/store/recording.h"

#include "store/checksum.h"
#include "store/layout.h"
#include "store/wire_num.h"
#include "story.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 14, N_STEPS = 12 };

static char *directory;
static char *recording;
static char *records;
static struct tp_buf bytes;               /* of the undamaged records.tpr */
static size_t ends[N_STEPS + 1];          /* ends of its header and blocks */
static struct tp_trace told[N_STEPS + 1]; /* traces of the first blocks, by number of blocks */

/* Makes a recording of N_STEPS blocks, STEP parts each, and the trace of each prefix. */
static void setup(void)
{
	directory = story_directory();
	recording = tp_asprintf("%s/prof", directory);
	records = tp_asprintf("%s/records.tpr", recording);
	struct tp_store *store;
	ck_assert(!tp_store_create(&store, recording, story_run(), UINT64_MAX, NULL));
	ends[0] = tp_store_size(store);
	for (size_t i = 0; i < N_STEPS; i++) {
		story_emit(tp_store_sink(store), i * STEP, (i + 1) * STEP);
		tp_store_flush(store);
		ends[i + 1] = tp_store_size(store);
	}
	ck_assert(!tp_store_finish(store, story_run(), NULL));
	ck_assert(!tp_file_read(&bytes, records, 1 << 20, NULL));
	ck_assert_uint_eq(bytes.len, ends[N_STEPS]);
	for (size_t i = 0; i <= N_STEPS; i++)
		story_trace(&told[i], i * STEP);
}

static void teardown(void)
{
	for (size_t i = 0; i <= N_STEPS; i++)
		tp_trace_release(&told[i]);
	tp_buf_release(&bytes);
	free(records);
	free(recording);
	story_remove(directory);
}

static void write_records(const void *content, size_t size)
{
	int fd = open(records, O_WRONLY | O_TRUNC);
	ck_assert_int_ge(fd, 0);
	ck_assert(tp_file_write_all(fd, content, size));
	close(fd);
}

/* Loads; the trace must have the first `n_steps` steps and the right is_partial. */
static void assert_reports(size_t n_steps, bool is_partial)
{
	struct tp_trace trace;
	struct tp_error err = {0};
	ck_assert_msg(!tp_store_load(&trace, recording, &err), "%s", err.text);
	ck_assert_int_eq(trace.is_partial, is_partial);
	story_assert_equal(&told[n_steps], &trace);
	tp_trace_release(&trace);
}

START_TEST(cut_at_any_byte_all_whole_blocks_are_used)
{
	size_t whole = 0;
	for (size_t cut = 0; cut <= bytes.len; cut++) {
		ck_assert_int_eq(truncate(records, (off_t)bytes.len), 0);
		write_records(bytes.data, cut);
		while (whole < N_STEPS && ends[whole + 1] <= cut)
			whole++;
		assert_reports(whole, cut < bytes.len);
	}
	ck_assert_uint_eq(whole, N_STEPS);
}
END_TEST

START_TEST(any_flipped_bit_costs_only_what_comes_after)
{
	for (uint64_t i = 0; i < 3000; i++) {
		size_t bit = tp_hash_mix(i, 3) % (bytes.len * 8);
		bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
		write_records(bytes.data, bytes.len);
		bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
		if (bit / 8 < HEADER_BYTES) {
			struct tp_trace trace;
			enum tp_status status = tp_store_load(&trace, recording, NULL);
			ck_assert(status == TP_PARSE || status == TP_VERSION);
			continue;
		}
		size_t whole = 0;
		while (ends[whole + 1] <= bit / 8)
			whole++;
		assert_reports(whole, true);
	}
}
END_TEST

START_TEST(a_missing_or_repeated_block_ends_the_reading)
{
	struct tp_buf other = {0};
	tp_buf_add(&other, bytes.data, ends[3]);
	tp_buf_add(&other, bytes.data + ends[4], bytes.len - ends[4]);
	write_records(other.data, other.len);
	assert_reports(3, true);
	tp_buf_clear(&other);
	tp_buf_add(&other, bytes.data, ends[3]);
	tp_buf_add(&other, bytes.data + ends[2], bytes.len - ends[2]);
	write_records(other.data, other.len);
	assert_reports(3, true);
	/* Truncated exactly between two blocks: only the manifest shows it. */
	write_records(bytes.data, ends[5]);
	assert_reports(5, true);
	tp_buf_clear(&other);
	tp_buf_add(&other, bytes.data, bytes.len);
	tp_buf_puts(&other, "more");
	write_records(other.data, other.len);
	assert_reports(N_STEPS, true);
	tp_buf_release(&other);
}
END_TEST

START_TEST(noise_is_survived)
{
	struct tp_buf noise = {0};
	tp_buf_add(&noise, bytes.data, ends[1]);
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t word = tp_hash_mix(i, 4);
		tp_buf_add(&noise, &word, sizeof(word));
	}
	write_records(noise.data, noise.len);
	assert_reports(1, true);
	tp_buf_release(&noise);
}
END_TEST

static void refix(char *header)
{
	struct tp_checksum checksum;
	tp_checksum_init(&checksum);
	tp_put_u32((unsigned char *)header + HEADER_CRC,
		   tp_checksum_add(&checksum, 0, header, HEADER_CRC));
}

START_TEST(the_format_as_text_is_the_one_in_numbers)
{
	char expected[64];
	snprintf(expected, sizeof(expected), "%s%d.%d", LAYOUT_FORMAT, LAYOUT_MAJOR, LAYOUT_MINOR);
	ck_assert_str_eq(tp_store_format(), expected);
}
END_TEST

START_TEST(a_newer_minor_version_is_read_and_a_newer_major_one_named)
{
	tp_put_u16((unsigned char *)bytes.data + HEADER_MINOR, 7);
	refix(bytes.data);
	write_records(bytes.data, bytes.len);
	assert_reports(N_STEPS, false);
	tp_put_u16((unsigned char *)bytes.data + HEADER_MAJOR, 2);
	refix(bytes.data);
	write_records(bytes.data, bytes.len);
	struct tp_trace trace;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_store_load(&trace, recording, &err), TP_VERSION);
	ck_assert_ptr_nonnull(strstr(err.text, "records.tpr' is recording format 2.7; this"));
	ck_assert_str_eq(err.next, "update trainprof");
}
END_TEST

START_TEST(records_of_another_run_are_refused)
{
	tp_put_u64((unsigned char *)bytes.data + HEADER_RUN_ID, 1);
	refix(bytes.data);
	write_records(bytes.data, bytes.len);
	struct tp_trace trace;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_store_load(&trace, recording, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "belongs to another run"));
}
END_TEST

START_TEST(records_that_are_no_file_or_absent_are_refused)
{
	struct tp_trace trace;
	ck_assert_int_eq(unlink(records), 0);
	ck_assert_int_eq(tp_store_load(&trace, recording, NULL), TP_ABSENT);
	ck_assert_int_eq(mkfifo(records, 0600), 0);
	ck_assert_int_eq(tp_store_load(&trace, recording, NULL), TP_PARSE);
	ck_assert_int_eq(unlink(records), 0);
	ck_assert_int_eq(mkdir(records, 0700), 0);
	ck_assert_int_eq(tp_store_load(&trace, recording, NULL), TP_PARSE);
	ck_assert_int_eq(tp_store_load(&trace, "/nonexistent", NULL), TP_ABSENT);
	ck_assert_int_eq(tp_store_load(&trace, directory, NULL), TP_ABSENT);
}
END_TEST

/* Begins a recording and does not end it; the caller has to finish the store. */
static struct tp_store *begin_live(char **live, char **live_records)
{
	struct tp_store *store;
	*live = tp_asprintf("%s/live", directory);
	*live_records = tp_asprintf("%s/records.tpr", *live);
	ck_assert(!tp_store_create(&store, *live, story_run(), UINT64_MAX, NULL));
	return store;
}

/* The file of the whole story grows by odd steps, so that most readings end inside a block. */
START_TEST(a_growing_file_yields_each_record_once)
{
	enum { GROWTH = 37 };
	char *live;
	char *path;
	struct tp_store *store = begin_live(&live, &path);
	struct tp_trace_builder builder;
	struct tp_follow *follow;
	struct tp_error err = {0};
	tp_trace_builder_init(&builder);
	ck_assert_msg(!tp_follow_open(&follow, live, &builder.sink, &err), "%s", err.text);
	ck_assert_str_eq(tp_follow_run(follow)->label, story_run()->label);
	int fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	for (size_t at = ends[0]; at < bytes.len; at += GROWTH) {
		size_t size = bytes.len - at < GROWTH ? bytes.len - at : GROWTH;
		ck_assert_int_eq(pwrite(fd, bytes.data + at, size, (off_t)at), (ssize_t)size);
		ck_assert_msg(!tp_follow_read(follow, &err), "%s", err.text);
		ck_assert(!tp_follow_has_ended(follow));
	}
	close(fd);
	struct tp_trace trace;
	tp_trace_build(&trace, &builder, story_run());
	story_assert_equal(&told[N_STEPS], &trace);
	tp_trace_release(&trace);
	ck_assert(!tp_store_finish(store, story_run(), NULL));
	ck_assert(tp_follow_has_ended(follow));
	tp_follow_close(follow);
	tp_trace_builder_release(&builder);
	free(path);
	free(live);
}
END_TEST

/* Writes one byte at a time while the reader runs: yields make the file grow at any point of a
 * reading. */
static void *write_bytes(void *context)
{
	enum { MOST_YIELDS = 2000 };
	int fd = *(const int *)context;
	for (size_t at = ends[0]; at < bytes.len; at++) {
		if (at < ends[0] + MOST_YIELDS)
			sched_yield();
		if (pwrite(fd, bytes.data + at, 1, (off_t)at) != 1)
			return NULL;
	}
	return context;
}

START_TEST(a_block_that_grows_while_it_is_read_is_not_damaged)
{
	char *live;
	char *path;
	struct tp_store *store = begin_live(&live, &path);
	struct tp_trace_builder builder;
	struct tp_follow *follow;
	struct tp_error err = {0};
	struct tp_trace trace;
	pthread_t writer;
	void *is_whole;
	tp_trace_builder_init(&builder);
	ck_assert_msg(!tp_follow_open(&follow, live, &builder.sink, &err), "%s", err.text);
	int fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_bytes, &fd), 0);
	while (pthread_tryjoin_np(writer, &is_whole) != 0)
		ck_assert_msg(!tp_follow_read(follow, &err), "%s", err.text);
	ck_assert_ptr_nonnull(is_whole);
	ck_assert_msg(!tp_follow_read(follow, &err), "%s", err.text);
	tp_trace_build(&trace, &builder, story_run());
	story_assert_equal(&told[N_STEPS], &trace);
	tp_trace_release(&trace);
	tp_follow_close(follow);
	ck_assert(!tp_store_finish(store, story_run(), NULL));
	tp_trace_builder_release(&builder);
	close(fd);
	free(path);
	free(live);
}
END_TEST

START_TEST(a_closed_recording_is_not_followed)
{
	struct tp_trace_builder builder;
	struct tp_follow *follow = NULL;
	struct tp_error err = {0};
	tp_trace_builder_init(&builder);
	ck_assert_int_eq(tp_follow_open(&follow, recording, &builder.sink, &err), TP_EXISTS);
	ck_assert_ptr_null(follow);
	ck_assert_ptr_nonnull(strstr(err.next, "trainprof report "));
	tp_trace_builder_release(&builder);
}
END_TEST

START_TEST(damage_ends_the_following)
{
	char *live;
	char *path;
	struct tp_store *store = begin_live(&live, &path);
	struct tp_trace_builder builder;
	struct tp_follow *follow;
	tp_trace_builder_init(&builder);
	ck_assert(!tp_follow_open(&follow, live, &builder.sink, NULL));
	int fd = open(path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, bytes.data + ends[0], ends[2] - ends[0], (off_t)ends[0]),
			 (ssize_t)(ends[2] - ends[0]));
	ck_assert_int_eq(pwrite(fd, "?", 1, (off_t)ends[1] - 1), 1);
	close(fd);
	struct tp_error err = {0};
	ck_assert_int_eq(tp_follow_read(follow, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.next, "trainprof report "));
	tp_follow_close(follow);
	ck_assert(!tp_store_finish(store, story_run(), NULL));
	tp_trace_builder_release(&builder);
	free(path);
	free(live);
}
END_TEST

Suite *suite_store_reader(void);
Suite *suite_store_reader(void)
{
	Suite *suite = suite_create("store/reader");
	TCase *tc = tcase_create("reader");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, cut_at_any_byte_all_whole_blocks_are_used);
	tcase_add_test(tc, any_flipped_bit_costs_only_what_comes_after);
	tcase_add_test(tc, a_missing_or_repeated_block_ends_the_reading);
	tcase_add_test(tc, noise_is_survived);
	tcase_add_test(tc, the_format_as_text_is_the_one_in_numbers);
	tcase_add_test(tc, a_newer_minor_version_is_read_and_a_newer_major_one_named);
	tcase_add_test(tc, records_of_another_run_are_refused);
	tcase_add_test(tc, records_that_are_no_file_or_absent_are_refused);
	tcase_add_test(tc, a_growing_file_yields_each_record_once);
	tcase_add_test(tc, a_block_that_grows_while_it_is_read_is_not_damaged);
	tcase_add_test(tc, a_closed_recording_is_not_followed);
	tcase_add_test(tc, damage_ends_the_following);
	suite_add_tcase(suite, tc);
	return suite;
}
