/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of matching kernels to NCCL calls. */
#include "collect/gpu/trace/nccl_match.h"

#include "trainprof/model/sink.h"
#include "trainprof/model/trace.h"

#include <check.h>

static struct tp_trace_builder sink;
static struct tp_nccl_match *match;

static void setup(void)
{
	tp_trace_builder_init(&sink);
	match = tp_nccl_match_new(&sink.sink, 3);
}

static void teardown(void)
{
	tp_nccl_match_free(match);
	tp_trace_builder_release(&sink);
}

static uint32_t call(enum tp_nccl_kind kind, uint64_t communicator, uint64_t bytes)
{
	return tp_nccl_match_call(match, &(struct tp_nccl_call){.kind = kind,
								.op = "ncclAllReduce",
								.bytes = bytes,
								.communicator = communicator});
}

/* A complete range with a call in it. */
static void range(size_t thread, uint64_t communicator, uint64_t bytes, uint64_t from,
		  uint64_t until)
{
	tp_nccl_match_begin(match, thread);
	tp_nccl_match_end(match, thread, call(TP_NCCL_COLLECTIVE, communicator, bytes),
			  TP_NCCL_GROUP_NONE, from, until);
}

static void group(size_t thread, enum tp_nccl_group which, uint64_t from, uint64_t until)
{
	tp_nccl_match_begin(match, thread);
	tp_nccl_match_end(match, thread, 0, which, from, until);
}

/* Returns the bytes of the launch's call; UINT64_MAX = not known. */
static uint64_t bytes_of(uint32_t link)
{
	struct tp_detail detail;
	uint32_t id;
	if (!tp_nccl_match_find(match, link, &id))
		return UINT64_MAX;
	tp_sink_detail_get(&sink.sink, id, &detail);
	return detail.bytes;
}

START_TEST(a_launch_belongs_to_the_range_around_it_in_its_thread)
{
	range(0, 1, 100, 10, 20);
	range(1, 1, 200, 10, 20);
	range(0, 1, 300, 30, 40);
	tp_nccl_match_launch(match, 0, 7, 10);
	tp_nccl_match_launch(match, 1, 8, 19);
	tp_nccl_match_launch(match, 0, 9, 35);
	tp_nccl_match_launch(match, 0, 10, 20); /* between */
	tp_nccl_match_launch(match, 5, 11, 15); /* a thread without calls */
	ck_assert_uint_eq(bytes_of(8), 200);
	ck_assert_uint_eq(bytes_of(9), 300);
	ck_assert_uint_eq(bytes_of(7), 100);
	ck_assert_uint_eq(bytes_of(7), UINT64_MAX); /* each match is returned once */
	ck_assert_uint_eq(bytes_of(10), UINT64_MAX);
	ck_assert_uint_eq(bytes_of(11), UINT64_MAX);
}
END_TEST

START_TEST(a_launch_may_come_before_the_end_of_its_range)
{
	tp_nccl_match_begin(match, 0);
	tp_nccl_match_launch(match, 0, 7, 15);
	ck_assert_uint_eq(bytes_of(7), UINT64_MAX);
	tp_nccl_match_end(match, 0, call(TP_NCCL_COLLECTIVE, 1, 100), TP_NCCL_GROUP_NONE, 10, 20);
	ck_assert_uint_eq(bytes_of(7), 100);
}
END_TEST

START_TEST(of_two_kernels_of_a_call_the_first_has_the_bytes)
{
	range(0, 1, 100, 10, 20);
	tp_nccl_match_launch(match, 0, 7, 11);
	tp_nccl_match_launch(match, 0, 8, 12);
	ck_assert_uint_eq(bytes_of(8), 100);
	ck_assert_uint_eq(bytes_of(7), 0);
}
END_TEST

START_TEST(groups_nest_and_have_a_kernel_for_each_communicator)
{
	group(0, TP_NCCL_GROUP_START, 1, 2);
	range(0, 1, 100, 3, 4);
	group(0, TP_NCCL_GROUP_START, 5, 6);
	range(0, 2, 1000, 7, 8);
	range(0, 1, 100, 9, 10);
	group(0, TP_NCCL_GROUP_END, 11, 12);
	if (_i) { /* the launches come before the end */
		tp_nccl_match_begin(match, 0);
		tp_nccl_match_launch(match, 0, 7, 21);
		tp_nccl_match_launch(match, 0, 8, 22);
		tp_nccl_match_end(match, 0, 0, TP_NCCL_GROUP_END, 20, 30);
	} else {
		group(0, TP_NCCL_GROUP_END, 20, 30);
		tp_nccl_match_launch(match, 0, 7, 21);
		tp_nccl_match_launch(match, 0, 8, 22);
	}
	ck_assert_uint_eq(bytes_of(7), 200);
	ck_assert_uint_eq(bytes_of(8), 1000);
}
END_TEST

START_TEST(collectives_of_each_communicator_are_numbered)
{
	struct tp_detail detail;
	static const struct {
		uint64_t communicator;
		enum tp_nccl_kind kind;
		uint32_t sequence;
	} asked[] = {{1, TP_NCCL_COLLECTIVE, 1}, {2, TP_NCCL_COLLECTIVE, 1},
		     {1, TP_NCCL_COLLECTIVE, 2}, {1, TP_NCCL_PEER, 0},
		     {1, TP_NCCL_COLLECTIVE, 3}, {0, TP_NCCL_COLLECTIVE, 0}};
	ck_assert(!tp_nccl_match_is_used(match));
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		tp_sink_detail_get(&sink.sink, call(asked[i].kind, asked[i].communicator, 5),
				   &detail);
		ck_assert_uint_eq(detail.sequence, asked[i].sequence);
	}
	ck_assert(tp_nccl_match_is_used(match));
}
END_TEST

START_TEST(sends_are_never_matched_with_those_of_other_processes)
{
	struct tp_detail sent;
	struct tp_detail reduced;
	tp_sink_detail_get(&sink.sink, call(TP_NCCL_PEER, 1, 5), &sent);
	tp_sink_detail_get(&sink.sink, call(TP_NCCL_COLLECTIVE, 1, 5), &reduced);
	ck_assert_str_eq(tp_strtab_text(&sink.sink.strings, reduced.group), "0000000000000001");
	ck_assert_str_eq(tp_strtab_text(&sink.sink.strings, sent.group),
			 "0000000000000001: sends and receives of process 3");
}
END_TEST

/* More calls and launches than are kept: memory stays bounded, the newest are known. */
START_TEST(what_nobody_asks_for_is_forgotten)
{
	for (uint32_t i = 1; i <= 200000; i++) {
		range(0, 1, i, 10 * (uint64_t)i, 10 * (uint64_t)i + 5);
		tp_nccl_match_launch(match, 0, i, 10 * (uint64_t)i + 1);
		tp_nccl_match_begin(match, 1);
		tp_nccl_match_launch(match, 1, i, 10);
	}
	ck_assert_uint_eq(bytes_of(200000), 200000);
	ck_assert(bytes_of(1) == 0 || bytes_of(1) == UINT64_MAX);
}
END_TEST

Suite *suite_collect_nccl_match(void);
Suite *suite_collect_nccl_match(void)
{
	Suite *suite = suite_create("collect_gputalk");
	TCase *tests = tcase_create("gputalk");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_launch_belongs_to_the_range_around_it_in_its_thread);
	tcase_add_test(tests, a_launch_may_come_before_the_end_of_its_range);
	tcase_add_test(tests, of_two_kernels_of_a_call_the_first_has_the_bytes);
	tcase_add_loop_test(tests, groups_nest_and_have_a_kernel_for_each_communicator, 0, 2);
	tcase_add_test(tests, collectives_of_each_communicator_are_numbered);
	tcase_add_test(tests, sends_are_never_matched_with_those_of_other_processes);
	tcase_add_test(tests, what_nobody_asks_for_is_forgotten);
	suite_add_tcase(suite, tests);
	return suite;
}
