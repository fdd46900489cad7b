/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the growing buffer. */
#include "trainprof/base/buf.h"

#include <check.h>
#include <string.h>

/* Checks the invariants. */
static void assert_sane(const struct tp_buf *buf)
{
	ck_assert(buf->data ? buf->len < buf->capacity : buf->len == 0);
	if (buf->data)
		ck_assert_int_eq(buf->data[buf->len], '\0');
}

START_TEST(whatever_is_added_stands_in_order_and_is_terminated)
{
	struct tp_buf buf = {0};
	assert_sane(&buf);
	ck_assert_str_eq(tp_buf_text(&buf), "");
	tp_buf_puts(&buf, "ab");
	assert_sane(&buf);
	tp_buf_putc(&buf, 'c');
	tp_buf_pad(&buf, '-', 3);
	tp_buf_pad(&buf, '!', 0);
	assert_sane(&buf);
	tp_buf_add(&buf, "d\0e", 3);
	tp_buf_add(&buf, NULL, 0);
	tp_buf_printf(&buf, "%d%%", 50);
	tp_buf_printf(&buf, "%s", "");
	assert_sane(&buf);
	ck_assert_uint_eq(buf.len, 12);
	ck_assert_mem_eq(buf.data, "abc---d\0e50%", 13);
	tp_buf_clear(&buf);
	assert_sane(&buf);
	ck_assert_str_eq(tp_buf_text(&buf), "");
	ck_assert_uint_gt(buf.capacity, 0);
	tp_buf_release(&buf);
	assert_sane(&buf);
}
END_TEST

START_TEST(printed_text_of_any_length_fits)
{
	for (int len = 0; len < 300; len++) {
		struct tp_buf buf = {0};
		tp_buf_printf(&buf, "%*s", len, "");
		assert_sane(&buf);
		ck_assert_uint_eq(buf.len, (size_t)len);
		tp_buf_release(&buf);
	}
}
END_TEST

Suite *suite_base_buf(void);
Suite *suite_base_buf(void)
{
	Suite *suite = suite_create("base/buf");
	TCase *tc = tcase_create("buf");
	tcase_add_test(tc, whatever_is_added_stands_in_order_and_is_terminated);
	tcase_add_test(tc, printed_text_of_any_length_fits);
	suite_add_tcase(suite, tc);
	return suite;
}
