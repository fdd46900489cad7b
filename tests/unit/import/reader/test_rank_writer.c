/* SPDX-License-Identifier: Apache-2.0 */
/* Tests emitting the spans of several ranks, from several threads, to one sink. */
#include "import/reader/rank_writer.h"

#include "import/reader/import_session.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_trace_builder builder;
static struct tp_import_session session;
static struct tp_arena arena;
static const struct tp_import_options options;

static void setup(void)
{
	tp_trace_builder_init(&builder);
	session = (struct tp_import_session){.sink = &builder.sink,
					     .arena = &arena,
					     .options = &options,
					     .first_ns = UINT64_MAX};
	pthread_mutex_init(&session.lock, NULL);
}

static void teardown(void)
{
	pthread_mutex_destroy(&session.lock);
	free(session.ranks);
	free(session.tracks);
	tp_arena_release(&arena);
	tp_trace_builder_release(&builder);
}

static uint32_t string_of(struct tp_rank_writer *writer, const char *text)
{
	return tp_rank_writer_string(writer, text, strlen(text));
}

/* Writes spans whose name, track, detail and times follow from their number, so that a mix-up is
 * detected. */
static void put_spans(struct tp_rank_writer *writer, uint32_t rank, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t random = tp_hash_mix(i, rank);
		char name[64];
		int len = snprintf(name, sizeof(name), "name %u of several",
				   (unsigned)(random % 500));
		struct tp_detail detail = {.bytes = random % 7,
					   .op = random % 7 ? string_of(writer, "op") : 0};
		struct tp_span span = {.start_ns = i,
				       .end_ns = i + random % 500,
				       .name = tp_rank_writer_string(writer, name, (size_t)len),
				       .link = (uint32_t)(random % 7),
				       .detail = tp_rank_writer_detail(writer, &detail),
				       .track = tp_rank_writer_track(writer, (int32_t)(random % 3),
								     rank),
				       .kind = TP_SPAN_KERNEL};
		tp_rank_writer_span(writer, &span);
	}
}

static void assert_spans(const struct tp_trace *trace, uint32_t n_ranks, uint32_t n_each)
{
	size_t n = 0;
	for (size_t t = 0; t < trace->n_tracks; t++) {
		const struct tp_track *track = &trace->tracks[t];
		ck_assert_int_eq(track->number, session.ranks[track->rank].info.pid);
		for (size_t i = 0; i < trace->spans[t].n; i++, n++) {
			const struct tp_span *span = &trace->spans[t].items[i];
			uint64_t random = tp_hash_mix(span->start_ns, (uint64_t)track->number);
			char name[64];
			snprintf(name, sizeof(name), "name %u of several",
				 (unsigned)(random % 500));
			ck_assert_str_eq(tp_trace_string(trace, span->name), name);
			ck_assert_int_eq(track->device, (int)(random % 3));
			ck_assert_uint_eq(span->end_ns, span->start_ns + random % 500);
			const struct tp_detail *detail = &trace->details[span->detail];
			ck_assert_uint_eq(detail->bytes, span->link);
			ck_assert_str_eq(tp_trace_string(trace, detail->op),
					 span->link ? "op" : "");
		}
	}
	ck_assert_uint_eq(n, (size_t)n_ranks * n_each);
	ck_assert_uint_eq(trace->n_dropped, 0);
}

enum { N_EACH = 30000 };

static void *write_rank(void *argument)
{
	const uint32_t *rank = argument;
	struct tp_import_reader import = {.session = &session, .file = *rank};
	struct tp_rank_writer *writer = tp_rank_writer_begin(&import);
	tp_rank_info(writer)->pid = *rank;
	put_spans(writer, *rank, N_EACH);
	tp_rank_writer_end(writer, true);
	return NULL;
}

START_TEST(ranks_written_at_the_same_time_stay_apart)
{
	enum { N = 6 };
	pthread_t threads[N];
	uint32_t ranks[N];
	for (uint32_t i = 0; i < N; i++) {
		ranks[i] = i + 100;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, write_rank, &ranks[i]), 0);
	}
	for (uint32_t i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	struct tp_trace trace;
	struct tp_run_info run = {.id = "r-1"};
	tp_trace_build(&trace, &builder, &run);
	assert_spans(&trace, N, N_EACH);
	/* Equal texts of different ranks are one in the sink: "", 500 names, "op". */
	ck_assert_uint_eq(trace.n_strings, 502);
	for (size_t i = 0; i < N; i++)
		ck_assert_uint_eq(session.ranks[i].info.n_kept, N_EACH);
	tp_trace_release(&trace);
}
END_TEST

START_TEST(equal_things_have_equal_ids)
{
	struct tp_import_reader import = {.session = &session};
	struct tp_rank_writer *w = tp_rank_writer_begin(&import);
	char text[40] = "0123456789abcdef0123456789abcdef012345";
	for (size_t len = 1; len < 38; len++) {
		uint32_t id = tp_rank_writer_string(w, text, len);
		ck_assert_uint_eq(id, len);
		ck_assert_uint_eq(tp_rank_writer_string(w, text, len), id);
	}
	ck_assert_uint_eq(tp_rank_writer_string(w, text, 0), 0);
	/* A text ends at its first NUL, whatever length a file gives. */
	ck_assert_uint_eq(tp_rank_writer_string(w, "cut\0short", 9),
			  tp_rank_writer_string(w, "cut", 3));
	struct tp_detail none = {0};
	struct tp_detail some = {.bytes = 1};
	ck_assert_uint_eq(tp_rank_writer_detail(w, &none), 0);
	ck_assert_uint_eq(tp_rank_writer_detail(w, &some), 1);
	some.sequence = 1;
	ck_assert_uint_eq(tp_rank_writer_detail(w, &some), 2);
	some.sequence = 0;
	ck_assert_uint_eq(tp_rank_writer_detail(w, &some), 1);
	ck_assert_uint_eq(tp_rank_writer_track(w, TP_TRACK_THREAD, -5), 0);
	ck_assert_uint_eq(tp_rank_writer_track(w, 0, -5), 1);
	ck_assert_uint_eq(tp_rank_writer_track(w, TP_TRACK_THREAD, INT64_MIN), 2);
	ck_assert_uint_eq(tp_rank_writer_track(w, TP_TRACK_THREAD, -5), 0);
	tp_rank_writer_end(w, true);
}
END_TEST

START_TEST(the_first_reason_to_skip_is_kept)
{
	struct tp_import_reader import = {.session = &session};
	struct tp_rank_writer *w = tp_rank_writer_begin(&import);
	tp_rank_writer_skip(w, "first");
	tp_rank_writer_skip(w, "second");
	struct tp_span lost = {.track = TP_NO_TRACK};
	tp_rank_writer_span(w, &lost);
	tp_rank_writer_end(w, true);
	ck_assert_uint_eq(session.ranks[0].info.n_skipped, 3);
	ck_assert_uint_eq(session.ranks[0].info.n_kept, 0);
	ck_assert_str_eq(session.ranks[0].info.skipped_because, "first");
	ck_assert_uint_eq(builder.n_spans, 0);
}
END_TEST

START_TEST(all_ranks_together_have_as_many_tracks_as_a_recording)
{
	uint64_t n_kept = 0;
	for (uint32_t rank = 0; rank < 2; rank++) {
		struct tp_import_reader import = {.session = &session};
		struct tp_rank_writer *w = tp_rank_writer_begin(&import);
		for (int64_t i = 0; i < TP_TRACKS_MAX - 100; i++) {
			struct tp_span span = {.track = tp_rank_writer_track(w, TP_TRACK_THREAD, i),
					       .kind = TP_SPAN_CALL};
			tp_rank_writer_span(w, &span);
		}
		tp_rank_writer_end(w, true);
		n_kept += session.ranks[rank].info.n_kept;
	}
	ck_assert_uint_eq(n_kept, TP_TRACKS_MAX);
	ck_assert_uint_eq(session.n_tracks, TP_TRACKS_MAX);
	ck_assert_uint_eq(session.ranks[1].info.n_skipped, TP_TRACKS_MAX - 200);
}
END_TEST

START_TEST(more_ranks_than_a_recording_holds_are_refused)
{
	struct tp_import_reader import = {.session = &session};
	struct tp_rank_writer *writers[TP_RANKS_MAX];
	for (size_t i = 0; i < TP_RANKS_MAX; i++) {
		writers[i] = tp_rank_writer_begin(&import);
		ck_assert_ptr_nonnull(writers[i]);
	}
	ck_assert_ptr_null(tp_rank_writer_begin(&import));
	/* A rank that was taken back makes room. */
	tp_rank_writer_end(writers[7], false);
	writers[7] = tp_rank_writer_begin(&import);
	ck_assert_ptr_nonnull(writers[7]);
	for (size_t i = 0; i < TP_RANKS_MAX; i++)
		tp_rank_writer_end(writers[i], true);
	ck_assert_uint_eq(session.n_ranks, TP_RANKS_MAX);
}
END_TEST

Suite *suite_import_rank_writer(void);
Suite *suite_import_rank_writer(void)
{
	Suite *suite = suite_create("import/rankwriter");
	TCase *tc = tcase_create("rankwriter");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, ranks_written_at_the_same_time_stay_apart);
	tcase_add_test(tc, equal_things_have_equal_ids);
	tcase_add_test(tc, the_first_reason_to_skip_is_kept);
	tcase_add_test(tc, all_ranks_together_have_as_many_tracks_as_a_recording);
	tcase_add_test(tc, more_ranks_than_a_recording_holds_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
