/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of attributes that hold whole numbers, in memory built by hand for each version. */
#include "stack/counters/py_attribute.h"

#include "stack/pyimage.h"

#include <check.h>

static struct pyimage image;
static struct tp_py_attributes attributes;
static uint64_t table;
static uint64_t dict;

/* An instance whose dictionary is at the offset given by its type, as before 3.11. */
static uint64_t begin(unsigned minor, uint64_t flags)
{
	pyimage_init(&image, minor);
	tp_py_attributes_init(&attributes, &image.mem, image.layout, image.int_type);
	uint64_t type = pyimage_alloc(&image, 1024);
	uint64_t object = pyimage_alloc(&image, 64);
	table = pyimage_table(&image, false);
	dict = pyimage_dict(&image, table);
	pyimage_put(&image, type + 168, flags);
	pyimage_put(&image, type + 288, 16);
	pyimage_put(&image, object + image.layout->object_type, type);
	pyimage_put(&image, object + 16, dict);
	return object;
}

static void end(void)
{
	tp_py_attributes_release(&attributes);
	pyimage_release(&image);
}

enum { CLASS = 1 << 9 };

START_TEST(whole_numbers_are_found_with_name_and_address)
{
	struct tp_py_attribute found[TP_PY_ATTRIBUTE_MAX];
	uint64_t object = begin((unsigned)_i, CLASS);
	uint64_t other = pyimage_object(&image, image.code_type);
	pyimage_set_entry(&image, table, 0, pyimage_text(&image, "model"), other);
	pyimage_set_entry(&image, table, 1, pyimage_text(&image, "step"), pyimage_int(&image, 41));
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, object, found), 1);
	ck_assert_str_eq(found[0].name, "step");
	uint64_t number = pyimage_get(&image, found[0].address);
	ck_assert_uint_eq(pyimage_get(&image, number + image.layout->object_type), image.int_type);
	ck_assert_uint_eq(found[0].guards[0], object + 16);
	ck_assert_uint_eq(found[0].guard_words[0], dict);
	ck_assert_uint_eq(found[0].guard_words[1], table);
	end();
}
END_TEST

static void put_member(uint64_t members, unsigned i, const char *name, uint64_t kind,
		       uint64_t offset)
{
	uint64_t text = pyimage_alloc(&image, 64);
	memcpy(pyimage_at(&image, text), name, strlen(name) + 1);
	pyimage_put(&image, members + 40 * i, text);
	pyimage_put(&image, members + 40 * i + 8, kind);
	pyimage_put(&image, members + 40 * i + 16, offset);
}

/* class A: __slots__ = ("model", "step"); class B(A): __slots__ = ("epoch",) */
START_TEST(slots_of_a_class_and_of_those_that_it_is_made_from_are_attributes)
{
	struct tp_py_attribute found[TP_PY_ATTRIBUTE_MAX];
	uint64_t object = begin((unsigned)_i, CLASS);
	uint64_t type = pyimage_get(&image, object + image.layout->object_type);
	uint64_t base = pyimage_alloc(&image, 1024);
	uint64_t own = pyimage_alloc(&image, 256);
	uint64_t inherited = pyimage_alloc(&image, 256);
	memset(pyimage_at(&image, own), 0, 256);
	memset(pyimage_at(&image, inherited), 0, 256);
	put_member(own, 0, "epoch", 16, 40);
	put_member(inherited, 0, "model", 16, 24);
	put_member(inherited, 1, "step", 16, 32);
	put_member(inherited, 2, "field_of_c", 1, 32);
	pyimage_put(&image, type + 288, 0); /* no dictionary */
	pyimage_put(&image, type + 240, own);
	pyimage_put(&image, type + 256, base);
	pyimage_put(&image, base + 168, CLASS);
	pyimage_put(&image, base + 240, inherited);
	pyimage_put(&image, object + 24, pyimage_object(&image, image.code_type));
	pyimage_put(&image, object + 32, pyimage_int(&image, 41));
	pyimage_put(&image, object + 40, pyimage_int(&image, 2));
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, object, found), 2);
	ck_assert_str_eq(found[0].name, "epoch");
	ck_assert_str_eq(found[1].name, "step");
	ck_assert_uint_eq(found[1].address, object + 32);
	ck_assert_uint_eq(found[1].guards[0], 0);
	pyimage_put(&image, object + 40, 0); /* deleted */
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, object, found), 1);
	end();
}
END_TEST

static uint64_t calls_of_finding(uint64_t object, size_t n_found)
{
	struct tp_py_attribute found[TP_PY_ATTRIBUTE_MAX];
	uint64_t before = image.mem.n_calls;
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, object, found), n_found);
	return image.mem.n_calls - before;
}

/* A loader's iterator is another one in each epoch. */
START_TEST(the_names_of_all_attributes_are_read_by_one_call)
{
	uint64_t object = begin((unsigned)_i, CLASS);
	pyimage_set_entry(&image, table, 0, pyimage_text(&image, "first"), pyimage_int(&image, 1));
	ck_assert_uint_gt(calls_of_finding(object, 1), 0); /* its type is known then */
	uint64_t n_calls = calls_of_finding(object, 1);
	/* A name that crosses a page takes another call. */
	image.used = (image.used / TP_PROCESS_MEMORY_PAGE + 1) * TP_PROCESS_MEMORY_PAGE;
	for (unsigned i = 1; i < 10; i++) {
		const char name[] = {(char)('a' + i), '\0'};
		pyimage_set_entry(&image, table, i, pyimage_text(&image, name),
				  pyimage_int(&image, i));
	}
	ck_assert_uint_eq(calls_of_finding(object, 10), n_calls);
	end();
}
END_TEST

START_TEST(that_a_class_has_no_slots_is_remembered)
{
	uint64_t object = begin((unsigned)_i, CLASS);
	uint64_t type = pyimage_get(&image, object + image.layout->object_type);
	uint64_t members = pyimage_alloc(&image, 64);
	memset(pyimage_at(&image, members), 0, 64);
	pyimage_put(&image, type + 240, members);
	ck_assert_ptr_nonnull(tp_py_attributes_type(&attributes, object));
	uint64_t n_calls = calls_of_finding(object, 0);
	ck_assert_uint_eq(calls_of_finding(object, 0), n_calls - 1);
	end();
}
END_TEST

START_TEST(instances_in_attributes_are_found)
{
	struct tp_py_inner_object found[4];
	uint64_t object = begin((unsigned)_i, CLASS);
	uint64_t inner =
		pyimage_object(&image, pyimage_get(&image, object + image.layout->object_type));
	pyimage_set_entry(&image, table, 0, pyimage_text(&image, "step"), pyimage_int(&image, 41));
	pyimage_set_entry(&image, table, 1, pyimage_text(&image, "state"), inner);
	ck_assert_uint_eq(tp_py_attributes_find_objects(&attributes, object, found, 4), 1);
	ck_assert_str_eq(found[0].name, "state");
	ck_assert_uint_eq(found[0].object, inner);
	ck_assert_uint_eq(pyimage_get(&image, found[0].address), inner);
	ck_assert_uint_eq(tp_py_attributes_find_objects(&attributes, object, found, 0), 0);
	ck_assert_uint_eq(tp_py_attributes_find_objects(&attributes, 0x10000, found, 4), 0);
	end();
}
END_TEST

START_TEST(objects_of_c_have_none)
{
	struct tp_py_attribute found[TP_PY_ATTRIBUTE_MAX];
	uint64_t object = begin((unsigned)_i, 0);
	pyimage_set_entry(&image, table, 0, pyimage_text(&image, "step"), pyimage_int(&image, 4));
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, object, found), 0);
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, 0x10000, found), 0);
	end();
}
END_TEST

START_TEST(a_table_that_makes_no_sense_has_none)
{
	struct tp_py_attribute found[TP_PY_ATTRIBUTE_MAX];
	uint64_t object = begin((unsigned)_i, CLASS);
	pyimage_put(&image, table + image.layout->keys_n_entries, UINT64_MAX / 2);
	ck_assert_uint_eq(tp_py_attributes_find(&attributes, object, found), 0);
	end();
}
END_TEST

Suite *suite_stack_py_attribute(void);
Suite *suite_stack_py_attribute(void)
{
	Suite *suite = suite_create("stack/pyattribute");
	TCase *tc = tcase_create("pyattribute");
	const TTest *const for_each_version[] = {
		whole_numbers_are_found_with_name_and_address,
		slots_of_a_class_and_of_those_that_it_is_made_from_are_attributes,
		the_names_of_all_attributes_are_read_by_one_call,
		that_a_class_has_no_slots_is_remembered,
		instances_in_attributes_are_found,
		objects_of_c_have_none,
		a_table_that_makes_no_sense_has_none,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], TP_PY_LAYOUT_MINOR_MIN,
				    TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
