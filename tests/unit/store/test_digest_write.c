/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of digests: they are small, have all that a job's report needs, and survive any
 * damage. */
#include "trainprof/store/rank_digest.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { STEPS = 1000 };

static char path[] = "/tmp/test-digest-XXXXXX";
static struct tp_job_step steps[STEPS];
static const struct tp_job_code last = {.file = "a.py", .function = "read", .line = 7};

static struct tp_job_rank make_rank(int64_t number)
{
	struct tp_job_rank rank = {
		.launcher = "Slurm",
		.job_id = "job 1",
		.label = "train",
		.number = number,
		.n_ranks = 64,
		.attempt = 2,
		.host = "node-1",
		.pid = 4711,
		.end = TP_END_SIGNALED,
		.end_code = 9,
		.is_cut = true,
		.started_ns = 1000 * MS,
		.ended_ns = 60000 * MS,
		.started_wall_ns = UINT64_C(1700000000000000000),
		.peer_tail_ns = 12 * MS,
		.steps = steps,
		.n_steps = STEPS,
		.last_place = &last,
		.n_codes = 1,
		.codes = {{.file = "b.py",
			   .function = "décode",
			   .line = 3,
			   .label = TP_LABEL_DATALOADER_PREP,
			   .step_ns = 7e6,
			   .queue_ns = 2e6}},
		.n_places = 5,
	};
	rank.label_ns[TP_LABEL_DATALOADER_PREP] = 7.5e6;
	rank.label_ns[TP_LABEL_COMMUNICATION_WAIT] = 1e6;
	return rank;
}

static void write_file(const struct tp_buf *bytes)
{
	ck_assert_int_eq(tp_file_replace(path, bytes->data, bytes->len, NULL), TP_OK);
}

static void make_file(struct tp_buf *out, size_t n_ranks)
{
	const struct tp_job_advice advice = {.rule = "a/b",
					     .headline = "Do this",
					     .because = "of that",
					     .gain_low = 1.1,
					     .gain_value = 1.2,
					     .gain_high = 1.3};
	tp_digest_put_header(out);
	for (size_t i = 0; i < n_ranks; i++) {
		struct tp_job_rank rank = make_rank((int64_t)i);
		tp_digest_put_rank(out, &rank, &advice, 1);
	}
	tp_digest_put_end(out, &(struct tp_digest_counts){.n_ranks = n_ranks});
}

static void setup(void)
{
	uint64_t at = 2000 * MS;
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	for (size_t i = 0; i < STEPS; i++) {
		uint64_t length = 40 * MS + i * 7919 % 5000000;
		steps[i] = (struct tp_job_step){.start_ns = at,
						.end_ns = at + length,
						.peer_ns = i % 3 ? length / 2 : 0,
						.is_judged = i % 10 != 0};
		at += length + (i % 7 ? 0 : MS);
	}
}

static void teardown(void)
{
	unlink(path);
}

START_TEST(all_that_a_job_needs_comes_back)
{
	struct tp_buf out = {0};
	struct tp_job job = {0};
	make_file(&out, 2);
	write_file(&out);
	ck_assert_int_eq(tp_digest_load(&job, path, "prof/rank-0", NULL, NULL), TP_OK);
	ck_assert_uint_eq(job.n_ranks, 2);
	const struct tp_job_rank *rank = &job.ranks[1];
	const struct tp_job_rank made = make_rank(1);
	ck_assert_str_eq(rank->directory, "prof/rank-0");
	ck_assert_str_eq(rank->launcher, made.launcher);
	ck_assert_str_eq(rank->job_id, made.job_id);
	ck_assert_str_eq(rank->label, made.label);
	ck_assert_str_eq(rank->host, made.host);
	ck_assert_int_eq(rank->number, 1);
	ck_assert_uint_eq(rank->n_ranks, 64);
	ck_assert_uint_eq(rank->attempt, 2);
	ck_assert_int_eq(rank->pid, 4711);
	ck_assert_int_eq(rank->end, TP_END_SIGNALED);
	ck_assert_int_eq(rank->end_code, 9);
	ck_assert(rank->is_cut);
	ck_assert_uint_eq(rank->started_ns, made.started_ns);
	ck_assert_uint_eq(rank->ended_ns, made.ended_ns);
	ck_assert_uint_eq(rank->started_wall_ns, made.started_wall_ns);
	ck_assert_uint_eq(rank->peer_tail_ns, made.peer_tail_ns);
	ck_assert_str_eq(rank->last_place->function, "read");
	ck_assert_uint_eq(rank->n_codes, 1);
	ck_assert_uint_eq(rank->n_places, 5);
	ck_assert_double_eq(rank->codes[0].queue_ns, 2e6);
	ck_assert_str_eq(rank->codes[0].function, "décode");
	ck_assert_int_eq(rank->codes[0].label, TP_LABEL_DATALOADER_PREP);
	for (int label = 0; label < TP_N_LABELS; label++)
		ck_assert_double_eq(rank->label_ns[label], made.label_ns[label]);
	ck_assert_uint_eq(rank->n_steps, STEPS);
	ck_assert_uint_eq(rank->n_judged, STEPS - STEPS / 10);
	for (size_t i = 0; i < STEPS; i++) {
		ck_assert_int_le(llabs((long long)(rank->steps[i].start_ns - steps[i].start_ns)),
				 500);
		ck_assert_int_le(llabs((long long)(rank->steps[i].end_ns - steps[i].end_ns)), 500);
		ck_assert_int_le(llabs((long long)(rank->steps[i].peer_ns - steps[i].peer_ns)),
				 1000);
		ck_assert(rank->steps[i].is_judged == steps[i].is_judged);
	}
	tp_digest_load_advice(&job, rank);
	ck_assert_uint_eq(job.n_advice, 1);
	ck_assert_str_eq(job.advice[0].headline, "Do this");
	ck_assert_double_eq(job.advice[0].gain_high, 1.3);
	tp_job_release(&job);
	tp_buf_release(&out);
}
END_TEST

START_TEST(frames_are_small_however_long_names_are)
{
	static char name[5000];
	struct tp_buf out = {0};
	struct tp_digest_reader *reader;
	struct tp_digest_frame frame;
	size_t n_windows = 0;
	memset(name, 'x', sizeof(name) - 1);
	struct tp_job_rank rank = make_rank(0);
	rank.host = rank.label = rank.job_id = rank.contradiction = name;
	for (rank.n_codes = 0; rank.n_codes < TP_JOB_PLACES_MAX; rank.n_codes++)
		rank.codes[rank.n_codes] = (struct tp_job_code){.file = name, .function = name};
	tp_digest_put_header(&out);
	tp_digest_put_rank(&out, &rank, NULL, 0);
	tp_digest_put_end(&out, &(struct tp_digest_counts){.n_ranks = 1});
	write_file(&out);
	ck_assert_int_eq(tp_digest_open(&reader, path, NULL), TP_OK);
	do {
		ck_assert_int_eq(tp_digest_next(reader, &frame, NULL), TP_OK);
		ck_assert_uint_le(frame.size, TP_DIGEST_FRAME_MAX);
		n_windows += frame.kind == TP_DIGEST_STEPS;
	} while (frame.kind != TP_DIGEST_END);
	tp_digest_close(reader);
	/* About 8 bytes per step if lengths are random. */
	ck_assert_uint_le(n_windows, STEPS * 9 / TP_DIGEST_FRAME_MAX + 1);
	tp_buf_release(&out);
}
END_TEST

START_TEST(a_file_that_is_cut_anywhere_gives_its_whole_ranks)
{
	struct tp_buf out = {0};
	make_file(&out, 3);
	for (size_t size = 0; size < out.len; size += 97) {
		struct tp_job job = {0};
		ck_assert_int_eq(tp_file_replace(path, out.data, size, NULL), TP_OK);
		ck_assert_int_eq(tp_digest_load(&job, path, NULL, NULL, NULL), TP_PARSE);
		ck_assert_uint_le(job.n_ranks, 3);
		for (size_t i = 0; i + 1 < job.n_ranks; i++)
			ck_assert_uint_eq(job.ranks[i].n_steps, STEPS);
		tp_job_release(&job);
	}
	tp_buf_release(&out);
}
END_TEST

START_TEST(a_byte_that_has_changed_is_found)
{
	struct tp_buf out = {0};
	make_file(&out, 1);
	for (size_t at = 0; at < out.len; at += 13) {
		struct tp_job job = {0};
		out.data[at] = (char)(out.data[at] ^ 0x20);
		write_file(&out);
		ck_assert_int_ne(tp_digest_load(&job, path, NULL, NULL, NULL), TP_OK);
		out.data[at] = (char)(out.data[at] ^ 0x20);
		tp_job_release(&job);
	}
	tp_buf_release(&out);
}
END_TEST

START_TEST(digests_of_another_version_are_left_to_the_recording)
{
	struct tp_buf out = {0};
	struct tp_job job = {0};
	make_file(&out, 2);
	write_file(&out);
	ck_assert_int_eq(tp_digest_load(&job, path, NULL, "another", NULL), TP_VERSION);
	ck_assert_uint_eq(job.n_ranks, 0);
	tp_job_release(&job);
	tp_buf_release(&out);
}
END_TEST

Suite *suite_store_digest_write(void);
Suite *suite_store_digest_write(void)
{
	Suite *suite = suite_create("store/digest_write");
	TCase *tc = tcase_create("digests");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, all_that_a_job_needs_comes_back);
	tcase_add_test(tc, frames_are_small_however_long_names_are);
	tcase_add_test(tc, a_file_that_is_cut_anywhere_gives_its_whole_ranks);
	tcase_add_test(tc, a_byte_that_has_changed_is_found);
	tcase_add_test(tc, digests_of_another_version_are_left_to_the_recording);
	suite_add_tcase(suite, tc);
	return suite;
}
