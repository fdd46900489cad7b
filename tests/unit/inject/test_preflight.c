/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the processes that are left alone, on trees that look like /proc. */
#include "inject/image_map.h"
#include "inject/preflight.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 42, PATH = 256 };

static char proc[] = "/tmp/restraint-XXXXXX";

static void put(const char *name, const char *bytes, size_t size)
{
	char path[PATH];
	snprintf(path, sizeof(path), "%s/%s", proc, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void make_folder(const char *name)
{
	char path[PATH];
	snprintf(path, sizeof(path), "%s/%s", proc, name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void link_to(const char *name, const char *target)
{
	char path[PATH];
	snprintf(path, sizeof(path), "%s/%s", proc, name);
	unlink(path);
	ck_assert_int_eq(symlink(target, path), 0);
}

static void put_elf(const char *name, char elf_class, char machine)
{
	char head[64] = "\177ELF";
	head[4] = elf_class;
	head[18] = machine;
	put(name, head, sizeof(head));
}

/* Makes a process like ours: alone, waiting, of the same machine type. */
static void make_tree(void)
{
	static const char *const folders[] = {"42",  "42/ns",      "self",           "self/ns",
					      "sys", "sys/kernel", "sys/kernel/yama"};
	strcpy(proc + strlen(proc) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(proc));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_folder(folders[i]);
	put("self/status", "Name:\ttrainprof\nSeccomp:\t0\n", 28);
	put_elf("self/exe", 2, 62);
	put_elf("42/exe", 2, 62);
	put("42/mem", "", 0);
	link_to("self/ns/mnt", "mnt:[1]");
	link_to("42/ns/mnt", "mnt:[1]");
	link_to("self/ns/pid", "pid:[1]");
	link_to("42/ns/pid", "pid:[1]");
}

static void remove_tree(void)
{
	char command[PATH];
	snprintf(command, sizeof(command), "rm -r %s", proc);
	ck_assert_int_eq(system(command), 0);
}

#define PLAIN                                                                                      \
	"Name:\ttrain\nState:\tS (sleeping)\nTracerPid:\t0\nUid:\t0\t0\t0\t0\nNoNewPrivs:\t0\n"    \
	"Seccomp:\t0\nSeccomp_filters:\t0\n"

static const struct {
	const char *status;
	enum tp_status expected;
	const char *text;
	const char *next;
} cases[] = {
	{PLAIN, TP_OK, "", ""},
	{"Name:\tx\nState:\tR (running)\nTracerPid:\t17\n", TP_BUSY, "pid 42 is traced by pid 17",
	 "ps -p 17"},
	{"Name:\tx\nState:\tT (stopped)\nTracerPid:\t0\n", TP_TARGET, "pid 42 is stopped",
	 "kill -CONT 42"},
	{"Name:\tx\nState:\tZ (zombie)\n", TP_TARGET, "pid 42 has ended", "ps -p 42"},
	{"Name:\tx\nState:\tS (sleeping)\nSeccomp:\t1\n", TP_DENIED,
	 "pid 42 has a seccomp filter, which might kill it",
	 "trainprof run --gpu-trace=windows -- PROGRAM"},
	{"Name:\tx\nState:\tS (sleeping)\nSeccomp:\t2\nSeccomp_filters:\t1\n", TP_DENIED,
	 "pid 42 has a seccomp filter, which might kill it",
	 "trainprof run --gpu-trace=windows -- PROGRAM"},
	{"Name:\tx\nState:\tS (sleeping)\nx86_Thread_features:\tshstk \n", TP_ABSENT,
	 "pid 42 has a shadow stack", "trainprof run --gpu-trace=windows -- PROGRAM"},
	{"Name:\tx\nState:\tS (sleeping)\nx86_Thread_features:\t\nx:\tshstk\n", TP_OK, "", ""},
};

START_TEST(a_process_is_refused_with_what_to_type)
{
	struct tp_error err = {0};
	make_tree();
	put("42/status", cases[_i].status, strlen(cases[_i].status));
	ck_assert_int_eq(tp_preflight_process(proc, PID, &err), cases[_i].expected);
	ck_assert_str_eq(err.text, cases[_i].text);
	ck_assert_str_eq(err.next, cases[_i].next);
	remove_tree();
}
END_TEST

/* In a container every process has the container's filter, including trainprof. */
START_TEST(a_filter_that_is_ours_too_does_no_harm)
{
	static const char own[] = "Name:\ttrainprof\nSeccomp:\t2\nSeccomp_filters:\t1\n";
	static const char other[] = "Name:\tx\nState:\tS\nSeccomp:\t2\nSeccomp_filters:\t2\n";
	struct tp_error err = {0};
	make_tree();
	put("self/status", own, strlen(own));
	put("42/status", "Name:\tx\nState:\tS\nSeccomp:\t2\nSeccomp_filters:\t1\n", 47);
	ck_assert_int_eq(tp_preflight_process(proc, PID, &err), TP_OK);
	link_to("42/ns/mnt", "mnt:[2]");
	ck_assert_int_eq(tp_preflight_process(proc, PID, &err), TP_DENIED);
	link_to("42/ns/mnt", "mnt:[1]");
	put("42/status", other, strlen(other));
	ck_assert_int_eq(tp_preflight_process(proc, PID, &err), TP_DENIED);
	remove_tree();
}
END_TEST

static const struct {
	char elf_class;
	char machine;
} kinds[] = {{1, 3}, {1, 62}, {2, (char)183}};

START_TEST(a_program_of_another_kind_is_refused)
{
	struct tp_error err = {0};
	make_tree();
	put("42/status", PLAIN, strlen(PLAIN));
	put_elf("42/exe", kinds[_i].elf_class, kinds[_i].machine);
	ck_assert_int_eq(tp_preflight_process(proc, PID, &err), TP_ABSENT);
	ck_assert_str_eq(err.text, "pid 42 is a program for another kind of processor");
	remove_tree();
}
END_TEST

static const struct {
	const char *scope;
	const char *status;
	const char *text;
} rights[] = {
	{"1\n", PLAIN, "ptrace_scope is 1"},
	{"0\n", "Name:\tx\nState:\tS\nUid:\t0\t0\n", "pid 42 is another user's"},
	{"0\n", "Name:\tx\nState:\tS\nUid:\t65534\t65534\nNoNewPrivs:\t1\n",
	 "pid 42 is in a sandbox (no_new_privs)"},
	{"0\n", "Name:\tx\nState:\tS\nUid:\t65534\t65534\nNoNewPrivs:\t0\n",
	 "pid 42 may not be traced"},
};

/* Runs as user nobody, because root may open everything; the child's exit status has the
 * results. */
START_TEST(without_the_right_it_is_said_why)
{
	char path[PATH];
	make_tree();
	put("42/status", rights[_i].status, strlen(rights[_i].status));
	put("sys/kernel/yama/ptrace_scope", rights[_i].scope, strlen(rights[_i].scope));
	snprintf(path, sizeof(path), "%s/42/mem", proc);
	ck_assert_int_eq(chmod(path, 0), 0);
	snprintf(path, sizeof(path), "chmod -R a+rX %s && chmod 0 %s/42/mem", proc, proc);
	ck_assert_int_eq(system(path), 0);
	if (geteuid() != 0)
		return; /* the cases contain user nobody's uid, which only root can take */
	pid_t pid = fork();
	if (pid == 0) {
		struct tp_error err = {0};
		if (setresuid(65534, 65534, 65534) != 0)
			_exit(9);
		enum tp_status status = tp_preflight_process(proc, PID, &err);
		bool is_right =
			status == TP_DENIED && strcmp(err.text, rights[_i].text) == 0 &&
			strcmp(err.next, "sudo trainprof attach --gpu-trace=windows 42") == 0;
		if (!is_right)
			fprintf(stderr, "%d '%s' '%s'\n", (int)status, err.text, err.next);
		_exit(!is_right);
	}
	int status = -1;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	remove_tree();
}
END_TEST

static const struct {
	const char *maps;
	enum tp_status expected;
	const char *text;
} images[] = {
	{"1000-2000 r-xp 00000000 08:01 1  /lib/libc.so.6\n", TP_OK, ""},
	{"1000-2000 r-xp 00000000 08:01 1  /lib/libc-2.31.so\n", TP_OK, ""},
	{"1000-2000 r-xp 00000000 08:01 1  /lib/ld-musl-x86_64.so.1\n", TP_ABSENT,
	 "pid 42 is not linked with the GNU C library"},
	{"1000-2000 r-xp 00000000 08:01 1  /usr/bin/train\n", TP_ABSENT,
	 "pid 42 is statically linked"},
};

START_TEST(only_the_gnu_c_library_is_known)
{
	struct tp_image_map map;
	struct tp_error err = {0};
	tp_image_map_parse(&map, images[_i].maps);
	ck_assert_int_eq(tp_preflight_images(&map, PID, &err), images[_i].expected);
	ck_assert_str_eq(err.text, images[_i].text);
	tp_image_map_release(&map);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *suite_inject_preflight(void);
Suite *suite_inject_preflight(void)
{
	Suite *suite = suite_create("inject/restraint");
	TCase *tcase = tcase_create("all");
	tcase_add_loop_test(tcase, a_process_is_refused_with_what_to_type, 0, ROWS(cases));
	tcase_add_test(tcase, a_filter_that_is_ours_too_does_no_harm);
	tcase_add_loop_test(tcase, a_program_of_another_kind_is_refused, 0, ROWS(kinds));
	tcase_add_loop_test(tcase, without_the_right_it_is_said_why, 0, ROWS(rights));
	tcase_add_loop_test(tcase, only_the_gnu_c_library_is_known, 0, ROWS(images));
	suite_add_tcase(suite, tcase);
	return suite;
}
