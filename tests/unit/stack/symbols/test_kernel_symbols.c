/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of names of kernel functions. */
#include "stack/symbols/kernel_symbols.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t do_work.isra.0\n"
			   "ffffffff81000200 T do_more\n"
			   "ffffffff82000000 D some_data\n"
			   "ffffffff82000100 d more_data\n"
			   "ffffffffc0001000 t nvidia_ioctl\t[nvidia]\n"
			   "0000000000000000 A fixed_percpu_data\n"
			   "garbage\n";

static const struct {
	uint64_t address;
	const char *name;
} questions[] = {
	{0xffffffff80ffffff, NULL},
	{0xffffffff81000000, "_stext"}, /* the first of two names for one address */
	{0xffffffff810000ff, "_stext"},
	{0xffffffff81000100, "do_work.isra.0"},
	{0xffffffff81000200, "do_more"},
	{0xffffffff81010000, "do_more"},
	{0xffffffff81200200, NULL}, /* too far from the start of the function */
	{0xffffffff82000010, NULL}, /* data, not code */
	{0xffffffffc0001004, "nvidia_ioctl [nvidia]"},
	{0xffffffffd0001004, NULL},
	{0, NULL},
};

static struct tp_kernel_symbols *load(const char *content)
{
	char path[] = "/tmp/trainprof-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	FILE *file = fdopen(fd, "w");
	fputs(content, file);
	fclose(file);
	struct tp_kernel_symbols *names = tp_kernel_symbols_load(path);
	remove(path);
	return names;
}

START_TEST(kernel_address_is_named_up_to_the_next_symbol)
{
	struct tp_kernel_symbols *names = load(text);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const char *name = "";
		uint64_t start;
		uint64_t end;
		bool is_found =
			tp_kernel_symbols_find(names, questions[i].address, &name, &start, &end);
		ck_assert_msg(is_found == (questions[i].name != NULL), "question %zu", i);
		if (!is_found)
			continue;
		ck_assert_str_eq(name, questions[i].name);
		ck_assert(start <= questions[i].address && questions[i].address < end);
	}
	tp_kernel_symbols_free(names);
}
END_TEST

static const struct tp_kernel_epoch epoch = {"a-boot", 7};

static bool knows(struct tp_kernel_symbols *names)
{
	const char *name;
	uint64_t start;
	uint64_t end;
	return names && tp_kernel_symbols_find(names, 0xffffffff81000104, &name, &start, &end) &&
	       strcmp(name, "do_work.isra.0") == 0 && start == 0xffffffff81000100 &&
	       tp_kernel_symbols_find(names, 0xffffffffc0001004, &name, &start, &end) &&
	       strcmp(name, "nvidia_ioctl [nvidia]") == 0;
}

/* Keeps the names of `text` in a file; `path` has room for its path. */
static void keep(char *path)
{
	struct tp_kernel_symbols *names = load(text);
	strcpy(path, "/tmp/trainprof-kept-XXXXXX");
	close(mkstemp(path));
	tp_kernel_symbols_save(names, &epoch, path);
	tp_kernel_symbols_free(names);
}

START_TEST(kept_names_come_back_in_the_same_epoch_only)
{
	static const struct tp_kernel_epoch others[] = {{"another boot", 7}, {"a-boot", 8}};
	char path[64];
	keep(path);
	struct tp_kernel_symbols *names = tp_kernel_symbols_restore(&epoch, path);
	ck_assert(knows(names));
	tp_kernel_symbols_free(names);
	for (size_t i = 0; i < 2; i++)
		ck_assert_ptr_null(tp_kernel_symbols_restore(&others[i], path));
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_ptr_null(tp_kernel_symbols_restore(&epoch, path));
	remove(path);
	ck_assert_ptr_null(tp_kernel_symbols_restore(&epoch, path));
}
END_TEST

START_TEST(torn_or_foreign_file_is_not_taken)
{
	char path[64];
	struct stat st;
	keep(path);
	ck_assert_int_eq(stat(path, &st), 0);
	for (off_t size = st.st_size - 1; size >= 0; size--) {
		ck_assert_int_eq(truncate(path, size), 0);
		ck_assert_ptr_null(tp_kernel_symbols_restore(&epoch, path));
	}
	ck_assert_int_eq(truncate(path, st.st_size), 0);
	ck_assert_ptr_null(tp_kernel_symbols_restore(&epoch, path));
	remove(path);
}
END_TEST

enum { N_MANY = 1500, SYMBOL_BYTES = 64 };

/* Every third symbol has an alias, and every seventh is data. */
static struct tp_kernel_symbols *load_many(void)
{
	char *content = tp_alloc((size_t)N_MANY * 2 * 64);
	char *at = content;
	for (unsigned i = 0; i < N_MANY; i++) {
		unsigned long long start = 0xffffffff81000000ULL + i * SYMBOL_BYTES;
		at += sprintf(at, "%llx %c function_%u\n", start, i % 7 ? 't' : 'd', i);
		if (i % 3 == 0)
			at += sprintf(at, "%llx t alias_%u\n", start, i);
	}
	struct tp_kernel_symbols *names = load(content);
	free(content);
	return names;
}

/* More names than are read at once: aliases and ends lie in other blocks. */
START_TEST(kept_names_are_those_in_memory)
{
	char path[] = "/tmp/trainprof-kept-XXXXXX";
	struct tp_kernel_symbols *all = load_many();
	close(mkstemp(path));
	tp_kernel_symbols_save(all, &epoch, path);
	struct tp_kernel_symbols *kept = tp_kernel_symbols_restore(&epoch, path);
	ck_assert_ptr_nonnull(kept);
	size_t n_found = 0;
	for (uint64_t at = 0xffffffff81000000 - 1;
	     at < 0xffffffff81000000 + (N_MANY + 1) * SYMBOL_BYTES; at += SYMBOL_BYTES / 4) {
		const char *names[2] = {"", ""};
		uint64_t starts[2] = {0};
		uint64_t ends[2] = {0};
		bool is_found = tp_kernel_symbols_find(all, at, &names[0], &starts[0], &ends[0]);
		ck_assert(is_found ==
			  tp_kernel_symbols_find(kept, at, &names[1], &starts[1], &ends[1]));
		ck_assert_str_eq(names[0], names[1]);
		ck_assert_uint_eq(starts[0], starts[1]);
		ck_assert_uint_eq(ends[0], ends[1]);
		n_found += is_found;
	}
	ck_assert_uint_gt(n_found, N_MANY);
	tp_kernel_symbols_free(kept);
	tp_kernel_symbols_free(all);
	remove(path);
}
END_TEST

START_TEST(a_file_that_is_cut_while_in_use_has_no_names)
{
	char path[] = "/tmp/trainprof-kept-XXXXXX";
	const char *name;
	uint64_t start;
	uint64_t end;
	struct tp_kernel_symbols *all = load_many();
	close(mkstemp(path));
	tp_kernel_symbols_save(all, &epoch, path);
	struct tp_kernel_symbols *kept = tp_kernel_symbols_restore(&epoch, path);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert(!tp_kernel_symbols_find(kept, 0xffffffff81000104, &name, &start, &end));
	tp_kernel_symbols_free(kept);
	tp_kernel_symbols_free(all);
	remove(path);
}
END_TEST

static void expect_none(struct tp_kernel_symbols *names)
{
	const char *name;
	uint64_t start;
	uint64_t end;
	ck_assert(!tp_kernel_symbols_find(names, 0, &name, &start, &end));
	ck_assert(!tp_kernel_symbols_find(names, 0xffffffff81000000, &name, &start, &end));
	tp_kernel_symbols_free(names);
}

START_TEST(hidden_addresses_give_no_names)
{
	expect_none(load("0000000000000000 T _stext\n0000000000000000 T do_work\n"));
	expect_none(load(""));
	expect_none(tp_kernel_symbols_load("/nonexistent"));
}
END_TEST

Suite *suite_stack_kernel_symbols(void);
Suite *suite_stack_kernel_symbols(void)
{
	Suite *suite = suite_create("stack/kernelnames");
	TCase *tc = tcase_create("kernelnames");
	tcase_add_test(tc, kernel_address_is_named_up_to_the_next_symbol);
	tcase_add_test(tc, kept_names_come_back_in_the_same_epoch_only);
	tcase_add_test(tc, torn_or_foreign_file_is_not_taken);
	tcase_add_test(tc, kept_names_are_those_in_memory);
	tcase_add_test(tc, a_file_that_is_cut_while_in_use_has_no_names);
	tcase_add_test(tc, hidden_addresses_give_no_names);
	suite_add_tcase(suite, tc);
	return suite;
}
