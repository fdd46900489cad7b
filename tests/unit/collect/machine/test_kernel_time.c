/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of times of records in a time namespace. */
#include "collect/machine/kernel_time.h"
#include "collect/madehost.h"
#include "trainprof/collect/host_info.h"

#include <check.h>
#include <unistd.h>

START_TEST(the_offset_of_the_namespace_is_added)
{
	ck_assert_uint_eq(
		tp_kernel_time_add_offset(5, "monotonic      100000         7\nboottime 3 0\n"),
		100000ULL * 1000000000 + 12);
	ck_assert_uint_eq(tp_kernel_time_add_offset(2000000000000,
						    "monotonic  -1000  0\nboottime 0 0\n"),
			  1000000000000);
	ck_assert_uint_eq(tp_kernel_time_add_offset(5, "monotonic 0 0\nboottime 9 0\n"), 5);
}
END_TEST

START_TEST(without_namespaces_times_stay)
{
	ck_assert_uint_eq(tp_kernel_time_add_offset(5, ""), 5);
	ck_assert_uint_eq(tp_kernel_time_add_offset(5, "something else\n"), 5);
}
END_TEST

static char root[32];

static void lay_namespaces(const char *process, const char *own, const char *of_children,
			   const char *offsets)
{
	char path[128];
	snprintf(path, sizeof(path), "/proc/%s/timens_offsets", process);
	madehost_lay(root, path, offsets);
	snprintf(path, sizeof(path), "/proc/%s/ns/none", process);
	madehost_lay(root, path, "");
	snprintf(path, sizeof(path), "%s/proc/%s/ns/time", root, process);
	ck_assert_int_eq(symlink(own, path), 0);
	snprintf(path, sizeof(path), "%s/proc/%s/ns/time_for_children", root, process);
	ck_assert_int_eq(symlink(of_children, path), 0);
}

START_TEST(the_offset_of_a_process_is_that_between_its_namespace_and_ours)
{
	static const char first[] = "monotonic 2 5\nboottime 0 0\n";
	static const char second[] = "monotonic -100 7\nboottime 0 0\n";
	strcpy(root, "/tmp/tp-time-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	const struct tp_host host = {.root = root};
	int64_t offset_ns = 1;
	ck_assert(tp_process_time_offset(&host, 7, &offset_ns)); /* an old kernel */
	ck_assert_int_eq(offset_ns, 0);
	lay_namespaces("self", "time:[1]", "time:[1]", first);
	lay_namespaces("7", "time:[1]", "time:[2]", second);
	lay_namespaces("8", "time:[2]", "time:[2]", second);
	lay_namespaces("9", "time:[2]", "time:[3]", first);
	ck_assert(tp_process_time_offset(&host, 7, &offset_ns));
	ck_assert_int_eq(offset_ns, 0);
	ck_assert(tp_process_time_offset(&host, 8, &offset_ns));
	ck_assert_int_eq(offset_ns, 101999999998);
	ck_assert(!tp_process_time_offset(&host, 9, &offset_ns)); /* those of its children only */
	ck_assert_int_eq(offset_ns, 0);
	ck_assert(!tp_process_time_offset(&host, 10, &offset_ns));
	madehost_remove(root);
}
END_TEST

Suite *suite_collect_kernel_time(void);
Suite *suite_collect_kernel_time(void)
{
	Suite *suite = suite_create("collect/kernel_time");
	TCase *tc = tcase_create("times");
	tcase_add_test(tc, the_offset_of_the_namespace_is_added);
	tcase_add_test(tc, without_namespaces_times_stay);
	tcase_add_test(tc, the_offset_of_a_process_is_that_between_its_namespace_and_ours);
	suite_add_tcase(suite, tc);
	return suite;
}
