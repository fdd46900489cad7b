/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading files below a host's root. */
#include "collect/machine/host_file.h"

#include <check.h>
#include <string.h>

static void use_root(struct tp_host *host, const char *root)
{
	*host = (struct tp_host){.root = root};
}

START_TEST(fields_are_found_by_their_whole_name)
{
	struct tp_host host;
	char text[64];
	use_root(&host, "tests/data/hosts/slices-v2");
	ck_assert(tp_host_file_field(&host, "/proc/self/status", "Cpus_allowed_list", text,
				     sizeof(text)));
	ck_assert_str_eq(text, "0-15,32-47");
	ck_assert(tp_host_file_field(&host, "/proc/cpuinfo", "model", text, sizeof(text)));
	ck_assert_str_eq(text, "17");
	ck_assert(!tp_host_file_field(&host, "/proc/cpuinfo", "stepping", text, sizeof(text)));
	ck_assert(!tp_host_file_field(&host, "/proc/absent", "x", text, sizeof(text)));
}
END_TEST

START_TEST(line_is_empty_when_there_is_no_file)
{
	struct tp_host host;
	char text[8] = "old";
	use_root(&host, "tests/data/hosts/pod-v2");
	ck_assert(!tp_host_file_line(&host, "/proc/absent", text, sizeof(text)));
	ck_assert_str_eq(text, "");
	ck_assert(tp_host_file_line(&host, "/sys/fs/cgroup/cpu.max", text, sizeof(text)));
	ck_assert_str_eq(text, "400000 "); /* cut to the buffer */
}
END_TEST

START_TEST(allowed_cpus_are_online_ones)
{
	struct tp_host host;
	struct tp_cpu_list list;
	use_root(&host, "tests/data/hosts/slices-v2");
	tp_host_file_online(&list, &host);
	ck_assert_uint_eq(tp_cpu_list_count(&list), 64);
	tp_host_file_allowed(&list, &host);
	ck_assert_uint_eq(tp_cpu_list_count(&list), 32);
	ck_assert(tp_cpu_list_has(&list, 47) && !tp_cpu_list_has(&list, 16));
	use_root(&host, "tests/data/hosts/bare");
	tp_host_file_allowed(&list, &host);
	ck_assert_uint_eq(tp_cpu_list_count(&list), 1);
}
END_TEST

START_TEST(links_are_read_live_and_recorded)
{
	struct tp_host live;
	struct tp_host recorded;
	char text[64];
	char small[4];
	use_root(&live, "");
	use_root(&recorded, "tests/data/hosts/docker-v1");
	ck_assert(tp_host_file_link(&live, "/proc/self/ns/pid", text, sizeof(text)));
	ck_assert_int_eq(strncmp(text, "pid:[", 5), 0);
	ck_assert(!tp_host_file_link(&live, "/proc/self/ns/pid", small, sizeof(small)));
	ck_assert(!tp_host_file_link(&live, "/proc/self/ns/absent", text, sizeof(text)));
	ck_assert(tp_host_file_link(&recorded, "/proc/self/ns/pid", text, sizeof(text)));
	ck_assert_str_eq(text, "pid:[4026532571]");
}
END_TEST

Suite *suite_collect_host_file(void);
Suite *suite_collect_host_file(void)
{
	Suite *suite = suite_create("collect/hostfile");
	TCase *tc = tcase_create("hostfile");
	tcase_add_test(tc, fields_are_found_by_their_whole_name);
	tcase_add_test(tc, line_is_empty_when_there_is_no_file);
	tcase_add_test(tc, allowed_cpus_are_online_ones);
	tcase_add_test(tc, links_are_read_live_and_recorded);
	suite_add_tcase(suite, tc);
	return suite;
}
