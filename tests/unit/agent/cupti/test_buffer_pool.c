/* Claims about the pool of buffers. */
#include "agent/cupti/buffer_pool.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 20000 };

START_TEST(each_buffer_is_handed_out_once)
{
	struct tp_bufferpool pool;
	uint8_t *seen[TP_BUFFERPOOL_N];
	ck_assert_int_eq(tp_bufferpool_init(&pool), 0);
	for (int i = 0; i < TP_BUFFERPOOL_N; i++) {
		seen[i] = tp_bufferpool_take(&pool);
		ck_assert_ptr_nonnull(seen[i]);
		ck_assert_uint_eq((uintptr_t)seen[i] % 8, 0);
		ck_assert(i == 0 || seen[i] >= seen[i - 1] + TP_BUFFERPOOL_BYTES);
	}
	ck_assert_ptr_null(tp_bufferpool_take(&pool));
	ck_assert(tp_bufferpool_give(&pool, seen[77]));
	ck_assert_ptr_eq(tp_bufferpool_take(&pool), seen[77]);
}
END_TEST

START_TEST(what_is_not_taken_cannot_be_given)
{
	struct tp_bufferpool pool;
	struct tp_bufferpool none = {0};
	ck_assert_int_eq(tp_bufferpool_init(&pool), 0);
	uint8_t *buffer = tp_bufferpool_take(&pool);
	ck_assert(!tp_bufferpool_give(&pool, buffer + 8));
	ck_assert(!tp_bufferpool_give(&pool, buffer + TP_BUFFERPOOL_BYTES));
	ck_assert(!tp_bufferpool_give(&pool, (const uint8_t *)&pool));
	ck_assert(tp_bufferpool_give(&pool, buffer));
	ck_assert(!tp_bufferpool_give(&pool, buffer));
	ck_assert_ptr_null(tp_bufferpool_take(&none));
	ck_assert(!tp_bufferpool_give(&none, buffer));
}
END_TEST

static void *fill(void *context)
{
	struct tp_bufferpool *pool = context;
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *buffer = tp_bufferpool_take(pool);
		ck_assert_ptr_nonnull(buffer);
		(*buffer)++; /* two owners at once would be seen here by TSan, and below by all */
		tp_bufferpool_give(pool, buffer);
	}
	return NULL;
}

START_TEST(threads_never_share_one)
{
	struct tp_bufferpool pool;
	pthread_t threads[THREADS];
	unsigned sum = 0;
	ck_assert_int_eq(tp_bufferpool_init(&pool), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fill, &pool);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		sum += pool.memory[(size_t)i * TP_BUFFERPOOL_BYTES];
	ck_assert_uint_eq(sum % 256, THREADS * ROUNDS % 256);
	for (size_t w = 0; w < TP_BUFFERPOOL_N / 64; w++)
		ck_assert_uint_eq(pool.taken[w], 0);
}
END_TEST

Suite *suite_agent_buffer_pool(void);
Suite *suite_agent_buffer_pool(void)
{
	Suite *suite = suite_create("agent_bufferpool");
	TCase *tests = tcase_create("bufferpool");
	tcase_add_test(tests, each_buffer_is_handed_out_once);
	tcase_add_test(tests, what_is_not_taken_cannot_be_given);
	tcase_add_test(tests, threads_never_share_one);
	suite_add_tcase(suite, tests);
	return suite;
}
