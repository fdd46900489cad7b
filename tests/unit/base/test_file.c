/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of files: read completely or not at all, replaced completely or not at all. */
#include "trainprof/base/file.h"

#include "skip.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static void setup(void)
{
	strcpy(directory, "/tmp/trainprof-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void teardown(void)
{
	char command[100];
	ck_assert_int_eq(chdir("/"), 0);
	umount2(directory, MNT_DETACH); /* if a test has mounted a file system */
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	ck_assert_int_eq(system(command), 0); /* NOLINT: a test's own path */
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert(tp_file_write_all(fd, text, strlen(text)));
	close(fd);
}

static void assert_holds(const char *path, const char *text)
{
	struct tp_buf buf = {0};
	ck_assert_int_eq(tp_file_read(&buf, path, 1000, NULL), TP_OK);
	ck_assert_str_eq(tp_buf_text(&buf), text);
	tp_buf_release(&buf);
}

START_TEST(a_file_is_read_whole_up_to_its_bound)
{
	char text[40000];
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	put("f", text);
	struct tp_buf buf = {0};
	tp_buf_puts(&buf, "left over");
	ck_assert_int_eq(tp_file_read(&buf, "f", sizeof(text) - 1, NULL), TP_OK);
	ck_assert_str_eq(tp_buf_text(&buf), text);
	struct tp_error err = {0};
	ck_assert_int_eq(tp_file_read(&buf, "f", sizeof(text) - 2, &err), TP_PARSE);
	ck_assert_str_eq(err.text, "'f' is larger than 39998 bytes");
	ck_assert_uint_eq(buf.len, 0);
	put("empty", "");
	ck_assert_int_eq(tp_file_read(&buf, "empty", 0, NULL), TP_OK);
	ck_assert_str_eq(tp_buf_text(&buf), "");
	/* Files of /proc claim to be empty. */
	ck_assert_int_eq(tp_file_read(&buf, "/proc/self/stat", 4096, NULL), TP_OK);
	ck_assert_uint_gt(buf.len, 50);
	tp_buf_release(&buf);
}
END_TEST

START_TEST(unreadable_files_are_named_with_the_reason)
{
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	ck_assert_int_eq(mkdir("folder", 0700), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	put("closed", "x");
	ck_assert_int_eq(chmod("closed", 0), 0);
	static const struct {
		const char *path;
		enum tp_status status;
		const char *text;
	} cases[] = {
		{"none", TP_ABSENT, "cannot open 'none': no such file or directory"},
		{"closed/x", TP_ABSENT, "cannot open 'closed/x': not a directory"},
		{"pipe", TP_IO, "'pipe' is not a regular file"}, /* without waiting for a writer */
		{"folder", TP_IO, "'folder' is not a regular file"},
		{"/dev/null", TP_IO, "'/dev/null' is not a regular file"},
		{"loop", TP_IO, "cannot open 'loop': too many levels of symbolic links"},
		{"closed", TP_DENIED, "cannot open 'closed': permission denied"},
	};
	struct tp_buf buf = {0};
	for (size_t i = 0; i < TP_ARRAY_LEN(cases); i++) {
		struct tp_error err = {0};
		uid_t self = geteuid();
		/* Root may read anything; the directory stays ours. */
		if (cases[i].status == TP_DENIED && self == 0)
			ck_assert(chmod(directory, 0755) == 0 && seteuid(65534) == 0);
		ck_assert_int_eq(tp_file_read(&buf, cases[i].path, 100, &err), cases[i].status);
		ck_assert(geteuid() == self || seteuid(self) == 0);
		ck_assert_str_eq(err.text, cases[i].text);
		ck_assert_uint_eq(buf.len, 0);
	}
	tp_buf_release(&buf);
}
END_TEST

START_TEST(replacing_shows_the_old_file_or_the_new_one_and_nothing_else)
{
	ck_assert_int_eq(tp_file_replace("f", "one", 3, NULL), TP_OK);
	assert_holds("f", "one");
	struct stat st;
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(tp_file_replace("f", "", 0, NULL), TP_OK);
	assert_holds("f", "");
	/* A temporary file left by a dead process with our pid is no obstacle. */
	char *left = tp_asprintf("f.tmp%ld", (long)getpid());
	put(left, "half");
	ck_assert_int_eq(tp_file_replace("f", "two", 3, NULL), TP_OK);
	assert_holds("f", "two");
	ck_assert_int_eq(access(left, F_OK), -1);
	/* A link in its place is not followed. */
	put("victim", "safe");
	ck_assert_int_eq(symlink("victim", left), 0);
	ck_assert_int_eq(tp_file_replace("f", "three", 5, NULL), TP_OK);
	assert_holds("victim", "safe");
	free(left);
	struct tp_error err = {0};
	ck_assert_int_eq(tp_file_replace("none/f", "x", 1, &err), TP_ABSENT);
	ck_assert_str_eq(err.text, "cannot write 'none/f': no such file or directory");
	ck_assert_int_eq(mkdir("folder", 0700), 0);
	ck_assert_int_eq(tp_file_replace("folder", "x", 1, &err), TP_IO);
	ck_assert_str_eq(err.text, "cannot write 'folder': is a directory");
	ck_assert_int_eq(system("test -z \"$(ls | grep tmp)\""), 0); /* NOLINT */
}
END_TEST

START_TEST(devices_fifos_and_links_are_written_to_and_stay)
{
	char got[8] = "";
	struct stat st;
	put("file", "a longer one");
	ck_assert_int_eq(symlink("file", "link"), 0);
	ck_assert_int_eq(tp_file_write("link", "one", 3, NULL), TP_OK);
	ck_assert(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
	assert_holds("file", "one");
	ck_assert_int_eq(symlink("new", "dangling"), 0);
	ck_assert_int_eq(tp_file_write("dangling", "two", 3, NULL), TP_OK);
	assert_holds("new", "two");
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(reader, 0);
	ck_assert_int_eq(tp_file_write("fifo", "three", 5, NULL), TP_OK);
	ck_assert_int_eq(read(reader, got, sizeof(got)), 5);
	close(reader);
	ck_assert(lstat("fifo", &st) == 0 && S_ISFIFO(st.st_mode));
	struct tp_error err = {0};
	ck_assert_int_eq(symlink("/dev/full", "full"), 0);
	ck_assert_int_eq(tp_file_write("full", "x", 1, &err), TP_IO);
	ck_assert_str_eq(err.text, "cannot write 'full': no space left on device");
	/* A regular file is replaced, so that a reader sees the old or the new one. */
	ino_t old = stat("file", &st) == 0 ? st.st_ino : 0;
	ck_assert_int_eq(link("file", "other"), 0);
	ck_assert_int_eq(tp_file_write("file", "four", 4, NULL), TP_OK);
	ck_assert(stat("file", &st) == 0 && st.st_ino != old);
	assert_holds("file", "four");
	assert_holds("other", "one");
}
END_TEST

START_TEST(a_full_disk_keeps_the_old_file)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("small", directory, "tmpfs", 0, "size=64k") != 0) {
		test_skip("mounting a small file system needs root");
		return;
	}
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(tp_file_replace("f", "old", 3, NULL), TP_OK);
	char *large = tp_alloc(100000);
	struct tp_error err = {0};
	ck_assert_int_eq(tp_file_replace("f", large, 100000, &err), TP_IO);
	ck_assert_str_eq(err.text, "cannot write 'f': no space left on device");
	free(large);
	assert_holds("f", "old");
	ck_assert_int_eq(system("test \"$(ls)\" = f"), 0); /* NOLINT */
}
END_TEST

START_TEST(writing_survives_short_writes_and_reports_failures)
{
	int full = open("/dev/full", O_WRONLY);
	ck_assert_int_ge(full, 0);
	ck_assert(!tp_file_write_all(full, "x", 1));
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert(tp_file_write_all(full, "", 0));
	close(full);
	int ends[2];
	ck_assert_int_eq(pipe2(ends, 0), 0);
	pid_t child = fork();
	if (child == 0) {
		/* A reader of odd pieces makes the writer's pieces odd, too. */
		char piece[777];
		size_t sum = 0;
		close(ends[1]);
		for (ssize_t n; (n = read(ends[0], piece, sizeof(piece))) > 0;)
			sum += (size_t)n;
		_exit(sum == 1000000 ? 0 : 1);
	}
	close(ends[0]);
	char *bytes = tp_alloc(1000000);
	ck_assert(tp_file_write_all(ends[1], bytes, 1000000));
	free(bytes);
	close(ends[1]);
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_stream_that_lost_something_is_found_out)
{
	struct tp_error err = {0};
	FILE *full = fopen("/dev/full", "w");
	fputs("result", full);
	ck_assert_int_eq(tp_file_check(full, "standard output", &err), TP_IO);
	ck_assert_str_eq(err.text, "cannot write standard output: no space left on device");
	/* A later flush with nothing to write does not hide the loss. */
	ck_assert_int_eq(tp_file_check(full, "standard output", &err), TP_IO);
	fclose(full);
	FILE *good = fopen("good", "w");
	fputs("result", good);
	ck_assert_int_eq(tp_file_check(good, "good", NULL), TP_OK);
	fclose(good);
	assert_holds("good", "result");
	signal(SIGPIPE, SIG_IGN);
	FILE *nobody = popen("true", "w"); /* NOLINT */
	ck_assert_ptr_nonnull(nobody);
	/* More than a pipe holds: the writer blocks until the reader is gone. */
	for (int i = 0; i < 100000; i++)
		fputs("to nobody ", nobody);
	ck_assert_int_eq(tp_file_check(nobody, "the pipe", &err), TP_IO);
	pclose(nobody);
}
END_TEST

START_TEST(a_peek_is_cut_and_terminated)
{
	put("f", "0123456789\n");
	char out[5] = "????";
	ck_assert_int_eq(tp_file_peek("f", out, sizeof(out)), 4);
	ck_assert_str_eq(out, "0123");
	char large[50];
	ck_assert_int_eq(tp_file_peek("f", large, sizeof(large)), 11);
	ck_assert_str_eq(large, "0123456789\n");
	errno = 0;
	ck_assert_int_eq(tp_file_peek("none", large, sizeof(large)), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(tp_file_peek(directory, large, sizeof(large)), -1);
	ck_assert_int_eq(errno, EISDIR);
	ck_assert_str_eq(large, "");
}
END_TEST

Suite *suite_base_file(void);
Suite *suite_base_file(void)
{
	Suite *suite = suite_create("base/file");
	TCase *tc = tcase_create("file");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_file_is_read_whole_up_to_its_bound);
	tcase_add_test(tc, unreadable_files_are_named_with_the_reason);
	tcase_add_test(tc, replacing_shows_the_old_file_or_the_new_one_and_nothing_else);
	tcase_add_test(tc, devices_fifos_and_links_are_written_to_and_stay);
	tcase_add_test(tc, a_full_disk_keeps_the_old_file);
	tcase_add_test(tc, writing_survives_short_writes_and_reports_failures);
	tcase_add_test(tc, a_stream_that_lost_something_is_found_out);
	tcase_add_test(tc, a_peek_is_cut_and_terminated);
	suite_add_tcase(suite, tc);
	return suite;
}
