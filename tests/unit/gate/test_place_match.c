/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding the lines of one run in another. */
#include "gate/place_match.h"

#include <check.h>

enum { PLACES_MAX = 8 };

struct made {
	struct tp_arena arena;
	struct tp_value_place places[PLACES_MAX];
	struct tp_value_places all;
};

/* Adds a line of train.py, or a kernel (line 0), with its time in ms. */
static void add(struct made *made, const char *function, unsigned line, double ms)
{
	made->all.items = made->places;
	made->places[made->all.n++] = (struct tp_value_place){
		.text = line ? tp_arena_printf(&made->arena, "train.py:%u (%s)", line, function)
			     : function,
		.file = line ? "/x/train.py" : NULL,
		.part = line ? "host" : NULL,
		.line = line,
		.is_own = true,
		.per_step_ns = 1e6 * ms,
	};
}

static const size_t *match(struct made *base, struct made *now)
{
	return tp_place_match(&base->all, &now->all, &now->arena);
}

static void release(struct made *base, struct made *now)
{
	tp_arena_release(&base->arena);
	tp_arena_release(&now->arena);
}

START_TEST(lines_that_an_edit_moved_are_the_same)
{
	struct made base = {0};
	struct made now = {0};
	add(&base, "forward", 20, 3);
	add(&base, "train", 41, 2);
	add(&base, "train", 43, 4);
	add(&base, "train", 44, 1);
	/* Two lines were inserted above, and a slow one in between. */
	add(&now, "forward", 22, 3.1);
	add(&now, "train", 46, 9);
	add(&now, "train", 43, 2.2);
	add(&now, "train", 45, 3.9);
	add(&now, "train", 47, 1.1);
	const size_t *same = match(&base, &now);
	ck_assert_uint_eq(same[0], 0);
	ck_assert_uint_eq(same[1], 4); /* new */
	ck_assert_uint_eq(same[2], 1); /* not line 43 of the base */
	ck_assert_uint_eq(same[3], 2);
	ck_assert_uint_eq(same[4], 3);
	release(&base, &now);
}
END_TEST

START_TEST(a_line_that_became_slower_is_the_same)
{
	struct made base = {0};
	struct made now = {0};
	add(&base, "train", 41, 2);
	add(&base, "train", 43, 4);
	add(&now, "train", 41, 8);
	add(&now, "train", 43, 4);
	const size_t *same = match(&base, &now);
	ck_assert_uint_eq(same[0], 0);
	ck_assert_uint_eq(same[1], 1);
	release(&base, &now);
}
END_TEST

START_TEST(lines_keep_their_order_when_all_times_change)
{
	struct made base = {0};
	struct made now = {0};
	struct made moved = {0};
	const double before[] = {1.39, 0.41, 0.57};
	const double after[] = {0.59, 0.18, 0.35};
	for (unsigned i = 0; i < 3; i++) {
		add(&base, "forward", 62 + i, before[i]);
		add(&now, "forward", 62 + i, after[i]);
		add(&moved, "forward", 70 + i, after[i]);
	}
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(match(&base, &now)[i], i);
		ck_assert_uint_eq(match(&base, &moved)[i], i);
	}
	release(&base, &now);
	tp_arena_release(&moved.arena);
}
END_TEST

START_TEST(lines_of_other_functions_and_parts_are_others)
{
	struct made base = {0};
	struct made now = {0};
	add(&base, "load", 10, 2);
	add(&base, "train", 41, 2);
	base.places[1].part = "compute";
	base.places[0].is_own = false;
	add(&now, "load", 10, 2);
	add(&now, "train", 41, 2);
	add(&now, "evaluate", 41, 2);
	const size_t *same = match(&base, &now);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(same[i], 2);
	release(&base, &now);
}
END_TEST

START_TEST(kernels_are_found_by_their_names)
{
	struct made base = {0};
	struct made now = {0};
	add(&base, "gemm", 0, 2);
	add(&base, "softmax", 0, 1);
	add(&now, "softmax", 0, 5);
	add(&now, "attention", 0, 5);
	const size_t *same = match(&base, &now);
	ck_assert_uint_eq(same[0], 1);
	ck_assert_uint_eq(same[1], 2);
	release(&base, &now);
}
END_TEST

START_TEST(without_places_nothing_is_found)
{
	struct made base = {0};
	struct made now = {0};
	add(&now, "train", 41, 2);
	ck_assert_uint_eq(match(&base, &now)[0], 0);
	ck_assert_ptr_nonnull(match(&now, &base));
	release(&base, &now);
}
END_TEST

Suite *suite_gate_place_match(void);

Suite *suite_gate_place_match(void)
{
	Suite *s = suite_create("gate_place_match");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, lines_that_an_edit_moved_are_the_same);
	tcase_add_test(tc, a_line_that_became_slower_is_the_same);
	tcase_add_test(tc, lines_keep_their_order_when_all_times_change);
	tcase_add_test(tc, lines_of_other_functions_and_parts_are_others);
	tcase_add_test(tc, kernels_are_found_by_their_names);
	tcase_add_test(tc, without_places_nothing_is_found);
	suite_add_tcase(s, tc);
	return s;
}
