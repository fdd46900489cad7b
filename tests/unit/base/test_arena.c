/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of arenas: allocations are aligned, zeroed, separate, and freed all at once. */
#include "trainprof/base/arena.h"

#include <check.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(every_allocation_is_aligned_zeroed_and_its_own)
{
	enum { N = 3000 };
	static unsigned char *blocks[N];
	struct tp_arena arena = {0};
	for (size_t i = 0; i < N; i++) {
		size_t size = i * 7 % 500;
		blocks[i] = tp_arena_alloc(&arena, size);
		ck_assert_uint_eq((uintptr_t)blocks[i] % alignof(max_align_t), 0);
		for (size_t j = 0; j < size; j++)
			if (blocks[i][j])
				ck_abort_msg("byte %zu of %zu is not zero", j, i);
		memset(blocks[i], (int)(i % 255) + 1, size);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < i * 7 % 500; j++)
			if (blocks[i][j] != i % 255 + 1)
				ck_abort_msg("byte %zu of %zu was overwritten", j, i);
	ck_assert_uint_ge(arena.total_bytes, N * 240);
	tp_arena_release(&arena);
	ck_assert_uint_eq(arena.total_bytes, 0);
	ck_assert_ptr_null(arena.head);
}
END_TEST

START_TEST(a_large_allocation_is_one_piece)
{
	struct tp_arena arena = {0};
	char *small = tp_arena_alloc(&arena, 1);
	char *large = tp_arena_alloc(&arena, 5000000);
	char *after = tp_arena_alloc(&arena, 1);
	memset(large, 1, 5000000);
	ck_assert_int_eq(*small, 0);
	ck_assert_int_eq(*after, 0);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(texts_are_copied_up_to_their_end)
{
	struct tp_arena arena = {0};
	ck_assert_ptr_null(tp_arena_strdup(&arena, NULL));
	ck_assert_str_eq(tp_arena_strdup(&arena, ""), "");
	ck_assert_str_eq(tp_arena_strdup(&arena, "abc"), "abc");
	ck_assert_str_eq(tp_arena_strndup(&arena, "abcdef", 3), "abc");
	ck_assert_str_eq(tp_arena_strndup(&arena, "abc", 100), "abc");
	ck_assert_str_eq(tp_arena_printf(&arena, "%d %s", 7, "seven"), "7 seven");
	int numbers[] = {1, 2, 3};
	int *copy = tp_arena_copy(&arena, numbers, sizeof(numbers));
	ck_assert_mem_eq(copy, numbers, sizeof(numbers));
	ck_assert_ptr_nonnull(tp_arena_copy(&arena, NULL, 0));
	tp_arena_release(&arena);
}
END_TEST

START_TEST(a_size_that_overflows_ends_as_out_of_memory)
{
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		struct tp_arena arena = {0};
		close(STDERR_FILENO);
		tp_arena_array(&arena, SIZE_MAX / 8, 16);
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 70);
}
END_TEST

Suite *suite_base_arena(void);
Suite *suite_base_arena(void)
{
	Suite *suite = suite_create("base/arena");
	TCase *tc = tcase_create("arena");
	tcase_add_test(tc, every_allocation_is_aligned_zeroed_and_its_own);
	tcase_add_test(tc, a_large_allocation_is_one_piece);
	tcase_add_test(tc, texts_are_copied_up_to_their_end);
	tcase_add_test(tc, a_size_that_overflows_ends_as_out_of_memory);
	suite_add_tcase(suite, tc);
	return suite;
}
