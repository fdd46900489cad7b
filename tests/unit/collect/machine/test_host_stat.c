/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the parsers of machine-wide statistics. */
#include "collect/machine/host_stat.h"

#include <check.h>
#include <string.h>

static const char two_cpus[] = "cpu  300 20 30 1000 50 6 7 8 9 0\n"
			       "cpu0 100 10 10 400 20 1 2 3 0 0\n"
			       "cpu1 200 10 20 600 30 5 5 5 9 0\n"
			       "intr 12345 0 1\nctxt 99\nprocs_running 3\n";

static const struct {
	const char *text;
	const char *allowed;
	bool found;
	uint64_t busy_ticks;
	uint64_t idle_ticks;
	uint64_t steal_ticks;
} cpu_cases[] = {
	{two_cpus, "0-1", true, 363, 1050, 8},
	{two_cpus, "1", true, 240, 630, 5},
	{two_cpus, "0-127", true, 363, 1050, 8},
	{two_cpus, "7", false, 0, 0, 0},
	{"cpu0 1 2 3 4\n", "0", true, 6, 4, 0}, /* kernels before 2.5.41 */
	{"cpu0 1 2 3\n", "0", false, 0, 0, 0},
	{"", "0", false, 0, 0, 0},
	{"cpu0", "0", false, 0, 0, 0},
	{"cpufreq 1 2 3 4 5\ncpux 9 9 9 9 9\n", "0", false, 0, 0, 0},
	{"cpu0 -1 2 3 4\n", "0", false, 0, 0, 0},
};

START_TEST(cpu_time_is_summed_over_allowed_cpus)
{
	struct tp_cpu_list allowed;
	struct tp_host_stat_cpu cpu = {1, 1, 1};
	ck_assert(tp_cpu_list_parse(&allowed, cpu_cases[_i].allowed));
	ck_assert_int_eq(tp_host_stat_cpu(&cpu, cpu_cases[_i].text, &allowed, 100),
			 cpu_cases[_i].found);
	if (!cpu_cases[_i].found)
		return;
	ck_assert_uint_eq(cpu.busy_ns, cpu_cases[_i].busy_ticks * 10000000);
	ck_assert_uint_eq(cpu.idle_ns, cpu_cases[_i].idle_ticks * 10000000);
	ck_assert_uint_eq(cpu.steal_ns, cpu_cases[_i].steal_ticks * 10000000);
}
END_TEST

static const struct {
	const char *text;
	bool found;
	uint64_t some_ns;
	uint64_t full_ns;
} pressure_cases[] = {
	{"some avg10=4.02 avg60=0.98 avg300=0.63 total=9313230\n"
	 "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n",
	 true, 9313230000, 17000},
	{"some avg10=4.02 avg60=0.98 avg300=0.63 total=5\n", true, 5000, 0}, /* cpu before 5.13 */
	{"full avg10=4.02 avg60=0.98 avg300=0.63 total=5\n", false, 0, 0},
	{"some avg10=4.02\nfull total=3\n", false, 0, 0},
	{"some total=x\n", false, 0, 0},
	{"", false, 0, 0},
};

START_TEST(pressure_totals_are_microseconds)
{
	struct tp_host_stat_pressure pressure = {0};
	ck_assert_int_eq(tp_host_stat_pressure(&pressure, pressure_cases[_i].text),
			 pressure_cases[_i].found);
	ck_assert_uint_eq(pressure.some_ns, pressure_cases[_i].some_ns);
	ck_assert_uint_eq(pressure.full_ns, pressure_cases[_i].full_ns);
}
END_TEST

static const struct {
	const char *text;
	bool found;
	struct tp_host_stat_throttle want;
} throttle_cases[] = {
	{"nr_periods 33\nnr_throttled 31\nthrottled_time 1524277392\nnr_bursts 0\nburst_time 0\n",
	 true,
	 {33, 31, 1524277392}},
	{"usage_usec 9\nnr_periods 90\nnr_throttled 12\nthrottled_usec 345678\n",
	 true,
	 {90, 12, 345678000}},
	{"usage_usec 9\nuser_usec 9\nsystem_usec 0\n", false, {0, 0, 0}},
	{"nr_periods 1\nnr_throttled 1\n", false, {0, 0, 0}},
	{"", false, {0, 0, 0}},
};

START_TEST(throttling_is_read_in_both_versions)
{
	struct tp_host_stat_throttle throttle = {0};
	ck_assert_int_eq(tp_host_stat_throttle(&throttle, throttle_cases[_i].text),
			 throttle_cases[_i].found);
	ck_assert_mem_eq(&throttle, &throttle_cases[_i].want, sizeof(throttle));
}
END_TEST

START_TEST(disk_lines_without_enough_fields_are_passed_over)
{
	const char *at =
		" 254  0 vda 67680 9143 5496050 51161 11827 5802 958696 3687 0 11352 5 1 0 4\n"
		"   8  1 sda1 1 2 3\n"
		"garbage\n"
		" 8 16 a-name-that-is-longer-than-any-block-device 1 2 3 4 5 6 7 8 9 10\n"
		" 259 0 nvme0n1 1 2 8 4 5 6 16 8 9 10 11"; /* 4.17: 11 fields, no newline */
	struct tp_host_stat_disk disk;
	ck_assert(tp_host_stat_disk_next(&disk, &at));
	ck_assert_str_eq(disk.name, "vda");
	ck_assert_uint_eq(disk.read_bytes, UINT64_C(5496050) * 512);
	ck_assert_uint_eq(disk.write_bytes, UINT64_C(958696) * 512);
	ck_assert_uint_eq(disk.reads, 67680);
	ck_assert_uint_eq(disk.busy_ns, UINT64_C(11352000000));
	ck_assert(tp_host_stat_disk_next(&disk, &at));
	ck_assert_str_eq(disk.name, "nvme0n1");
	ck_assert_uint_eq(disk.write_bytes, 8192);
	ck_assert_uint_eq(disk.busy_ns, 10000000);
	ck_assert(!tp_host_stat_disk_next(&disk, &at));
}
END_TEST

START_TEST(net_lines_are_read_with_and_without_blanks)
{
	const char *at =
		"Inter-|   Receive        |  Transmit\n"
		" face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n"
		"    lo:    3267      29    0    0    0     0          0         0     3267      "
		"29\n"
		"eth0:53513099 1062 0 0 0 0 0 0 51939 665 0 0 0 0 0 0\n"
		"eth1: 1 2 3\n";
	struct tp_host_stat_net net;
	ck_assert(tp_host_stat_net_next(&net, &at));
	ck_assert_str_eq(net.name, "lo");
	ck_assert_uint_eq(net.bytes, 6534);
	ck_assert(tp_host_stat_net_next(&net, &at));
	ck_assert_str_eq(net.name, "eth0");
	ck_assert_uint_eq(net.bytes, 53513099 + 51939);
	ck_assert(!tp_host_stat_net_next(&net, &at));
}
END_TEST

START_TEST(field_names_match_whole_words_only)
{
	uint64_t value = 0;
	const char *text =
		"pswpin_x 1\nxpswpin 2\npswpin 3\npswpout\t4\nMemAvailable:   24319896 kB\n";
	ck_assert(tp_host_stat_field(&value, text, "pswpin"));
	ck_assert_uint_eq(value, 3);
	ck_assert(tp_host_stat_field(&value, text, "pswpout"));
	ck_assert_uint_eq(value, 4);
	ck_assert(tp_host_stat_field(&value, text, "MemAvailable:"));
	ck_assert_uint_eq(value, 24319896);
	ck_assert(!tp_host_stat_field(&value, text, "MemFree:"));
	ck_assert(!tp_host_stat_field(&value, "pswpin", "pswpin"));
	ck_assert(!tp_host_stat_field(&value, "pswpin \n7", "pswpin"));
}
END_TEST

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

Suite *suite_collect_host_stat(void);
Suite *suite_collect_host_stat(void)
{
	Suite *suite = suite_create("collect/hoststat");
	TCase *tc = tcase_create("hoststat");
	tcase_add_loop_test(tc, cpu_time_is_summed_over_allowed_cpus, 0, LEN(cpu_cases));
	tcase_add_loop_test(tc, pressure_totals_are_microseconds, 0, LEN(pressure_cases));
	tcase_add_loop_test(tc, throttling_is_read_in_both_versions, 0, LEN(throttle_cases));
	tcase_add_test(tc, disk_lines_without_enough_fields_are_passed_over);
	tcase_add_test(tc, net_lines_are_read_with_and_without_blanks);
	tcase_add_test(tc, field_names_match_whole_words_only);
	suite_add_tcase(suite, tc);
	return suite;
}
