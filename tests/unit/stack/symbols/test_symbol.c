/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of real names, compared with libc's own table. */
#include "trainprof/stack/symbol.h"

#include "stack/capture.h"

#include <dlfcn.h>
#include <stdio.h>

static struct unwound u;

static void set_up(void)
{
	unwound_init(&u);
}

static void tear_down(void)
{
	unwound_release(&u);
}

static const char *const functions[] = {"malloc", "qsort",  "fopen",  "memchr", "strtol",
					"read",   "printf", "getenv", "atoi",   "poll"};

START_TEST(libc_functions_have_the_names_they_are_called_by)
{
	struct tp_stack_frame frame;
	struct tp_symbol symbol;
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	ck_assert_ptr_nonnull(libc);
	/* dlsym() may return the implementation for this machine (memchr_avx2): use its address. */
	uint64_t pc = (uint64_t)(uintptr_t)dlsym(libc, functions[_i]);
	Dl_info said;
	ck_assert_int_ne(dladdr((void *)(uintptr_t)pc, &said), 0);
	dlclose(libc);
	tp_maps_find(u.maps, pc + 1, 0, &frame);
	tp_symbol_find(&frame, &symbol);
	if (said.dli_sname && (uint64_t)(uintptr_t)said.dli_saddr == pc)
		ck_assert_msg(strcmp(symbol.name, functions[_i]) == 0 ||
				      strcmp(symbol.name, said.dli_sname) == 0,
			      "%s is called %s", functions[_i], symbol.name);
	ck_assert_uint_eq(symbol.start + 1, frame.address);
	ck_assert_uint_gt(symbol.end, frame.address);
}
END_TEST

/* In libc.so's code, an address gets a name only inside [start, end). */
START_TEST(names_stay_inside_their_functions)
{
	struct tp_stack_frame frame;
	struct tp_symbol symbol;
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	uint64_t pc = (uint64_t)(uintptr_t)dlsym(libc, "malloc");
	dlclose(libc);
	tp_maps_find(u.maps, pc, 0, &frame);
	size_t n_named = 0;
	size_t n_bounded = 0;
	size_t n_bare = 0;
	for (uint64_t offset = 0; offset < 200000; offset += 37) {
		struct tp_stack_frame at = frame;
		at.address += offset;
		tp_symbol_find(&at, &symbol);
		if (symbol.end == symbol.start) {
			n_bare++;
			ck_assert_str_eq(symbol.name, "");
			continue;
		}
		ck_assert(symbol.start <= at.address && at.address < symbol.end);
		n_named += *symbol.name != '\0';
		n_bounded += *symbol.name == '\0';
	}
	/* libc is stripped: many functions have bounds only. */
	ck_assert_uint_gt(n_named, 500);
	ck_assert_uint_gt(n_bounded, 500);
	ck_assert_uint_lt(n_bare, 500);
}
END_TEST

START_TEST(a_kernel_address_has_a_name_if_the_kernel_shows_it)
{
	struct tp_stack_frame frame;
	struct tp_symbol symbol;
	char line[200] = "";
	unsigned long long address = 0;
	FILE *file = fopen("/proc/kallsyms", "re");
	while (file && fgets(line, sizeof(line), file) && !strstr(line, " T do_exit\n"))
		line[0] = '\0';
	if (file)
		fclose(file);
	sscanf(line, "%llx", &address);
	tp_maps_find(u.maps, address ? address + 1 : 0xffffffff81000000, 0, &frame);
	ck_assert_ptr_eq(frame.module, tp_modules_kernel(u.modules));
	tp_symbol_find(&frame, &symbol);
	if (address)
		ck_assert_str_eq(symbol.name, "do_exit");
}
END_TEST

Suite *suite_stack_symbol(void);
Suite *suite_stack_symbol(void)
{
	Suite *suite = suite_create("stack/symbol");
	TCase *tc = tcase_create("symbol");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, libc_functions_have_the_names_they_are_called_by, 0,
			    (int)(sizeof(functions) / sizeof(functions[0])));
	tcase_add_test(tc, names_stay_inside_their_functions);
	tcase_add_test(tc, a_kernel_address_has_a_name_if_the_kernel_shows_it);
	suite_add_tcase(suite, tc);
	return suite;
}
