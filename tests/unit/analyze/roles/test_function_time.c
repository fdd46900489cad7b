/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what two threads have in common. */
#include "analyze/hand.h"

#include "analyze/roles/function_time.h"

/* On a CPU for a tenth of a second each: `n_a` times in one function, then `n_b` in the other. */
static void work(struct hand *hand, uint32_t task, int n_a, const char *a, int n_b, const char *b)
{
	uint32_t stacks[] = {hand_stack(hand, "/x/train", "main", "/x/train", a, 0),
			     hand_stack(hand, "/x/train", "main", "/x/train", b, 0)};
	hand_task(hand, task, 100, 100 + (int)task, "/x/train");
	for (int i = 0; i < n_a + n_b; i++) {
		struct tp_sample sample = {.task = task,
					   .state = TP_STATE_ON_CPU,
					   .stack = stacks[i >= n_a],
					   .syscall = -1};
		hand_run(hand, task, 0.1 * i, 0.1 * i + 0.1, TP_RUN_PREEMPTED);
		hand_sample(hand, &sample, 0.1 * i + 0.05);
	}
}

static const struct pair {
	int n_a;
	const char *a;
	int n_b;
	const char *b;
	double expected;
} pairs[] = {
	{10, "product", 10, "update", 1},   /* the same in the same proportion */
	{20, "product", 20, "update", 1},   /* and for a longer time */
	{20, "product", 0, "update", 0.5},  /* half of the other's work */
	{10, "crop", 10, "flip", 0},        /* nothing in common */
	{10, "product", 10, "memcpy", 0.5}, /* copies do not count: all work is in one function */
	{10, "memcpy", 10, "memset", 0},    /* a thread without work resembles none */
};

START_TEST(overlap_is_the_share_of_work_in_the_same_functions)
{
	const struct pair *pair = &pairs[_i];
	struct hand hand;
	hand_init(&hand);
	work(&hand, 0, 10, "product", 10, "update");
	work(&hand, 1, pair->n_a, pair->a, pair->n_b, pair->b);
	hand_finish(&hand);
	struct tp_function_time first = {0};
	struct tp_function_time second = {0};
	tp_function_time_add(&first, &hand.analysis, 0);
	tp_function_time_add(&second, &hand.analysis, 1);
	ck_assert_double_eq_tol(tp_function_time_overlap(&first, &second), pair->expected, 1e-6);
	ck_assert_double_eq_tol(tp_function_time_overlap(&second, &first), pair->expected, 1e-6);
	tp_function_time_release(&first);
	tp_function_time_release(&second);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_function_time(void);
Suite *suite_analyze_function_time(void)
{
	Suite *suite = suite_create("analyze/doings");
	TCase *tc = tcase_create("overlap");
	tcase_add_loop_test(tc, overlap_is_the_share_of_work_in_the_same_functions, 0,
			    sizeof(pairs) / sizeof(pairs[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
