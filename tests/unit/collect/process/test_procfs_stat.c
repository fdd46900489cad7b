/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of /proc/PID/stat. */
#include "collect/process/procfs_stat.h"

#include "collect/process/fd_cache.h"

#include "trainprof/collect/host_info.h"

#include <check.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define REST                                                                                       \
	" S 7 1 1 0 -1 4194560 11 22 33 44 250 50 60 70 20 0 5 0 9000 1000 200 "                   \
	"18446744073709551615 "                                                                    \
	"1 1 4711 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static const struct {
	const char *text;
	const char *comm; /* NULL = refused */
} lines[] = {
	{"42 (python3)" REST, "python3"},
	{"42 (a) (b) c)" REST, "a) (b) c"},
	{"42 ()" REST, ""},
	{"42 (x y)" REST, "x y"},
	{"42 (never closed", NULL},
	{"42 (cut) S 7 1 1 0 -1", NULL},
	{"", NULL},
	{")(", NULL},
};

START_TEST(stat_is_read_whatever_the_name_holds)
{
	struct tp_procfs_stat stat;
	ck_assert_int_eq(tp_procfs_stat_parse(&stat, lines[_i].text), lines[_i].comm != NULL);
	if (!lines[_i].comm)
		return;
	ck_assert_str_eq(stat.comm, lines[_i].comm);
	ck_assert_int_eq(stat.state, 'S');
	ck_assert_int_eq(stat.ppid, 7);
	ck_assert_uint_eq(stat.minor_faults, 11);
	ck_assert_uint_eq(stat.major_faults, 33);
	ck_assert_uint_eq(stat.utime_ns, 2500000000u);
	ck_assert_uint_eq(stat.stime_ns, 500000000u);
	ck_assert_uint_eq(stat.n_threads, 5);
	ck_assert_uint_eq(stat.start_ticks, 9000);
	ck_assert_uint_eq(stat.stack_start, 4711);
	ck_assert_uint_eq(stat.last_cpu, 3);
}
END_TEST

START_TEST(stat_of_ourselves_agrees_with_other_sources)
{
	struct tp_host host = {.root = "", .is_live = true};
	struct tp_procfs_stat stat;
	ck_assert(tp_procfs_stat_read(&stat, &host, getpid(), 0));
	ck_assert_int_eq(stat.ppid, getppid());
	ck_assert_int_eq(stat.state, 'R');
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	double cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
	ck_assert_double_le((double)stat.utime_ns * 1e-9, cpu_s + 0.1);
	ck_assert(tp_procfs_stat_read(&stat, &host, getpid(), getpid()));
	struct tp_fd_cache shelf = {0};
	struct tp_fd_cache_slot slot = {0};
	for (int i = 0; i < 2; i++) {
		struct tp_procfs_stat again = {0};
		ck_assert(tp_procfs_stat_reread(&again, &host, getpid(), getpid(), &shelf, &slot));
		ck_assert(slot.is_open);
		ck_assert_int_eq(again.ppid, stat.ppid);
		ck_assert_uint_eq(again.start_ticks, stat.start_ticks);
	}
	tp_fd_cache_drop(&shelf, &slot);
	ck_assert(!tp_procfs_stat_read(&stat, &host, 1 << 30, 0));
}
END_TEST

START_TEST(zombies_and_who_has_gone_are_not_alive)
{
	struct tp_host host = {.root = "", .is_live = true};
	siginfo_t info;
	ck_assert(tp_procfs_stat_is_alive(&host, getpid(), 0));
	ck_assert(tp_procfs_stat_is_alive(&host, getpid(), getpid()));
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert(!tp_procfs_stat_is_alive(&host, pid, 0));
	ck_assert(!tp_procfs_stat_is_alive(&host, pid, pid));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(!tp_procfs_stat_is_alive(&host, pid, 0));
}
END_TEST

Suite *suite_collect_procfs_stat(void);
Suite *suite_collect_procfs_stat(void)
{
	Suite *suite = suite_create("collect/task_stat");
	TCase *tc = tcase_create("task_stat");
	tcase_add_loop_test(tc, stat_is_read_whatever_the_name_holds, 0,
			    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tc, stat_of_ourselves_agrees_with_other_sources);
	tcase_add_test(tc, zombies_and_who_has_gone_are_not_alive);
	suite_add_tcase(suite, tc);
	return suite;
}
