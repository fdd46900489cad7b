/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ELF headers, in our own file and in crafted files. */
#include "stack/elf/elf_image.h"

#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t *self;
static size_t self_size;

static void set_up(void)
{
	struct stat st;
	int fd = tp_elf_source_open_regular("/proc/self/exe", &st);
	ck_assert_int_ge(fd, 0);
	self_size = (size_t)st.st_size;
	self = malloc(self_size);
	ck_assert_int_eq(read(fd, self, self_size), st.st_size);
	close(fd);
}

static void tear_down(void)
{
	free(self);
}

static enum tp_status load(struct tp_elf_image *image, const uint8_t *bytes, size_t size)
{
	*image = (struct tp_elf_image){0};
	tp_elf_source_init_memory(&image->source, bytes, size);
	return tp_elf_image_load(image, NULL);
}

START_TEST(own_file_has_all_parts)
{
	struct tp_elf_image image;
	ck_assert_int_eq(load(&image, self, self_size), TP_OK);
	ck_assert_uint_gt(image.eh_frame.size, 1000);
	ck_assert_uint_gt(image.eh_frame_hdr.size, 100);
	ck_assert_uint_gt(image.dynsym.size, 100);
	ck_assert_uint_gt(image.symtab.size, 1000);
	ck_assert_uint_eq(strlen(image.build_id), 40);
	ck_assert(tp_elf_image_is_code(&image, image.entry));
	ck_assert(!tp_elf_image_is_code(&image, image.eh_frame.vaddr));
	uint64_t vaddr;
	ck_assert(tp_elf_image_offset_to_address(&image, image.eh_frame.offset, &vaddr));
	ck_assert_uint_eq(vaddr, image.eh_frame.vaddr);
	ck_assert(!tp_elf_image_offset_to_address(&image, UINT64_MAX, &vaddr));
}
END_TEST

START_TEST(code_wins_where_segments_share_a_page)
{
	struct tp_elf_image image = {
		.segments = {{.vaddr = 0x400000, .offset = 0, .size = 0x2000},
			     {.vaddr = 0x602000,
			      .offset = 0x1800,
			      .size = 0x1000,
			      .is_executable = true}},
		.n_segments = 2,
	};
	uint64_t vaddr;
	ck_assert(tp_elf_image_offset_to_address(&image, 0x1800, &vaddr));
	ck_assert_uint_eq(vaddr, 0x602000);
	ck_assert(tp_elf_image_offset_to_address(&image, 0x17ff, &vaddr));
	ck_assert_uint_eq(vaddr, 0x4017ff);
	ck_assert(!tp_elf_image_offset_to_address(&image, 0x2800, &vaddr));
}
END_TEST

START_TEST(mapping_of_one_code_segment_needs_no_search)
{
	static const struct tp_elf_image image = {
		.segments = {{.vaddr = 0x400000, .offset = 0, .size = 0x2000},
			     {.vaddr = 0x602800,
			      .offset = 0x2800,
			      .size = 0x1000,
			      .is_executable = true},
			     {.vaddr = 0x900000,
			      .offset = 0x4000,
			      .size = 0x1000,
			      .is_executable = true}},
		.n_segments = 3,
	};
	static const struct {
		uint64_t offset;
		uint64_t size;
		bool is_one;
		uint64_t vaddr;
	} cases[] = {
		{0x2000, 0x2000, true, 0x602000},
		{0x3000, 0x1000, true, 0x603000},
		{0x4000, 0x1000, true, 0x900000},
		{0x2000, 0x3000, false, 0},
		{0, 0x2000, false, 0},
		{0x5000, 0x1000, false, 0},
		{0, 0x2801, true, 0x600000},
		{UINT64_MAX, 1, false, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t vaddr = 0;
		bool is_one = tp_elf_image_map_code(&image, cases[i].offset, cases[i].size, &vaddr);
		ck_assert_msg(is_one == cases[i].is_one, "case %zu", i);
		if (is_one)
			ck_assert_uint_eq(vaddr, cases[i].vaddr);
	}
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	struct tp_elf_image image;
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = {{0, 'E'},
		       {EI_CLASS, ELFCLASS32},
		       {EI_DATA, ELFDATA2MSB},
		       {offsetof(Elf64_Ehdr, e_phentsize), 32},
		       {offsetof(Elf64_Ehdr, e_phnum), 0}};
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t kept = self[changes[i].at];
		self[changes[i].at] = changes[i].value;
		ck_assert_int_eq(load(&image, self, self_size), TP_PARSE);
		self[changes[i].at] = kept;
	}
	ck_assert_int_eq(load(&image, self, self_size), TP_OK);
	ck_assert_int_eq(load(&image, self, sizeof(Elf64_Ehdr) - 1), TP_PARSE);
}
END_TEST

START_TEST(file_without_section_headers_still_unwinds)
{
	struct tp_elf_image image;
	memset(self + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	memset(self + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
	ck_assert_int_eq(load(&image, self, self_size), TP_OK);
	ck_assert_uint_eq(image.symtab.size, 0);
	ck_assert_uint_gt(image.eh_frame_hdr.size, 100);
}
END_TEST

/* Every byte of the headers is changed: sections and segments can be anywhere, and nothing outside
 * the file is read (a sanitizer checks). */
START_TEST(changed_headers_are_survived)
{
	struct tp_elf_image image;
	Elf64_Ehdr header;
	memcpy(&header, self, sizeof(header));
	size_t n_headers = sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr);
	for (size_t at = 0; at < n_headers; at++) {
		uint8_t kept = self[at];
		static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
		for (size_t i = 0; i < sizeof(values); i++) {
			uint8_t byte[16];
			uint64_t vaddr;
			self[at] = values[i];
			if (load(&image, self, self_size) != TP_OK)
				continue;
			tp_elf_image_read_some(&image, image.entry, byte, sizeof(byte));
			tp_elf_image_read_some(&image, image.high_vaddr - 1, byte, sizeof(byte));
			tp_elf_image_offset_to_address(&image, 4096, &vaddr);
		}
		self[at] = kept;
	}
}
END_TEST

Suite *suite_stack_elf_image(void);
Suite *suite_stack_elf_image(void)
{
	Suite *suite = suite_create("stack/elfimage");
	TCase *tc = tcase_create("elfimage");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, own_file_has_all_parts);
	tcase_add_test(tc, code_wins_where_segments_share_a_page);
	tcase_add_test(tc, mapping_of_one_code_segment_needs_no_search);
	tcase_add_test(tc, foreign_files_are_refused);
	tcase_add_test(tc, file_without_section_headers_still_unwinds);
	tcase_add_test(tc, changed_headers_are_survived);
	suite_add_tcase(suite, tc);
	return suite;
}
