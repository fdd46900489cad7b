/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises arithmetic in machine code. */
#include "opcode.h"

#include "stack/elf/byte_cursor.h"

#include <elf.h>
#include <string.h>

/* ---- x86-64: Intel SDM volume 2, 2.1 to 2.7 and appendix A ------------------------------------
 */

/* Prefixes that choose among the forms of an opcode, as VEX and EVEX number them. */
enum { PP_NONE, PP_66, PP_F3, PP_F2 };
enum { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, MAP_HALF_0F = 5, MAP_HALF_0F38 = 6 };

struct x86_opcode {
	unsigned map;
	unsigned pp;
	uint8_t byte;
	bool is_vex; /* or EVEX */
};

/* Add, multiply and similar operations: F3 and F2 are the scalar forms. */
static bool is_float_arith(uint8_t byte)
{
	return byte == 0x51 || byte == 0x58 || byte == 0x59 || (byte >= 0x5c && byte <= 0x5f);
}

/* Additions, subtractions, products, minimum, maximum and sums of integers in vectors. */
static bool is_integer_arith(uint8_t byte)
{
	static const uint8_t bytes[] = {0xd4, 0xd5, 0xd8, 0xd9, 0xda, 0xdc, 0xdd, 0xde, 0xe0, 0xe3,
					0xe4, 0xe5, 0xe8, 0xe9, 0xea, 0xec, 0xed, 0xee, 0xf4, 0xf5,
					0xf6, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe};
	return memchr(bytes, byte, sizeof(bytes)) != NULL;
}

static enum tp_arith arith_of_two_byte(const struct x86_opcode *op)
{
	bool is_single = op->pp == PP_F3 || op->pp == PP_F2;
	if (is_float_arith(op->byte))
		return is_single ? TP_ARITH_SCALAR : TP_ARITH_VECTOR;
	if ((op->byte == 0x52 || op->byte == 0x53) && op->pp != PP_66) /* 1/sqrt, 1/x */
		return op->pp == PP_F3 ? TP_ARITH_SCALAR : TP_ARITH_VECTOR;
	if (op->byte == 0x7c || op->byte == 0x7d || op->byte == 0xd0) /* in pairs */
		return op->pp == PP_66 || op->pp == PP_F2 ? TP_ARITH_VECTOR : TP_ARITH_NONE;
	return !is_single && is_integer_arith(op->byte) ? TP_ARITH_VECTOR : TP_ARITH_NONE;
}

/* Fused multiply-add in its three orders: odd opcodes from x9 on are scalar. */
static bool is_float_mul_add(const struct x86_opcode *op)
{
	unsigned order = op->byte >> 4;
	return op->is_vex && op->pp == PP_66 && (order == 0x9 || order == 0xa || order == 0xb) &&
	       (op->byte & 15) >= 6;
}

static enum tp_arith arith_of_three_byte(const struct x86_opcode *op)
{
	if (is_float_mul_add(op)) {
		unsigned kind = op->byte & 15;
		return kind >= 9 && kind % 2 ? TP_ARITH_SCALAR : TP_ARITH_VECTOR;
	}
	bool is_sum_of_products =
		(op->byte >= 0x50 && op->byte <= 0x53) || op->byte == 0xb4 || op->byte == 0xb5;
	bool is_tile = op->byte == 0x5c || op->byte == 0x5e;
	if (op->is_vex && (is_sum_of_products || is_tile))
		return TP_ARITH_VECTOR;
	bool is_integer =
		op->byte <= 0x0b || (op->byte >= 0x38 && op->byte <= 0x40) || op->byte == 0x28;
	bool is_shuffle = op->byte == 0x00;
	return op->pp == PP_66 && is_integer && !is_shuffle ? TP_ARITH_VECTOR : TP_ARITH_NONE;
}

static enum tp_arith arith_of_x86_opcode(const struct x86_opcode *op)
{
	switch (op->map) {
	case MAP_0F:
		return arith_of_two_byte(op);
	case MAP_HALF_0F: /* 16-bit floats: no prefix is the packed form */
		if (!is_float_arith(op->byte))
			return TP_ARITH_NONE;
		return op->pp == PP_F3 ? TP_ARITH_SCALAR : TP_ARITH_VECTOR;
	case MAP_0F38:
	case MAP_HALF_0F38:
		return arith_of_three_byte(op);
	case MAP_0F3A: /* dot products */
		return op->byte == 0x40 || op->byte == 0x41 ? TP_ARITH_VECTOR : TP_ARITH_NONE;
	default:
		return TP_ARITH_NONE;
	}
}

static bool is_plain_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x67, 0xf0};
	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* Reads the opcode after legacy prefixes; map 0 if it is in the first table. */
static bool read_legacy(const uint8_t *code, size_t n, struct x86_opcode *op)
{
	size_t at = 0;
	for (; at < n; at++) {
		if (code[at] == 0x66)
			op->pp = op->pp == PP_NONE ? PP_66 : op->pp;
		else if (code[at] == 0xf3 || code[at] == 0xf2)
			op->pp = code[at] == 0xf3 ? PP_F3 : PP_F2;
		else if (!is_plain_prefix(code[at]))
			break;
	}
	at += at < n && (code[at] & 0xf0) == 0x40; /* REX */
	if (at >= n)
		return false;
	if (code[at] != 0x0f) {
		op->byte = code[at];
		return true;
	}
	op->map = MAP_0F;
	if (++at < n && (code[at] == 0x38 || code[at] == 0x3a))
		op->map = code[at++] == 0x38 ? MAP_0F38 : MAP_0F3A;
	if (at >= n)
		return false;
	op->byte = code[at];
	return true;
}

static bool read_x86(const uint8_t *code, size_t n, struct x86_opcode *op)
{
	*op = (struct x86_opcode){0};
	if (n >= 3 && code[0] == 0xc5)
		*op = (struct x86_opcode){MAP_0F, code[1] & 3, code[2], true};
	else if (n >= 4 && code[0] == 0xc4)
		*op = (struct x86_opcode){code[1] & 31, code[2] & 3, code[3], true};
	else if (n >= 5 && code[0] == 0x62)
		*op = (struct x86_opcode){code[1] & 7, code[2] & 3, code[4], true};
	else
		return read_legacy(code, n, op);
	return true;
}

static enum tp_arith arith_of_x86(const uint8_t *code, size_t n)
{
	struct x86_opcode op;
	if (!read_x86(code, n, &op))
		return TP_ARITH_NONE;
	return arith_of_x86_opcode(&op);
}

/* ---- aarch64: Arm Architecture Reference Manual C4.1 ------------------------------------------
 */

/* A row matches if (word & mask) == value. */
static const struct {
	uint32_t mask;
	uint32_t value;
	enum tp_arith arith;
} arm_rows[] = {
	{0xff200c00, 0x1e200800, TP_ARITH_SCALAR}, /* two sources */
	{0xff000000, 0x1f000000, TP_ARITH_SCALAR}, /* three sources: fused */
	{0xff3ffc00, 0x1e21c000, TP_ARITH_SCALAR}, /* square root */
	{0xdf000400, 0x5f000000, TP_ARITH_SCALAR}, /* by one element of a vector */
	{0x9f20fc00, 0x0e201c00, TP_ARITH_NONE},   /* logical, including moves */
	{0x9f200400, 0x0e200400, TP_ARITH_VECTOR}, /* three registers */
	{0x9f200c00, 0x0e200000, TP_ARITH_VECTOR}, /* of different lengths */
	{0x9f208400, 0x0e008400, TP_ARITH_VECTOR}, /* dot products and complex numbers */
	{0x9f000400, 0x0f000000, TP_ARITH_VECTOR}, /* by one element */
	{0xff000000, 0x65000000, TP_ARITH_VECTOR}, /* scalable, floating point */
	{0xff200000, 0x04200000, TP_ARITH_VECTOR}, /* scalable, integers */
};

static enum tp_arith arith_of_arm(uint32_t word)
{
	for (size_t i = 0; i < sizeof(arm_rows) / sizeof(arm_rows[0]); i++)
		if ((word & arm_rows[i].mask) == arm_rows[i].value)
			return arm_rows[i].arith;
	return TP_ARITH_NONE;
}

/* ---- both --------------------------------------------------------------------------------
 */

enum tp_arith tp_opcode_arith(uint16_t machine, const uint8_t *code, size_t n)
{
	if (machine == EM_X86_64)
		return arith_of_x86(code, n);
	if (machine != EM_AARCH64 || n < 4)
		return TP_ARITH_NONE;
	struct tp_byte_cursor cursor = tp_byte_cursor_over(code, 4);
	return arith_of_arm((uint32_t)tp_byte_cursor_uint(&cursor, 4));
}
