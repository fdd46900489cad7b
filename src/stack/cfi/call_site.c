/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the few machine instructions that a stack walk needs. */
#include "call_site.h"

#include "stack/elf/byte_cursor.h"

#include <elf.h>
#include <string.h>

/* Returns the length of the instruction "FF /2" counted from its first byte, 0 if it is no indirect
 * near call. Intel SDM volume 2, CALL and table 2-2. */
static size_t indirect_call_length(const uint8_t *code)
{
	if (code[0] != 0xff || (code[1] & 0x38) != 0x10)
		return 0;
	unsigned mode = code[1] >> 6;
	unsigned base = code[1] & 7;
	if (mode == 3)
		return 2;
	size_t length = 2;
	if (base == 4) {
		base = code[2] & 7; /* of the scale-index-base byte */
		length++;
		if (mode == 0 && base == 5)
			return length + 4;
	} else if (mode == 0 && base == 5) {
		return length + 4; /* relative to rip */
	}
	if (mode == 1)
		return length + 1;
	return mode == 2 ? length + 4 : length;
}

static struct tp_call_site x86_call_before(struct tp_elf_image *image, uint64_t vaddr)
{
	enum { LONGEST = 7 };
	uint8_t code[LONGEST + 3] = {0};
	struct tp_call_site site = {0};
	if (!tp_elf_image_read(image, vaddr - LONGEST, code, LONGEST))
		return site;
	if (code[LONGEST - 5] == 0xe8) {
		struct tp_byte_cursor c = tp_byte_cursor_over(code + LONGEST - 4, 4);
		uint64_t target = vaddr + (uint64_t)tp_byte_cursor_int(&c, 4);
		/* 0xe8 can be a byte of another instruction: then the target is not in the code. */
		if (tp_elf_image_is_code(image, target))
			return (struct tp_call_site){true, true, target};
	}
	for (size_t length = 2; length <= LONGEST; length++)
		site.is_call |= indirect_call_length(code + LONGEST - length) == length;
	return site;
}

/* Offset of B and BL: 26 bits, counted in words. */
static uint64_t arm_branch_offset(uint32_t word)
{
	return (uint64_t)((int64_t)((uint64_t)word << 38) >> 38) * 4;
}

/* Arm Architecture Reference Manual C6.2: BL, BLR, BLRAA and similar instructions. */
static struct tp_call_site arm_call_before(struct tp_elf_image *image, uint64_t vaddr)
{
	uint8_t bytes[4];
	if (!tp_elf_image_read(image, vaddr - 4, bytes, sizeof(bytes)))
		return (struct tp_call_site){0};
	struct tp_byte_cursor c = tp_byte_cursor_over(bytes, sizeof(bytes));
	uint32_t code = (uint32_t)tp_byte_cursor_uint(&c, 4);
	if ((code & 0xfc000000) == 0x94000000) {
		return (struct tp_call_site){true, true, vaddr - 4 + arm_branch_offset(code)};
	}
	return (struct tp_call_site){.is_call = (code & 0xfefff000) == 0xd63f0000};
}

struct tp_call_site tp_call_site_before(struct tp_elf_image *image, uint64_t vaddr)
{
	if (image->machine == EM_X86_64)
		return x86_call_before(image, vaddr);
	if (image->machine == EM_AARCH64)
		return arm_call_before(image, vaddr);
	return (struct tp_call_site){0};
}

bool tp_call_site_is_plt(struct tp_elf_image *image, uint64_t vaddr)
{
	uint8_t code[12] = {0};
	tp_elf_image_read_some(image, vaddr, code, sizeof(code));
	if (image->machine == EM_AARCH64) /* adrp x16, … */
		return (code[0] & 0x1f) == 16 && (code[3] & 0x9f) == 0x90;
	const uint8_t *at = code;
	static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	if (memcmp(at, endbr64, sizeof(endbr64)) == 0)
		at += sizeof(endbr64);
	if (*at == 0xf2) /* bnd */
		at++;
	return at[0] == 0xff && at[1] == 0x25; /* jmp *x(%rip) */
}

/* Decodes the jump at `code` (at `vaddr`) and its target; returns false if it is no jump. is_open:
 * the target can be anywhere. */
static bool x86_jump(const uint8_t *code, uint64_t vaddr, uint64_t *target, bool *is_open)
{
	*is_open = code[0] == 0xff && (code[1] & 0x38) == 0x20;
	bool is_conditional = code[0] == 0x0f && (code[1] & 0xf0) == 0x80;
	if (*is_open || (code[0] != 0xe9 && !is_conditional))
		return *is_open;
	size_t opcode = is_conditional ? 2 : 1;
	struct tp_byte_cursor c = tp_byte_cursor_over(code + opcode, 4);
	*target = vaddr + opcode + 4 + (uint64_t)tp_byte_cursor_int(&c, 4);
	return true;
}

static bool arm_jump(const uint8_t *code, uint64_t vaddr, uint64_t *target, bool *is_open)
{
	struct tp_byte_cursor c = tp_byte_cursor_over(code, 4);
	uint32_t word = (uint32_t)tp_byte_cursor_uint(&c, 4);
	*is_open = (word & 0xfefff000) == 0xd61f0000; /* BR, BRAA */
	*target = vaddr + arm_branch_offset(word);
	return *is_open || (word & 0xfc000000) == 0x14000000; /* B */
}

bool tp_call_site_calls(struct tp_elf_image *image, uint64_t start, uint64_t end, uint64_t target)
{
	enum { MAX_BYTES = 8192, LENGTH = 5 };
	uint8_t code[MAX_BYTES];
	size_t size = end - start < MAX_BYTES ? (size_t)(end - start) : MAX_BYTES;
	size = tp_elf_image_read_some(image, start, code, size);
	bool is_arm = image->machine == EM_AARCH64;
	for (size_t at = 0; at + LENGTH <= size; at += is_arm ? 4 : 1) {
		struct tp_byte_cursor c = tp_byte_cursor_over(code + at, LENGTH);
		uint64_t to = 0;
		if (is_arm) {
			uint32_t word = (uint32_t)tp_byte_cursor_uint(&c, 4);
			if ((word & 0xfc000000) == 0x94000000)
				to = start + at + arm_branch_offset(word);
		} else if (tp_byte_cursor_uint(&c, 1) == 0xe8) {
			to = start + at + LENGTH + (uint64_t)tp_byte_cursor_int(&c, 4);
		}
		if (to == target)
			return true;
	}
	return false;
}

bool tp_call_site_jumps_to(struct tp_elf_image *image, uint64_t start, uint64_t end,
			   uint64_t target)
{
	enum { MAX_BYTES = 4096, LONGEST = 6 };
	uint8_t code[MAX_BYTES + LONGEST] = {0};
	size_t size = end - start < MAX_BYTES ? (size_t)(end - start) : MAX_BYTES;
	size = tp_elf_image_read_some(image, start, code, size);
	bool is_arm = image->machine == EM_AARCH64;
	for (size_t at = 0; at < size; at += is_arm ? 4 : 1) {
		uint64_t to = 0;
		bool is_open;
		bool is_jump = is_arm ? arm_jump(code + at, start + at, &to, &is_open)
				      : x86_jump(code + at, start + at, &to, &is_open);
		if (!is_jump || (!is_open && to >= start && to < end))
			continue;
		if (is_open || to == target || tp_call_site_is_plt(image, to))
			return true;
	}
	return false;
}

/* Location of the interrupted registers, which the kernel saved, relative to the stack pointer at
 * the return from a signal. x86-64: struct rt_sigframe has a ucontext after its return address,
 * gregs at 40. aarch64: siginfo (128), ucontext with the machine context at 176, registers after 8
 * bytes. */
static const struct tp_unwind_rule x86_signal_rule = {
	.into_function = UINT32_MAX,
	.cfa = TP_RULE_CFA_SP_DEREF,
	.cfa_offset = 40 + 15 * 8,
	.ra = TP_RULE_AT_SP,
	.ra_offset = 40 + 16 * 8,
	.bp = TP_RULE_AT_SP,
	.bp_offset = 40 + 10 * 8,
	.is_signal = 1,
};
static const struct tp_unwind_rule arm_signal_rule = {
	.into_function = UINT32_MAX,
	.cfa = TP_RULE_CFA_SP_DEREF,
	.cfa_offset = 128 + 176 + 8 + 31 * 8,
	.ra = TP_RULE_AT_SP,
	.ra_offset = 128 + 176 + 8 + 32 * 8,
	.bp = TP_RULE_AT_SP,
	.bp_offset = 128 + 176 + 8 + 29 * 8,
	.is_signal = 1,
};

void tp_call_site_known_rule(struct tp_elf_image *image, uint64_t vaddr,
			     struct tp_unwind_rule *rule)
{
	/* mov $15, %rax; syscall and mov x8, #139; svc #0 */
	static const uint8_t x86_return[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t arm_return[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
	enum { ENTRY_BYTES = 64 }; /* _start is shorter in every libc we know */
	uint8_t code[sizeof(x86_return)] = {0};
	tp_elf_image_read_some(image, vaddr, code, sizeof(code));
	if (image->machine == EM_X86_64 && memcmp(code, x86_return, sizeof(x86_return)) == 0)
		*rule = x86_signal_rule;
	else if (image->machine == EM_AARCH64 && memcmp(code, arm_return, sizeof(arm_return)) == 0)
		*rule = arm_signal_rule;
	else if (vaddr >= image->entry && vaddr - image->entry < ENTRY_BYTES && image->entry != 0)
		rule->cfa = TP_RULE_CFA_END;
}
