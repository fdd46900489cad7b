/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of when cached code objects are compared with memory, at times set by hand. */
#include "stack/python/py_code.h"

#include "stack/pyimage.h"

#include "trainprof/base/clock.h"

#include <check.h>

static struct pyimage image;
static struct tp_py_code_cache cache;

static void begin(void)
{
	pyimage_init(&image, 11);
	tp_py_code_cache_init(&cache, &image.mem, image.layout);
}

static void end(void)
{
	tp_py_code_cache_release(&cache);
	pyimage_release(&image);
}

/* Returns the system calls of a round. */
static uint64_t use(const uint64_t *codes, size_t n, uint64_t now_ns)
{
	uint64_t before = image.mem.n_calls;
	tp_py_code_begin(&cache);
	cache.now_ns = now_ns;
	for (size_t i = 0; i < n; i++)
		tp_py_code_request(&cache, codes[i]);
	ck_assert_int_ne(tp_py_code_read(&cache), TP_PY_CODE_BAD);
	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_nonnull(tp_py_code_get(&cache, codes[i]));
	return image.mem.n_calls - before;
}

START_TEST(young_ones_are_compared_at_every_use)
{
	begin();
	uint64_t code = pyimage_code(&image, "a.py", "f", 1);
	ck_assert_uint_gt(use(&code, 1, TP_NS_PER_S), 1);
	for (uint64_t ms = 10; ms <= 1000; ms += 10)
		ck_assert_uint_eq(use(&code, 1, TP_NS_PER_S + ms * TP_NS_PER_MS), 1);
	ck_assert_uint_eq(use(&code, 1, TP_NS_PER_S + 1010 * TP_NS_PER_MS), 0);
	end();
}
END_TEST

/* A check each tenth of its age: 1.0, 1.1, 1.21 s and so on. */
START_TEST(old_ones_are_compared_the_rarer_the_older)
{
	begin();
	uint64_t code = pyimage_code(&image, "a.py", "f", 1);
	uint64_t n_calls[30] = {0};
	for (uint64_t ms = 0; ms < 30000; ms += 10)
		n_calls[ms / 1000] += use(&code, 1, TP_NS_PER_S + ms * TP_NS_PER_MS);
	ck_assert_uint_ge(n_calls[0], 100);
	ck_assert_uint_le(n_calls[1], 9);
	ck_assert_uint_le(n_calls[5], 2);
	ck_assert_uint_eq(n_calls[20], 1);
	ck_assert_uint_eq(n_calls[29], 1);
	end();
}
END_TEST

/* Each call costs as much as several heads. */
START_TEST(those_of_a_stack_are_compared_together)
{
	begin();
	uint64_t codes[3];
	for (size_t i = 0; i < 3; i++) {
		codes[i] = pyimage_code(&image, "a.py", "f", (uint32_t)i + 1);
		(void)use(&codes[i], 1, TP_NS_PER_S + i * 20 * TP_NS_PER_MS);
	}
	for (uint64_t ms = 2000; ms < 20000; ms += 10)
		(void)use(codes, 3, ms * TP_NS_PER_MS);
	uint64_t n_calls = 0;
	for (uint64_t ms = 20000; ms < 30000; ms += 10)
		n_calls += use(codes, 3, ms * TP_NS_PER_MS);
	ck_assert_uint_ge(n_calls, 10);
	ck_assert_uint_le(n_calls, 12);
	end();
}
END_TEST

START_TEST(an_old_one_that_was_replaced_is_found_within_a_second)
{
	begin();
	uint64_t code = pyimage_code(&image, "a.py", "old", 10);
	uint64_t other = pyimage_code(&image, "a.py", "new", 10);
	for (uint64_t ms = 0; ms < 60000; ms += 10)
		(void)use(&code, 1, TP_NS_PER_S + ms * TP_NS_PER_MS);
	memcpy(pyimage_at(&image, code), pyimage_at(&image, other), TP_PY_LAYOUT_MAX_CODE_BYTES);
	(void)use(&code, 1, 62 * TP_NS_PER_S);
	ck_assert_str_eq(tp_py_code_get(&cache, code)->name, "new");
	ck_assert_uint_eq(use(&code, 1, 62 * TP_NS_PER_S + TP_NS_PER_MS), 1);
	end();
}
END_TEST

Suite *suite_stack_py_code(void);
Suite *suite_stack_py_code(void)
{
	Suite *suite = suite_create("stack/pycode");
	TCase *tc = tcase_create("pycode");
	tcase_add_test(tc, young_ones_are_compared_at_every_use);
	tcase_add_test(tc, old_ones_are_compared_the_rarer_the_older);
	tcase_add_test(tc, those_of_a_stack_are_compared_together);
	tcase_add_test(tc, an_old_one_that_was_replaced_is_found_within_a_second);
	suite_add_tcase(suite, tc);
	return suite;
}
