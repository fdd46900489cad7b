/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the heap: growth keeps the content, and impossible sizes end the program cleanly. */
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_growing_array_keeps_its_elements)
{
	struct {
		uint64_t *items;
		size_t n;
		size_t capacity;
	} list = {0};
	for (uint64_t i = 0; i < 100000; i++)
		TP_ARRAY_PUSH(list.items, list.n, list.capacity) = i * i;
	ck_assert_uint_eq(list.n, 100000);
	ck_assert_uint_le(list.capacity, 200000);
	for (uint64_t i = 0; i < 100000; i++)
		if (list.items[i] != i * i)
			ck_abort_msg("element %zu changed", (size_t)i);
	free(list.items);
}
END_TEST

START_TEST(memory_is_zeroed_and_texts_are_copied)
{
	unsigned char *memory = tp_alloc(1000);
	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(memory[i], 0);
	free(memory);
	free(tp_alloc(0));
	ck_assert_ptr_null(tp_strdup(NULL));
	static const struct {
		const char *text;
		size_t len;
		const char *copy;
	} cuts[] = {{"abc", 2, "ab"}, {"abc", 3, "abc"}, {"abc", 9, "abc"}, {"", 5, ""}};
	for (size_t i = 0; i < TP_ARRAY_LEN(cuts); i++) {
		char *copy = tp_strndup(cuts[i].text, cuts[i].len);
		ck_assert_str_eq(copy, cuts[i].copy);
		free(copy);
	}
	char *text = tp_asprintf("%05d|%s", 42, "x");
	ck_assert_str_eq(text, "00042|x");
	free(text);
}
END_TEST

static void grow_too_far(void)
{
	size_t capacity = 0;
	(void)tp_array_grow(NULL, SIZE_MAX / 2 + 2, &capacity, 1);
}

static void grow_too_wide(void)
{
	size_t capacity = 0;
	(void)tp_array_grow(NULL, SIZE_MAX / 64, &capacity, 128);
}

static void alloc_too_much(void)
{
	free(tp_realloc(NULL, SIZE_MAX / 2));
}

static void (*const greedy[])(void) = {grow_too_far, grow_too_wide, alloc_too_much};

START_TEST(exhaustion_says_so_and_ends_with_70)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		alarm(5); /* a loop that overflows would never end */
		dup2(ends[1], STDERR_FILENO);
		greedy[_i]();
		_exit(0);
	}
	close(ends[1]);
	static char said[1 << 16];
	size_t n = 0;
	for (ssize_t got = 1; got > 0 && n<sizeof(said) - 1; n += got> 0 ? (size_t)got : 0)
		got = read(ends[0], said + n, sizeof(said) - 1 - n);
	close(ends[0]);
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	if (strstr(said, "AddressSanitizer"))
		return; /* the sanitizer's malloc reported it instead */
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 70);
	ck_assert_ptr_nonnull(strstr(said, "trainprof: out of memory: "));
}
END_TEST

static void end_with_9(void)
{
	_exit(9);
}

START_TEST(exhaustion_leaves_the_last_word_to_who_guards_a_program)
{
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		atexit(end_with_9);
		tp_oom(1);
	}
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 9);
}
END_TEST

Suite *suite_base_memory(void);
Suite *suite_base_memory(void)
{
	Suite *suite = suite_create("base/memory");
	TCase *tc = tcase_create("memory");
	tcase_add_test(tc, a_growing_array_keeps_its_elements);
	tcase_add_test(tc, memory_is_zeroed_and_texts_are_copied);
	tcase_add_loop_test(tc, exhaustion_says_so_and_ends_with_70, 0, TP_ARRAY_LEN(greedy));
	tcase_add_test(tc, exhaustion_leaves_the_last_word_to_who_guards_a_program);
	suite_add_tcase(suite, tc);
	return suite;
}
