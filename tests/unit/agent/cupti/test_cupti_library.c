/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the search for CUPTI and for its functions. */
#include "agent/cudadouble.h"
#include "agent/cupti/cupti_library.h"

#include <stdbool.h>
#include <sys/stat.h>

static struct tp_cupti_library lib;

START_TEST(a_mapped_library_is_preferred_to_the_configured_one)
{
	char mapped[CUDA_DOUBLE_PATH];
	char configured[CUDA_DOUBLE_PATH];
	ck_assert_ptr_nonnull(dlopen(beside(mapped, "doubles/old/libcupti.so.13"), RTLD_NOW));
	setenv("TRAINPROF_CUPTI", beside(configured, "doubles/whole/libcupti.so.13"), 1);
	ck_assert(tp_cupti_library_load(&lib) && tp_cupti_library_start(&lib));
	ck_assert_uint_eq(lib.version, 18);
	ck_assert_msg(strstr(lib.path, "doubles/old/") != NULL, "%s", lib.path);
	ck_assert_ptr_null(dlopen(configured, RTLD_NOW | RTLD_NOLOAD));
}
END_TEST

START_TEST(the_configured_library_is_opened_if_none_is_mapped)
{
	char configured[CUDA_DOUBLE_PATH];
	setenv("TRAINPROF_CUPTI", beside(configured, "doubles/whole/libcupti.so.13"), 1);
	ck_assert(tp_cupti_library_load(&lib) && tp_cupti_library_start(&lib));
	ck_assert_uint_eq(lib.version, 130001);
	ck_assert_str_eq(lib.path, configured);
	ck_assert_ptr_null(lib.missing);
	ck_assert_ptr_nonnull(lib.subscribe_v2);
	ck_assert_uint_eq(lib.driver_version, 0); /* the search loads no driver */
}
END_TEST

START_TEST(an_old_one_lacks_only_what_it_may)
{
	cuda_doubles_load("old");
	ck_assert(tp_cupti_library_load(&lib) && tp_cupti_library_start(&lib));
	ck_assert_uint_eq(lib.version, 18);
	ck_assert_uint_eq(lib.driver_version, 13000);
	ck_assert_ptr_null(lib.subscribe_v2);
	ck_assert_ptr_null(lib.enable_driver_call);
	ck_assert_ptr_nonnull(lib.subscribe);
}
END_TEST

START_TEST(one_that_lacks_a_needed_call_is_refused_by_name)
{
	cuda_doubles_load("broken");
	ck_assert(!tp_cupti_library_load(&lib));
	ck_assert_str_eq(lib.missing, "cuptiUnsubscribe");
}
END_TEST

/* Creates the folders of Python wheels: nvidia/cuda_runtime/lib and nvidia/cuda_cupti/lib. */
static void lay_out_wheel(char *top, const char *cupti, char runtime[CUDA_DOUBLE_PATH])
{
	static const char *const folders[] = {"cuda_runtime", "cuda_runtime/lib", "cuda_cupti",
					      "cuda_cupti/lib"};
	char from[CUDA_DOUBLE_PATH];
	char to[CUDA_DOUBLE_PATH];
	ck_assert_ptr_nonnull(mkdtemp(top));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(to, sizeof(to), "%s/%s", top, folders[i]);
		ck_assert_int_eq(mkdir(to, 0700), 0);
	}
	snprintf(runtime, CUDA_DOUBLE_PATH, "%s/cuda_runtime/lib/libcudart.so.12", top);
	ck_assert_int_eq(symlink(beside(from, "doubles/libcuda.so.1"), runtime), 0);
	snprintf(to, sizeof(to), "%s/cuda_cupti/lib/%s", top, cupti);
	ck_assert_int_eq(symlink(beside(from, "doubles/old/libcupti.so.13"), to), 0);
}

static void remove_tree(const char *top)
{
	char command[CUDA_DOUBLE_PATH];
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): our own folder */
}

/* The CUPTI of the runtime's major version is used, though the driver could serve a later one that
 * the loader may find. */
START_TEST(the_library_next_to_the_runtime_is_preferred_to_the_loaders)
{
	char top[] = "/tmp/trainprof-wheel-XXXXXX";
	char runtime[CUDA_DOUBLE_PATH];
	char path[CUDA_DOUBLE_PATH];
	unsetenv("TRAINPROF_CUPTI");
	lay_out_wheel(top, "libcupti.so.12", runtime);
	ck_assert_ptr_nonnull(dlopen(runtime, RTLD_NOW));
	ck_assert(tp_cupti_library_load(&lib) && tp_cupti_library_start(&lib));
	ck_assert_uint_eq(lib.driver_version, 13000);
	ck_assert_msg(strstr(lib.path, "cuda_cupti/lib/libcupti.so.12") != NULL, "%s", lib.path);
	ck_assert_uint_eq(lib.version, 18);
	tp_cupti_copy_find_other(path, (const void *)(uintptr_t)lib.get_version);
	ck_assert_str_eq(path, "");
	ck_assert_ptr_nonnull(dlopen(beside(path, "doubles/whole/libcupti.so.13"), RTLD_NOW));
	tp_cupti_copy_find_other(path, (const void *)(uintptr_t)lib.get_version);
	ck_assert_msg(strstr(path, "doubles/whole/") != NULL, "%s", path);
	remove_tree(top);
}
END_TEST

/* The loader is killed by SIGBUS in a truncated file; a file for another machine has another
 * machine number in its header. */
START_TEST(a_file_that_cannot_be_loaded_is_passed_over)
{
	char folder[] = "/tmp/trainprof-cut-XXXXXX";
	char configured[CUDA_DOUBLE_PATH];
	char from[CUDA_DOUBLE_PATH];
	char command[4 * CUDA_DOUBLE_PATH];
	static const char *const ways[] = {"truncate -s 20000",
					   "printf '\\377\\377' | dd conv=notrunc "
					   "bs=1 seek=18 status=none of="};
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(configured, sizeof(configured), "%s/libcupti.so.13", folder);
	snprintf(command, sizeof(command), "cp '%s' '%s' && %s%s'%s'",
		 beside(from, "doubles/whole/libcupti.so.13"), configured, ways[_i], _i ? "" : " ",
		 configured);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): our own folder */
	setenv("TRAINPROF_CUPTI", configured, 1);
	ck_assert(!tp_cupti_library_load(&lib) || strcmp(lib.path, configured) != 0);
	remove_tree(folder);
}
END_TEST

START_TEST(an_opened_library_stays_loaded_after_any_number_of_closes)
{
	cuda_doubles_load("whole");
	ck_assert(tp_cupti_library_load(&lib));
	void *handle = dlopen(lib.path, RTLD_LAZY);
	for (int i = 0; i < 5; i++)
		dlclose(handle);
	ck_assert(tp_cupti_library_start(&lib));
	ck_assert_uint_eq(lib.version, 130001);
}
END_TEST

/* The driver is 12.8, so that a toolkit of version 13 on this machine is not found. */
START_TEST(the_folder_of_a_wheels_runtime_is_searched)
{
	char top[] = "/tmp/trainprof-wheel-XXXXXX";
	char runtime[CUDA_DOUBLE_PATH];
	unsetenv("TRAINPROF_CUPTI");
	setenv("CUDA_DOUBLE_VERSION", "12080", 1);
	lay_out_wheel(top, "libcupti.so.12", runtime);
	ck_assert_ptr_nonnull(dlopen(runtime, RTLD_NOW));
	ck_assert(tp_cupti_library_load(&lib) && tp_cupti_library_start(&lib));
	ck_assert_msg(strstr(lib.path, "cuda_cupti/lib/libcupti.so.12") != NULL, "%s", lib.path);
	remove_tree(top);
}
END_TEST

START_TEST(one_that_is_newer_than_the_driver_is_left_alone)
{
	char top[] = "/tmp/trainprof-wheel-XXXXXX";
	char runtime[CUDA_DOUBLE_PATH];
	unsetenv("TRAINPROF_CUPTI");
	setenv("CUDA_DOUBLE_VERSION", "12080", 1);
	lay_out_wheel(top, "libcupti.so.13", runtime);
	ck_assert_ptr_nonnull(dlopen(runtime, RTLD_NOW));
	bool is_found = tp_cupti_library_load(&lib);
	ck_assert_uint_eq(lib.driver_version, 12080);
	ck_assert_msg(!is_found || strstr(lib.path, ".so.13") == NULL, "%s", lib.path);
	remove_tree(top);
}
END_TEST

Suite *suite_agent_cupti_library(void);
Suite *suite_agent_cupti_library(void)
{
	Suite *suite = suite_create("agent_cuptilib");
	TCase *tests = tcase_create("cuptilib");
	tcase_add_test(tests, a_mapped_library_is_preferred_to_the_configured_one);
	tcase_add_test(tests, the_configured_library_is_opened_if_none_is_mapped);
	tcase_add_test(tests, an_old_one_lacks_only_what_it_may);
	tcase_add_test(tests, one_that_lacks_a_needed_call_is_refused_by_name);
	tcase_add_test(tests, the_library_next_to_the_runtime_is_preferred_to_the_loaders);
	tcase_add_loop_test(tests, a_file_that_cannot_be_loaded_is_passed_over, 0, 2);
	tcase_add_test(tests, an_opened_library_stays_loaded_after_any_number_of_closes);
	tcase_add_test(tests, the_folder_of_a_wheels_runtime_is_searched);
	tcase_add_test(tests, one_that_is_newer_than_the_driver_is_left_alone);
	suite_add_tcase(suite, tests);
	return suite;
}
