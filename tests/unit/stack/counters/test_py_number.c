/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the values of int objects, in memory built by hand for each version. */
#include "stack/counters/py_number.h"

#include "stack/pyimage.h"

#include <check.h>

static struct pyimage image;

static bool parse(uint64_t object, uint64_t *value)
{
	return tp_py_number_parse(image.layout, pyimage_at(&image, object), value);
}

START_TEST(numbers_of_no_one_and_two_digits_are_read)
{
	static const uint64_t numbers[] = {0, 1, 0x3fffffff, 0x40000000, UINT64_C(1) << 59};
	pyimage_init(&image, (unsigned)_i);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t value = 7;
		ck_assert(parse(pyimage_int(&image, numbers[i]), &value));
		ck_assert_uint_eq(value, numbers[i]);
	}
	pyimage_release(&image);
}
END_TEST

START_TEST(negative_and_bigger_numbers_are_none)
{
	uint64_t value;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *layout = image.layout;
	uint64_t object = pyimage_int(&image, 5);
	bool has_flags = layout->minor >= 12;
	pyimage_put(&image, object + layout->object_size, has_flags ? 3 << 3 : 3);
	ck_assert(!parse(object, &value));
	pyimage_put(&image, object + layout->object_size, has_flags ? 1 << 3 | 2 : UINT64_MAX);
	ck_assert(!parse(object, &value));
	pyimage_release(&image);
}
END_TEST

Suite *suite_stack_py_number(void);
Suite *suite_stack_py_number(void)
{
	Suite *suite = suite_create("stack/pynumber");
	TCase *tc = tcase_create("pynumber");
	tcase_add_loop_test(tc, numbers_of_no_one_and_two_digits_are_read, TP_PY_LAYOUT_MINOR_MIN,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_loop_test(tc, negative_and_bigger_numbers_are_none, TP_PY_LAYOUT_MINOR_MIN,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
