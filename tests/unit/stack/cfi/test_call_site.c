/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of machine code: calls, jumps, returns from signals. */
#include "stack/cfi/call_site.h"

#include <check.h>
#include <elf.h>
#include <string.h>

enum { BASE = 0x1000, AT = 0x1040, SIZE = 128 };

static struct tp_elf_image image_of(uint8_t *code, uint16_t machine)
{
	struct tp_elf_image image = {
		.machine = machine,
		.low_vaddr = BASE,
		.high_vaddr = BASE + SIZE,
		.segments = {{.vaddr = BASE, .offset = 0, .size = SIZE, .is_executable = true}},
		.n_segments = 1,
	};
	tp_elf_source_init_memory(&image.source, code, SIZE);
	return image;
}

static const struct {
	const char *assembly;
	uint8_t code[8];
	size_t size;
	bool is_call;
	bool is_direct;
} x86_calls[] = {
	{"call 0x1000", {0xe8, 0xc0, 0xff, 0xff, 0xff}, 5, true, true},
	{"call to nowhere", {0xe8, 0x00, 0x00, 0x10, 0x00}, 5, false, false},
	{"call *%rax", {0xff, 0xd0}, 2, true, false},
	{"call *%r11", {0x41, 0xff, 0xd3}, 3, true, false},
	{"call *(%rax)", {0xff, 0x10}, 2, true, false},
	{"call *8(%rbx)", {0xff, 0x53, 0x08}, 3, true, false},
	{"call *0x100(%rbx)", {0xff, 0x93, 0x00, 0x01, 0x00, 0x00}, 6, true, false},
	{"call *8(%rsp)", {0xff, 0x54, 0x24, 0x08}, 4, true, false},
	{"call *0x100(%rsp,%rax,8)", {0xff, 0x94, 0xc4, 0x00, 0x01, 0x00, 0x00}, 7, true, false},
	{"call *(%rax,%rbx,8)", {0xff, 0x14, 0xd8}, 3, true, false},
	{"call *0x10(,%rax,8)", {0xff, 0x14, 0xc5, 0x10, 0x00, 0x00, 0x00}, 7, true, false},
	{"call *0x2000(%rip)", {0xff, 0x15, 0x00, 0x20, 0x00, 0x00}, 6, true, false},
	{"jmp *%rax", {0xff, 0xe0}, 2, false, false},
	{"push %rax", {0x50}, 1, false, false},
	{"inc (%rax)", {0xff, 0x00}, 2, false, false},
	{"ret", {0xc3}, 1, false, false},
};

START_TEST(calls_are_known_by_their_bytes)
{
	uint8_t code[SIZE];
	memset(code, 0x90, sizeof(code));
	size_t size = x86_calls[_i].size;
	memcpy(code + (AT - BASE) - size, x86_calls[_i].code, size);
	struct tp_elf_image image = image_of(code, EM_X86_64);
	struct tp_call_site site = tp_call_site_before(&image, AT);
	ck_assert_msg(site.is_call == x86_calls[_i].is_call &&
			      site.is_direct == x86_calls[_i].is_direct,
		      "%s", x86_calls[_i].assembly);
	if (site.is_direct)
		ck_assert_uint_eq(site.target, BASE);
}
END_TEST

static const struct {
	uint32_t word;
	bool is_call;
	bool is_direct;
} arm_calls[] = {
	{0x97fffff1, true, true},   /* bl 0x1000 from 0x103c */
	{0xd63f0100, true, false},  /* blr x8 */
	{0xd73f0811, true, false},  /* blraa x0, x17 */
	{0xd65f03c0, false, false}, /* ret */
	{0x14000000, false, false}, /* b . */
	{0xd503201f, false, false}, /* nop */
};

START_TEST(arm_calls_are_known_by_their_bytes)
{
	uint8_t code[SIZE] = {0};
	memcpy(code + (AT - BASE) - 4, &arm_calls[_i].word, 4);
	struct tp_elf_image image = image_of(code, EM_AARCH64);
	struct tp_call_site site = tp_call_site_before(&image, AT);
	ck_assert_int_eq(site.is_call, arm_calls[_i].is_call);
	ck_assert_int_eq(site.is_direct, arm_calls[_i].is_direct);
	if (site.is_direct)
		ck_assert_uint_eq(site.target, BASE);
}
END_TEST

START_TEST(nothing_stands_before_the_start)
{
	uint8_t code[SIZE];
	memset(code, 0xff, sizeof(code));
	struct tp_elf_image image = image_of(code, EM_X86_64);
	ck_assert(!tp_call_site_before(&image, BASE).is_call);
	ck_assert(!tp_call_site_before(&image, 0).is_call);
	ck_assert(!tp_call_site_before(&image, UINT64_MAX).is_call);
}
END_TEST

static const struct {
	const char *what;
	uint8_t code[8];
	bool leads;
} x86_jumps[] = {
	{"jmp to the target", {0xe9, 0x2b, 0x00, 0x00, 0x00}, true},
	{"jne to the target", {0x0f, 0x85, 0x2a, 0x00, 0x00, 0x00}, true},
	{"jmp elsewhere", {0xe9, 0x30, 0x00, 0x00, 0x00}, false},
	{"jmp inside", {0xe9, 0x02, 0x00, 0x00, 0x00}, false},
	{"jmp *%rax", {0xff, 0xe0}, true},
	{"jmp *8(%rbx)", {0xff, 0x63, 0x08}, true},
	{"ret", {0xc3}, false},
};

START_TEST(tail_calls_are_seen)
{
	uint8_t code[SIZE];
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x10, x86_jumps[_i].code, sizeof(x86_jumps[_i].code));
	struct tp_elf_image image = image_of(code, EM_X86_64);
	bool leads = tp_call_site_jumps_to(&image, BASE + 0x10, BASE + 0x18, AT);
	ck_assert_msg(leads == x86_jumps[_i].leads, "%s", x86_jumps[_i].what);
}
END_TEST

START_TEST(direct_calls_of_a_function_are_seen)
{
	uint8_t code[SIZE];
	memset(code, 0x90, sizeof(code));
	static const uint8_t call[] = {0xe8, 0x2b, 0x00, 0x00, 0x00};
	memcpy(code + 0x10, call, sizeof(call));
	struct tp_elf_image image = image_of(code, EM_X86_64);
	ck_assert(tp_call_site_calls(&image, BASE, BASE + 0x20, AT));
	ck_assert(tp_call_site_calls(&image, BASE + 0x10, BASE + 0x15, AT));
	ck_assert(!tp_call_site_calls(&image, BASE, BASE + 0x20, AT + 1));
	ck_assert(!tp_call_site_calls(&image, BASE, BASE + 0x14, AT)); /* truncated */
	ck_assert(!tp_call_site_calls(&image, BASE + 0x11, BASE + 0x20, AT));
	static const uint8_t arm_call[] = {0x0c, 0x00, 0x00, 0x94}; /* bl .+0x30 */
	memcpy(code + 0x10, arm_call, sizeof(arm_call));
	image.machine = EM_AARCH64;
	ck_assert(tp_call_site_calls(&image, BASE, BASE + 0x20, AT));
	ck_assert(!tp_call_site_calls(&image, BASE, BASE + 0x20, AT + 4));
}
END_TEST

START_TEST(linkage_jumps_are_seen)
{
	uint8_t code[SIZE] = {0xff, 0x25, 0,    0x10, 0,    0, 0x90, 0x90, 0xf3, 0x0f,
			      0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 0x10, 0,    0,    0x90};
	struct tp_elf_image image = image_of(code, EM_X86_64);
	ck_assert(tp_call_site_is_plt(&image, BASE));
	ck_assert(tp_call_site_is_plt(&image, BASE + 8));
	ck_assert(!tp_call_site_is_plt(&image, BASE + 1));
	ck_assert(!tp_call_site_is_plt(&image, BASE + SIZE));
}
END_TEST

START_TEST(signal_return_without_table_gets_a_rule)
{
	uint8_t code[SIZE] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	struct tp_elf_image image = image_of(code, EM_X86_64);
	struct tp_unwind_rule rule = {.cfa = TP_RULE_CFA_NONE};
	tp_call_site_known_rule(&image, BASE + 1, &rule);
	ck_assert_int_eq(rule.cfa, TP_RULE_CFA_NONE);
	tp_call_site_known_rule(&image, BASE, &rule);
	ck_assert_int_eq(rule.cfa, TP_RULE_CFA_SP_DEREF);
	ck_assert_int_eq(rule.is_signal, 1);
	/* glibc's own table has these values for its copy of the same bytes (readelf -wf): */
	ck_assert_int_eq(rule.cfa_offset, 160);
	ck_assert_int_eq(rule.ra_offset, 168);
	ck_assert_int_eq(rule.bp_offset, 120);
}
END_TEST

START_TEST(entry_point_is_a_root)
{
	uint8_t code[SIZE] = {0};
	struct tp_elf_image image = image_of(code, EM_X86_64);
	struct tp_unwind_rule rule = {.cfa = TP_RULE_CFA_NONE};
	image.entry = BASE + 8;
	tp_call_site_known_rule(&image, BASE + 7, &rule);
	ck_assert_int_eq(rule.cfa, TP_RULE_CFA_NONE);
	tp_call_site_known_rule(&image, BASE + 40, &rule);
	ck_assert_int_eq(rule.cfa, TP_RULE_CFA_END);
}
END_TEST

#define N(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *suite_stack_call_site(void);
Suite *suite_stack_call_site(void)
{
	Suite *suite = suite_create("stack/callsite");
	TCase *tc = tcase_create("callsite");
	tcase_add_loop_test(tc, calls_are_known_by_their_bytes, 0, N(x86_calls));
	tcase_add_loop_test(tc, arm_calls_are_known_by_their_bytes, 0, N(arm_calls));
	tcase_add_test(tc, nothing_stands_before_the_start);
	tcase_add_loop_test(tc, tail_calls_are_seen, 0, N(x86_jumps));
	tcase_add_test(tc, direct_calls_of_a_function_are_seen);
	tcase_add_test(tc, linkage_jumps_are_seen);
	tcase_add_test(tc, signal_return_without_table_gets_a_rule);
	tcase_add_test(tc, entry_point_is_a_root);
	suite_add_tcase(suite, tc);
	return suite;
}
