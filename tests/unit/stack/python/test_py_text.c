/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of strings read from another process. */
#include "stack/python/py_text.h"

#include "stack/pyimage.h"

#include <check.h>

static void check_text(struct pyimage *image, uint64_t address, const char *expected)
{
	struct tp_buf out = {0};
	ck_assert(tp_py_text_read(&out, &image->mem, image->layout, address));
	ck_assert_str_eq(tp_buf_text(&out), expected);
	tp_buf_release(&out);
}

START_TEST(all_widths_become_utf8)
{
	static const uint16_t wide[] = {'a', 0x540d, 0xdc80, 0x20ac};
	static const uint32_t widest[] = {0x1d535, 'z', 0x2028};
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	check_text(&image, pyimage_text(&image, "forward"), "forward");
	check_text(&image, pyimage_text(&image, ""), "");
	check_text(&image,
		   pyimage_text_of(&image,
				   "gr\xf6\xdf"
				   "e",
				   5, 1, false),
		   "größe");
	check_text(&image, pyimage_text_of(&image, wide, 4, 2, false), "a名\\udc80€");
	check_text(&image, pyimage_text_of(&image, widest, 3, 4, false), "𝔵z\\u2028");
	pyimage_release(&image);
}
END_TEST

START_TEST(unprintable_characters_are_escaped)
{
	struct pyimage image;
	pyimage_init(&image, 11);
	check_text(&image, pyimage_text_of(&image, "a\nb\tc\0d\x1b\x7f\x85", 10, 1, false),
		   "a\\nb\\tc\\x00d\\x1b\\x7f\\x85");
	pyimage_release(&image);
}
END_TEST

START_TEST(megabytes_are_cut)
{
	struct pyimage image;
	struct tp_buf out = {0};
	char *long_text = malloc(2 << 20);
	pyimage_init(&image, 12);
	memset(long_text, 'x', 2 << 20);
	uint64_t text = pyimage_text_of(&image, long_text, 2 << 20, 1, true);
	ck_assert(tp_py_text_read(&out, &image.mem, image.layout, text));
	ck_assert_uint_eq(out.len, TP_PY_TEXT_MAX_CHARACTERS + strlen("…"));
	ck_assert_str_eq(tp_buf_text(&out) + TP_PY_TEXT_MAX_CHARACTERS, "…");
	tp_buf_release(&out);
	free(long_text);
	pyimage_release(&image);
}
END_TEST

/* A str that was created with unknown width has its characters in a separate block. */
START_TEST(legacy_strings_are_followed)
{
	struct pyimage image;
	pyimage_init(&image, 8);
	uint64_t text = pyimage_alloc(&image, 128);
	uint64_t data = pyimage_alloc(&image, 16);
	memcpy(pyimage_at(&image, data), "old", 3);
	pyimage_put(&image, text + image.layout->text_length, 3);
	pyimage_put_u32(&image, text + image.layout->text_state, 1 << 2);
	pyimage_put(&image, text + image.layout->text_compact, data);
	check_text(&image, text, "old");
	pyimage_release(&image);
}
END_TEST

static uint64_t calls_of_text(struct pyimage *image, const char *expected)
{
	uint64_t text = pyimage_text(image, expected);
	uint64_t before = image->mem.n_calls;
	check_text(image, text, expected);
	return image->mem.n_calls - before;
}

START_TEST(a_short_text_is_read_by_one_call)
{
	static const char path[] = "/usr/lib/python3/dist-packages/torch/optim/optimizer.py";
	char text[200] = "";
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	ck_assert_uint_eq(calls_of_text(&image, path), 1);
	memset(text, 'x', sizeof(text) - 1);
	ck_assert_uint_eq(calls_of_text(&image, text), 2);
	pyimage_release(&image);
}
END_TEST

/* Nothing is mapped behind the last page. */
START_TEST(a_text_at_the_end_of_memory_is_read)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	size_t size = (image.layout->text_ascii + sizeof("end") + 3 + 15) & ~(size_t)15;
	image.used = PYIMAGE_BYTES - size;
	check_text(&image, pyimage_text(&image, "end"), "end");
	ck_assert_uint_eq(image.used, PYIMAGE_BYTES);
	pyimage_release(&image);
}
END_TEST

START_TEST(objects_that_are_no_strings_are_refused)
{
	static const uint32_t beyond[] = {0x110000};
	struct pyimage image;
	struct tp_buf out = {0};
	pyimage_init(&image, 13);
	uint64_t text = pyimage_text(&image, "x");
	ck_assert(!tp_py_text_read(&out, &image.mem, image.layout, 0));
	ck_assert(!tp_py_text_read(&out, &image.mem, image.layout, UINT64_MAX));
	ck_assert(!tp_py_text_read(&out, &image.mem, image.layout,
				   pyimage_text_of(&image, beyond, 1, 4, false)));
	pyimage_put_u32(&image, text + image.layout->text_state, 3 << 2 | 1 << 5);
	ck_assert(!tp_py_text_read(&out, &image.mem, image.layout, text));
	pyimage_put_u32(&image, text + image.layout->text_state, 1 << 2 | 1 << 5);
	pyimage_put(&image, text + image.layout->text_length, UINT64_MAX);
	ck_assert(!tp_py_text_read(&out, &image.mem, image.layout, text));
	tp_buf_release(&out);
	pyimage_release(&image);
}
END_TEST

Suite *suite_stack_py_text(void);
Suite *suite_stack_py_text(void)
{
	Suite *suite = suite_create("stack/pytext");
	TCase *tc = tcase_create("pytext");
	tcase_add_loop_test(tc, all_widths_become_utf8, TP_PY_LAYOUT_MINOR_MIN,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_loop_test(tc, a_short_text_is_read_by_one_call, TP_PY_LAYOUT_MINOR_MIN,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_loop_test(tc, a_text_at_the_end_of_memory_is_read, TP_PY_LAYOUT_MINOR_MIN,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_test(tc, unprintable_characters_are_escaped);
	tcase_add_test(tc, megabytes_are_cut);
	tcase_add_test(tc, legacy_strings_are_followed);
	tcase_add_test(tc, objects_that_are_no_strings_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
