/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of variables that count, in memory built by hand for each version. */
#include "trainprof/stack/python.h"

#include "stack/pyimage.h"

#include "trainprof/base/map.h"

#include <check.h>

enum { MAX_PLACES = 16, MAX_COUNTERS = 16 };

static struct pyimage image;
static struct tp_python *python;
static uint64_t body;  /* the module's */
static uint64_t frame; /* frame of train() */
static struct tp_python_counter counters[MAX_COUNTERS];

/* <module> -> train */
static void begin(unsigned minor)
{
	struct tp_error err;
	pyimage_init(&image, minor);
	body = pyimage_call(&image, pyimage_code(&image, "train.py", "<module>", 1), 5, true);
	/* <module> has no variables: the next frame follows it directly. */
	if (image.layout->minor >= 11)
		image.top -= 8 * (uint64_t)PYIMAGE_WORDS_A_FRAME;
	frame = pyimage_call(&image, pyimage_code(&image, "train.py", "train", 20), 9, false);
	ck_assert_int_eq(pyimage_open(&image, &python, &err), TP_OK);
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

static void set(unsigned local, uint64_t value)
{
	pyimage_set_local(&image, frame, local, pyimage_int(&image, value));
}

static void expect_step(uint64_t step)
{
	ck_assert_uint_eq(count(), 1);
	ck_assert_str_eq(counters[0].file, "train.py");
	ck_assert_str_eq(counters[0].name, "train");
	ck_assert_ptr_null(counters[0].variable);
	ck_assert_uint_eq(counters[0].first_line, 20);
	ck_assert_uint_eq(counters[0].local, 2);
	ck_assert_uint_eq(counters[0].value, step);
}

START_TEST(a_counter_is_reported_when_it_changes)
{
	begin((unsigned)_i);
	for (uint64_t step = 0; step < 40; step++) {
		set(2, step);
		expect_step(step);
		ck_assert_uint_eq(count(), 0);
	}
	end();
}
END_TEST

START_TEST(the_word_that_a_counter_is_written_to_is_known)
{
	begin((unsigned)_i);
	set(2, 7);
	ck_assert_uint_eq(count(), 1);
	uint64_t address = counters[0].address;
	ck_assert_uint_eq(address, frame + image.layout->frame_size + 16);
	ck_assert_uint_eq(counters[0].width, 8);
	ck_assert(counters[0].is_object);
	ck_assert_uint_eq(count(), 0); /* unchanged, but still there */
	ck_assert(tp_python_count_is_at(python, address));
	ck_assert(!tp_python_count_is_at(python, address + 8));
	pyimage_set_local(&image, frame, 2, pyimage_object(&image, image.code_type));
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(count(), 0);
	end();
}
END_TEST

/* After the stack was read, train() returned, and another function was called at its place. */
START_TEST(variables_of_another_call_are_not_reported)
{
	struct tp_python_place places[MAX_PLACES];
	size_t n;
	size_t cut;
	begin((unsigned)_i);
	uint64_t place = frame + image.layout->frame_code;
	uint64_t code = pyimage_get(&image, place);
	uint64_t other = pyimage_code(&image, "optim.py", "step", 60);
	for (uint64_t step = 0; step < 20; step++) {
		ck_assert_int_eq(tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut),
				 TP_PYTHON_READ);
		set(2, step);
		pyimage_put(&image, place, other);
		ck_assert_uint_eq(tp_python_count(python, counters, MAX_COUNTERS), 0);
		pyimage_put(&image, place, code);
		expect_step(step);
	}
	end();
}
END_TEST

START_TEST(a_counter_belongs_to_one_function)
{
	begin((unsigned)_i);
	for (uint64_t step = 0; step < 20; step++) {
		/* Sets the word at which variables of <module> would be; it has none. */
		set(0, step);
		ck_assert_uint_eq(count(), 1);
		ck_assert_str_eq(counters[0].name, "train");
	}
	end();
}
END_TEST

START_TEST(numbers_of_one_and_of_two_digits_are_read)
{
	static const uint64_t values[] = {0, 1, (1 << 30) - 1, 1 << 30, (UINT64_C(1) << 60) - 1};
	begin((unsigned)_i);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		set((unsigned)i, values[i]);
		ck_assert_uint_eq(count(), 1);
		ck_assert_uint_eq(counters[0].value, values[i]);
	}
	end();
}
END_TEST

/* The variable is not set before the loop begins, however long that takes. */
START_TEST(a_variable_that_is_set_late_is_found)
{
	begin((unsigned)_i);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(count(), 0);
	set(1, 0);
	ck_assert_uint_eq(count(), 1);
	end();
}
END_TEST

START_TEST(variables_that_jump_are_given_up)
{
	size_t n_told = 0;
	begin((unsigned)_i);
	for (uint64_t i = 0; i < 200; i++) {
		set(0, i * 7919 % 1000 + 2);
		set(1, i / 4);
		n_told += count();
	}
	/* The counter is read every fourth time, the other variable a few times at first. */
	ck_assert_uint_ge(n_told, 50);
	ck_assert_uint_le(n_told, 50 + 8);
	end();
}
END_TEST

START_TEST(a_variable_that_grows_by_the_size_of_a_batch_is_reported)
{
	static const unsigned n_batches[] = {1, 1, 2, 1, 3, 16, 1};
	begin((unsigned)_i);
	uint64_t n = 0;
	for (unsigned i = 0; i < 70; i++) {
		n += 64 * n_batches[i % 7];
		set(2, n);
		expect_step(n);
	}
	end();
}
END_TEST

START_TEST(other_objects_are_soon_not_read_any_more)
{
	begin((unsigned)_i);
	pyimage_set_local(&image, frame, 0, pyimage_object(&image, image.code_type));
	/* Words such as those after the last variable: one is no address, one points to unmapped
	 * memory. */
	pyimage_put(&image, frame + image.layout->frame_size + 8, 3);
	pyimage_put(&image, frame + image.layout->frame_size + 16, UINT64_C(0x5000000000));
	for (unsigned local = 3; local < PYIMAGE_WORDS_A_FRAME; local++)
		pyimage_set_local(&image, frame, local, pyimage_object(&image, image.int_type + 8));
	for (int i = 0; i < 20; i++)
		ck_assert_uint_eq(count(), 0);
	uint64_t before = tp_python_counts(python)->n_syscalls;
	ck_assert_uint_eq(count(), 0);
	/* Two for the stack, one for the globals of <module>, which has none, and one for a
	 * variable that may only be unset yet. */
	ck_assert_uint_le(tp_python_counts(python)->n_syscalls - before, 4);
	end();
}
END_TEST

static uint64_t instance_type(void)
{
	static const char name[] = "Tensor";
	uint64_t type = pyimage_alloc(&image, 1024);
	uint64_t text = pyimage_alloc(&image, 64);
	memset(pyimage_at(&image, type), 0, 1024);
	memcpy(pyimage_at(&image, text), name, sizeof(name));
	pyimage_put(&image, type + 24, text);
	pyimage_put(&image, type + 168, 1 << 9);
	pyimage_put(&image, type + 288, 16);
	return type;
}

/* Returns an instance with a dictionary. */
static uint64_t instance_of(uint64_t type, uint64_t table)
{
	uint64_t object = pyimage_object(&image, type);
	pyimage_put(&image, object + 16, pyimage_dict(&image, table));
	return object;
}

/* Returns the system calls of a reading that has no counters. */
static uint64_t calls_of_reading(void)
{
	uint64_t before = tp_python_counts(python)->n_syscalls;
	ck_assert_uint_eq(count(), 0);
	return tp_python_counts(python)->n_syscalls - before;
}

/* Such as a tensor that each step makes: to examine each takes a call at least. */
START_TEST(new_objects_without_numbers_are_searched_seldom)
{
	begin((unsigned)_i);
	const struct tp_py_layout *layout = image.layout;
	uint64_t code = pyimage_get(&image, frame + layout->frame_code) & ~(uint64_t)7;
	pyimage_put_u32(&image, code + layout->code_n_locals, 4);
	uint64_t type = instance_type();
	uint64_t without = pyimage_table(&image, false);
	uint64_t table = pyimage_table(&image, false);
	uint64_t first_calls = 0;
	uint64_t last_calls = 0;
	for (int i = 0; i < 160; i++) {
		pyimage_set_local(&image, frame, 1, instance_of(type, without));
		uint64_t n = calls_of_reading();
		first_calls += i < 32 ? n : 0;
		last_calls += i >= 128 ? n : 0;
	}
	ck_assert_uint_ge(first_calls, last_calls + 30);
	/* An instance that counts is found all the same. */
	uint64_t object = instance_of(type, table);
	pyimage_set_local(&image, frame, 1, object);
	size_t n = 0;
	for (uint64_t i = 0; i < 16; i++) {
		pyimage_set_entry(&image, table, 0, pyimage_text(&image, "step"),
				  pyimage_int(&image, i));
		n += count();
	}
	ck_assert_uint_ge(n, 1);
	pyimage_set_entry(&image, table, 0, pyimage_text(&image, "step"), pyimage_int(&image, 16));
	ck_assert_uint_eq(count(), 1);
	end();
}
END_TEST

/* Returns an instance that a cache of 256 places, one for each, would keep at a given place. */
static uint64_t instance_at(uint64_t place, uint64_t type, uint64_t table)
{
	uint64_t object;
	do
		object = instance_of(type, table);
	while (tp_hash_mix(object, 0) % 256 != place);
	return object;
}

/* Reads both 40 times; returns how much memory is read the last time: what is read in the same
 * order each time makes no call of its own. */
static size_t reads_with(uint64_t first, uint64_t second)
{
	size_t n_slices = 0;
	pyimage_set_local(&image, frame, 1, first);
	pyimage_set_local(&image, frame, 2, second);
	for (int i = 0; i < 40; i++) {
		size_t before = image.n_slices;
		count();
		n_slices = image.n_slices - before;
	}
	return n_slices;
}

START_TEST(two_instances_do_not_drive_each_other_out)
{
	begin((unsigned)_i);
	const struct tp_py_layout *layout = image.layout;
	uint64_t code = pyimage_get(&image, frame + layout->frame_code) & ~(uint64_t)7;
	pyimage_put_u32(&image, code + layout->code_n_locals, 4);
	uint64_t type = instance_type();
	uint64_t table = pyimage_table(&image, false);
	pyimage_set_entry(&image, table, 0, pyimage_text(&image, "step"), pyimage_int(&image, 7));
	size_t apart = reads_with(instance_at(0, type, table), instance_at(1, type, table));
	size_t together = reads_with(instance_at(2, type, table), instance_at(2, type, table));
	ck_assert_uint_eq(together, apart);
	end();
}
END_TEST

/* Addresses of names; the names are never read. */
enum { OTHERS = 2000 };

/* The body has `n_constants` constants, and the entry for a counter after them is still unset. */
static uint64_t begin_body(unsigned minor, uint64_t n_constants)
{
	begin(minor);
	uint64_t table = pyimage_table(&image, false);
	uint64_t dict = pyimage_dict(&image, table);
	pyimage_set_globals(&image, body, dict, dict);
	for (uint64_t i = 0; i < n_constants; i++)
		pyimage_set_entry(&image, table, i, OTHERS + i, pyimage_int(&image, i * 100));
	return table;
}

START_TEST(a_variable_of_the_module_counts_while_its_body_runs)
{
	uint64_t table = begin_body((unsigned)_i, 0);
	uint64_t name = pyimage_text(&image, "step");
	for (uint64_t step = 0; step < 40; step++) {
		pyimage_set_entry(&image, table, 3, name, pyimage_int(&image, step));
		ck_assert_uint_eq(count(), 1);
		ck_assert_str_eq(counters[0].name, "<module>");
		ck_assert_str_eq(counters[0].variable, "step");
		ck_assert_uint_eq(counters[0].first_line, 1);
		ck_assert_uint_eq(counters[0].value, step);
		ck_assert_uint_eq(count(), 0);
	}
	end();
}
END_TEST

/* The entries have moved, as if others were deleted and the dictionary grew. */
START_TEST(a_variable_of_the_module_stays_the_same_one_when_its_entry_moves)
{
	uint64_t table = begin_body((unsigned)_i, 3);
	uint64_t name = pyimage_text(&image, "step");
	uint64_t dict = pyimage_get(&image, body + image.layout->frame_globals);
	ck_assert_uint_eq(count(), 3);
	pyimage_set_entry(&image, table, 3, name, pyimage_int(&image, 7));
	ck_assert_uint_eq(count(), 1);
	uint32_t number = counters[0].local;
	table = pyimage_table(&image, false);
	pyimage_set_entry(&image, table, 0, name, pyimage_int(&image, 8));
	pyimage_put(&image, dict + image.layout->dict_keys, table);
	ck_assert_uint_eq(count(), 1);
	ck_assert_uint_eq(counters[0].local, number);
	ck_assert_uint_eq(counters[0].value, 8);
	end();
}
END_TEST

/* it = iter(loader), and next(it) in a loop of the module. */
START_TEST(an_attribute_of_an_object_of_the_module_counts)
{
	size_t n_told = 0;
	uint64_t globals = begin_body((unsigned)_i, 40);
	uint64_t table = pyimage_table(&image, false);
	uint64_t name = pyimage_text(&image, "n_batches");
	pyimage_set_entry(&image, globals, 40, pyimage_text(&image, "it"),
			  instance_of(instance_type(), table));
	for (uint64_t step = 0; step < 40; step++) {
		pyimage_set_entry(&image, table, 0, name, pyimage_int(&image, step));
		size_t n = count();
		for (size_t i = 0; i < n; i++)
			n_told += strcmp(counters[i].name, "<module>") == 0 &&
				  counters[i].variable &&
				  strcmp(counters[i].variable, "it.n_batches") == 0 &&
				  counters[i].value == step;
	}
	ck_assert_uint_ge(n_told, 37); /* constants come first, once */
	end();
}
END_TEST

static uint64_t strange_number; /* its object */
static uint64_t keys_at;        /* the pointer of the module's dictionary to its table */
static uint64_t other_table;    /* the table from then on; 0 = the same */
static size_t change_from;      /* number of the slice before which memory changes */

enum { STRANGE = 77777 };

static void change_table(struct pyimage *self)
{
	if (self->n_slices <= change_from)
		return;
	pyimage_put_u32(self, strange_number + self->layout->object_size + 8, STRANGE);
	if (other_table)
		pyimage_put(self, keys_at, other_table);
}

static bool is_strange_reported(size_t from)
{
	struct tp_python_place places[MAX_PLACES];
	size_t n;
	size_t cut;
	uint64_t table = pyimage_get(&image, keys_at);
	ck_assert_int_eq(tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut),
			 TP_PYTHON_READ);
	image.n_slices = 0;
	change_from = from;
	image.meanwhile = change_table;
	n = tp_python_count(python, counters, MAX_COUNTERS);
	image.meanwhile = NULL;
	pyimage_put(&image, keys_at, table);
	for (size_t i = 0; i < n; i++)
		if (counters[i].variable && strcmp(counters[i].variable, "it.n_batches") == 0 &&
		    counters[i].value == STRANGE)
			return true;
	return false;
}

/* The dictionary has grown, and the old table's memory still has the variable. */
START_TEST(an_object_that_a_table_had_earlier_is_not_reported)
{
	size_t n_reported[2] = {0};
	uint64_t globals = begin_body((unsigned)_i, 4);
	uint64_t table = pyimage_table(&image, false);
	uint64_t name = pyimage_text(&image, "n_batches");
	uint64_t step = 0;
	pyimage_set_entry(&image, globals, 4, pyimage_text(&image, "it"),
			  instance_of(instance_type(), table));
	keys_at = pyimage_get(&image, body + image.layout->frame_globals) + image.layout->dict_keys;
	for (int is_other = 0; is_other <= 1; is_other++)
		for (size_t from = 0; from < 60; from++) {
			for (int i = 0; i < 4; i++) {
				strange_number = pyimage_int(&image, ++step);
				pyimage_set_entry(&image, table, 0, name, strange_number);
				count();
			}
			other_table = is_other ? pyimage_get(&image, keys_at) + 64 : 0;
			n_reported[is_other] += is_strange_reported(from);
		}
	ck_assert_uint_gt(n_reported[0], 0);
	ck_assert_uint_eq(n_reported[1], 0);
	end();
}
END_TEST

START_TEST(many_constants_do_not_hide_a_counter)
{
	uint64_t last = 0;
	size_t n_told = 0;
	uint64_t table = begin_body((unsigned)_i, 200);
	uint64_t name = pyimage_text(&image, "step");
	for (uint64_t pass = 0; pass < 400; pass++) {
		pyimage_set_entry(&image, table, 200, name, pyimage_int(&image, pass + 1));
		set(0, pass);
		size_t n = count();
		bool is_local_told = false;
		for (size_t i = 0; i < n; i++) {
			bool is_body = strcmp(counters[i].name, "<module>") == 0;
			is_local_told |= !is_body;
			if (is_body && counters[i].value == pass + 1) {
				last = pass + 1;
				n_told++;
			}
		}
		/* Variables of functions are read each time. */
		ck_assert(is_local_told || pass == 0);
	}
	/* 201 numbers, of which 63 are read per call: each at least every fourth time. */
	ck_assert_uint_ge(n_told, 100);
	ck_assert_uint_ge(last, 396);
	end();
}
END_TEST

/* Returns how many pages are looked up for three numbers of one page, made from variable `first`
 * on. */
static size_t lookups_of_three(unsigned first)
{
	for (uint64_t pass = 1; pass < 8; pass++) {
		image.used = (image.used / TP_PROCESS_MEMORY_PAGE + 1) * TP_PROCESS_MEMORY_PAGE;
		for (unsigned i = 0; i < 3; i++)
			set((first + 3 - i) % 3, pass);
		image.n_lookups = 0;
		ck_assert_uint_eq(count(), 3);
	}
	return image.n_lookups;
}

START_TEST(numbers_of_one_page_are_looked_up_once_in_any_order)
{
	size_t n_lookups[3];
	for (unsigned first = 0; first < 3; first++) {
		begin((unsigned)_i);
		n_lookups[first] = lookups_of_three(first);
		end();
	}
	ck_assert_uint_eq(n_lookups[0], n_lookups[1]);
	ck_assert_uint_eq(n_lookups[0], n_lookups[2]);
}
END_TEST

/* Frees the number in the variable, and creates another one at its address. */
static void set_anew(struct pyimage *changed)
{
	uint64_t local = frame + changed->layout->frame_size;
	uint64_t object = pyimage_get(changed, local) & ~UINT64_C(7);
	if (changed->n_slices % 5 != 0)
		return;
	set(0, 1000000);
	pyimage_put_u32(changed, object + changed->layout->object_size + 8, 77777);
}

START_TEST(a_variable_that_is_being_set_is_not_reported)
{
	begin((unsigned)_i);
	set(0, 1);
	ck_assert_uint_eq(count(), 1);
	image.meanwhile = set_anew;
	for (int i = 0; i < 50; i++) {
		struct tp_python_place places[MAX_PLACES];
		size_t n;
		size_t cut;
		tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut);
		size_t n_told = tp_python_count(python, counters, MAX_COUNTERS);
		for (size_t k = 0; k < n_told; k++)
			ck_assert_uint_ne(counters[k].value, 77777);
	}
	end();
}
END_TEST

START_TEST(without_a_stack_nothing_counts)
{
	begin((unsigned)_i);
	set(0, 5);
	ck_assert_uint_eq(tp_python_count(python, counters, MAX_COUNTERS), 0);
	ck_assert_uint_eq(count(), 1);
	pyimage_set_innermost(&image, 0);
	struct tp_python_place places[MAX_PLACES];
	size_t n;
	size_t cut;
	tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut);
	set(0, 6);
	ck_assert_uint_eq(tp_python_count(python, counters, MAX_COUNTERS), 0);
	end();
}
END_TEST

Suite *suite_stack_py_counter(void);
Suite *suite_stack_py_counter(void)
{
	Suite *suite = suite_create("stack/pycounter");
	TCase *tc = tcase_create("pycounter");
	const TTest *const for_each_version[] = {
		a_counter_belongs_to_one_function,
		variables_of_another_call_are_not_reported,
		a_variable_that_is_being_set_is_not_reported,
		a_counter_is_reported_when_it_changes,
		the_word_that_a_counter_is_written_to_is_known,
		numbers_of_one_and_of_two_digits_are_read,
		a_variable_that_is_set_late_is_found,
		variables_that_jump_are_given_up,
		a_variable_that_grows_by_the_size_of_a_batch_is_reported,
		other_objects_are_soon_not_read_any_more,
		new_objects_without_numbers_are_searched_seldom,
		two_instances_do_not_drive_each_other_out,
		without_a_stack_nothing_counts,
		a_variable_of_the_module_counts_while_its_body_runs,
		a_variable_of_the_module_stays_the_same_one_when_its_entry_moves,
		an_attribute_of_an_object_of_the_module_counts,
		an_object_that_a_table_had_earlier_is_not_reported,
		numbers_of_one_page_are_looked_up_once_in_any_order,
		many_constants_do_not_hide_a_counter,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], TP_PY_LAYOUT_MINOR_MIN,
				    TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
