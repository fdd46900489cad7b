/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rule cache. */
#include "stack/cfi/unwind_rule_cache.h"

#include <check.h>
#include <elf.h>
#include <string.h>

static struct tp_elf_image image;

static void set_up(void)
{
	static struct tp_elf_source_pool pool;
	struct stat st;
	image = (struct tp_elf_image){0};
	tp_elf_source_pool_init(&pool, 0);
	int fd = tp_elf_source_open_regular("/proc/self/exe", &st);
	tp_elf_source_init_file(&image.source, &pool, fd, &st, NULL, NULL);
	ck_assert_int_eq(tp_elf_image_load(&image, NULL), TP_OK);
}

static void tear_down(void)
{
	struct tp_elf_source_pool *pool = image.source.pool;
	tp_elf_source_release(&image.source);
	tp_elf_source_pool_release(pool);
}

START_TEST(second_question_reads_nothing)
{
	struct tp_unwind_rule_cache rules = {0};
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 5000; i++)
			tp_unwind_rule_cache_get(&rules, &image, image.entry + i);
		ck_assert_uint_eq(rules.n_misses, 5000);
	}
	tp_unwind_rule_cache_release(&rules);
}
END_TEST

START_TEST(growing_keeps_every_rule)
{
	struct tp_unwind_rule_cache grown = {0};
	for (uint64_t i = 0; i < 20000; i++)
		tp_unwind_rule_cache_get(&grown, &image, image.entry + i);
	for (uint64_t i = 0; i < 20000; i += 97) {
		struct tp_unwind_rule_cache fresh = {0};
		struct tp_unwind_rule a =
			*tp_unwind_rule_cache_get(&grown, &image, image.entry + i);
		struct tp_unwind_rule b =
			*tp_unwind_rule_cache_get(&fresh, &image, image.entry + i);
		ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
		tp_unwind_rule_cache_release(&fresh);
	}
	tp_unwind_rule_cache_release(&grown);
}
END_TEST

/* More addresses than the cache can hold, in an empty image. */
START_TEST(cache_is_bounded)
{
	static uint8_t nothing[16];
	struct tp_unwind_rule_cache rules = {0};
	struct tp_elf_image big = {.machine = EM_X86_64, .high_vaddr = UINT64_MAX};
	tp_elf_source_init_memory(&big.source, nothing, sizeof(nothing));
	for (uint64_t i = 0; i < 700000; i++)
		tp_unwind_rule_cache_get(&rules, &big, i * 5000);
	ck_assert_uint_le(rules.n_slots, 1 << 20);
	ck_assert_uint_le(rules.n_used * 2, rules.n_slots);
	tp_unwind_rule_cache_release(&rules);
}
END_TEST

START_TEST(addresses_outside_have_no_rule)
{
	struct tp_unwind_rule_cache rules = {0};
	static const uint64_t offsets[] = {UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX,
					   UINT64_C(1) << 40};
	image.low_vaddr += 0x1000;
	ck_assert_int_eq(tp_unwind_rule_cache_get(&rules, &image, image.low_vaddr - 1)->cfa,
			 TP_RULE_CFA_NONE);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		ck_assert_int_eq(
			tp_unwind_rule_cache_get(&rules, &image, image.low_vaddr + offsets[i])->cfa,
			TP_RULE_CFA_NONE);
	ck_assert_int_ne(tp_unwind_rule_cache_get(&rules, &image, image.entry)->cfa,
			 TP_RULE_CFA_NONE);
	tp_unwind_rule_cache_release(&rules);
}
END_TEST

Suite *suite_stack_unwind_rule_cache(void);
Suite *suite_stack_unwind_rule_cache(void)
{
	Suite *suite = suite_create("stack/rules");
	TCase *tc = tcase_create("rules");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, second_question_reads_nothing);
	tcase_add_test(tc, growing_keeps_every_rule);
	tcase_add_test(tc, cache_is_bounded);
	tcase_add_test(tc, addresses_outside_have_no_rule);
	suite_add_tcase(suite, tc);
	return suite;
}
