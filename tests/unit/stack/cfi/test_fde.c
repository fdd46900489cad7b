/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding entries: by search table and by index, and in crafted sections. */
#include "stack/cfi/fde.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void open_self(struct tp_elf_source_pool *pool, struct tp_elf_image *image)
{
	struct stat st;
	tp_elf_source_pool_init(pool, 0);
	int fd = tp_elf_source_open_regular("/proc/self/exe", &st);
	ck_assert_int_ge(fd, 0);
	tp_elf_source_init_file(&image->source, pool, fd, &st, NULL, NULL);
	ck_assert_int_eq(tp_elf_image_load(image, NULL), TP_OK);
}

START_TEST(index_finds_what_the_search_table_finds)
{
	struct tp_elf_source_pool pool;
	struct tp_elf_image image = {0};
	struct tp_fde_table by_table;
	struct tp_fde_table by_index;
	open_self(&pool, &image);
	tp_fde_table_init(&by_table, &image);
	ck_assert_uint_gt(by_table.n_table, 100);
	image.eh_frame_hdr.size = 0;
	tp_fde_table_init(&by_index, &image);
	ck_assert_uint_eq(by_index.n_table, 0);
	/* The index leaves out entries of length zero. */
	ck_assert_uint_le(by_index.eh.n_entries, by_table.n_table);
	size_t n_found = 0;
	uint64_t stride = ((image.high_vaddr - image.low_vaddr) / 200000) | 1;
	for (uint64_t at = image.low_vaddr; at < image.high_vaddr; at += stride) {
		struct tp_fde a;
		struct tp_fde b;
		bool is_found = tp_fde_find(&by_table, &image, at, &a);
		ck_assert_int_eq(is_found, tp_fde_find(&by_index, &image, at, &b));
		n_found += is_found;
		if (!is_found)
			continue;
		ck_assert(at >= a.start && at < a.end);
		ck_assert_uint_eq(a.start, b.start);
		ck_assert_uint_eq(a.end, b.end);
		ck_assert_uint_eq(a.instructions_size, b.instructions_size);
	}
	ck_assert_uint_gt(n_found, 10000);
	tp_fde_table_release(&by_table);
	tp_fde_table_release(&by_index);
	tp_elf_source_release(&image.source);
	tp_elf_source_pool_release(&pool);
}
END_TEST

enum { TEXT = 0x1000, FRAMES = 0x2000, SECTION = 0x8000 };

/* One segment that contains everything at its own address. */
static struct tp_elf_image image_over(const uint8_t *bytes, size_t size)
{
	struct tp_elf_image image = {
		.machine = EM_X86_64,
		.high_vaddr = size,
		.segments = {{.vaddr = 0, .offset = 0, .size = size, .is_executable = true}},
		.n_segments = 1,
		.eh_frame = {FRAMES, FRAMES, SECTION},
	};
	tp_elf_source_init_memory(&image.source, bytes, size);
	return image;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
	return put(at, &value, 4);
}

/* "zR", pc-relative 4-byte pointers; the usual start: cfa = rsp + 8, ra at cfa - 8 */
static uint8_t *put_cie(uint8_t *at)
{
	static const uint8_t body[] = {1,    'z', 'R', 0, 1,    0x78, 16, 1,
				       0x1b, 12,  7,   8, 0x90, 1,    0,  0};
	at = put_u32(at, 4 + sizeof(body));
	at = put_u32(at, 0);
	return put(at, body, sizeof(body));
}

static uint8_t *put_fde(uint8_t *at, const uint8_t *base, uint64_t start, uint32_t length)
{
	uint64_t vaddr = (uint64_t)(at - base);
	at = put_u32(at, 16);
	at = put_u32(at, (uint32_t)(vaddr + 4 - FRAMES));
	at = put_u32(at, (uint32_t)(start - (vaddr + 8)));
	at = put_u32(at, length);
	return put(at, "\0\0\0\0", 4);
}

START_TEST(made_entries_are_found_by_their_bounds)
{
	static uint8_t bytes[FRAMES + SECTION];
	struct tp_fde fde;
	struct tp_fde_table table;
	uint8_t *at = put_cie(bytes + FRAMES);
	at = put_fde(at, bytes, TEXT + 0x100, 0x40);
	at = put_fde(at, bytes, TEXT, 0x20);
	put_fde(at, bytes, TEXT + 0x20, 0x10);
	struct tp_elf_image image = image_over(bytes, sizeof(bytes));
	tp_fde_table_init(&table, &image);
	ck_assert_uint_eq(table.eh.n_entries, 3);
	static const struct {
		uint64_t vaddr;
		uint64_t start; /* 0 = no entry */
	} questions[] = {{TEXT - 1, 0},
			 {TEXT, TEXT},
			 {TEXT + 0x1f, TEXT},
			 {TEXT + 0x20, TEXT + 0x20},
			 {TEXT + 0x30, 0},
			 {TEXT + 0x100, TEXT + 0x100},
			 {TEXT + 0x13f, TEXT + 0x100},
			 {TEXT + 0x140, 0}};
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		bool is_found = tp_fde_find(&table, &image, questions[i].vaddr, &fde);
		ck_assert_int_eq(is_found, questions[i].start != 0);
		if (is_found)
			ck_assert_uint_eq(fde.start, questions[i].start);
	}
	tp_fde_table_release(&table);
}
END_TEST

START_TEST(entries_without_sense_end_the_index_or_are_left_out)
{
	static uint8_t bytes[FRAMES + SECTION];
	struct tp_fde_table table;
	struct tp_elf_image image = image_over(bytes, sizeof(bytes));
	uint8_t *good = put_cie(bytes + FRAMES);
	uint8_t *bad = put_fde(good, bytes, TEXT, 0x20);
	put_fde(bad, bytes, TEXT + 0x20, 0x10);
	static const uint32_t lengths[] = {3, 0xfffffff0, 0xffffffff, SECTION};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_u32(bad, lengths[i]);
		tp_fde_table_init(&table, &image);
		ck_assert_uint_ge(table.eh.n_entries, 1);
		ck_assert_uint_le(table.eh.n_entries, 2);
		tp_fde_table_release(&table);
	}
	/* The CIE is the entry itself, or lies before the file. */
	static const uint32_t pointers[] = {4, 0x7fffffff, 0xffffffff, 1};
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		put_u32(bad, 16);
		put_u32(bad + 4, pointers[i]);
		tp_fde_table_init(&table, &image);
		ck_assert_uint_eq(table.eh.n_entries, 1);
		tp_fde_table_release(&table);
	}
}
END_TEST

/* 2 million entries of 8 bytes that all refer to a CIE of 60 KB: must not read 120 GB. */
START_TEST(index_of_a_hostile_section_is_bounded)
{
	size_t size = 16 << 20;
	uint8_t *bytes = tp_alloc(size);
	struct tp_elf_image image = image_over(bytes, size);
	struct tp_fde_table table;
	image.eh_frame.size = size - FRAMES;
	put_u32(bytes + FRAMES, 60000);
	put_u32(bytes + FRAMES + 4, 0);
	uint32_t second = FRAMES + 60004;
	put_u32(bytes + second, 60000);
	bool is_odd = false;
	for (uint32_t at = second + 60004; at + 8 < size; at += 8, is_odd = !is_odd) {
		put_u32(bytes + at, 4);
		put_u32(bytes + at + 4, at + 4 - (is_odd ? second : FRAMES));
	}
	tp_fde_table_init(&table, &image);
	ck_assert_uint_lt(table.read_bytes, 300 << 20);
	tp_fde_table_release(&table);
	free(bytes);
}
END_TEST

START_TEST(debug_frame_is_asked_when_eh_frame_is_silent)
{
	static uint8_t bytes[FRAMES + SECTION];
	struct tp_fde_table table;
	struct tp_fde fde;
	struct tp_elf_image image = image_over(bytes, sizeof(bytes));
	image.eh_frame.size = 0;
	image.debug_frame = (struct tp_elf_section){0, FRAMES, 0x100};
	static const uint8_t cie_body[] = {4, 0, 8, 0, 1, 0x78, 16, 12, 7, 8, 0x90, 1};
	uint64_t start = TEXT;
	uint64_t length = 0x20;
	uint8_t *at = put_u32(bytes + FRAMES, 4 + sizeof(cie_body));
	at = put(put_u32(at, UINT32_MAX), cie_body, sizeof(cie_body));
	at = put_u32(at, 4 + 16);
	at = put_u32(at, 0); /* offset of the CIE in the section */
	put(put(at, &start, 8), &length, 8);
	tp_fde_table_init(&table, &image);
	ck_assert(tp_fde_find(&table, &image, TEXT + 0x1f, &fde));
	ck_assert_uint_eq(fde.start, TEXT);
	ck_assert_uint_eq(fde.end, TEXT + 0x20);
	ck_assert_uint_eq(fde.ra_register, 16);
	ck_assert(!tp_fde_find(&table, &image, TEXT + 0x20, &fde));
	tp_fde_table_release(&table);
}
END_TEST

Suite *suite_stack_fde(void);
Suite *suite_stack_fde(void)
{
	Suite *suite = suite_create("stack/fde");
	TCase *tc = tcase_create("fde");
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, index_finds_what_the_search_table_finds);
	tcase_add_test(tc, made_entries_are_found_by_their_bounds);
	tcase_add_test(tc, entries_without_sense_end_the_index_or_are_left_out);
	tcase_add_test(tc, index_of_a_hostile_section_is_bounded);
	tcase_add_test(tc, debug_frame_is_asked_when_eh_frame_is_silent);
	suite_add_tcase(suite, tc);
	return suite;
}
