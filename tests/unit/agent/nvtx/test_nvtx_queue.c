/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the queue of ranges. */
#include "agent/nvtx/nvtx_queue.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 32, EACH = 2000 };

#define NS_PER_S UINT64_C(1000000000)

static struct tp_nvtx_queue *queue;

static void setup(void)
{
	queue = aligned_alloc(64, sizeof(*queue));
	memset(queue, 0, sizeof(*queue));
	tp_nvtx_queue_allow(queue, NS_PER_S);
}

static void teardown(void)
{
	free(queue);
}

static bool put(uint64_t x, size_t n, enum tp_nvtx_queue_use use)
{
	struct tp_gpu_event events[TP_NVTX_QUEUE_GROUP_MAX] = {{.type = TP_GPU_EVENT_PUSH, .x = x}};
	bool is_much;
	for (size_t i = 1; i < n; i++)
		events[i] = (struct tp_gpu_event){.type = TP_GPU_EVENT_PAYLOAD, .x = x + i};
	return tp_nvtx_queue_push(queue, events, n, use, &is_much);
}

START_TEST(queued_events_are_taken_together_in_order)
{
	struct tp_gpu_event out[TP_NVTX_QUEUE_GROUP_MAX];
	uint64_t n_lost = 9;
	ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 0);
	/* Three rounds of the queue, whose size is no multiple of the ranges' size. */
	for (uint64_t i = 0; i < 3 * TP_NVTX_QUEUE_CELLS / 3; i++) {
		ck_assert(put(i, 3, TP_NVTX_QUEUE_END));
		ck_assert_uint_eq(tp_nvtx_queue_length(queue), 3);
		ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 3);
		ck_assert_uint_eq(n_lost, 0);
		ck_assert_uint_eq(out[0].x, i);
		ck_assert_uint_eq(out[2].x, i + 2);
	}
	ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 0);
}
END_TEST

START_TEST(a_full_queue_counts_drops_and_reports_them_before_the_next_event)
{
	struct tp_gpu_event out[TP_NVTX_QUEUE_GROUP_MAX];
	uint64_t n_lost;
	const uint64_t fit = TP_NVTX_QUEUE_CELLS - TP_NVTX_QUEUE_RESERVED;
	for (uint64_t i = 0; i < fit; i++)
		ck_assert(put(i, 1, TP_NVTX_QUEUE_OUTER));
	ck_assert(!put(0, 1, TP_NVTX_QUEUE_OUTER));
	ck_assert(!put(0, 2, TP_NVTX_QUEUE_OUTER));
	for (uint64_t i = 0; i < TP_NVTX_QUEUE_RESERVED; i++)
		ck_assert(put(fit + i, 1, TP_NVTX_QUEUE_END));
	ck_assert(!put(0, 1, TP_NVTX_QUEUE_END));
	for (uint64_t i = 0; i < TP_NVTX_QUEUE_CELLS; i++) {
		ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 1);
		ck_assert_uint_eq(out[0].x, i);
		ck_assert_uint_eq(n_lost, i == fit ? 3 : 0);
	}
	ck_assert(put(77, 1, TP_NVTX_QUEUE_OUTER));
	ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 1);
	ck_assert_uint_eq(n_lost, 1);
	ck_assert_uint_eq(tp_nvtx_queue_pop_lost(queue, UINT64_MAX), 0);
}
END_TEST

START_TEST(drops_are_counted_once_and_may_be_counted_in_parts)
{
	enum { DROPPED = 3 * UINT16_MAX };
	for (int i = 0; i < TP_NVTX_QUEUE_CELLS; i++)
		ck_assert(put(0, 1, TP_NVTX_QUEUE_END));
	for (int i = 0; i < DROPPED; i++)
		ck_assert(!put(0, 1, TP_NVTX_QUEUE_END));
	ck_assert_uint_eq(tp_nvtx_queue_pop_lost(queue, 5), 5);
	ck_assert(tp_nvtx_queue_has_news(queue));
	ck_assert_uint_eq(tp_nvtx_queue_pop_lost(queue, UINT64_MAX), DROPPED - 5);
	ck_assert_uint_eq(tp_nvtx_queue_pop_lost(queue, UINT64_MAX), 0);
}
END_TEST

START_TEST(ranges_in_ranges_are_the_first_to_be_left_out)
{
	struct tp_gpu_event out[TP_NVTX_QUEUE_GROUP_MAX];
	uint64_t n_lost;
	uint64_t n = 0;
	while (tp_nvtx_queue_can_add(queue, 1, TP_NVTX_QUEUE_INNER)) {
		ck_assert(put(n++, 1, TP_NVTX_QUEUE_INNER));
		ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 1);
	}
	ck_assert_uint_eq(n, TP_NVTX_QUEUE_BURST / 2);
	while (tp_nvtx_queue_can_add(queue, 1, TP_NVTX_QUEUE_OUTER)) {
		ck_assert(put(n++, 1, TP_NVTX_QUEUE_OUTER));
		ck_assert_uint_eq(tp_nvtx_queue_pop(queue, out, &n_lost), 1);
	}
	ck_assert_uint_eq(n, TP_NVTX_QUEUE_BURST);
	ck_assert(tp_nvtx_queue_can_add(queue, 1, TP_NVTX_QUEUE_END));
	/* One second later the queue accepts as many more as the sustained rate allows; after an
	 * hour, as many as the burst limit allows. */
	tp_nvtx_queue_allow(queue, 2 * NS_PER_S);
	ck_assert(tp_nvtx_queue_can_add(queue, TP_NVTX_QUEUE_PER_S, TP_NVTX_QUEUE_OUTER));
	ck_assert(!tp_nvtx_queue_can_add(queue, TP_NVTX_QUEUE_PER_S + 1, TP_NVTX_QUEUE_OUTER));
	tp_nvtx_queue_allow(queue, 3600 * NS_PER_S);
	ck_assert(tp_nvtx_queue_can_add(queue, TP_NVTX_QUEUE_BURST, TP_NVTX_QUEUE_OUTER));
	ck_assert(!tp_nvtx_queue_can_add(queue, TP_NVTX_QUEUE_BURST + 1, TP_NVTX_QUEUE_OUTER));
}
END_TEST

START_TEST(the_queue_asks_to_be_drained)
{
	const struct tp_gpu_event event = {.type = TP_GPU_EVENT_MARK};
	unsigned n_said = 0;
	for (uint64_t i = 0; i < TP_NVTX_QUEUE_CELLS; i++) {
		bool is_much = false;
		ck_assert(tp_nvtx_queue_push(queue, &event, 1, TP_NVTX_QUEUE_END, &is_much));
		n_said += is_much;
	}
	ck_assert_uint_eq(n_said, 4);
}
END_TEST

/* Each thread puts its own numbers, with the thread's number in the upper half. */
static void *put_many(void *thread)
{
	for (uint64_t i = 0; i < EACH;)
		if (put((uint64_t)(uintptr_t)thread << 32 | i, 1 + i % 3, TP_NVTX_QUEUE_END))
			i++;
		else
			sched_yield();
	return NULL;
}

START_TEST(many_threads_put_and_nothing_is_torn_or_out_of_order)
{
	pthread_t threads[THREADS];
	uint64_t next[THREADS] = {0};
	uint64_t n_taken = 0;
	struct tp_gpu_event out[TP_NVTX_QUEUE_GROUP_MAX];
	uint64_t n_lost;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, put_many, (void *)i);
	while (n_taken < (uint64_t)THREADS * EACH) {
		size_t n = tp_nvtx_queue_pop(queue, out, &n_lost);
		if (!n) {
			sched_yield();
			continue;
		}
		uint64_t thread = out[0].x >> 32;
		uint64_t i = out[0].x & UINT32_MAX;
		ck_assert_uint_lt(thread, THREADS);
		ck_assert_uint_eq(i, next[thread]++);
		ck_assert_uint_eq(n, 1 + i % 3);
		for (size_t k = 1; k < n; k++)
			ck_assert_uint_eq(out[k].x, out[0].x + k);
		n_taken++;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(tp_nvtx_queue_length(queue), 0);
}
END_TEST

Suite *suite_agent_nvtx_queue(void);
Suite *suite_agent_nvtx_queue(void)
{
	Suite *suite = suite_create("agent_rangequeue");
	TCase *tests = tcase_create("rangequeue");
	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, queued_events_are_taken_together_in_order);
	tcase_add_test(tests, a_full_queue_counts_drops_and_reports_them_before_the_next_event);
	tcase_add_test(tests, drops_are_counted_once_and_may_be_counted_in_parts);
	tcase_add_test(tests, ranges_in_ranges_are_the_first_to_be_left_out);
	tcase_add_test(tests, the_queue_asks_to_be_drained);
	tcase_add_test(tests, many_threads_put_and_nothing_is_torn_or_out_of_order);
	suite_add_tcase(suite, tests);
	return suite;
}
