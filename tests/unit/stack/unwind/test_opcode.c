/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of recognised arithmetic: chosen by hand, and compared with objdump's names for the
 * same bytes. */
#include "stack/unwind/opcode.h"

#include "skip.h"

#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* llvm-mc's encodings. */
static const struct {
	uint32_t word;
	enum tp_arith arith;
	const char *text;
} arm_words[] = {
	{0x1e212800, TP_ARITH_SCALAR, "fadd s0, s0, s1"},
	{0x1e620820, TP_ARITH_SCALAR, "fmul d0, d1, d2"},
	{0x1f020c20, TP_ARITH_SCALAR, "fmadd s0, s1, s2, s3"},
	{0x1e61c020, TP_ARITH_SCALAR, "fsqrt d0, d1"},
	{0x5fa29020, TP_ARITH_SCALAR, "fmul s0, s1, v2.s[1]"},
	{0x1e614020, TP_ARITH_NONE, "fneg d0, d1"},
	{0x1e604020, TP_ARITH_NONE, "fmov d0, d1"},
	{0x1e612000, TP_ARITH_NONE, "fcmp d0, d1"},
	{0x1e22c020, TP_ARITH_NONE, "fcvt d0, s1"},
	{0x9e620020, TP_ARITH_NONE, "scvtf d0, x1"},
	{0x1e621c20, TP_ARITH_NONE, "fcsel d0, d1, d2, ne"},
	{0x4e22cc20, TP_ARITH_VECTOR, "fmla v0.4s, v1.4s, v2.4s"},
	{0x4fa21020, TP_ARITH_VECTOR, "fmla v0.4s, v1.4s, v2.s[1]"},
	{0x4e62d420, TP_ARITH_VECTOR, "fadd v0.2d, v1.2d, v2.2d"},
	{0x4ea28420, TP_ARITH_VECTOR, "add v0.4s, v1.4s, v2.4s"},
	{0x4ea29c20, TP_ARITH_VECTOR, "mul v0.4s, v1.4s, v2.4s"},
	{0x4e829420, TP_ARITH_VECTOR, "sdot v0.4s, v1.16b, v2.16b"},
	{0x0e628020, TP_ARITH_VECTOR, "smlal v0.4s, v1.4h, v2.4h"},
	{0x4ea11c20, TP_ARITH_NONE, "mov v0.16b, v1.16b"},
	{0x3dc00000, TP_ARITH_NONE, "ldr q0, [x0]"},
	{0x8b020020, TP_ARITH_NONE, "add x0, x1, x2"},
	{0x4e040c20, TP_ARITH_NONE, "dup v0.4s, w1"},
	{0x4f000400, TP_ARITH_NONE, "movi v0.4s, #0"},
	{0x4e823820, TP_ARITH_NONE, "zip1 v0.4s, v1.4s, v2.4s"},
	{0x6e022020, TP_ARITH_NONE, "ext v0.16b, v1.16b, v2.16b, #4"},
};

START_TEST(arm_words_are_what_their_text_says)
{
	uint8_t code[4];
	for (int i = 0; i < 4; i++)
		code[i] = (uint8_t)(arm_words[_i].word >> 8 * i);
	ck_assert_msg(tp_opcode_arith(EM_AARCH64, code, 4) == arm_words[_i].arith, "%s",
		      arm_words[_i].text);
	ck_assert_int_eq(tp_opcode_arith(EM_AARCH64, code, 3), TP_ARITH_NONE);
	ck_assert_int_eq(tp_opcode_arith(EM_RISCV, code, 4), TP_ARITH_NONE);
}
END_TEST

/* ---- comparison with objdump's names
 * ----------------------------------------------------------- */

static bool is_any(const char *name, size_t len, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == len && strncmp(name, *list, len) == 0)
			return true;
	return false;
}

/* "vfmadd231ps" → vector, "addsd" → scalar; NONE for other instructions. */
static enum tp_arith arith_of_name(const char *name)
{
	static const char *const floats[] = {"add", "sub", "mul", "div",   "sqrt",
					     "min", "max", "rcp", "rsqrt", NULL};
	static const char *const pairs[] = {"hadd", "hsub", "addsub", "dp", NULL};
	static const char *const fused[] = {"fmadd",    "fmsub",    "fnmadd", "fnmsub",
					    "fmaddsub", "fmsubadd", NULL};
	static const char *const integers[] = {"padd",  "psub", "pmul", "pmadd", "pmin",
					       "pmax",  "pavg", "psad", "phadd", "phsub",
					       "psign", "pdpb", "pdpw", NULL};
	name += name[0] == 'v';
	for (size_t i = 0; integers[i]; i++)
		if (strncmp(name, integers[i], strlen(integers[i])) == 0)
			return TP_ARITH_VECTOR;
	size_t len = strlen(name);
	if (len < 3)
		return TP_ARITH_NONE;
	const char *suffix = name + len - 2;
	bool is_single = strcmp(suffix, "ss") == 0 || strcmp(suffix, "sd") == 0;
	bool is_packed = strcmp(suffix, "ps") == 0 || strcmp(suffix, "pd") == 0;
	if (!is_single && !is_packed)
		return TP_ARITH_NONE;
	size_t stem = len - 2;
	bool is_fused =
		stem > 3 && strspn(name + stem - 3, "123") >= 3 && is_any(name, stem - 3, fused);
	if (is_fused || is_any(name, stem, floats))
		return is_single ? TP_ARITH_SCALAR : TP_ARITH_VECTOR;
	return is_any(name, stem, pairs) ? TP_ARITH_VECTOR : TP_ARITH_NONE;
}

/* Parses "  1234:\t0f 58 c1 \taddps  %xmm1,%xmm0" into the bytes and the start of the name. */
static size_t parse_line(char *line, uint8_t code[TP_OPCODE_MAX], char **name)
{
	char *bytes = strstr(line, ":\t");
	char *text = bytes ? strchr(bytes + 2, '\t') : NULL;
	size_t n = 0;
	if (!text)
		return 0;
	*text = '\0';
	for (char *at = bytes + 2; n < TP_OPCODE_MAX; n++) {
		char *end;
		unsigned long byte = strtoul(at, &end, 16);
		if (end == at)
			break;
		code[n] = (uint8_t)byte;
		at = end;
	}
	*name = text + 1;
	(*name)[strcspn(*name, " \n")] = '\0';
	return n;
}

START_TEST(x86_bytes_are_what_objdump_calls_them)
{
	/* One file computes with scalars, the other with vectors of all lengths. */
	static const char *const files[] = {"/lib/x86_64-linux-gnu/libm.so.6",
					    "/lib/x86_64-linux-gnu/libmvec.so.1"};
	char command[200];
	char line[512];
	size_t n_of[3] = {0};
	snprintf(command, sizeof(command), "objdump -d --insn-width=15 %s 2>/dev/null", files[_i]);
	FILE *listing = popen(command, "r");
	ck_assert_ptr_nonnull(listing);
	while (fgets(line, sizeof(line), listing)) {
		uint8_t code[TP_OPCODE_MAX];
		char *name;
		size_t n = parse_line(line, code, &name);
		/* A prefix on its own line, or bytes that are no instruction. */
		if (!n || strchr(name, '(') || strchr(name, '{'))
			continue;
		enum tp_arith wanted = arith_of_name(name);
		enum tp_arith got = tp_opcode_arith(EM_X86_64, code, n);
		ck_assert_msg(got == wanted, "%s: %02x %02x %02x %02x %02x: %d, not %d", name,
			      code[0], code[1], code[2], code[3], code[4], (int)got, (int)wanted);
		n_of[got]++;
	}
	pclose(listing);
	if (!n_of[TP_ARITH_NONE])
		test_skip("no objdump, or another machine");
	else
		ck_assert_uint_gt(n_of[_i ? TP_ARITH_VECTOR : TP_ARITH_SCALAR], 3000);
}
END_TEST

Suite *suite_stack_opcode(void);
Suite *suite_stack_opcode(void)
{
	Suite *suite = suite_create("stack/opcode");
	TCase *tcase = tcase_create("opcode");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, arm_words_are_what_their_text_says, 0,
			    sizeof(arm_words) / sizeof(arm_words[0]));
	tcase_add_loop_test(tcase, x86_bytes_are_what_objdump_calls_them, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
