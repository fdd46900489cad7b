/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of kernel names that are kept between runs. */
#include "stack/symbols/kernel_symbol_cache.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(running_kernel_is_named_from_the_cache_as_from_the_kernel)
{
	char directory[] = "/tmp/trainprof-cache-XXXXXX";
	char path[100];
	uint64_t address = 0;
	char type;
	char symbol[200];
	FILE *file = fopen("/proc/kallsyms", "r");
	while (file && fscanf(file, "%" SCNx64 " %c %199s%*[^\n]", &address, &type, symbol) == 3)
		if (strcmp(symbol, "vfs_read") == 0)
			break;
	if (file)
		fclose(file);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	setenv("XDG_CACHE_HOME", directory, 1);
	for (int i = 0; i < 2; i++) {
		const char *name = "";
		uint64_t start;
		uint64_t end;
		struct tp_kernel_symbols *names = tp_kernel_symbol_cache_load();
		bool is_found = tp_kernel_symbols_find(names, address, &name, &start, &end);
		ck_assert(is_found == (address != 0));
		if (is_found)
			ck_assert_str_eq(name, "vfs_read");
		tp_kernel_symbols_free(names);
		snprintf(path, sizeof(path), "%s/trainprof/kernel-names", directory);
		ck_assert((access(path, F_OK) == 0) == is_found);
	}
	remove(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(directory);
}
END_TEST

Suite *suite_stack_kernel_symbol_cache(void);
Suite *suite_stack_kernel_symbol_cache(void)
{
	Suite *suite = suite_create("stack/kernelcache");
	TCase *tc = tcase_create("kernelcache");
	tcase_add_test(tc, running_kernel_is_named_from_the_cache_as_from_the_kernel);
	suite_add_tcase(suite, tc);
	return suite;
}
