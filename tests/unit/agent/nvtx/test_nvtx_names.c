/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of range names. */
#include "agent/nvtx/nvtx_names.h"

#include "agent/ringreading.h"

enum { THREADS = 32, NAMES = 200 };

static char *directory;
static struct tp_ring_writer ring;
static struct tp_nvtx_names names;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void setup(void)
{
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, 64), 0);
	names = (struct tp_nvtx_names){.ring = &ring, .lock = &lock};
}

static void teardown(void)
{
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}

static uint32_t id_of(const char *name)
{
	struct tp_nvtx_message text;
	tp_nvtx_message_copy(&text, name);
	return tp_nvtx_names_id(&names, &text);
}

START_TEST(a_name_has_one_id_and_its_text_is_in_the_ring)
{
	uint32_t forward = id_of("forward");
	uint32_t backward = id_of("backward");
	ck_assert_uint_ne(forward, 0);
	ck_assert_uint_ne(forward, backward);
	ck_assert_uint_eq(id_of("forward"), forward);
	ck_assert_str_eq(tp_ring_writer_name(&ring, backward), "backward");
	ck_assert_uint_eq(id_of(""), 0);
	ck_assert_uint_eq(ring.header->n_unnamed, 0);
}
END_TEST

START_TEST(a_thread_that_finds_the_lock_taken_continues_without_a_name)
{
	uint32_t known = id_of("known");
	pthread_mutex_lock(&lock);
	ck_assert_uint_eq(id_of("new"), 0);
	ck_assert_uint_eq(id_of("known"), known);
	ck_assert_uint_eq(ring.header->n_unnamed, 1);
	pthread_mutex_unlock(&lock);
	ck_assert_uint_ne(id_of("new"), 0);
}
END_TEST

START_TEST(half_of_the_table_is_left_to_others)
{
	char name[TP_NVTX_MESSAGE_MAX + 1];
	uint32_t known = id_of("known");
	for (int i = 0; i < 2 * TP_NVTX_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "%0*d", _i ? 500 : 8, i);
		id_of(name);
	}
	ck_assert_uint_gt(ring.header->n_unnamed, 0);
	ck_assert_uint_le(ring.header->n_name_bytes, TP_GPU_RING_NAME_BYTES / 2 + 1024);
	ck_assert_uint_eq(id_of("known"), known);
	ck_assert_uint_ne(tp_ring_writer_add_name(&ring, "kernel", 6), 0);
}
END_TEST

static void *get_id(void *out)
{
	uint32_t *ids = out;
	char name[32];
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		ids[i] = id_of(name);
	}
	return NULL;
}

START_TEST(threads_that_ask_at_once_get_the_same)
{
	static uint32_t ids[THREADS][NAMES];
	pthread_t threads[THREADS];
	char name[32];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, get_id, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int k = 0; k < NAMES; k++) {
		snprintf(name, sizeof(name), "name %d", k);
		uint32_t id = id_of(name);
		ck_assert_str_eq(tp_ring_writer_name(&ring, id), name);
		for (int i = 0; i < THREADS; i++)
			ck_assert(ids[i][k] == id || ids[i][k] == 0);
	}
	ck_assert_uint_eq(names.n, NAMES);
}
END_TEST

Suite *suite_agent_nvtx_names(void);
Suite *suite_agent_nvtx_names(void)
{
	Suite *suite = suite_create("agent_rangenames");
	TCase *tests = tcase_create("rangenames");
	tcase_set_timeout(tests, 30);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_name_has_one_id_and_its_text_is_in_the_ring);
	tcase_add_test(tests, a_thread_that_finds_the_lock_taken_continues_without_a_name);
	tcase_add_loop_test(tests, half_of_the_table_is_left_to_others, 0, 2);
	tcase_add_test(tests, threads_that_ask_at_once_get_the_same);
	suite_add_tcase(suite, tests);
	return suite;
}
