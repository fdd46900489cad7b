/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the positions of iterators, in memory built by hand for each version. */
#include "stack/counters/py_iterator.h"

#include "stack/pyimage.h"

#include <check.h>

static struct pyimage image;
static struct tp_py_attributes attributes;
static struct tp_py_bytecodes bytecodes;
static struct tp_py_iterators iterators;

static void begin(unsigned minor)
{
	pyimage_init(&image, minor);
	tp_py_attributes_init(&attributes, &image.mem, image.layout, image.int_type);
	tp_py_bytecodes_init(&bytecodes, &image.mem, image.layout);
	iterators =
		(struct tp_py_iterators){&image.mem, image.layout, &attributes, &bytecodes, NULL};
}

static void end(void)
{
	tp_py_attributes_release(&attributes);
	tp_py_bytecodes_release(&bytecodes);
	pyimage_release(&image);
}

/* An object of a C type that has __next__. */
static uint64_t iterator(const char *name)
{
	uint64_t type = pyimage_alloc(&image, 512);
	uint64_t text = pyimage_alloc(&image, 64);
	uint64_t object = pyimage_alloc(&image, 64);
	memcpy(pyimage_at(&image, text), name, strlen(name) + 1);
	pyimage_put(&image, type + 24, text);
	pyimage_put(&image, type + 224, 1);
	pyimage_put(&image, object + image.layout->object_type, type);
	return object;
}

START_TEST(an_index_is_the_position)
{
	struct tp_py_position position;
	begin((unsigned)_i);
	uint64_t object = iterator("list_iterator");
	pyimage_put(&image, object + 16, 7);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.value, 7);
	ck_assert_uint_eq(position.address, object + 16);
	ck_assert(!position.is_falling);
	end();
}
END_TEST

START_TEST(a_range_has_an_index_or_its_next_number)
{
	struct tp_py_position position;
	begin((unsigned)_i);
	uint64_t object = iterator("range_iterator");
	pyimage_put(&image, object + 16, _i < 12 ? 5 : 15);
	pyimage_put(&image, object + 24, 3);
	pyimage_put(&image, object + 32, 3);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.value, 5);
	ck_assert_uint_eq(position.address, object + 16);
	ck_assert(position.is_range);
	end();
}
END_TEST

START_TEST(iterators_with_a_known_length_have_a_total)
{
	struct tp_py_position position;
	begin((unsigned)_i);
	uint64_t list = pyimage_alloc(&image, 64);
	pyimage_put(&image, list + image.layout->object_size, 12);
	uint64_t object = iterator("list_iterator");
	pyimage_put(&image, object + 16, 7);
	pyimage_put(&image, object + 24, list);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.total, 12);
	uint64_t counted = iterator("enumerate");
	pyimage_put(&image, counted + 16, 107);
	pyimage_put(&image, counted + 24, object);
	ck_assert(tp_py_iterators_position(&iterators, counted, &position));
	ck_assert_uint_eq(position.value, 107);
	ck_assert_uint_eq(position.total, 112);
	pyimage_put(&image, list + image.layout->object_size, 3); /* the list has shrunk */
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.total, 0);
	end();
}
END_TEST

START_TEST(one_that_falls_is_counted_from_its_total)
{
	struct tp_py_position position;
	begin((unsigned)_i);
	uint64_t list = pyimage_alloc(&image, 64);
	pyimage_put(&image, list + image.layout->object_size, 12);
	uint64_t object = iterator("list_reverseiterator");
	pyimage_put(&image, object + 16, 8); /* has returned 11, 10 and 9 */
	pyimage_put(&image, object + 24, list);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.value, 3);
	ck_assert(position.is_falling && !position.is_relative);
	pyimage_put(&image, object + 16, UINT64_MAX); /* the last iteration */
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.value, 12);
	ck_assert_uint_eq(position.total, 12);
	object = iterator("set_iterator");
	pyimage_put(&image, object + 24, 12);
	pyimage_put(&image, object + 40, 5);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.value, 7);
	object = iterator("itertools.repeat");
	pyimage_put(&image, object + 24, 5);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.value, 5);
	ck_assert(position.is_relative);
	end();
}
END_TEST

START_TEST(zip_is_as_far_as_what_it_takes_from)
{
	struct tp_py_position position;
	begin((unsigned)_i);
	uint64_t object = iterator("zip");
	uint64_t inner = iterator("tuple_iterator");
	uint64_t tuple = pyimage_alloc(&image, 64);
	pyimage_put(&image, object + 24, tuple);
	pyimage_put(&image, tuple + 24, inner);
	pyimage_put(&image, inner + 16, 9);
	ck_assert(tp_py_iterators_position(&iterators, object, &position));
	ck_assert_uint_eq(position.object, inner);
	ck_assert(!position.is_range);
	ck_assert_uint_eq(position.value, 9);
	end();
}
END_TEST

START_TEST(self_consuming_iterators_have_no_position)
{
	struct tp_py_position position;
	begin((unsigned)_i);
	uint64_t object = iterator("filter");
	pyimage_put(&image, object + 24, object);
	ck_assert(!tp_py_iterators_position(&iterators, object, &position));
	ck_assert(!tp_py_iterators_position(&iterators, 0x1234567000, &position));
	ck_assert(!tp_py_iterators_position(&iterators, iterator("no_iterator"), &position));
	end();
}
END_TEST

START_TEST(loops_that_run_have_iterators_from_the_bottom_on)
{
	struct tp_py_for_loop loops[] = {{.start = 4, .end = 40, .line = 1},
					 {.start = 8, .end = 20, .line = 2},
					 {.start = 22, .end = 30, .line = 3}};
	struct tp_py_bytecode bytecode = {.loops = loops, .n_loops = 3};
	struct tp_py_live_loop live[TP_PY_ITERATOR_MAX_LIVE];
	begin((unsigned)_i);
	/* An object of a with block, two loops, then leftover words. */
	uint64_t words[] = {pyimage_object(&image, image.int_type), iterator("list_iterator"),
			    iterator("tuple_iterator"), iterator("zip")};
	ck_assert_uint_eq(tp_py_iterators_live(&iterators, &bytecode, 24, words, 4, live), 2);
	ck_assert_uint_eq(live[0].loop.line, 1);
	ck_assert_uint_eq(live[0].word, 1);
	ck_assert_uint_eq(live[1].loop.line, 3);
	ck_assert_uint_eq(live[1].word, 2);
	ck_assert_uint_eq(tp_py_iterators_live(&iterators, &bytecode, 50, words, 4, live), 0);
	end();
}
END_TEST

Suite *suite_stack_py_iterator(void);
Suite *suite_stack_py_iterator(void)
{
	Suite *suite = suite_create("stack/pyiterator");
	TCase *tc = tcase_create("pyiterator");
	const TTest *const for_each_version[] = {
		an_index_is_the_position,
		a_range_has_an_index_or_its_next_number,
		iterators_with_a_known_length_have_a_total,
		one_that_falls_is_counted_from_its_total,
		zip_is_as_far_as_what_it_takes_from,
		self_consuming_iterators_have_no_position,
		loops_that_run_have_iterators_from_the_bottom_on,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], TP_PY_LAYOUT_MINOR_MIN,
				    TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
