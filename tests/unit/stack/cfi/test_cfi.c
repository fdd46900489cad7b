/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of unwind rules, compared with libdw for every address of real files. */
#include "stack/capture.h"
#include "stack/symbols/module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

/* DWARF numbers on x86-64 */
enum { BP = 6, SP = 7, IP = 16 };

/* Converts libdw's expression to our rule; returns false for expressions that we do not follow. */
static bool base_and_offset(const Dwarf_Op *ops, size_t n, enum tp_rule_cfa *cfa, int64_t *offset)
{
	uint64_t base;
	if (n == 0)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		base = ops[0].number;
		*offset = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		base = ops[0].atom - DW_OP_breg0;
		*offset = (int64_t)ops[0].number;
	} else {
		return false;
	}
	bool is_deref = false;
	for (size_t i = 1; i < n; i++) {
		if (ops[i].atom == DW_OP_plus_uconst && !is_deref)
			*offset += (int64_t)ops[i].number;
		else if (ops[i].atom == DW_OP_deref && i == n - 1)
			is_deref = true;
		else
			return false;
	}
	if (base == SP)
		*cfa = is_deref ? TP_RULE_CFA_SP_DEREF : TP_RULE_CFA_SP;
	else if (base == BP)
		*cfa = is_deref ? TP_RULE_CFA_BP_DEREF : TP_RULE_CFA_BP;
	return base == SP || base == BP;
}

/* The expression of procedure linkage tables: rsp + 8 + ((rip & 15) >= N) * 8 */
static bool is_plt_expression(const Dwarf_Op *ops, size_t n, uint64_t pc, int64_t *offset)
{
	static const uint8_t atoms[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
	if (n != sizeof(atoms))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (i != 4 && ops[i].atom != atoms[i])
			return false;
	}
	unsigned least = ops[4].atom - DW_OP_lit0;
	*offset = (int64_t)ops[0].number + ((pc & 15) >= least ? 8 : 0);
	return true;
}

struct tally {
	size_t n_same;
	size_t n_plt;
	size_t n_unfollowed; /* rules of libdw that we cannot express */
	size_t n_roots;
};

static void expect_place(const Dwarf_Op *ops, size_t n, uint8_t place, int offset, int number)
{
	enum tp_rule_cfa cfa;
	int64_t expected;
	if (n == 0 && !ops) {
		ck_assert_int_eq(place, TP_RULE_KEPT);
	} else if (n == 0) {
		ck_assert_int_eq(place, TP_RULE_LOST);
	} else if (ops[0].atom == DW_OP_call_frame_cfa &&
		   (n == 1 || ops[1].atom == DW_OP_plus_uconst)) {
		ck_assert_int_eq(place, TP_RULE_AT_CFA);
		ck_assert_int_eq(offset, n > 1 ? (int)ops[1].number : 0);
	} else if (base_and_offset(ops + 1, n - 1, &cfa, &expected)) {
		/* An expression is evaluated with the frame address pushed first. */
		ck_assert_int_eq(place, cfa == TP_RULE_CFA_SP ? TP_RULE_AT_SP : TP_RULE_AT_BP);
		ck_assert_int_eq(offset, (int)expected);
	} else {
		ck_assert_msg(place == TP_RULE_LOST, "register %d", number);
	}
}

static void compare_at(Dwarf_CFI *cfi, struct tp_unwind_rule_cache *rules,
		       struct tp_elf_image *image, uint64_t pc, struct tally *tally)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops = NULL;
	Dwarf_Op memory[3];
	size_t n = 0;
	const struct tp_unwind_rule rule = *tp_unwind_rule_cache_get(rules, image, pc);
	if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0) {
		ck_assert_msg(rule.cfa == TP_RULE_CFA_NONE || rule.cfa == TP_RULE_CFA_END,
			      "rule without table at %#lx", (unsigned long)pc);
		return;
	}
	ck_assert_int_eq(dwarf_frame_register(frame, IP, memory, &ops, &n), 0);
	if (n == 0 && ops == memory) {
		ck_assert_int_eq(rule.cfa, TP_RULE_CFA_END);
		tally->n_roots++;
		free(frame);
		return;
	}
	/* vfork() keeps its return address in rdi for two instructions. */
	bool is_in_register = n == 1 && ops[0].atom == DW_OP_regx;
	enum tp_rule_cfa cfa = TP_RULE_CFA_SP;
	int64_t offset = 0;
	Dwarf_Op *cfa_ops = NULL;
	size_t n_cfa = 0;
	ck_assert_int_eq(dwarf_frame_cfa(frame, &cfa_ops, &n_cfa), 0);
	if (is_plt_expression(cfa_ops, n_cfa, pc, &offset)) {
		tally->n_plt++;
	} else if (is_in_register || !base_and_offset(cfa_ops, n_cfa, &cfa, &offset)) {
		ck_assert_int_eq(rule.cfa, TP_RULE_CFA_NONE);
		tally->n_unfollowed++;
		free(frame);
		return;
	}
	ck_assert_msg(rule.cfa == cfa && rule.cfa_offset == offset,
		      "%#lx: we say %d%+d, libdw %d%+ld", (unsigned long)pc, rule.cfa,
		      rule.cfa_offset, (int)cfa, (long)offset);
	expect_place(ops, n, rule.ra, rule.ra_offset, IP);
	ck_assert_int_eq(dwarf_frame_register(frame, BP, memory, &ops, &n), 0);
	expect_place(ops == memory || n > 0 ? ops : NULL, n, rule.bp, rule.bp_offset, BP);
	bool is_signal = false;
	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	ck_assert_int_eq(rule.is_signal, is_signal);
	tally->n_same++;
	free(frame);
}

/* An odd stride reaches every offset in procedure linkage entries of 16 bytes. */
static uint64_t stride_of(const struct tp_elf_image *image, uint64_t n_addresses)
{
	uint64_t size = 0;
	for (size_t i = 0; i < image->n_segments; i++)
		size += image->segments[i].is_executable ? image->segments[i].size : 0;
	return (size / n_addresses) | 1;
}

static struct tally compare_file(const char *path, uint64_t n_addresses)
{
	struct tally tally = {0};
	struct stat st;
	struct tp_elf_source_pool pool;
	struct tp_elf_image image = {0};
	struct tp_unwind_rule_cache rules = {0};
	tp_elf_source_pool_init(&pool, 0);
	int fd = tp_elf_source_open_regular(path, &st);
	ck_assert_int_ge(fd, 0);
	tp_elf_source_init_file(&image.source, &pool, fd, &st, path, NULL);
	ck_assert_int_eq(tp_elf_image_load(&image, NULL), TP_OK);
	int dw_fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(dw_fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	ck_assert_ptr_nonnull(cfi);
	uint64_t stride = stride_of(&image, n_addresses);
	for (size_t i = 0; i < image.n_segments; i++) {
		const struct tp_elf_segment *s = &image.segments[i];
		for (uint64_t at = 0; s->is_executable && at < s->size; at += stride)
			compare_at(cfi, &rules, &image, s->vaddr + at, &tally);
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(dw_fd);
	tp_unwind_rule_cache_release(&rules);
	tp_elf_source_release(&image.source);
	tp_elf_source_pool_release(&pool);
	return tally;
}

static const char *libc_path(char *out, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	out[0] = '\0';
	while (fgets(line, sizeof(line), maps)) {
		char *slash = strchr(line, '/');
		if (slash && strstr(slash, "/libc.so")) {
			slash[strcspn(slash, "\n")] = '\0';
			snprintf(out, size, "%s", slash);
			break;
		}
	}
	fclose(maps);
	return out;
}

START_TEST(rules_of_libc_are_those_of_libdw)
{
	char path[512];
	struct tally tally = compare_file(libc_path(path, sizeof(path)), 60000);
	ck_assert_uint_gt(tally.n_same, 30000);
	ck_assert_uint_lt(tally.n_unfollowed * 1000, tally.n_same);
}
END_TEST

START_TEST(rules_of_our_own_program_are_those_of_libdw)
{
	struct tally tally = compare_file("/proc/self/exe", 60000);
	ck_assert_uint_gt(tally.n_same, 5000);
	ck_assert_uint_gt(tally.n_plt, 5); /* in its procedure linkage table */
	/* The first and last instructions of a realigned frame address it by r10. */
	ck_assert_uint_lt(tally.n_unfollowed * 1000, tally.n_same);
}
END_TEST

START_TEST(rules_of_the_dynamic_loader_are_those_of_libdw)
{
	struct tally tally = compare_file("/lib64/ld-linux-x86-64.so.2", 60000);
	ck_assert_uint_gt(tally.n_same, 20000);
	/* The lazy binding trampolines address their frame by rbx. */
	ck_assert_uint_lt(tally.n_unfollowed * 40, tally.n_same);
}
END_TEST

START_TEST(two_rules_share_a_cache_line)
{
	ck_assert_uint_eq(sizeof(struct tp_unwind_rule), 32);
}
END_TEST

/* Register numbers of 2^60 - 1 and more do not exist; parsing must not loop up to them. */
START_TEST(wild_register_numbers_are_harmless)
{
	static const uint8_t program[] = {DW_CFA_def_cfa,
					  7,
					  8,
					  DW_CFA_offset | 16,
					  1,
					  DW_CFA_offset_extended,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0x0f,
					  1,
					  DW_CFA_undefined,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0xff,
					  0x0f};
	struct tp_fde fde = {
		.start = 0x1000,
		.end = 0x2000,
		.cie_instructions = program,
		.cie_instructions_size = sizeof(program),
		.code_align = 1,
		.data_align = -8,
		.ra_register = 16,
	};
	struct tp_unwind_rule rule;
	tp_cfi_rule(&fde, 62, 0x1800, &rule);
	ck_assert_int_eq(rule.cfa, TP_RULE_CFA_SP);
	ck_assert_int_eq(rule.cfa_offset, 8);
	ck_assert_int_eq(rule.ra_offset, -8);
}
END_TEST

/* DW_CFA_restore restores the CIE's rule for a register after the function changed it. */
START_TEST(restore_means_the_state_of_the_start)
{
	static const uint8_t start[] = {DW_CFA_def_cfa,    7, 8, DW_CFA_offset | 16, 1,
					DW_CFA_offset | 6, 4};
	static const uint8_t program[] = {DW_CFA_same_value, 6, DW_CFA_advance_loc | 8,
					  DW_CFA_restore | 6};
	struct tp_fde fde = {
		.start = 0x1000,
		.end = 0x2000,
		.instructions = program,
		.instructions_size = sizeof(program),
		.cie_instructions = start,
		.cie_instructions_size = sizeof(start),
		.code_align = 1,
		.data_align = -8,
		.ra_register = 16,
	};
	struct tp_unwind_rule rule;
	tp_cfi_rule(&fde, 62, 0x1007, &rule);
	ck_assert_int_eq(rule.bp, TP_RULE_KEPT);
	tp_cfi_rule(&fde, 62, 0x1008, &rule);
	ck_assert_int_eq(rule.bp, TP_RULE_AT_CFA);
	ck_assert_int_eq(rule.bp_offset, -32);
}
END_TEST

/* endless remember_state, restore_state without remember_state, a truncated operand: no rule, no
 * harm */
START_TEST(broken_programs_give_no_rule)
{
	static const struct {
		uint8_t bytes[24];
		size_t size;
	} programs[] = {
		{{DW_CFA_restore_state}, 1},
		{{DW_CFA_def_cfa, 7}, 2},
		{{DW_CFA_def_cfa_expression, 200, 1}, 3},
		{{DW_CFA_set_loc, 0, 0, 0, 0, 0, 0, 0, 0}, 9},
		{{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, 19},
		{{DW_CFA_def_cfa, 3, 8, DW_CFA_offset | 16, 1}, 5}, /* rbx: not supported */
		{{DW_CFA_def_cfa_expression, 1, DW_OP_deref, DW_CFA_offset | 16, 1}, 5},
	};
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct tp_fde fde = {
			.start = 0x1000,
			.end = 0x2000,
			.cie_instructions = programs[i].bytes,
			.cie_instructions_size = programs[i].size,
			.code_align = 1,
			.data_align = -8,
			.ra_register = 16,
		};
		struct tp_unwind_rule rule;
		tp_cfi_rule(&fde, 62, 0x1800, &rule);
		ck_assert_msg(rule.cfa == TP_RULE_CFA_NONE || rule.cfa == TP_RULE_CFA_END, "%zu",
			      i);
	}
}
END_TEST

Suite *suite_stack_cfi(void);
Suite *suite_stack_cfi(void)
{
	Suite *suite = suite_create("stack/cfi");
	TCase *tc = tcase_create("cfi");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, two_rules_share_a_cache_line);
	tcase_add_test(tc, wild_register_numbers_are_harmless);
	tcase_add_test(tc, restore_means_the_state_of_the_start);
	tcase_add_test(tc, broken_programs_give_no_rule);
	tcase_add_test(tc, rules_of_our_own_program_are_those_of_libdw);
#if defined(__x86_64__)
	tcase_add_test(tc, rules_of_libc_are_those_of_libdw);
	tcase_add_test(tc, rules_of_the_dynamic_loader_are_those_of_libdw);
#endif
	suite_add_tcase(suite, tc);
	return suite;
}
