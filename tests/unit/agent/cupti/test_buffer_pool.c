/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the buffer pool. */
#include "agent/cupti/buffer_pool.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 20000 };

START_TEST(each_buffer_is_handed_out_once)
{
	struct tp_buffer_pool pool;
	uint8_t *seen[TP_BUFFER_POOL_N];
	ck_assert_int_eq(tp_buffer_pool_init(&pool), 0);
	for (int i = 0; i < TP_BUFFER_POOL_N; i++) {
		seen[i] = tp_buffer_pool_get(&pool);
		ck_assert_ptr_nonnull(seen[i]);
		ck_assert_uint_eq((uintptr_t)seen[i] % 8, 0);
		ck_assert(i == 0 || seen[i] >= seen[i - 1] + TP_BUFFER_POOL_BYTES);
	}
	ck_assert_ptr_null(tp_buffer_pool_get(&pool));
	ck_assert(tp_buffer_pool_release(&pool, seen[77]));
	ck_assert_ptr_eq(tp_buffer_pool_get(&pool), seen[77]);
}
END_TEST

START_TEST(a_buffer_that_was_not_taken_cannot_be_returned)
{
	struct tp_buffer_pool pool;
	struct tp_buffer_pool none = {0};
	ck_assert_int_eq(tp_buffer_pool_init(&pool), 0);
	uint8_t *buffer = tp_buffer_pool_get(&pool);
	ck_assert(!tp_buffer_pool_release(&pool, buffer + 8));
	ck_assert(!tp_buffer_pool_release(&pool, buffer + TP_BUFFER_POOL_BYTES));
	ck_assert(!tp_buffer_pool_release(&pool, (const uint8_t *)&pool));
	ck_assert(tp_buffer_pool_release(&pool, buffer));
	ck_assert(!tp_buffer_pool_release(&pool, buffer));
	ck_assert_ptr_null(tp_buffer_pool_get(&none));
	ck_assert(!tp_buffer_pool_release(&none, buffer));
}
END_TEST

/* With any number of buffers in use: no address is returned twice, and a released one is reused. */
START_TEST(spare_ones_are_never_handed_out_twice)
{
	enum { N = 3 * TP_BUFFER_POOL_SPARES };
	struct tp_buffer_pool pool;
	uint8_t *spares[N];
	ck_assert_int_eq(tp_buffer_pool_init(&pool), 0);
	for (int i = 0; i < N; i++) {
		spares[i] = tp_buffer_pool_get_extra(&pool);
		ck_assert_ptr_nonnull(spares[i]);
		ck_assert(!tp_buffer_pool_owns(&pool, spares[i]));
		ck_assert(!tp_buffer_pool_release(&pool, spares[i]));
		memset(spares[i], i, TP_BUFFER_POOL_SPARE_BYTES);
	}
	for (int i = 0; i < N; i++)
		ck_assert_uint_eq(spares[i][TP_BUFFER_POOL_SPARE_BYTES - 1], (uint8_t)i);
	for (int i = 0; i < N; i++)
		tp_buffer_pool_release_extra(&pool, spares[i]);
	ck_assert_ptr_eq(tp_buffer_pool_get_extra(&pool), spares[0]);
}
END_TEST

static void *fill(void *context)
{
	struct tp_buffer_pool *pool = context;
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *buffer = tp_buffer_pool_get(pool);
		ck_assert_ptr_nonnull(buffer);
		(*buffer)++; /* TSan would detect two owners at once here, all builds below */
		tp_buffer_pool_release(pool, buffer);
	}
	return NULL;
}

START_TEST(threads_never_share_one)
{
	struct tp_buffer_pool pool;
	pthread_t threads[THREADS];
	unsigned sum = 0;
	ck_assert_int_eq(tp_buffer_pool_init(&pool), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fill, &pool);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		sum += pool.memory[(size_t)i * TP_BUFFER_POOL_BYTES];
	ck_assert_uint_eq(sum % 256, THREADS * ROUNDS % 256);
	for (size_t w = 0; w < TP_BUFFER_POOL_N / 64; w++)
		ck_assert_uint_eq(pool.taken[w], 0);
}
END_TEST

Suite *suite_agent_buffer_pool(void);
Suite *suite_agent_buffer_pool(void)
{
	Suite *suite = suite_create("agent_bufferpool");
	TCase *tests = tcase_create("bufferpool");
	tcase_add_test(tests, each_buffer_is_handed_out_once);
	tcase_add_test(tests, spare_ones_are_never_handed_out_twice);
	tcase_add_test(tests, a_buffer_that_was_not_taken_cannot_be_returned);
	tcase_add_test(tests, threads_never_share_one);
	suite_add_tcase(suite, tests);
	return suite;
}
