/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which functions of call stacks may be called once per step. */
#include "collect/watch/entry_choice.h"

#include "trainprof/model/trace.h"

#include <check.h>
#include <string.h>

static struct tp_trace_builder sink;
static struct tp_entry_stacks stacks;
static uint32_t chosen[TP_ENTRY_CANDIDATES_MAX];
static size_t n_chosen;
static size_t n_parts;

static void setup(void)
{
	tp_trace_builder_init(&sink);
	tp_entry_stacks_init(&stacks);
	n_chosen = 0;
}

static void teardown(void)
{
	tp_entry_stacks_release(&stacks);
	tp_trace_builder_release(&sink);
}

/* Adds a stack of functions, outermost first, one letter each; a lower-case one has no known start,
 * '.' is Python, '!' the kernel; Z is of the C++ library. */
static void add(const char *path, size_t times, uint32_t flags)
{
	uint32_t frames[64];
	size_t n = strlen(path);
	for (size_t i = 0; i < n; i++) {
		char letter[2] = {path[i], 0};
		bool is_known = path[i] >= 'A' && path[i] <= 'Z';
		struct tp_frame frame = {
			.kind = path[i] == '.'   ? TP_FRAME_PYTHON
				: path[i] == '!' ? TP_FRAME_KERNEL
						 : TP_FRAME_NATIVE,
			.module = tp_sink_string(&sink.sink,
						 path[i] == 'Z' ? "/usr/lib/libstdc++.so.6.0.30"
								: "/bin/train"),
			.symbol = tp_sink_string(&sink.sink, letter),
			.address = 0x1000 + (uint64_t)path[i] * 256 + 4,
			.function_start = is_known ? 0x1000 + (uint64_t)path[i] * 256 : 0};
		frames[n - 1 - i] = tp_sink_frame(&sink.sink, &frame);
	}
	for (size_t i = 0; i < times; i++)
		tp_entry_stacks_add(&stacks, &sink.sink,
				    tp_sink_stack(&sink.sink, frames, n, flags));
}

static const char *name_of(uint32_t function)
{
	return tp_strtab_text(&sink.sink.strings, stacks.functions[function].symbol);
}

static void expect(const char *names)
{
	char found[TP_ENTRY_CANDIDATES_MAX + 1] = "";
	n_chosen = tp_entry_stacks_choose(&stacks, chosen, &n_parts);
	for (size_t i = 0; i < n_chosen; i++)
		strcat(found, name_of(chosen[i]));
	ck_assert_str_eq(found, names);
}

START_TEST(what_the_looping_function_calls_comes_first)
{
	add("sMFL", 35, 0);
	add("sMBL", 55, 0);
	add("sMU", 10, 0);
	expect("BFUM");
	ck_assert_uint_eq(n_parts, 3);
}
END_TEST

/* It prints the loss of each hundredth step. */
START_TEST(functions_of_the_runtime_are_no_steps)
{
	add("sMFL", 35, 0);
	add("sMZ", 55, 0);
	add("sMUZ", 10, 0);
	expect("FUM");
}
END_TEST

START_TEST(the_way_is_followed_to_where_it_parts)
{
	add("sMTFL", 50, 0);
	add("sMTBK", 45, 0);
	add("sMEL", 5, 0);
	/* First a rare function off the main path, then those at the end of the path, then the path
	 * itself. */
	expect("TEFBM");
}
END_TEST

START_TEST(one_function_that_does_all_is_tried_after_what_it_calls)
{
	add("sMA", 100, 0);
	expect("AM");
}
END_TEST

START_TEST(rare_ones_are_no_part_of_every_step)
{
	add("sMF", 100, 0);
	add("sMB", 98, 0);
	add("sMC", 2, 0);
	expect("FBM");
}
END_TEST

START_TEST(functions_of_unknown_start_cannot_be_watched)
{
	add("smf", 50, 0);
	add("smb", 50, 0);
	expect("");
}
END_TEST

START_TEST(stacks_that_are_cut_or_empty_tell_nothing)
{
	add("MF", 50, TP_STACK_TRUNCATED);
	tp_entry_stacks_add(&stacks, &sink.sink, 0);
	ck_assert_uint_eq(stacks.n, 0);
	expect("");
}
END_TEST

START_TEST(the_kernels_part_is_left_out)
{
	add("sMF!", 49, 0);
	add("sMB!", 50, 0);
	expect("BFM");
	ck_assert(!stacks.has_python);
}
END_TEST

START_TEST(python_is_noticed)
{
	add("sM.F", 1, 0);
	ck_assert(stacks.has_python);
}
END_TEST

START_TEST(memory_is_bounded)
{
	add("sMF", 2 * (size_t)TP_ENTRY_SAMPLES_MAX, 0);
	ck_assert_uint_eq(stacks.n, TP_ENTRY_SAMPLES_MAX);
	tp_entry_stacks_clear(&stacks);
	ck_assert_uint_eq(stacks.n, 0);
	add("sABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUV", 50, 0);
	n_chosen = tp_entry_stacks_choose(&stacks, chosen, &n_parts);
	ck_assert_uint_eq(n_chosen, TP_ENTRY_CANDIDATES_MAX);
}
END_TEST

static uint32_t number_of(const char *name)
{
	for (uint32_t i = 0; i < stacks.n_functions; i++)
		if (strcmp(name_of(i), name) == 0)
			return i;
	ck_abort_msg("no %s", name);
}

START_TEST(an_evaluation_works_where_the_step_does)
{
	add("sMFL", 50, 0);
	add("sMU", 20, 0);
	add("sMEL", 20, 0);
	ck_assert(tp_entry_stacks_overlap(&stacks, number_of("E")));
	ck_assert(!tp_entry_stacks_overlap(&stacks, number_of("U")));
	/* Without a sample nothing is known about it. */
	tp_entry_stacks_clear(&stacks);
	ck_assert(!tp_entry_stacks_overlap(&stacks, number_of("E")));
}
END_TEST

Suite *suite_collect_entry_choice(void);
Suite *suite_collect_entry_choice(void)
{
	Suite *suite = suite_create("collect/entry_choice");
	TCase *tc = tcase_create("entry_choice");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_the_looping_function_calls_comes_first);
	tcase_add_test(tc, functions_of_the_runtime_are_no_steps);
	tcase_add_test(tc, the_way_is_followed_to_where_it_parts);
	tcase_add_test(tc, one_function_that_does_all_is_tried_after_what_it_calls);
	tcase_add_test(tc, rare_ones_are_no_part_of_every_step);
	tcase_add_test(tc, functions_of_unknown_start_cannot_be_watched);
	tcase_add_test(tc, stacks_that_are_cut_or_empty_tell_nothing);
	tcase_add_test(tc, the_kernels_part_is_left_out);
	tcase_add_test(tc, python_is_noticed);
	tcase_add_test(tc, memory_is_bounded);
	tcase_add_test(tc, an_evaluation_works_where_the_step_does);
	suite_add_tcase(suite, tc);
	return suite;
}
