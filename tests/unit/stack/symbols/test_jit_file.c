/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the perf maps that are trusted. */
#include "stack/symbols/jit_file.h"

#include "skip.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];
static char other[80];

static void set_up(void)
{
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(other, sizeof(other), "%s.other", path);
}

static void tear_down(void)
{
	unlink(path);
	unlink(other);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static enum tp_status read_of(pid_t pid, uid_t uid)
{
	struct tp_buf out = {0};
	struct tp_jit_file_owner owner = {pid, uid, true, tp_clock_wall_ns()};
	enum tp_status status = tp_jit_file_read(&out, &owner, NULL);
	ck_assert_int_eq(out.len > 0, status == TP_OK);
	tp_buf_release(&out);
	return status;
}

START_TEST(own_regular_file_is_read)
{
	write_file(path, "1000 10 name\n");
	ck_assert_int_eq(read_of(getpid(), getuid()), TP_OK);
}
END_TEST

START_TEST(absence_is_the_usual_case)
{
	ck_assert_int_eq(read_of(getpid(), getuid()), TP_ABSENT);
}
END_TEST

START_TEST(file_of_another_user_is_refused)
{
	if (geteuid() != 0) {
		test_skip("only root can give files away");
		return;
	}
	write_file(path, "1000 10 name\n");
	ck_assert_int_eq(chown(path, 12345, 12345), 0);
	ck_assert_int_eq(read_of(getpid(), getuid()), TP_DENIED);
}
END_TEST

START_TEST(symbolic_link_is_refused)
{
	write_file(other, "1000 10 name\n");
	ck_assert_int_eq(symlink(other, path), 0);
	ck_assert_int_eq(read_of(getpid(), getuid()), TP_DENIED);
}
END_TEST

START_TEST(pipe_is_refused_and_does_not_hang)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(read_of(getpid(), getuid()), TP_DENIED);
}
END_TEST

START_TEST(huge_file_is_refused)
{
	write_file(path, "x");
	ck_assert_int_eq(truncate(path, (64 << 20) + 1), 0);
	ck_assert_int_eq(read_of(getpid(), getuid()), TP_PARSE);
}
END_TEST

/* Pids are reused; for a process that has exited only a file from its own lifetime is trusted. */
START_TEST(file_of_an_earlier_process_is_refused)
{
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	pid_t gone = 0x3ffffffe; /* above the largest possible pid */
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)gone);
	write_file(path, "1000 10 name\n");
	ck_assert_int_eq(read_of(gone, getuid()), TP_OK);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
	ck_assert_int_eq(read_of(gone, getuid()), TP_ABSENT);
}
END_TEST

/* A child that writes its own map, which is read while it is alive and after it has exited. */
START_TEST(map_of_a_process_is_found_by_its_number)
{
	uint64_t met_ns = tp_clock_wall_ns();
	int ready[2];
	int done[2];
	ck_assert(pipe(ready) == 0 && pipe(done) == 0);
	pid_t child = fork();
	if (child == 0) {
		char byte = 1;
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		FILE *file = fopen(path, "we");
		fputs("1000 10 name\n", file);
		fclose(file);
		_exit(write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1 ? 0 : 1);
	}
	char byte;
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	struct tp_jit_file_owner owner = {child, getuid(), true, met_ns};
	struct tp_buf out = {0};
	ck_assert_int_eq(tp_jit_file_read(&out, &owner, NULL), TP_OK);
	ck_assert_str_eq(tp_buf_text(&out), "1000 10 name\n");
	ck_assert_int_eq(write(done[1], &byte, 1), 1);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(tp_jit_file_read(&out, &owner, NULL), TP_OK);
	ck_assert_uint_eq(out.len, 13);
	tp_buf_release(&out);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)child);
	unlink(path);
}
END_TEST

Suite *suite_stack_jit_file(void);
Suite *suite_stack_jit_file(void)
{
	Suite *suite = suite_create("stack/jitfile");
	TCase *tc = tcase_create("jitfile");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, own_regular_file_is_read);
	tcase_add_test(tc, absence_is_the_usual_case);
	tcase_add_test(tc, file_of_another_user_is_refused);
	tcase_add_test(tc, symbolic_link_is_refused);
	tcase_add_test(tc, pipe_is_refused_and_does_not_hang);
	tcase_add_test(tc, huge_file_is_refused);
	tcase_add_test(tc, file_of_an_earlier_process_is_refused);
	tcase_add_test(tc, map_of_a_process_is_found_by_its_number);
	suite_add_tcase(suite, tc);
	return suite;
}
