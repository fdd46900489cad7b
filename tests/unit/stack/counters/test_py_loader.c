/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the settings of data loaders, in memory built by hand for each version. */
#include "stack/counters/py_loader.h"

#include "stack/pyimage.h"

#include "trainprof/stack/python.h"

#include <check.h>

enum { CLASS = 1 << 9, TYPE_BYTES = 1024 };

static struct pyimage image;
static struct tp_py_attributes attributes;
static uint64_t table; /* table of the iterator's attributes */
static uint64_t n_entries;

static uint64_t type_of(const char *name, uint64_t flags)
{
	uint64_t type = pyimage_alloc(&image, TYPE_BYTES);
	uint64_t text = pyimage_alloc(&image, 64);
	memset(pyimage_at(&image, type), 0, TYPE_BYTES);
	memcpy(pyimage_at(&image, text), name, strlen(name) + 1);
	pyimage_put(&image, type + 24, text);
	pyimage_put(&image, type + 168, flags);
	pyimage_put(&image, type + 288, 16);
	return type;
}

static uint64_t instance(uint64_t attribute_table)
{
	uint64_t object = pyimage_object(&image, type_of("anything", CLASS));
	pyimage_put(&image, object + 16, pyimage_dict(&image, attribute_table));
	return object;
}

static uint64_t number_of(const char *type, uint64_t value)
{
	uint64_t object = pyimage_int(&image, value);
	pyimage_put(&image, object + image.layout->object_type, type_of(type, 0));
	return object;
}

static void set(const char *name, uint64_t object)
{
	pyimage_set_entry(&image, table, n_entries++, pyimage_text(&image, name), object);
}

static void begin(unsigned minor)
{
	pyimage_init(&image, minor);
	tp_py_attributes_init(&attributes, &image.mem, image.layout, image.int_type);
	table = pyimage_table(&image, false);
	n_entries = 0;
}

static void end(void)
{
	tp_py_attributes_release(&attributes);
	pyimage_release(&image);
}

static uint64_t sampler(void)
{
	uint64_t of_sampler = pyimage_table(&image, false);
	pyimage_set_entry(&image, of_sampler, 0, pyimage_text(&image, "drop_last"),
			  number_of("bool", 0));
	pyimage_set_entry(&image, of_sampler, 1, pyimage_text(&image, "batch_size"),
			  number_of("int", 32));
	return instance(of_sampler);
}

START_TEST(settings_are_those_of_the_iterator_and_its_sampler)
{
	struct tp_py_loader loader;
	begin((unsigned)_i);
	set("_dataset", number_of("Dataset", 9));
	set("_num_workers", number_of("int", 4));
	set("_prefetch_factor", number_of("int", 2));
	set("_pin_memory", number_of("bool", 1));
	set("_persistent_workers", number_of("bool", 0));
	set("_index_sampler", sampler());
	ck_assert(tp_py_loader_read(&attributes, instance(table), &loader));
	ck_assert_uint_eq(loader.values[TP_PY_LOADER_WORKERS], 4);
	ck_assert_uint_eq(loader.values[TP_PY_LOADER_PREFETCH], 2);
	ck_assert_uint_eq(loader.values[TP_PY_LOADER_PIN], 1);
	ck_assert_uint_eq(loader.values[TP_PY_LOADER_PERSISTENT], 0);
	ck_assert_uint_eq(loader.values[TP_PY_LOADER_BATCH], 32);
	end();
}
END_TEST

START_TEST(none_and_missing_attributes_are_unknown)
{
	struct tp_py_loader loader;
	begin((unsigned)_i);
	set("_num_workers", number_of("int", 0));
	set("_prefetch_factor", number_of("NoneType", 0));
	set("_index_sampler", number_of("SequentialSampler", 5));
	ck_assert(tp_py_loader_read(&attributes, instance(table), &loader));
	ck_assert_uint_eq(loader.values[TP_PY_LOADER_WORKERS], 0);
	ck_assert(loader.values[TP_PY_LOADER_PREFETCH] == TP_PYTHON_UNKNOWN_SETTING);
	ck_assert(loader.values[TP_PY_LOADER_PIN] == TP_PYTHON_UNKNOWN_SETTING);
	ck_assert(loader.values[TP_PY_LOADER_BATCH] == TP_PYTHON_UNKNOWN_SETTING);
	end();
}
END_TEST

static uint64_t calls_of_reading(void)
{
	struct tp_py_loader loader;
	uint64_t object = instance(table);
	ck_assert_ptr_nonnull(tp_py_attributes_type(&attributes, object)); /* it is known then */
	uint64_t before = image.mem.n_calls;
	ck_assert(tp_py_loader_read(&attributes, object, &loader));
	return image.mem.n_calls - before;
}

START_TEST(names_and_settings_are_read_by_one_call_each)
{
	begin((unsigned)_i);
	uint64_t type = type_of("int", 0);
	set("_num_workers", pyimage_object(&image, type));
	set("_index_sampler", sampler());
	ck_assert_uint_gt(calls_of_reading(), 0); /* types are known then */
	uint64_t n_calls = calls_of_reading();
	set("_prefetch_factor", pyimage_object(&image, type));
	set("_pin_memory", pyimage_object(&image, type));
	set("_dataset", pyimage_object(&image, type));
	set("_base_seed", pyimage_object(&image, type));
	/* Those of the class of each instance are read once. */
	ck_assert_uint_eq(calls_of_reading(), n_calls);
	end();
}
END_TEST

START_TEST(an_object_without_its_attributes_is_no_loader)
{
	struct tp_py_loader loader;
	struct tp_py_attribute found[] = {{.name = "_num_yielded"}, {.name = "_num_workers"}};
	begin((unsigned)_i);
	set("_num_workers", number_of("int", 4)); /* attribute of a pool */
	ck_assert(!tp_py_loader_read(&attributes, instance(table), &loader));
	ck_assert(!tp_py_loader_read(&attributes, number_of("int", 4), &loader));
	ck_assert(!tp_py_loader_read(&attributes, 0x10000, &loader));
	ck_assert(tp_py_loader_is_likely(found, 2));
	ck_assert(!tp_py_loader_is_likely(found, 1));
	end();
}
END_TEST

START_TEST(workers_that_are_no_number_make_no_loader)
{
	struct tp_py_loader loader;
	begin((unsigned)_i);
	set("_num_workers", number_of("NoneType", 0));
	set("_index_sampler", sampler());
	ck_assert(!tp_py_loader_read(&attributes, instance(table), &loader));
	end();
}
END_TEST

Suite *suite_stack_py_loader(void);
Suite *suite_stack_py_loader(void)
{
	Suite *suite = suite_create("stack/pyloader");
	TCase *tc = tcase_create("pyloader");
	const TTest *const for_each_version[] = {
		settings_are_those_of_the_iterator_and_its_sampler,
		none_and_missing_attributes_are_unknown,
		names_and_settings_are_read_by_one_call_each,
		an_object_without_its_attributes_is_no_loader,
		workers_that_are_no_number_make_no_loader,
	};
	for (size_t i = 0; i < sizeof(for_each_version) / sizeof(for_each_version[0]); i++)
		tcase_add_loop_test(tc, for_each_version[i], TP_PY_LAYOUT_MINOR_MIN,
				    TP_PY_LAYOUT_MINOR_MAX + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
