/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the positions of for loops and of what reading them costs, in memory built by hand. */
#include "trainprof/stack/python.h"

#include "stack/pyimage.h"

#include <check.h>

enum { MAX_PLACES = 16, MAX_COUNTERS = 16, FIRST_MINOR = 11, N_VERSIONS = 3, STRANGE = 77777 };

/* def f(x): for i in x: pass, and the number of an instruction inside the loop. */
static const struct {
	uint8_t bytes[20];
	uint32_t inside;
} functions[N_VERSIONS] = {
	{{124, 0, 68, 0, 93, 2, 161, 1, 140, 3, 100, 0, 83, 0}, 3},
	{{124, 0, 68, 0, 93, 2, 0, 0, 154, 1, 140, 4, 4, 0, 121, 0}, 4},
	{{85, 0, 19, 0, 72, 3, 0, 0, 111, 17, 77, 5, 0, 0, 11, 0, 32, 0}, 4},
};

static struct pyimage image;
static struct tp_python *python;
static struct tp_python_counter counters[MAX_COUNTERS];
static uint64_t code;
static uint64_t word_at;   /* of the inner loop */
static uint64_t code_at;   /* in the frame of the inner loop */
static uint64_t index_at;  /* of the inner loop's iterator */
static size_t change_from; /* number of the slice before which memory changes */
static bool is_word_changed, is_code_changed;

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

static uint64_t list_iterator(uint64_t length)
{
	uint64_t list = pyimage_alloc(&image, 64);
	uint64_t object = iterator("list_iterator");
	pyimage_put(&image, list + image.layout->object_size, length);
	pyimage_put(&image, object + 24, list);
	return object;
}

/* Sets the iterator of the loop that runs in the frame; the value stack follows one variable. */
static void set_iterator(uint64_t frame, uint64_t object)
{
	word_at = frame + image.layout->frame_size + 8;
	code_at = frame + image.layout->frame_code;
	index_at = object + 16;
	pyimage_put(&image, word_at, object);
}

static uint64_t call_loop(const char *name, unsigned minor)
{
	code = pyimage_code(&image, "train.py", name, 20);
	memcpy(pyimage_at(&image, code + image.layout->code_bytes),
	       functions[minor - FIRST_MINOR].bytes, sizeof(functions[0].bytes));
	pyimage_put_u32(&image, code + image.layout->code_n_locals, 1);
	pyimage_put_u32(&image, code + image.layout->code_stack_size, 2);
	return pyimage_call(&image, code, functions[minor - FIRST_MINOR].inside, false);
}

static uint64_t outer, inner;

/* <module> -> train -> epoch, each with a loop. */
static void begin(unsigned minor)
{
	struct tp_error err;
	pyimage_init(&image, minor);
	pyimage_call(&image, pyimage_code(&image, "train.py", "<module>", 1), 5, true);
	outer = call_loop("train", minor);
	inner = call_loop("epoch", minor);
	image.used = (image.used / TP_PROCESS_MEMORY_PAGE + 1) * TP_PROCESS_MEMORY_PAGE;
	set_iterator(outer, list_iterator(12));
	set_iterator(inner, list_iterator(1000));
	ck_assert_int_eq(pyimage_open(&image, &python, &err), TP_OK);
}

static void end(void)
{
	tp_python_close(python);
	pyimage_release(&image);
}

static void read_stack(void)
{
	struct tp_python_place places[MAX_PLACES];
	size_t n;
	size_t cut;
	ck_assert_int_eq(tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut),
			 TP_PYTHON_READ);
}

static bool has_value(uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(counters[i].name, "epoch") == 0 && counters[i].value == value)
			return true;
	return false;
}

/* Returns the number of calls that reading the counters takes. */
static uint64_t calls_to_count(uint64_t value)
{
	read_stack();
	uint64_t before = tp_python_counts(python)->n_syscalls;
	ck_assert(has_value(value, tp_python_count(python, counters, MAX_COUNTERS)));
	return tp_python_counts(python)->n_syscalls - before;
}

/* The iterators, their lists and the words that hold them. */
START_TEST(loops_are_read_by_one_call)
{
	begin((unsigned)_i);
	for (uint64_t step = 1; step < 40; step++) {
		pyimage_put(&image, index_at, step);
		uint64_t n_calls = calls_to_count(step);
		if (step > 5)
			ck_assert_uint_eq(n_calls, 1);
	}
	end();
}
END_TEST

/* A page has the iterators, it has their lists, and another one has the words that hold them; the
 * last one is read ahead. */
START_TEST(what_is_on_one_page_is_looked_up_once)
{
	begin((unsigned)_i);
	for (uint64_t step = 1; step < 10; step++) {
		pyimage_put(&image, index_at, step);
		read_stack();
		image.n_lookups = 0;
		ck_assert(has_value(step, tp_python_count(python, counters, MAX_COUNTERS)));
	}
	ck_assert_uint_eq(image.n_lookups, 4);
	end();
}
END_TEST

/* An inner loop has another iterator in each iteration of the outer one: first the iterators and
 * the words that hold them, then their lists and the words once more. */
START_TEST(loops_over_other_objects_each_time_are_read_by_two_calls)
{
	begin((unsigned)_i);
	for (uint64_t step = 1; step < 40; step++) {
		uint64_t object = list_iterator(1000);
		pyimage_put(&image, object + image.layout->object_type,
			    pyimage_get(&image, index_at - 16 + image.layout->object_type));
		set_iterator(inner, object);
		pyimage_put(&image, index_at, step);
		uint64_t n_calls = calls_to_count(step);
		if (step > 5)
			ck_assert_uint_eq(n_calls, 2);
	}
	end();
}
END_TEST

/* The iterator was freed, and something else is at its place. */
static void replace(struct pyimage *self)
{
	if (self->n_slices <= change_from)
		return;
	pyimage_put(self, index_at, STRANGE);
	if (is_word_changed)
		pyimage_put(self, word_at, 0);
	if (is_code_changed)
		pyimage_put(self, code_at, code ^ 64);
}

/* Returns true if the strange value is reported when memory changes before slice `from`. */
static bool is_reported(size_t from)
{
	uint64_t word = pyimage_get(&image, word_at);
	uint64_t in_frame = pyimage_get(&image, code_at);
	pyimage_put(&image, index_at, 7);
	read_stack();
	image.n_slices = 0;
	change_from = from;
	image.meanwhile = replace;
	size_t n = tp_python_count(python, counters, MAX_COUNTERS);
	image.meanwhile = NULL;
	pyimage_put(&image, word_at, word);
	pyimage_put(&image, code_at, in_frame);
	return has_value(STRANGE, n);
}

/* In whichever instant memory changes. */
static size_t times_reported(bool of_word, bool of_code)
{
	size_t n = 0;
	is_word_changed = of_word;
	is_code_changed = of_code;
	for (size_t from = 0; from < 60; from++)
		n += is_reported(from);
	return n;
}

static void check_replaced(void)
{
	for (int i = 0; i < 4; i++)
		is_reported(1000);
	ck_assert_uint_eq(times_reported(true, false), 0);
	ck_assert_uint_eq(times_reported(false, true), 0);
	ck_assert_uint_gt(times_reported(false, false), 0);
}

START_TEST(an_iterator_that_its_frame_has_no_more_is_not_reported)
{
	begin((unsigned)_i);
	check_replaced();
	end();
}
END_TEST

/* enumerate(): what it takes from has a list, which was not expected. */
START_TEST(an_iterator_that_was_read_by_more_calls_is_checked_after_them)
{
	begin((unsigned)_i);
	uint64_t object = iterator("enumerate");
	pyimage_put(&image, object + 24, list_iterator(1000));
	set_iterator(inner, object);
	check_replaced();
	end();
}
END_TEST

Suite *suite_stack_py_loop(void);
Suite *suite_stack_py_loop(void)
{
	Suite *suite = suite_create("stack/py_loop");
	TCase *tc = tcase_create("py_loop");
	const TTest *const for_each_version[] = {
		loops_are_read_by_one_call,
		what_is_on_one_page_is_looked_up_once,
		loops_over_other_objects_each_time_are_read_by_two_calls,
		an_iterator_that_its_frame_has_no_more_is_not_reported,
		an_iterator_that_was_read_by_more_calls_is_checked_after_them,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], FIRST_MINOR, FIRST_MINOR + N_VERSIONS);
	suite_add_tcase(suite, tc);
	return suite;
}
