/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what is remembered of for loops, in memory built by hand for each version. */
#include "trainprof/stack/python.h"

#include "stack/pyimage.h"

#include <check.h>

enum { MAX_PLACES = 16, MAX_COUNTERS = 16, N_LOCALS = 4, LONG = 500, INSIDE = 3 };

static struct pyimage image;
static struct tp_python *python;
static uint64_t code;
static uint64_t frame; /* of train() */
static struct tp_python_counter counters[MAX_COUNTERS];

/* for i in x: pass, as 3.11 to 3.13 compile it. */
static const uint8_t bytecodes[][18] = {
	{101, 0, 68, 0, 93, 2, 90, 1, 140, 3, 100, 0, 83, 0},
	{101, 0, 68, 0, 93, 2, 0, 0, 90, 1, 140, 4, 4, 0, 121, 0},
	{92, 0, 19, 0, 72, 3, 0, 0, 114, 1, 77, 5, 0, 0, 11, 0, 32, 0},
};

/* Returns an iterator over a list, at a position. */
static uint64_t list_iterator(uint64_t position)
{
	static const char name[] = "list_iterator";
	static uint64_t type;
	if (position == 0) {
		uint64_t text = pyimage_alloc(&image, 64);
		memcpy(pyimage_at(&image, text), name, sizeof(name));
		type = pyimage_alloc(&image, 512);
		pyimage_put(&image, type + 24, text);
		pyimage_put(&image, type + 224, 1);
	}
	uint64_t object = pyimage_alloc(&image, 64);
	pyimage_put(&image, object + image.layout->object_type, type);
	pyimage_put(&image, object + 16, position);
	return object;
}

static void set_iterator(uint64_t object)
{
	pyimage_set_local(&image, frame, N_LOCALS, object);
}

/* train() is in the body of its loop; returns the loop's iterator, at position 0. */
static uint64_t begin(unsigned minor)
{
	struct tp_error err;
	pyimage_init(&image, minor);
	code = pyimage_code(&image, "train.py", "train", 20);
	pyimage_put_u32(&image, code + image.layout->code_n_locals, N_LOCALS);
	pyimage_put_u32(&image, code + image.layout->code_stack_size, 2);
	memcpy(pyimage_at(&image, code + image.layout->code_bytes), bytecodes[minor - 11],
	       sizeof(bytecodes[0]));
	frame = pyimage_call(&image, code, INSIDE, true);
	uint64_t iterator = list_iterator(0);
	set_iterator(iterator);
	ck_assert_int_eq(pyimage_open(&image, &python, &err), TP_OK);
	return iterator;
}

static void end(void)
{
	tp_python_close(python);
	pyimage_release(&image);
}

static size_t count(void)
{
	struct tp_python_place places[MAX_PLACES];
	size_t n;
	size_t cut;
	ck_assert_int_eq(tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut),
			 TP_PYTHON_READ);
	return tp_python_count(python, counters, MAX_COUNTERS);
}

static void expect_position(uint64_t position)
{
	ck_assert_uint_eq(count(), 1);
	ck_assert_int_eq(counters[0].kind, TP_PYTHON_COUNTER_ITERATOR);
	ck_assert_uint_eq(counters[0].value, position);
}

/* The loop counts, and then does not move for a long time. */
static uint64_t begin_idle(unsigned minor)
{
	uint64_t iterator = begin(minor);
	for (uint64_t i = 1; i < 10; i++) {
		pyimage_put(&image, iterator + 16, i);
		expect_position(i);
	}
	for (int i = 0; i < LONG; i++)
		count();
	return iterator;
}

/* What the stack's own copy shows takes no call: most readings make none for the counters. */
START_TEST(a_loop_that_does_not_move_is_read_ever_less_often)
{
	begin_idle((unsigned)_i);
	uint64_t before = tp_python_counts(python)->n_syscalls;
	size_t n = 0;
	for (int i = 0; i < 32; i++)
		n += count();
	/* Two per reading are for the stack. */
	ck_assert_uint_le(tp_python_counts(python)->n_syscalls - before, 32 * 2 + 12);
	ck_assert_uint_ge(n, 1); /* it is still reported now and then */
	end();
}
END_TEST

START_TEST(a_loop_that_goes_on_is_found_in_time)
{
	uint64_t iterator = begin_idle((unsigned)_i);
	pyimage_put(&image, iterator + 16, 10);
	int n_waited = 0;
	while (count() == 0 || counters[0].value != 10)
		ck_assert_int_le(++n_waited, LONG / 16 + 1);
	pyimage_put(&image, iterator + 16, 11);
	expect_position(11);
	end();
}
END_TEST

START_TEST(a_new_iterator_in_its_place_is_read_at_once)
{
	begin_idle((unsigned)_i);
	set_iterator(list_iterator(1));
	expect_position(1);
	end();
}
END_TEST

/* The function was freed, and another one is at its address. */
START_TEST(another_function_at_the_address_is_read_at_once)
{
	uint64_t iterator = begin_idle((unsigned)_i);
	pyimage_put_u32(&image, code + image.layout->code_first_line, 77);
	pyimage_put(&image, iterator + 16, 10);
	expect_position(10);
	ck_assert_uint_eq(counters[0].first_line, 77);
	end();
}
END_TEST

/* The watched word is known to be there while the loop is not read, until its iterator is gone. */
START_TEST(a_position_that_is_not_read_is_at_its_place)
{
	uint64_t iterator = begin_idle((unsigned)_i);
	for (int i = 0; i < 100; i++) {
		count();
		ck_assert(tp_python_count_is_at(python, iterator + 16));
	}
	set_iterator(list_iterator(1));
	count();
	ck_assert(!tp_python_count_is_at(python, iterator + 16));
	end();
}
END_TEST

/* What imports a module does not move: its counters are where they were, and few readings are
 * enough. After 400 stacks it is no usual import. */
START_TEST(while_a_module_is_imported_few_stacks_are_read)
{
	uint64_t iterator = begin((unsigned)_i);
	uint64_t importer =
		pyimage_code(&image, "<frozen importlib._bootstrap>", "_find_and_load", 1);
	expect_position(0);
	pyimage_call(&image, importer, 5, false);
	size_t n = 0;
	for (uint64_t i = 1; i < 400; i++) {
		pyimage_put(&image, iterator + 16, i);
		n += count();
		ck_assert(tp_python_count_is_at(python, iterator + 16));
	}
	ck_assert_uint_eq(n, 399 / 4);
	for (uint64_t i = 400; i < 440; i++) {
		pyimage_put(&image, iterator + 16, i);
		expect_position(i);
	}
	pyimage_set_innermost(&image, frame);
	pyimage_put(&image, iterator + 16, 440);
	expect_position(440);
	end();
}
END_TEST

/* A word that points to no iterator, to unmapped memory, or nowhere. */
START_TEST(an_iterator_that_cannot_be_read_counts_nothing)
{
	static const uint64_t words[] = {0, 3, UINT64_C(0x5000000000), UINT64_MAX & ~UINT64_C(7)};
	begin((unsigned)_i);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		set_iterator(words[i]);
		for (int k = 0; k < 40; k++)
			ck_assert_uint_eq(count(), 0);
	}
	uint64_t iterator = list_iterator(0);
	set_iterator(iterator);
	int n_waited = 0;
	while (count() == 0)
		ck_assert_int_le(++n_waited, 160 / 16 + 1);
	pyimage_put(&image, iterator + 16, 1);
	expect_position(1);
	end();
}
END_TEST

Suite *suite_stack_py_loop(void);
Suite *suite_stack_py_loop(void)
{
	Suite *suite = suite_create("stack/pyloop");
	TCase *tc = tcase_create("pyloop");
	const TTest *const for_each_version[] = {
		a_loop_that_does_not_move_is_read_ever_less_often,
		a_loop_that_goes_on_is_found_in_time,
		a_new_iterator_in_its_place_is_read_at_once,
		another_function_at_the_address_is_read_at_once,
		a_position_that_is_not_read_is_at_its_place,
		while_a_module_is_imported_few_stacks_are_read,
		an_iterator_that_cannot_be_read_counts_nothing,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], 11, 14);
	suite_add_tcase(suite, tc);
	return suite;
}
