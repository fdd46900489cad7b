/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of where the pointer to the innermost frame is looked for, in 3.11 and 3.12. */
#include "stack/python/py_stack_location.h"
#include "trainprof/stack/python.h"

#include "stack/pyimage.h"

#include <check.h>

enum { MAX_PLACES = 16, FIRST_MINOR = 11, END_MINOR = 13 };

static struct pyimage image;
static struct tp_python *python;

static void begin(unsigned minor)
{
	struct tp_error err;
	pyimage_init(&image, minor);
	pyimage_call(&image, pyimage_code(&image, "train.py", "main", 1), 5, true);
	pyimage_call(&image, pyimage_code(&image, "train.py", "train", 20), 9, false);
	ck_assert_int_eq(pyimage_open(&image, &python, &err), TP_OK);
}

static void end(void)
{
	tp_python_close(python);
	pyimage_release(&image);
}

/* C calls or returns: another structure has the pointer. */
static void use(uint64_t cframe)
{
	pyimage_put(&image, image.thread + image.layout->thread_cframe, cframe);
	pyimage_put(&image, cframe + image.layout->cframe_frame, image.innermost);
}

/* Returns the system calls of one reading: one for the stack, one to compare code objects. */
static uint64_t calls_of_reading(void)
{
	struct tp_python_place places[MAX_PLACES];
	size_t n;
	size_t cut;
	uint64_t before = tp_python_counts(python)->n_syscalls;
	ck_assert_int_eq(tp_python_read(python, getpid(), places, MAX_PLACES, &n, &cut),
			 TP_PYTHON_READ);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(places[0].name, "train");
	return tp_python_counts(python)->n_syscalls - before;
}

START_TEST(a_depth_of_calls_that_was_met_before_takes_no_other_call)
{
	uint64_t cframes[TP_PY_STACK_LOCATION_CFRAMES + 1];
	begin((unsigned)_i);
	for (size_t i = 0; i < TP_PY_STACK_LOCATION_CFRAMES + 1; i++)
		cframes[i] = pyimage_alloc(&image, 64);
	for (size_t i = 0; i < TP_PY_STACK_LOCATION_CFRAMES; i++) {
		use(cframes[i]);
		(void)calls_of_reading();
	}
	for (size_t i = 0; i < 40; i++) {
		use(cframes[i * 7 % TP_PY_STACK_LOCATION_CFRAMES]);
		ck_assert_uint_eq(calls_of_reading(), 2);
	}
	use(cframes[TP_PY_STACK_LOCATION_CFRAMES]);
	ck_assert_uint_eq(calls_of_reading(), 3);
	ck_assert_uint_eq(calls_of_reading(), 2);
	end();
}
END_TEST

/* The structure of a call that has returned still points to a frame: it is not used. */
START_TEST(what_an_old_structure_points_to_is_not_the_stack)
{
	begin((unsigned)_i);
	uint64_t old = pyimage_alloc(&image, 64);
	uint64_t now = pyimage_alloc(&image, 64);
	use(old);
	(void)calls_of_reading();
	use(now);
	(void)calls_of_reading();
	pyimage_put(&image, old + image.layout->cframe_frame, UINT64_C(0x5000000000));
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(calls_of_reading(), 2);
	end();
}
END_TEST

START_TEST(the_last_ones_are_kept_in_order)
{
	struct tp_py_stack_location plan = {0};
	for (uint64_t i = 1; i <= 6; i++)
		ck_assert_uint_eq(tp_py_stack_location_use_cframe(&plan, i),
				  TP_PY_STACK_LOCATION_CFRAMES);
	ck_assert_uint_eq(plan.n_cframes, TP_PY_STACK_LOCATION_CFRAMES);
	ck_assert_uint_eq(tp_py_stack_location_use_cframe(&plan, 6), 0);
	ck_assert_uint_eq(tp_py_stack_location_use_cframe(&plan, 3), 3); /* 6, 5, 4, 3 */
	ck_assert_uint_eq(plan.cframes[0], 3);
	ck_assert_uint_eq(plan.cframes[3], 4);
	ck_assert_uint_eq(tp_py_stack_location_use_cframe(&plan, 2), TP_PY_STACK_LOCATION_CFRAMES);
	ck_assert_uint_eq(tp_py_stack_location_use_cframe(&plan, 4), TP_PY_STACK_LOCATION_CFRAMES);
}
END_TEST

Suite *suite_stack_py_cframe(void);
Suite *suite_stack_py_cframe(void)
{
	Suite *suite = suite_create("stack/pycframe");
	TCase *tc = tcase_create("pycframe");
	tcase_add_loop_test(tc, a_depth_of_calls_that_was_met_before_takes_no_other_call,
			    FIRST_MINOR, END_MINOR);
	tcase_add_loop_test(tc, what_an_old_structure_points_to_is_not_the_stack, FIRST_MINOR,
			    END_MINOR);
	tcase_add_test(tc, the_last_ones_are_kept_in_order);
	suite_add_tcase(suite, tc);
	return suite;
}
