/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sinks: equal items get equal ids, an id is defined before it is used. */
#include "trainprof/model/sink.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

/* A sink that remembers the kinds and ids of its records. */
struct listener {
	struct tp_sink sink; /* must be first */
	struct tp_record heard[MOST];
	size_t n_heard;
};

static void listener_put(struct tp_sink *sink, const struct tp_record *record)
{
	struct listener *listener = (struct listener *)(void *)sink;
	if (listener->n_heard < MOST)
		listener->heard[listener->n_heard] = *record;
	listener->n_heard++;
}

static const struct tp_sink_type listener_type = {.name = "listener", .put = listener_put};
static struct listener listener;

static void setup(void)
{
	memset(&listener, 0, sizeof(listener));
	tp_sink_init(&listener.sink, &listener_type);
}

static void teardown(void)
{
	tp_sink_release(&listener.sink);
}

START_TEST(a_definition_is_emitted_once_and_ids_are_dense)
{
	struct tp_sink *sink = &listener.sink;
	ck_assert_uint_eq(tp_sink_string(sink, NULL), 0);
	ck_assert_uint_eq(tp_sink_string(sink, ""), 0);
	ck_assert_uint_eq(tp_sink_string(sink, "a"), 1);
	ck_assert_uint_eq(tp_sink_string(sink, "b"), 2);
	ck_assert_uint_eq(tp_sink_string(sink, "a"), 1);
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE, .module = 1, .address = 64};
	ck_assert_uint_eq(tp_sink_frame(sink, &frame), 1);
	ck_assert_uint_eq(tp_sink_frame(sink, &frame), 1);
	uint32_t frames[] = {1, 1};
	ck_assert_uint_eq(tp_sink_stack(sink, frames, 2, 0), 1);
	ck_assert_uint_eq(tp_sink_stack(sink, frames, 2, 0), 1);
	ck_assert_uint_eq(tp_sink_stack(sink, frames, 1, 0), 2);
	ck_assert_uint_eq(tp_sink_stack(sink, frames, 2, TP_STACK_TRUNCATED), 3);
	ck_assert_uint_eq(tp_sink_stack(sink, frames, 0, 0), 0);
	static const enum tp_record_kind kinds[] = {TP_RECORD_STRING, TP_RECORD_STRING,
						    TP_RECORD_FRAME,  TP_RECORD_STACK,
						    TP_RECORD_STACK,  TP_RECORD_STACK};
	static const uint32_t ids[] = {1, 2, 1, 1, 2, 3};
	ck_assert_uint_eq(listener.n_heard, 6);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_int_eq(listener.heard[i].kind, kinds[i]);
		ck_assert_uint_eq(listener.heard[i].id, ids[i]);
	}
	ck_assert_str_eq(listener.heard[1].of.string, "b");
}
END_TEST

/* Frames are different if any member differs. */
START_TEST(frames_that_differ_anywhere_are_different)
{
	struct tp_frame frames[] = {
		{.kind = TP_FRAME_NATIVE},
		{.kind = TP_FRAME_KERNEL},
		{.flags = TP_FRAME_GUESSED},
		{.module = 1},
		{.symbol = 1},
		{.file = 1},
		{.line = 1},
		{.address = 1},
		{.function_start = 1},
	};
	uint32_t n = sizeof(frames) / sizeof(frames[0]);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < n; i++)
			ck_assert_uint_eq(tp_sink_frame(&listener.sink, &frames[i]), i + 1);
	struct tp_frame got;
	tp_sink_frame_get(&listener.sink, 7, &got);
	ck_assert_uint_eq(got.line, 1);
	tp_sink_frame_get(&listener.sink, 99, &got);
	ck_assert_uint_eq(got.line, 0);
}
END_TEST

START_TEST(a_deep_stack_is_cut_at_its_root_and_says_so)
{
	uint32_t frames[TP_STACK_MAX_FRAMES + 1];
	for (uint32_t i = 0; i <= TP_STACK_MAX_FRAMES; i++)
		frames[i] = i + 1;
	uint32_t whole = tp_sink_stack(&listener.sink, frames, TP_STACK_MAX_FRAMES, 0);
	uint32_t cut = tp_sink_stack(&listener.sink, frames, TP_STACK_MAX_FRAMES + 1, 0);
	ck_assert_uint_ne(whole, cut);
	struct tp_stack stack;
	tp_sink_stack_get(&listener.sink, whole, &stack);
	ck_assert_uint_eq(stack.flags, 0);
	tp_sink_stack_get(&listener.sink, cut, &stack);
	ck_assert_uint_eq(stack.n_frames, TP_STACK_MAX_FRAMES);
	ck_assert_uint_eq(stack.flags, TP_STACK_TRUNCATED);
	ck_assert_uint_eq(stack.frames[0], 1);
	tp_sink_stack_get(&listener.sink, 99, &stack);
	ck_assert_uint_eq(stack.n_frames, 0);
}
END_TEST

START_TEST(stacks_above_the_limit_are_forgotten_and_defined_again)
{
	enum { N_FRAMES = 4, N_DIFFERENT = 8, LIMIT = 3 * 64 };
	struct tp_sink *sink = &listener.sink;
	uint32_t last = 0;
	sink->stacks_limit = LIMIT;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < N_DIFFERENT; i++) {
			uint32_t frames[N_FRAMES] = {i, 1, 2, 3};
			uint32_t id = tp_sink_stack(sink, frames, N_FRAMES, 0);
			struct tp_stack got;
			ck_assert_uint_eq(id, ++last);
			ck_assert_uint_eq(tp_sink_stack(sink, frames, N_FRAMES, 0), id);
			tp_sink_stack_get(sink, id, &got);
			ck_assert_uint_eq(got.n_frames, N_FRAMES);
			ck_assert_uint_eq(got.frames[0], i);
		}
	}
	ck_assert_uint_eq(listener.n_heard, 2 * N_DIFFERENT);
	for (uint32_t i = 0; i < 2 * N_DIFFERENT; i++) /* dense, each before its use */
		ck_assert_uint_eq(listener.heard[i].id, i + 1);
	struct tp_stack forgotten;
	tp_sink_stack_get(sink, 1, &forgotten);
	ck_assert_uint_eq(forgotten.n_frames, 0);
	ck_assert_uint_le(sink->n_stacks, 5);
}
END_TEST

START_TEST(texts_of_gaps_and_sources_are_defined_before_them)
{
	struct tp_availability state = {.presence = TP_PRESENCE_DEGRADED, .reason = "paranoid"};
	tp_sink_gap(&listener.sink, "perf", "lost", 10, 20, 7);
	tp_sink_source(&listener.sink, "perf", "stacks", &state, 5, 1);
	static const enum tp_record_kind kinds[] = {TP_RECORD_STRING, TP_RECORD_STRING,
						    TP_RECORD_GAP,    TP_RECORD_STRING,
						    TP_RECORD_STRING, TP_RECORD_SOURCE};
	ck_assert_uint_eq(listener.n_heard, 6);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(listener.heard[i].kind, kinds[i]);
	const struct tp_gap *gap = &listener.heard[2].of.gap;
	ck_assert_uint_eq(gap->source, 1);
	ck_assert_uint_eq(gap->reason, 2);
	ck_assert_uint_eq(gap->start_ns, 10);
	ck_assert_uint_eq(gap->end_ns, 20);
	ck_assert_uint_eq(gap->n_lost, 7);
	const struct tp_source *source = &listener.heard[5].of.source;
	ck_assert_uint_eq(source->name, 1);
	ck_assert_uint_eq(source->summary, 3);
	ck_assert_int_eq(source->presence, TP_PRESENCE_DEGRADED);
	ck_assert_uint_eq(source->reason, 4);
	ck_assert_uint_eq(source->remedy, 0);
	ck_assert_uint_eq(source->n_records, 5);
	ck_assert_uint_eq(source->n_lost, 1);
}
END_TEST

static void count_gauges(void *context, const struct tp_record *record)
{
	*(int *)context += record->kind == TP_RECORD_GAUGE;
}

START_TEST(a_watcher_sees_what_is_put_until_it_looks_away)
{
	int n = 0;
	tp_sink_watch(&listener.sink, count_gauges, &n);
	tp_sink_gauge(&listener.sink, TP_METRIC_SELF_CPU, TP_NO_TASK, 1, 2);
	tp_sink_gap(&listener.sink, "perf", "lost", 10, 20, 7);
	ck_assert_int_eq(n, 1);
	tp_sink_end_watch(&listener.sink, &n);
	tp_sink_gauge(&listener.sink, TP_METRIC_SELF_CPU, TP_NO_TASK, 1, 2);
	ck_assert_int_eq(n, 1);
}
END_TEST

Suite *suite_model_sink(void);
Suite *suite_model_sink(void)
{
	Suite *suite = suite_create("model/sink");
	TCase *tc = tcase_create("sink");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_definition_is_emitted_once_and_ids_are_dense);
	tcase_add_test(tc, frames_that_differ_anywhere_are_different);
	tcase_add_test(tc, a_deep_stack_is_cut_at_its_root_and_says_so);
	tcase_add_test(tc, stacks_above_the_limit_are_forgotten_and_defined_again);
	tcase_add_test(tc, texts_of_gaps_and_sources_are_defined_before_them);
	tcase_add_test(tc, a_watcher_sees_what_is_put_until_it_looks_away);
	suite_add_tcase(suite, tc);
	return suite;
}
