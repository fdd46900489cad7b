/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the import slots through which a library calls another one. */
#include "agent/cudadouble.h"
#include "agent/cupti/got_patch.h"

#include <stdint.h>

static int n_called;

static int instead(int kind)
{
	n_called++;
	return 1000 + kind;
}

static const char *const ways[] = {"lazy", "bound"};

/* Loads the tool of that kind, with the CUPTI double that it needs. */
static void *load_tool(const char *way)
{
	char path[CUDA_DOUBLE_PATH];
	char file[64];
	cuda_doubles_load("whole");
	ck_assert_ptr_nonnull(dlopen(beside(path, "doubles/whole/libcupti.so.13"), RTLD_NOW));
	snprintf(file, sizeof(file), "doubles/%s/libothertool.so", way);
	void *tool = dlopen(beside(path, file), RTLD_LAZY);
	ck_assert_msg(tool != NULL, "%s", dlerror());
	return tool;
}

static int begin(void *tool)
{
	int (*function)(int);
	void *symbol = dlsym(tool, "other_tool_begin");
	memcpy(&function, &symbol, sizeof(function));
	return function(0);
}

static struct tp_got_import import_of(const char *symbol, const char *leads_to)
{
	struct tp_got_import import = {.symbol = symbol, .ours = (uintptr_t)instead};
	void *cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
	if (leads_to)
		import.theirs = (uintptr_t)dlsym(cupti, leads_to);
	return import;
}

START_TEST(only_calls_of_that_library_are_redirected)
{
	struct tp_got_patch slots = {0};
	void *tool = load_tool(ways[_i]);
	struct tp_got_import import = import_of("cuptiActivityEnable", "cuptiActivityEnable");
	tp_got_patch_replace(&slots, &import, 1, "libcupti.so");
	ck_assert_uint_eq(slots.n_replaced, 1);
	ck_assert_int_eq(begin(tool), 1010); /* kind 10 */
	ck_assert_int_eq(n_called, 1);
	int (*enable)(int);
	memcpy(&enable, &import.theirs, sizeof(enable));
	ck_assert_int_eq(enable(10), 0);
	ck_assert_int_eq(n_called, 1);
}
END_TEST

START_TEST(nothing_is_looked_at_twice_and_later_ones_are)
{
	struct tp_got_patch slots = {0};
	char path[CUDA_DOUBLE_PATH];
	load_tool("lazy");
	struct tp_got_import import = import_of("cuptiActivityEnable", "cuptiActivityEnable");
	for (int i = 0; i < 3; i++)
		tp_got_patch_replace(&slots, &import, 1, "libcupti.so");
	ck_assert_uint_eq(slots.n_replaced, 1);
	void *later = dlopen(beside(path, "doubles/bound/libothertool.so"), RTLD_LAZY);
	ck_assert_ptr_nonnull(later);
	tp_got_patch_replace(&slots, &import, 1, "libcupti.so");
	ck_assert_uint_eq(slots.n_replaced, 2);
	ck_assert_int_eq(begin(later), 1010);
}
END_TEST

static const struct {
	const char *symbol;
	const char *leads_to;
	const char *needed;
} kept[] = {
	{"cuptiActivityEnable", NULL, "libcupti.so"},                   /* no such function */
	{"cuptiNoSuchCall", "cuptiActivityEnable", "libcupti.so"},      /* no library calls it */
	{"cuptiActivityEnable", "cuptiActivityEnable", "libnothing."},  /* no library needs it */
	{"cuptiActivityEnable", "cuptiActivityDisable", "libcupti.so"}, /* points elsewhere */
};

/* Bound slots: if one points elsewhere, another tool has set it. */
START_TEST(all_other_words_stay)
{
	struct tp_got_patch slots = {0};
	void *tool = load_tool("bound");
	struct tp_got_import import = import_of(kept[_i].symbol, kept[_i].leads_to);
	tp_got_patch_replace(&slots, &import, 1, kept[_i].needed);
	ck_assert_uint_eq(slots.n_replaced, 0);
	ck_assert_int_eq(begin(tool), 0);
}
END_TEST

START_TEST(addresses_have_files)
{
	char path[600];
	void *tool = load_tool("lazy");
	tp_got_patch_file_of(path, sizeof(path), (uintptr_t)dlsym(tool, "other_tool_begin"));
	ck_assert_str_eq(strrchr(path, '/'), "/libothertool.so");
	tp_got_patch_file_of(path, sizeof(path), (uintptr_t)instead);
	ck_assert_str_eq(path, "");
	tp_got_patch_file_of(path, 8, (uintptr_t)dlsym(tool, "other_tool_begin"));
	ck_assert_uint_eq(strlen(path), 7);
	tp_got_patch_file_of(path, sizeof(path), 1);
	ck_assert_str_eq(path, "");
}
END_TEST

Suite *suite_agent_got_patch(void);
Suite *suite_agent_got_patch(void)
{
	Suite *suite = suite_create("agent_importslot");
	TCase *tests = tcase_create("importslot");
	tcase_add_loop_test(tests, only_calls_of_that_library_are_redirected, 0,
			    sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tests, nothing_is_looked_at_twice_and_later_ones_are);
	tcase_add_loop_test(tests, all_other_words_stay, 0, sizeof(kept) / sizeof(kept[0]));
	tcase_add_test(tests, addresses_have_files);
	suite_add_tcase(suite, tests);
	return suite;
}
