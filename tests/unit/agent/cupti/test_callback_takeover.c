/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the conditions under which callbacks count as taken over. */
#include "agent/cupti/callback_takeover.h"

#include <check.h>

static const uint64_t STEP_NS = 100000000; /* the agent checks ten times per second */
enum { SECOND = 10 };

/* A program that launches `rate` kernels per check, and whose buffers are delivered or not. */
struct scene {
	struct tp_callback_takeover theft;
	uint64_t now_ns;
	uint64_t n_moved;
	uint64_t n_called;
	bool is_watched;
	int n_watches;
	int n_watched_looks;
};

static enum tp_callback_takeover_verdict check_takeover(struct scene *scene, uint64_t rate,
							bool moves)
{
	scene->now_ns += STEP_NS;
	scene->n_moved += moves;
	scene->n_called += scene->is_watched ? rate : 0;
	scene->n_watched_looks += scene->is_watched;
	enum tp_callback_takeover_verdict verdict =
		tp_callback_takeover_check(&scene->theft, scene->now_ns, scene->n_moved,
					   scene->n_called);
	if (verdict == TP_CALLBACK_TAKEOVER_WATCH) {
		scene->is_watched = true;
		scene->n_watches++;
	}
	if (verdict == TP_CALLBACK_TAKEOVER_UNWATCH)
		scene->is_watched = false;
	return verdict;
}

START_TEST(a_busy_program_whose_buffers_move_is_never_watched)
{
	struct scene scene = {0};
	for (int i = 0; i < 600 * SECOND; i++)
		ck_assert_int_eq(check_takeover(&scene, 1000, true), TP_CALLBACK_TAKEOVER_NONE);
	ck_assert_int_eq(scene.n_watches, 0);
}
END_TEST

START_TEST(launches_without_buffers_are_theft)
{
	struct scene scene = {0};
	for (int i = 0; i < 5 * SECOND; i++)
		check_takeover(&scene, 1000, true);
	int looks = 0;
	while (check_takeover(&scene, 1000, false) != TP_CALLBACK_TAKEOVER_DONE)
		ck_assert_int_lt(looks++, 14 * SECOND);
	ck_assert_int_ge(looks, 12 * SECOND - 1); /* two quiet seconds, ten watched ones */
	ck_assert_int_eq(scene.n_watches, 1);
}
END_TEST

START_TEST(an_idle_program_is_not_robbed_and_watched_ever_more_rarely)
{
	struct scene scene = {0};
	for (int i = 0; i < 600 * SECOND; i++)
		ck_assert_int_ne(check_takeover(&scene, 0, false), TP_CALLBACK_TAKEOVER_DONE);
	ck_assert_int_ge(scene.n_watches, 5);
	ck_assert_int_le(scene.n_watched_looks, 15 * SECOND);
}
END_TEST

/* One kernel takes minutes: the program launches until the queue is full, a thousand kernels
 * later. */
START_TEST(a_gpu_that_is_stuck_is_no_thief)
{
	struct scene scene = {0};
	for (int i = 0; i < 3 * SECOND; i++)
		check_takeover(&scene, 20, true);
	for (int i = 0; i < 5 * SECOND; i++)
		ck_assert_int_ne(check_takeover(&scene, 20, false), TP_CALLBACK_TAKEOVER_DONE);
	for (int i = 0; i < 300 * SECOND; i++)
		ck_assert_int_ne(check_takeover(&scene, 0, false), TP_CALLBACK_TAKEOVER_DONE);
}
END_TEST

START_TEST(a_program_that_goes_on_is_cleared)
{
	struct scene scene = {0};
	for (int i = 0; i < 3 * SECOND; i++)
		check_takeover(&scene, 0, false);
	check_takeover(&scene, 1000, false);
	while (!scene.is_watched)
		check_takeover(&scene, 1000, false);
	for (int i = 0; i < SECOND; i++) /* launches; the buffer comes a second later */
		ck_assert_int_ne(check_takeover(&scene, 1000, false), TP_CALLBACK_TAKEOVER_DONE);
	ck_assert_int_eq(check_takeover(&scene, 1000, true), TP_CALLBACK_TAKEOVER_UNWATCH);
	for (int i = 0; i < 60 * SECOND; i++)
		ck_assert_int_eq(check_takeover(&scene, 1000, true), TP_CALLBACK_TAKEOVER_NONE);
}
END_TEST

Suite *suite_agent_callback_takeover(void);
Suite *suite_agent_callback_takeover(void)
{
	Suite *suite = suite_create("agent_theft");
	TCase *tests = tcase_create("theft");
	tcase_add_test(tests, a_busy_program_whose_buffers_move_is_never_watched);
	tcase_add_test(tests, launches_without_buffers_are_theft);
	tcase_add_test(tests, an_idle_program_is_not_robbed_and_watched_ever_more_rarely);
	tcase_add_test(tests, a_gpu_that_is_stuck_is_no_thief);
	tcase_add_test(tests, a_program_that_goes_on_is_cleared);
	suite_add_tcase(suite, tests);
	return suite;
}
