/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of symbols: libc's own functions, found and refused; aliases; speed. */
#include "stack/symbols/symtab.h"

#include "proof.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 0x1000, SYMBOLS = 0x2000, STRINGS = 0x3000 };
static uint8_t bytes[0x4000];

static struct tp_elf_image made_image(const Elf64_Sym *symbols, size_t n, const char *strings,
				      size_t strings_size)
{
	struct tp_elf_image image = {
		.segments = {{.size = TEXT_SIZE, .is_executable = true}},
		.n_segments = 1,
		.dynsym = {0, SYMBOLS, n * sizeof(*symbols)},
		.dynstr = {0, STRINGS, strings_size},
	};
	memcpy(bytes + SYMBOLS, symbols, n * sizeof(*symbols));
	memcpy(bytes + STRINGS, strings, strings_size);
	tp_elf_source_init_memory(&image.source, bytes, sizeof(bytes));
	return image;
}

#define FUNCTION(binding) ELF64_ST_INFO(STB_##binding, STT_FUNC)

static const char strings[] = "\0__read\0read\0__libc_read\0outer\0inner\0zero\0data";
static const Elf64_Sym symbols[] = {
	{.st_name = 0},
	{.st_name = 1,
	 .st_info = FUNCTION(GLOBAL),
	 .st_shndx = 1,
	 .st_value = 0x100,
	 .st_size = 16},
	{.st_name = 8, .st_info = FUNCTION(WEAK), .st_shndx = 1, .st_value = 0x100, .st_size = 16},
	{.st_name = 13,
	 .st_info = FUNCTION(LOCAL),
	 .st_shndx = 1,
	 .st_value = 0x100,
	 .st_size = 16},
	{.st_name = 25,
	 .st_info = FUNCTION(LOCAL),
	 .st_shndx = 1,
	 .st_value = 0x200,
	 .st_size = 256},
	{.st_name = 31,
	 .st_info = FUNCTION(LOCAL),
	 .st_shndx = 1,
	 .st_value = 0x220,
	 .st_size = 16},
	{.st_name = 37, .st_info = FUNCTION(LOCAL), .st_shndx = 1, .st_value = 0x400, .st_size = 0},
	{.st_name = 42,
	 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
	 .st_shndx = 1,
	 .st_value = 0x500,
	 .st_size = 64},
	{.st_name = 8,
	 .st_info = FUNCTION(GLOBAL),
	 .st_shndx = SHN_UNDEF,
	 .st_value = 0x600,
	 .st_size = 8},
	{.st_name = 60000,
	 .st_info = FUNCTION(GLOBAL),
	 .st_shndx = 1,
	 .st_value = 0x700,
	 .st_size = 8},
	{.st_name = 8,
	 .st_info = FUNCTION(GLOBAL),
	 .st_shndx = 1,
	 .st_value = 0x9000,
	 .st_size = 8},
};

static const struct {
	uint64_t address;
	const char *name; /* NULL = no symbol covers it */
	uint64_t start;
} questions[] = {
	{0xff, NULL, 0},         {0x100, "read", 0x100},  {0x10f, "read", 0x100},
	{0x110, NULL, 0},        {0x200, "outer", 0x200}, {0x225, "inner", 0x220},
	{0x230, "outer", 0x200}, {0x2ff, "outer", 0x200}, {0x300, NULL, 0},
	{0x400, NULL, 0},        {0x500, NULL, 0},        {0x600, NULL, 0},
	{0x700, "", 0x700},      {0x9000, NULL, 0},       {UINT64_MAX, NULL, 0},
};

START_TEST(symbol_is_used_only_where_it_covers)
{
	struct tp_elf_image image =
		made_image(symbols, sizeof(symbols) / sizeof(symbols[0]), strings, sizeof(strings));
	struct tp_symtab symtab = {0};
	struct tp_strtab texts;
	tp_strtab_init(&texts);
	/* Twice: names are read the first time, and cached for the second. */
	for (size_t i = 0; i < 2 * (sizeof(questions) / sizeof(questions[0])); i++) {
		size_t at = i % (sizeof(questions) / sizeof(questions[0]));
		const char *name;
		uint64_t start;
		uint64_t end;
		bool is_found = tp_symtab_find(&symtab, &image, &texts, questions[at].address,
					       &name, &start, &end);
		ck_assert_msg(is_found == (questions[at].name != NULL), "question %zu", at);
		if (!is_found)
			continue;
		ck_assert_str_eq(name, questions[at].name);
		ck_assert_uint_eq(start, questions[at].start);
		ck_assert(start <= questions[at].address && questions[at].address < end);
	}
	tp_symtab_release(&symtab);
	tp_strtab_release(&texts);
}
END_TEST

START_TEST(table_that_lies_about_its_size_is_cut)
{
	struct tp_elf_image image = made_image(symbols, 5, strings, sizeof(strings));
	image.dynsym.size = UINT64_MAX / 2;
	image.dynstr.size = UINT64_MAX / 2;
	struct tp_symtab symtab = {0};
	struct tp_strtab texts;
	const char *name;
	uint64_t start;
	uint64_t end;
	tp_strtab_init(&texts);
	ck_assert(tp_symtab_find(&symtab, &image, &texts, 0x100, &name, &start, &end));
	ck_assert_str_eq(name, "read");
	ck_assert_uint_lt(symtab.n_entries, 1000);
	tp_symtab_release(&symtab);
	tp_strtab_release(&texts);
}
END_TEST

START_TEST(lookup_searches_and_does_not_walk)
{
	enum { N = 20000, ROUNDS = 200000 };
	struct tp_symtab symtab = {.is_loaded = true, .longest = 16};
	struct tp_strtab texts;
	struct tp_elf_image image = {0};
	tp_strtab_init(&texts);
	for (uint64_t i = 0; i < N; i++)
		TP_ARRAY_PUSH(symtab.entries, symtab.n_entries, symtab.entries_capacity) =
			(struct tp_symtab_entry){.start = i * 32, .size = 16, .rank = 2};
	uint64_t best_ns = UINT64_MAX;
	uint64_t n_found = 0;
	for (int attempt = 0; attempt < 5; attempt++) {
		uint64_t begin_ns = tp_clock_self_cpu_ns();
		for (uint64_t i = 0; i < ROUNDS; i++) {
			const char *name;
			uint64_t start;
			uint64_t end;
			n_found += tp_symtab_find(&symtab, &image, &texts, i * 7919 % (N * 32),
						  &name, &start, &end);
		}
		uint64_t took_ns = tp_clock_self_cpu_ns() - begin_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	ck_assert_uint_gt(n_found, 5 * ROUNDS / 3);
	/* 50 ns here; a sanitizer or coverage makes it several times that. */
	ck_assert_uint_lt(best_ns / ROUNDS, 1000);
	tp_symtab_release(&symtab);
	tp_strtab_release(&texts);
}
END_TEST

Suite *suite_stack_symtab(void);
Suite *suite_stack_symtab(void)
{
	Suite *suite = suite_create("stack/symtab");
	TCase *tc = tcase_create("symtab");
	tcase_add_test(tc, symbol_is_used_only_where_it_covers);
	tcase_add_test(tc, table_that_lies_about_its_size_is_cut);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "speed");
	tcase_add_test(proofs, lookup_searches_and_does_not_walk);
	return suite;
}
