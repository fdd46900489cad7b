/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the stacks of an interpreter, in memory built by hand for each version. */
#include "trainprof/stack/python.h"

#include "stack/pyimage.h"

#include "trainprof/base/clock.h"

#include <check.h>

#include <stdio.h>

enum { MAX_PLACES = 4096 };

static struct tp_python_place places[MAX_PLACES];
static size_t n_places;
static size_t cut;

static struct tp_python *open_image(struct pyimage *image)
{
	struct tp_python *python;
	struct tp_error err;
	enum tp_status status = pyimage_open(image, &python, &err);
	ck_assert_msg(status == TP_OK, "%s", err.text);
	return python;
}

static enum tp_python_outcome read_main(struct tp_python *python)
{
	return tp_python_read(python, getpid(), places, MAX_PLACES, &n_places, &cut);
}

static void check_place(size_t i, const char *name, uint32_t line, bool is_entry)
{
	ck_assert_uint_gt(n_places, i);
	ck_assert_str_eq(places[i].name, name);
	ck_assert_uint_eq(places[i].line, line);
	ck_assert_int_eq(places[i].is_entry, is_entry);
}

/* <module> -> step -> (C) -> forward */
static void call_three(struct pyimage *image)
{
	pyimage_call(image, pyimage_code(image, "train.py", "<module>", 1), 5, true);
	pyimage_call(image, pyimage_code(image, "train.py", "step", 20), 9, false);
	pyimage_call(image, pyimage_code(image, "net.py", "Net.forward", 40), 2, true);
}

static void check_three(const struct pyimage *image)
{
	bool all_entries = image->layout->minor < 11;
	ck_assert_uint_eq(n_places, 3);
	ck_assert_uint_eq(cut, 3);
	check_place(0, "Net.forward", 40, true);
	check_place(1, "step", 22, all_entries);
	check_place(2, "<module>", 2, true);
	ck_assert_str_eq(places[0].file, "net.py");
	ck_assert_uint_eq(places[1].first_line, 20);
	ck_assert_uint_eq(places[1].offset, 18);
}

START_TEST(a_stack_has_names_and_lines)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_three(&image);
	ck_assert_uint_eq(tp_python_info(python)->minor, (unsigned)_i);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* Nothing is learned any more: one call reads the stack, another the heads of code objects. */
START_TEST(the_second_time_costs_two_calls)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	uint64_t before = tp_python_counts(python)->n_syscalls;
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(tp_python_counts(python)->n_syscalls, before + 2);
	check_three(&image);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

START_TEST(a_thread_without_frames_runs_no_python)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_NONE);
	ck_assert_int_eq(tp_python_read(python, 1, places, MAX_PLACES, &n_places, &cut),
			 TP_PYTHON_NONE);
	uint64_t before = tp_python_counts(python)->n_syscalls;
	/* Threads that are not Python's are queried again and again. */
	tp_python_read(python, 1, places, MAX_PLACES, &n_places, &cut);
	ck_assert_uint_le(tp_python_counts(python)->n_syscalls, before + 2);
	call_three(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_three(&image);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* ---- memory that changes while it is read ------------------------------------------------ */

enum { N_FAMILIES = 16, FAMILY_DEPTH = 4 };

struct families {
	uint64_t root;
	uint64_t codes[N_FAMILIES][FAMILY_DEPTH];
	uint64_t first_loose; /* before 3.11 frames use the memory from here on */
	size_t turn;
	size_t every; /* the program continues after this many slices; 0 = only once */
	size_t next;
};

static struct families families;

/* The program returns to its root and calls the next family, at the same addresses. */
static void call_family(struct pyimage *image, size_t k)
{
	image->innermost = 0;
	image->used = families.first_loose;
	if (image->chunk)
		image->top = image->chunk + image->layout->chunk_data + 8;
	pyimage_call(image, families.root, 1, true);
	for (size_t i = 0; i < FAMILY_DEPTH; i++)
		pyimage_call(image, families.codes[k][i], (uint32_t)i + 1, false);
}

static void take_turns(struct pyimage *image)
{
	if (image->n_slices < families.next)
		return;
	families.turn = (families.turn + 1) % N_FAMILIES;
	families.next = families.every ? image->n_slices + families.every : SIZE_MAX;
	call_family(image, families.turn);
}

static void make_families(struct pyimage *image, unsigned minor)
{
	families = (struct families){0};
	pyimage_init(image, minor);
	families.root = pyimage_code(image, "torture.py", "<module>", 1);
	for (size_t k = 0; k < N_FAMILIES; k++) {
		for (size_t i = 0; i < FAMILY_DEPTH; i++) {
			char name[3] = {(char)('a' + k), (char)('1' + i), '\0'};
			char file[2] = {(char)('a' + k), '\0'};
			families.codes[k][i] = pyimage_code(image, file, name, 10);
		}
	}
	if (minor >= 11)
		pyimage_add_chunk(image);
	families.first_loose = image->used;
	call_family(image, 0);
}

static void check_one_family(void)
{
	ck_assert_uint_eq(n_places, FAMILY_DEPTH + 1);
	ck_assert_str_eq(places[FAMILY_DEPTH].name, "<module>");
	for (size_t i = 0; i < FAMILY_DEPTH; i++) {
		ck_assert_int_eq(places[i].name[0], places[0].name[0]);
		ck_assert_int_eq(places[i].name[1], '0' + FAMILY_DEPTH - (int)i);
		ck_assert_int_eq(places[i].file[0], places[0].name[0]);
	}
}

/* Checks the unchanged part of a stack: its root, and then members of one family in order. */
static void check_outer_part(void)
{
	ck_assert_uint_ge(n_places, 1);
	ck_assert_uint_le(n_places, FAMILY_DEPTH);
	ck_assert_str_eq(places[n_places - 1].name, "<module>");
	for (size_t i = 0; i + 1 < n_places; i++) {
		ck_assert_int_eq(places[i].name[0], places[0].name[0]);
		ck_assert_int_eq(places[i].name[1], '0' + (int)(n_places - 1 - i));
	}
}

/* Between any two slices of memory the program continues: the result is one stack or the other, or
 * the part of the first one that was unchanged. */
START_TEST(families_are_never_mixed)
{
	size_t n_whole = 0;
	struct pyimage image;
	make_families(&image, (unsigned)_i);
	struct tp_python *python = open_image(&image);
	image.meanwhile = take_turns;
	for (size_t at = 0; at < 300; at++) {
		families.next = SIZE_MAX;
		ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
		check_one_family();
		families.next = image.n_slices + at;
		enum tp_python_outcome outcome = read_main(python);
		n_whole += outcome == TP_PYTHON_READ;
		if (outcome == TP_PYTHON_READ) {
			check_one_family();
		} else {
			ck_assert_int_eq(outcome, TP_PYTHON_PARTIAL);
			check_outer_part();
		}
	}
	ck_assert_uint_gt(n_whole, 200);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* A stack that changes all the time is unknown or right, and costs a limited number of calls. It
 * returns to the same family after more slices than there are between two copies. */
START_TEST(restless_stacks_are_unknown)
{
	size_t n_moving = 0;
	for (size_t every = 6; every < 200; every += 1 + every / 16) {
		struct pyimage image;
		make_families(&image, (unsigned)_i);
		struct tp_python *python = open_image(&image);
		image.meanwhile = take_turns;
		families.every = every;
		for (int round = 0; round < 20; round++) {
			uint64_t before = image.mem.n_calls;
			enum tp_python_outcome outcome = read_main(python);
			n_moving += outcome != TP_PYTHON_READ;
			if (outcome == TP_PYTHON_READ)
				check_one_family();
			else if (outcome == TP_PYTHON_PARTIAL)
				check_outer_part();
			else
				ck_assert_uint_eq(n_places, 0);
			ck_assert_uint_le(image.mem.n_calls - before, 400);
		}
		tp_python_close(python);
		pyimage_release(&image);
	}
	ck_assert_uint_gt(n_moving, 0);
}
END_TEST

/* Another function at the address of a freed one. */
START_TEST(a_code_object_is_read_again_when_it_is_another)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	uint64_t code = pyimage_code(&image, "a.py", "old", 10);
	uint64_t other = pyimage_code(&image, "a.py", "new", 10);
	pyimage_call(&image, code, 0, true);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_place(0, "old", 10, true);
	memcpy(pyimage_at(&image, code), pyimage_at(&image, other), TP_PY_LAYOUT_MAX_CODE_BYTES);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_place(0, "new", 10, true);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* ---- deep stacks, circles, invalid memory ------------------------------------------------ */

static void call_deep(struct pyimage *image, size_t depth)
{
	pyimage_call(image, pyimage_code(image, "deep.py", "<module>", 1), 0, true);
	pyimage_call(image, pyimage_code(image, "deep.py", "main", 5), 1, false);
	uint64_t code = pyimage_code(image, "deep.py", "recurse", 10);
	for (size_t i = 0; i < depth; i++)
		pyimage_call(image, code, 4, false);
}

START_TEST(deep_stacks_keep_both_ends)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_deep(&image, 5000);
	struct tp_python *python = open_image(&image);
	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
		ck_assert_uint_lt(cut, n_places);
		ck_assert_uint_ge(cut, 256);
		ck_assert_str_eq(places[0].name, "recurse");
		ck_assert_str_eq(places[cut].name, "recurse");
		ck_assert_str_eq(places[n_places - 2].name, "main");
		ck_assert_str_eq(places[n_places - 1].name, "<module>");
	}
	uint64_t before = image.mem.n_calls;
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_le(image.mem.n_calls - before, 2);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

static size_t slices_of_reading(struct pyimage *image, struct tp_python *python)
{
	size_t before = image->n_slices;
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	return image->n_slices - before;
}

/* Imports are deep, training is not. */
START_TEST(of_a_stack_that_became_shallow_less_is_read)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	struct tp_python *python = open_image(&image);
	size_t shallow = slices_of_reading(&image, python);
	shallow = slices_of_reading(&image, python);
	uint64_t top = image.top;
	uint64_t innermost = image.innermost;
	uint64_t code = pyimage_code(&image, "imports.py", "load", 10);
	for (int i = 0; i < 55; i++)
		pyimage_call(&image, code, 4, false);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	size_t deep = slices_of_reading(&image, python);
	ck_assert_uint_gt(deep, 2 * shallow);
	image.top = top;
	pyimage_put(&image, image.thread + image.layout->thread_top, top);
	pyimage_set_innermost(&image, innermost);
	for (int i = 0; i < 256; i++)
		(void)slices_of_reading(&image, python);
	ck_assert_uint_lt(slices_of_reading(&image, python), deep * 2 / 3);
	check_three(&image);
	/* It grows into the next chunk before it is read again. */
	for (int i = 0; i < 150; i++)
		pyimage_call(&image, code, 4, false);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 153);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

START_TEST(places_are_cut_to_what_fits)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_deep(&image, 100);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(tp_python_read(python, getpid(), places, 8, &n_places, &cut),
			 TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 8);
	ck_assert_uint_eq(cut, 6);
	ck_assert_str_eq(places[5].name, "recurse");
	ck_assert_str_eq(places[6].name, "main");
	ck_assert_str_eq(places[7].name, "<module>");
	ck_assert_int_eq(tp_python_read(python, getpid(), places, 102, &n_places, &cut),
			 TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 102);
	ck_assert_uint_eq(cut, 102);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

START_TEST(circles_end)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	struct tp_python *python = open_image(&image);
	uint64_t innermost = image.innermost;
	uint64_t back = image.layout->frame_back;
	pyimage_put(&image, pyimage_get(&image, innermost + back) + back, innermost);
	ck_assert_int_ne(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 0);
	/* Threads in a circle, too. */
	pyimage_put(&image, image.thread + image.layout->thread_next, image.thread);
	pyimage_put(&image, image.interp + image.layout->interp_n_threads, 77);
	ck_assert_int_ne(tp_python_read(python, 1, places, MAX_PLACES, &n_places, &cut),
			 TP_PYTHON_READ);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* A walk that ends early is not accepted as a complete stack. */
START_TEST(a_stack_has_to_end_at_its_root)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *l = image.layout;
	uint64_t root = pyimage_call(&image, pyimage_code(&image, "m.py", "<module>", 1), 0, true);
	uint64_t second = pyimage_call(&image, pyimage_code(&image, "m.py", "main", 5), 1, false);
	pyimage_call(&image, pyimage_code(&image, "m.py", "leaf", 9), 1, false);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	pyimage_put(&image, second + l->frame_back, 0);
	ck_assert_int_eq(read_main(python), TP_PYTHON_MOVING);
	pyimage_put(&image, second + l->frame_back, root);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

START_TEST(generators_lie_elsewhere)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	bool is_entry = _i < 12;
	pyimage_call(&image, pyimage_code(&image, "m.py", "<module>", 1), 0, true);
	pyimage_call_as(&image, pyimage_code(&image, "m.py", "batches", 5), 6, is_entry,
			PYIMAGE_GENERATOR);
	pyimage_call(&image, pyimage_code(&image, "m.py", "decode", 9), 4, false);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 3);
	check_place(0, "decode", 10, _i < 11);
	check_place(1, "batches", 6, is_entry);
	check_place(2, "<module>", 1, true);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* The generator is resumed and suspended again while the stack is read: it is no root, though it
 * has no caller. */
START_TEST(a_suspended_generator_is_no_root)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *l = image.layout;
	pyimage_call(&image, pyimage_code(&image, "m.py", "<module>", 1), 1, true);
	uint64_t generator = pyimage_call_as(&image, pyimage_code(&image, "m.py", "batches", 5), 6,
					     _i < 12, PYIMAGE_GENERATOR);
	pyimage_call(&image, pyimage_code(&image, "m.py", "decode", 9), 4, false);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	uint64_t caller = pyimage_get(&image, generator + l->frame_back);
	pyimage_put(&image, generator + l->frame_back, 0);
	pyimage_set_running(&image, generator, false);
	ck_assert_int_eq(read_main(python), TP_PYTHON_MOVING);
	pyimage_put(&image, generator + l->frame_back, caller);
	ck_assert_int_eq(read_main(python), TP_PYTHON_PARTIAL);
	ck_assert_uint_eq(n_places, 1);
	check_place(0, "<module>", 1, true);
	pyimage_set_running(&image, generator, true);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 3);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* C resumed it as the first operation of a thread. */
START_TEST(a_thread_may_begin_in_a_generator)
{
	struct pyimage image;
	enum tp_python_outcome outcome = TP_PYTHON_NONE;
	pyimage_init(&image, (unsigned)_i);
	pyimage_call_as(&image, pyimage_code(&image, "m.py", "batches", 5), 6, true,
			PYIMAGE_GENERATOR);
	struct tp_python *python = open_image(&image);
	for (int i = 0; i < 5; i++)
		outcome = read_main(python);
	ck_assert_int_eq(outcome, TP_PYTHON_READ);
	check_place(0, "batches", 6, true);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* The cleanup code after __init__ has no name; a function that is just being called has not
 * begun. */
START_TEST(scaffolding_is_not_shown)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	uint64_t shim = pyimage_code(&image, "x", "shim", 0);
	pyimage_put(&image, shim + image.layout->code_file, 0);
	pyimage_put(&image, shim + image.layout->code_name, 0);
	pyimage_put(&image, shim + image.layout->code_qualname, 0);
	pyimage_call(&image, pyimage_code(&image, "m.py", "<module>", 1), 1, true);
	pyimage_call(&image, shim, 0, false);
	pyimage_call(&image, pyimage_code(&image, "m.py", "Net.__init__", 5), 4, false);
	pyimage_call(&image, pyimage_code(&image, "m.py", "begun_not", 9), 0, false);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 2);
	check_place(0, "Net.__init__", 6, false);
	check_place(1, "<module>", 1, true);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* ---- threads ---- */

START_TEST(a_thread_that_ends_is_not_read_from_its_remains)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *l = image.layout;
	uint64_t first = image.thread;
	call_three(&image);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	/* Another state for the same thread; the old one is unlinked, but its bytes are still
	 * there. */
	pyimage_put(&image, image.interp + l->interp_threads, 0);
	uint64_t second = pyimage_add_thread(&image, (uint32_t)getpid());
	ck_assert_uint_ne(first, second);
	pyimage_call(&image, pyimage_code(&image, "other.py", "other", 3), 0, true);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_uint_eq(n_places, 1);
	check_place(0, "other", 3, true);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

START_TEST(a_new_thread_is_found)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	ck_assert_int_eq(tp_python_read(python, 4242, places, MAX_PLACES, &n_places, &cut),
			 TP_PYTHON_NONE);
	pyimage_add_thread(&image, 4242);
	pyimage_call(&image, pyimage_code(&image, "w.py", "worker", 3), 0, true);
	ck_assert_int_eq(tp_python_read(python, 4242, places, MAX_PLACES, &n_places, &cut),
			 TP_PYTHON_READ);
	check_place(0, "worker", 3, true);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_three(&image);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

static enum tp_python_outcome read_other(struct tp_python *python, pid_t tid)
{
	return tp_python_read(python, tid, places, MAX_PLACES, &n_places, &cut);
}

static uint64_t calls_of(struct tp_python *python, pid_t tid)
{
	uint64_t before = tp_python_counts(python)->n_syscalls;
	ck_assert_int_eq(read_other(python, tid), TP_PYTHON_NONE);
	return tp_python_counts(python)->n_syscalls - before;
}

/* A thread without a state is asked after 10 ms, then after 20 ms, up to 200 ms. */
START_TEST(a_thread_that_gets_a_state_later_is_found)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	uint64_t time_ns = TP_NS_PER_S;
	image.mem.time_ns = &time_ns;
	struct tp_python *python = open_image(&image);
	for (uint64_t pause_ms = 10; pause_ms < 4000; pause_ms *= 2) {
		ck_assert_uint_gt(calls_of(python, 4242), 0);
		time_ns += (pause_ms < 200 ? pause_ms : 200) * TP_NS_PER_MS - 1;
		ck_assert_uint_eq(calls_of(python, 4242), 0);
		time_ns++;
	}
	pyimage_add_thread(&image, 4242);
	pyimage_call(&image, pyimage_code(&image, "w.py", "worker", 3), 0, true);
	ck_assert_int_eq(read_other(python, 4242), TP_PYTHON_READ);
	check_place(0, "worker", 3, true);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* Another thread was the first to see that the list has changed. */
START_TEST(a_thread_that_gets_a_state_is_found_when_another_one_is)
{
	struct pyimage image;
	uint64_t time_ns = TP_NS_PER_S;
	pyimage_init(&image, (unsigned)_i);
	call_three(&image);
	image.mem.time_ns = &time_ns;
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_other(python, 4242), TP_PYTHON_NONE);
	for (uint32_t tid = 4242; tid <= 4243; tid++) {
		pyimage_add_thread(&image, tid);
		pyimage_call(&image, pyimage_code(&image, "w.py", "worker", 3), 0, true);
	}
	ck_assert_int_eq(read_other(python, 4243), TP_PYTHON_READ);
	ck_assert_int_eq(read_other(python, 4242), TP_PYTHON_READ);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* 3.11.0 keeps the parent's tid in a forked child. */
START_TEST(the_only_thread_of_a_forked_child_is_its_main_one)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *l = image.layout;
	uint64_t pthread = pyimage_get(&image, image.thread + l->thread_pthread);
	enum { NOBODY = 0x3fffff };
	if (l->thread_tid)
		pyimage_put(&image, image.thread + l->thread_tid, NOBODY);
	pyimage_put_u32(&image, pthread + 720, NOBODY);
	call_three(&image);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_three(&image);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* ---- the GIL ---- */

START_TEST(the_holder_and_the_waiters_of_the_gil_are_reported)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	const struct tp_py_layout *l = image.layout;
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(tp_python_gil_holder(python), 0);
	pyimage_put(&image, image.gil + l->gil_holder, image.thread);
	ck_assert_int_eq(tp_python_gil_holder(python), 0);
	pyimage_put_u32(&image, image.gil + l->gil_locked, 1);
	ck_assert_int_eq(tp_python_gil_holder(python), getpid());
	ck_assert(tp_python_is_gil_wait(python, image.gil + l->gil_cond + 0x28));
	ck_assert(tp_python_is_gil_wait(python, image.gil + l->gil_cond + 0x2c));
	ck_assert(!tp_python_is_gil_wait(python, image.gil));
	ck_assert(!tp_python_is_gil_wait(python, image.gil + l->gil_cond + 512));
	ck_assert(!tp_python_is_gil_wait(python, 0));
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

/* ---- opening ---- */

START_TEST(a_process_without_an_interpreter_is_refused)
{
	struct pyimage image;
	struct tp_python *python;
	struct tp_error err;
	pyimage_init(&image, (unsigned)_i);
	pyimage_put(&image, image.thread + image.layout->thread_interp, image.interp + 8);
	ck_assert_int_eq(pyimage_open(&image, &python, &err), TP_VERSION);
	ck_assert_ptr_nonnull(strstr(err.text, "not that of a usual CPython"));
	pyimage_release(&image);
}
END_TEST

START_TEST(one_that_has_not_started_runs_no_python_yet)
{
	struct pyimage image;
	pyimage_init(&image, (unsigned)_i);
	uint64_t interps = image.runtime + image.layout->runtime_interps;
	pyimage_put(&image, interps, 0);
	struct tp_python *python = open_image(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_NONE);
	pyimage_put(&image, interps, image.interp);
	call_three(&image);
	ck_assert_int_eq(read_main(python), TP_PYTHON_READ);
	check_three(&image);
	tp_python_close(python);
	pyimage_release(&image);
}
END_TEST

START_TEST(a_program_without_python_is_absent)
{
	struct tp_python *python = NULL;
	struct tp_error err;
	ck_assert_int_eq(tp_python_open(&python, "/proc", getpid(), &err), TP_ABSENT);
	ck_assert_ptr_null(python);
	ck_assert_int_ne(tp_python_open(&python, "/proc", 0x3fffff, &err), TP_OK);
}
END_TEST

Suite *suite_stack_python(void);
Suite *suite_stack_python(void)
{
	Suite *suite = suite_create("stack/python");
	TCase *tc = tcase_create("python");
	const TTest *const for_each_version[] = {
		a_stack_has_names_and_lines,
		the_second_time_costs_two_calls,
		a_thread_without_frames_runs_no_python,
		families_are_never_mixed,
		restless_stacks_are_unknown,
		a_code_object_is_read_again_when_it_is_another,
		deep_stacks_keep_both_ends,
		places_are_cut_to_what_fits,
		circles_end,
		generators_lie_elsewhere,
		a_suspended_generator_is_no_root,
		a_thread_may_begin_in_a_generator,
		a_thread_that_ends_is_not_read_from_its_remains,
		a_new_thread_is_found,
		a_thread_that_gets_a_state_later_is_found,
		a_thread_that_gets_a_state_is_found_when_another_one_is,
		the_only_thread_of_a_forked_child_is_its_main_one,
		the_holder_and_the_waiters_of_the_gil_are_reported,
		a_process_without_an_interpreter_is_refused,
		one_that_has_not_started_runs_no_python_yet,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], TP_PY_LAYOUT_MINOR_MIN,
				    TP_PY_LAYOUT_MINOR_MAX + 1);
	/* In older versions every frame can be a thread's first one. */
	tcase_add_loop_test(tc, a_stack_has_to_end_at_its_root, 11, TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_loop_test(tc, of_a_stack_that_became_shallow_less_is_read, 11,
			    TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_loop_test(tc, scaffolding_is_not_shown, 11, TP_PY_LAYOUT_MINOR_MAX + 1);
	tcase_add_test(tc, a_program_without_python_is_absent);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	return suite;
}
