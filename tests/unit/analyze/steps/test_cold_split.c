/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of functions that a compiler has split. */
#include "analyze/hand.h"

#include "analyze/steps/call_tree.h"
#include "analyze/steps/cold_split.h"

#include "trainprof/base/map.h"

static const struct {
	const char *hot;
	const char *cold;
	bool is_one;
} pairs[] = {
	{"main", "main.cold", true},    {"_ZN7Trainer4stepEv", "_ZN7Trainer4stepEv.cold", true},
	{"step", "step.cold.12", true}, {"step.part.0", "step.part.0.cold", true},
	{"main", "main.colder", false}, {"main", "domain.cold", false},
	{"main", "main.part.0", false},
};

START_TEST(a_cold_part_is_of_its_function)
{
	struct hand hand;
	struct tp_map hot;
	uint64_t found = 0;
	hand_init(&hand);
	uint32_t main_frame = hand_frame(&hand, "/x/train", pairs[_i].hot);
	uint32_t cold_frame = hand_frame(&hand, "/x/train", pairs[_i].cold);
	hand_frame(&hand, "/x/other.so", pairs[_i].hot);
	hand_finish(&hand);
	tp_cold_split_find(&hot, &hand.trace);
	ck_assert_int_eq(tp_map_get(&hot, cold_frame, &found), pairs[_i].is_one);
	ck_assert(!tp_map_get(&hot, main_frame, NULL));
	if (pairs[_i].is_one)
		ck_assert_uint_eq(found, main_frame);
	tp_map_release(&hot);
	hand_release(&hand);
}
END_TEST

/* An evaluation that is called from the cold part is one more callee of the loop. */
START_TEST(callees_of_both_parts_are_those_of_one_function)
{
	struct hand hand;
	struct tp_call_tree tree;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/x/train");
	const uint32_t stacks[] = {hand_stack(&hand, "/x/train", "main", "/x/train", "step", 0),
				   hand_stack(&hand, "/x/train", "main.cold", "/x/train", "score",
					      0)};
	for (int i = 0; i < 40; i++) {
		const struct tp_sample sample = {.state = TP_STATE_ON_CPU,
						 .stack = stacks[i % 2],
						 .syscall = -1};
		hand_run(&hand, 0, 0.1 * i, 0.1 * i + 0.1, TP_RUN_PREEMPTED);
		hand_sample(&hand, &sample, 0.1 * i + 0.05);
	}
	hand_finish(&hand);
	tp_call_tree_init(&tree, &hand.analysis, 0);
	uint32_t loop = tree.nodes[0].first_child;
	ck_assert_uint_eq(tree.nodes[loop].next_sibling, TP_NO_NODE);
	uint32_t callee = tree.nodes[loop].first_child;
	ck_assert_uint_ne(tree.nodes[callee].next_sibling, TP_NO_NODE);
	tp_call_tree_release(&tree);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_cold_split(void);
Suite *suite_analyze_cold_split(void)
{
	Suite *suite = suite_create("analyze/coldcode");
	TCase *tc = tcase_create("coldcode");
	tcase_add_loop_test(tc, a_cold_part_is_of_its_function, 0,
			    sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(tc, callees_of_both_parts_are_those_of_one_function);
	suite_add_tcase(suite, tc);
	return suite;
}
