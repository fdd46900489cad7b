/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of functions that the C library chooses at load time. */
#include "stack/symbols/ifunc.h"

#include "trainprof/stack/maps.h"
#include "trainprof/stack/modules.h"
#include "trainprof/stack/symbol.h"

#include <check.h>
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

START_TEST(another_file_has_no_such_names)
{
	struct tp_ifuncs ifuncs = {0};
	ck_assert_ptr_null(tp_ifunc_name(&ifuncs, "0000", 0x1000));
	ck_assert_ptr_null(tp_ifunc_name(&ifuncs, "", 0));
}
END_TEST

/* Every function without a symbol is looked up: repeating the search took longer than all
 * unwinding. */
START_TEST(the_own_library_is_looked_at_once)
{
	struct tp_ifuncs ifuncs = {0};
	(void)tp_ifunc_name(&ifuncs, "", 0);
	ck_assert(ifuncs.is_known);
	ck_assert_uint_gt(ifuncs.n, 0);
	struct tp_ifunc first = ifuncs.items[0];
	ck_assert_str_eq(tp_ifunc_name(&ifuncs, first.build_id, first.start), first.name);
	ifuncs.n = 0;
	ck_assert_ptr_null(tp_ifunc_name(&ifuncs, first.build_id, first.start));
}
END_TEST

START_TEST(memcpy_is_named_in_a_stripped_library)
{
	struct tp_modules *modules = tp_modules_new();
	struct tp_maps *maps = tp_maps_new(modules, getpid());
	ck_assert_int_eq(tp_maps_read(maps, NULL), TP_OK);
	struct tp_stack_frame frame = {0};
	void *address = dlsym(RTLD_DEFAULT, "memcpy");
	Dl_info info;
	ck_assert(dladdr(address, &info) != 0);
	tp_maps_find(maps, (uint64_t)(uintptr_t)address + 8, 0, &frame);
	struct tp_symbol symbol;
	tp_symbol_find(&frame, &symbol);
	/* A sanitizer's own memcpy has an ordinary symbol. */
	ck_assert_msg(strstr(symbol.name, "mem") != NULL, "'%s' in %s", symbol.name,
		      info.dli_fname);
	tp_maps_free(maps);
	tp_modules_free(modules);
}
END_TEST

Suite *suite_stack_ifunc(void);
Suite *suite_stack_ifunc(void)
{
	Suite *suite = suite_create("stack/ifunc");
	TCase *tc = tcase_create("ifunc");
	tcase_add_test(tc, another_file_has_no_such_names);
	tcase_add_test(tc, the_own_library_is_looked_at_once);
	tcase_add_test(tc, memcpy_is_named_in_a_stripped_library);
	suite_add_tcase(suite, tc);
	return suite;
}
