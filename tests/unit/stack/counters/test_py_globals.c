/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the path to global variables, in memory built by hand for each version. */
#include "stack/counters/py_globals.h"

#include "stack/pyimage.h"

#include <check.h>

static struct pyimage image;
static struct tp_py_globals globals;
static uint64_t frame;
static uint64_t table;
static uint64_t dict;
static uint8_t entries[TP_PY_GLOBALS_MAX_BYTES];

enum { NAMES = 1000, VALUES = 2000 }; /* addresses; the memory there is never read */

static void begin(int minor)
{
	pyimage_init(&image, (unsigned)minor);
	globals = (struct tp_py_globals){0};
	frame = pyimage_call(&image, pyimage_code(&image, "train.py", "<module>", 1), 5, true);
	table = pyimage_table(&image, false);
	dict = pyimage_dict(&image, table);
	pyimage_set_globals(&image, frame, dict, dict);
}

static void set_all(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		pyimage_set_entry(&image, table, i, NAMES + i, VALUES + i);
}

static bool is_read(void)
{
	return tp_py_globals_read(&globals, &image.mem, image.layout, frame, entries);
}

static void expect(size_t n, uint64_t first)
{
	ck_assert(is_read());
	ck_assert_uint_eq(globals.n, n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *entry = entries + i * globals.entry_bytes + globals.key_at;
		ck_assert_uint_eq(tp_py_memory_u64(entry), NAMES + first + i);
		ck_assert_uint_eq(tp_py_memory_u64(entry + 8), VALUES + first + i);
	}
}

START_TEST(entries_are_read_whatever_their_kind)
{
	begin(_i);
	expect(0, 0);
	set_all(7);
	expect(7, 0);
	table = pyimage_table(&image, true);
	set_all(9);
	pyimage_put(&image, dict + image.layout->dict_keys, table);
	expect(9, 0);
	pyimage_release(&image);
}
END_TEST

START_TEST(the_last_of_many_globals_are_read)
{
	begin(_i);
	set_all(TP_PY_GLOBALS_MAX + 30);
	expect(TP_PY_GLOBALS_MAX, 30);
	pyimage_release(&image);
}
END_TEST

START_TEST(unchanged_globals_take_one_call)
{
	begin(_i);
	set_all(3);
	expect(3, 0);
	uint64_t before = image.mem.n_calls;
	pyimage_set_entry(&image, table, 1, NAMES + 1, VALUES + 1);
	expect(3, 0);
	ck_assert_uint_eq(image.mem.n_calls - before, 1);
	set_all(4);
	before = image.mem.n_calls;
	expect(4, 0);
	ck_assert_uint_le(image.mem.n_calls - before, 5);
	pyimage_release(&image);
}
END_TEST

START_TEST(another_frame_has_its_own)
{
	begin(_i);
	set_all(3);
	expect(3, 0);
	table = pyimage_table(&image, false);
	set_all(5);
	dict = pyimage_dict(&image, table);
	frame = pyimage_call(&image, pyimage_code(&image, "other.py", "<module>", 1), 5, false);
	pyimage_set_globals(&image, frame, dict, dict);
	expect(5, 0);
	pyimage_release(&image);
}
END_TEST

START_TEST(class_bodies_and_frames_without_globals_have_none)
{
	begin(_i);
	set_all(3);
	pyimage_set_globals(&image, frame, dict, pyimage_dict(&image, table));
	ck_assert(!is_read());
	pyimage_set_globals(&image, frame, 0, 0);
	ck_assert(!is_read());
	pyimage_release(&image);
}
END_TEST

/* Pointers to unmapped memory, values stored elsewhere, excessive numbers. */
START_TEST(memory_that_makes_no_sense_gives_none)
{
	begin(_i);
	const struct tp_py_layout *l = image.layout;
	set_all(3);
	pyimage_put(&image, dict + l->dict_values, table);
	ck_assert(!is_read());
	pyimage_put(&image, dict + l->dict_values, 0);
	pyimage_put(&image, table + l->keys_n_entries, UINT64_C(1) << 40);
	ck_assert(!is_read());
	pyimage_put(&image, table + l->keys_n_entries, 3);
	expect(3, 0);
	if (l->keys_log_bytes)
		*pyimage_at(&image, table + l->keys_log_bytes) = 63;
	else
		pyimage_put(&image, table + l->keys_size, UINT64_MAX);
	ck_assert(!is_read());
	pyimage_put(&image, dict + l->dict_keys, UINT64_C(0x5000000000));
	ck_assert(!is_read());
	pyimage_set_globals(&image, frame, UINT64_C(0x5000000000), UINT64_C(0x5000000000));
	ck_assert(!is_read());
	pyimage_release(&image);
}
END_TEST

Suite *suite_stack_py_globals(void);
Suite *suite_stack_py_globals(void)
{
	Suite *suite = suite_create("stack/pyglobals");
	TCase *tc = tcase_create("pyglobals");
	const TTest *const for_each_version[] = {
		entries_are_read_whatever_their_kind,
		the_last_of_many_globals_are_read,
		unchanged_globals_take_one_call,
		another_frame_has_its_own,
		class_bodies_and_frames_without_globals_have_none,
		memory_that_makes_no_sense_gives_none,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], TP_PY_LAYOUT_MINOR_MIN,
				    TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
