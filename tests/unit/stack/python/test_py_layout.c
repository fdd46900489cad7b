/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of layouts: the rows, and the offsets that newer versions publish. */
#include "stack/pyimage.h"

#include <check.h>

START_TEST(every_version_has_a_row)
{
	for (unsigned minor = TP_PY_LAYOUT_MINOR_MIN; minor <= TP_PY_LAYOUT_MINOR_MAX; minor++) {
		const struct tp_py_layout *row = tp_py_layout_find(minor);
		ck_assert_ptr_nonnull(row);
		ck_assert_uint_eq(row->minor, minor);
		ck_assert_uint_le(tp_py_layout_thread_bytes(row), TP_PY_LAYOUT_MAX_THREAD_BYTES);
		ck_assert_uint_le(tp_py_layout_frame_bytes(row), TP_PY_LAYOUT_MAX_FRAME_BYTES);
		ck_assert_uint_le(tp_py_layout_code_bytes(row), TP_PY_LAYOUT_MAX_CODE_BYTES);
	}
	ck_assert_ptr_null(tp_py_layout_find(TP_PY_LAYOUT_MINOR_MIN - 1));
	ck_assert_ptr_null(tp_py_layout_find(TP_PY_LAYOUT_MINOR_MAX + 1));
}
END_TEST

static enum tp_status parse_layout(const struct pyimage *image, struct tp_py_layout *out,
				   struct tp_error *err)
{
	uint64_t version;
	return tp_py_layout_parse(out, &version, pyimage_at(image, image->runtime), err);
}

START_TEST(published_offsets_override_the_table)
{
	struct pyimage image;
	struct tp_py_layout out;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *row = image.layout;
	ck_assert_int_eq(parse_layout(&image, &out, NULL), TP_OK);
	ck_assert_mem_eq(&out, row, sizeof(out));
	pyimage_put(&image, image.runtime + row->published.thread_chunk, row->thread_chunk + 16);
	pyimage_put(&image, image.runtime + row->published.code_name, row->code_name + 8);
	ck_assert_int_eq(parse_layout(&image, &out, NULL), TP_OK);
	ck_assert_uint_eq(out.thread_chunk, row->thread_chunk + 16);
	ck_assert_uint_eq(out.thread_top, row->thread_top + 16); /* next to a published member */
	ck_assert_uint_eq(out.code_name, row->code_name + 8);
	pyimage_release(&image);
}
END_TEST

START_TEST(a_build_without_gil_is_refused)
{
	struct pyimage image;
	struct tp_py_layout out;
	struct tp_error err;
	pyimage_init(&image, (unsigned)_i);
	pyimage_put(&image, image.runtime + image.layout->published.free_threaded, 1);
	ck_assert_int_eq(parse_layout(&image, &out, &err), TP_VERSION);
	ck_assert_ptr_nonnull(strstr(err.text, "free-threaded"));
	pyimage_release(&image);
}
END_TEST

START_TEST(an_unknown_version_is_refused)
{
	struct pyimage image;
	struct tp_py_layout out;
	struct tp_error err;
	pyimage_init(&image, 14);
	pyimage_put(&image, image.runtime + 8, 0x030f00f0);
	ck_assert_int_eq(parse_layout(&image, &out, &err), TP_VERSION);
	ck_assert_ptr_nonnull(strstr(err.text, "3.15"));
	pyimage_put(&image, image.runtime + 8, 0x030b00f0); /* 3.11, which publishes nothing */
	ck_assert_int_eq(parse_layout(&image, &out, &err), TP_VERSION);
	pyimage_put(&image, image.runtime, 0);
	ck_assert_int_eq(parse_layout(&image, &out, &err), TP_ABSENT);
	pyimage_release(&image);
}
END_TEST

/* If one field is wrong, no more is read than fits. */
START_TEST(lies_are_refused)
{
	struct pyimage image;
	struct tp_py_layout out;
	pyimage_init(&image, (unsigned)_i);
	for (uint32_t at = 24; at < TP_PY_LAYOUT_OFFSETS_BYTES; at += 8) {
		uint64_t was = pyimage_get(&image, image.runtime + at);
		pyimage_put(&image, image.runtime + at, UINT64_MAX - 3);
		if (parse_layout(&image, &out, NULL) == TP_OK)
			ck_assert_mem_eq(&out, image.layout, sizeof(out)); /* an unused offset */
		for (uint64_t lie = 1; lie < 1 << 20; lie *= 3) {
			pyimage_put(&image, image.runtime + at, lie);
			if (parse_layout(&image, &out, NULL) != TP_OK)
				continue;
			ck_assert_uint_le(tp_py_layout_frame_bytes(&out),
					  TP_PY_LAYOUT_MAX_FRAME_BYTES);
			ck_assert_uint_le(tp_py_layout_code_bytes(&out),
					  TP_PY_LAYOUT_MAX_CODE_BYTES);
			ck_assert_uint_le(tp_py_layout_thread_bytes(&out),
					  TP_PY_LAYOUT_MAX_THREAD_BYTES);
		}
		pyimage_put(&image, image.runtime + at, was);
	}
	pyimage_release(&image);
}
END_TEST

Suite *suite_stack_py_layout(void);
Suite *suite_stack_py_layout(void)
{
	Suite *suite = suite_create("stack/pylayout");
	TCase *tc = tcase_create("pylayout");
	tcase_add_test(tc, every_version_has_a_row);
	tcase_add_loop_test(tc, published_offsets_override_the_table, 13,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_loop_test(tc, a_build_without_gil_is_refused, 13, TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_test(tc, an_unknown_version_is_refused);
	tcase_add_loop_test(tc, lies_are_refused, 13, TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
