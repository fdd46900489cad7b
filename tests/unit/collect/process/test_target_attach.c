/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of attaching to running processes: which are refused, and how their end is noticed. */
#include "collect/process/target_attach.h"

#include "skip.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tp_target_attachment attachment;
static struct tp_error err;

static void wait_for_end(void)
{
	struct pollfd wait = {.fd = attachment.pidfd, .events = POLLIN};
	ck_assert_int_eq(poll(&wait, 1, 60000), 1);
}

static pid_t start(const char *script)
{
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void check_refused(pid_t pid, enum tp_status status, const char *text, const char *next)
{
	err = (struct tp_error){0};
	ck_assert_int_eq(tp_target_attachment_open(&attachment, pid, &err), status);
	ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.next, next) != NULL, "%s", err.next);
}

START_TEST(what_is_no_process_is_refused_by_name)
{
	pid_t gone = start("exit 0");
	waitpid(gone, NULL, 0);
	check_refused(gone, TP_TARGET, "no such process", "pgrep");
	check_refused(getpid(), TP_TARGET, "trainprof itself", "pgrep");
}
END_TEST

static void *print_id(void *out)
{
	*(volatile pid_t *)out = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

START_TEST(thread_is_refused_and_its_process_offered)
{
	volatile pid_t tid = 0;
	pthread_t thread;
	char text[60];
	char next[60];
	ck_assert_int_eq(pthread_create(&thread, NULL, print_id, (void *)(uintptr_t)&tid), 0);
	while (!tid)
		usleep(1000);
	snprintf(text, sizeof(text), "it is a thread of process %d", (int)getpid());
	snprintf(next, sizeof(next), "trainprof attach %d", (int)getpid());
	check_refused(tid, TP_TARGET, text, next);
}
END_TEST

START_TEST(zombie_is_refused)
{
	pid_t pid = start("exit 0");
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	check_refused(pid, TP_TARGET, "it has ended", "pgrep");
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(process_of_another_user_is_refused_with_the_way_to_it)
{
	if (getuid() != 0) {
		test_skip("only root can become another user");
		return;
	}
	pid_t pid = start("sleep 20");
	ck_assert_int_eq(setuid(12345), 0);
	char next[60];
	snprintf(next, sizeof(next), "sudo trainprof attach %d", (int)pid);
	check_refused(pid, TP_DENIED, "it belongs to root (uid 0)", next);
}
END_TEST

/* The parent, which is another process, reaps the target or leaves a zombie. */
static const struct {
	const char *script;
	enum tp_end_kind kind;
	int code;
} ends[] = {
	{"read line; exit 7", TP_END_EXITED, 7},
	{"read line; kill -TERM $$", TP_END_SIGNALED, SIGTERM},
};

START_TEST(end_of_a_process_is_learnt_before_and_after_it_was_reaped)
{
	bool is_reaped = _i & 1;
	struct tp_target_end end;
	int gate[2];
	ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(gate[0], 0), 0);
	pid_t pid = start(ends[_i / 2].script);
	ck_assert_int_eq(tp_target_attachment_open(&attachment, pid, &err), TP_OK);
	ck_assert(!tp_target_attachment_has_ended(&attachment));
	tp_target_attachment_end(&attachment, &end);
	ck_assert_int_eq(end.kind, TP_END_DETACHED);
	close(gate[1]);
	wait_for_end();
	if (is_reaped)
		waitpid(pid, NULL, 0);
	ck_assert(tp_target_attachment_has_ended(&attachment));
	tp_target_attachment_end(&attachment, &end);
	if (is_reaped && end.kind == TP_END_UNKNOWN) {
		test_skip("kernels before 6.15 do not tell how a reaped process ended");
		return;
	}
	ck_assert_int_eq(end.kind, ends[_i / 2].kind);
	ck_assert_int_eq(end.code, ends[_i / 2].code);
	tp_target_attachment_close(&attachment);
}
END_TEST

Suite *suite_collect_target_attach(void);
Suite *suite_collect_target_attach(void)
{
	Suite *suite = suite_create("collect/attachment");
	TCase *tc = tcase_create("attachment");
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, what_is_no_process_is_refused_by_name);
	tcase_add_test(tc, thread_is_refused_and_its_process_offered);
	tcase_add_test(tc, zombie_is_refused);
	tcase_add_test(tc, process_of_another_user_is_refused_with_the_way_to_it);
	tcase_add_loop_test(tc, end_of_a_process_is_learnt_before_and_after_it_was_reaped, 0,
			    2 * (int)TP_ARRAY_LEN(ends));
	suite_add_tcase(suite, tc);
	return suite;
}
