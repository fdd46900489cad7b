/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of injecting a library into running programs. */
#include "joining.h"

#include "skip.h"

#include "inject/machine.h"

#include "trainprof/base/file.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

/* A few; `make proof-inject` runs 500. */
enum { ROUNDS = 20 };

static bool can_join(void)
{
	bool is_able = tp_machine_is_known() && joining_is_possible();
	if (!is_able)
		test_skip(tp_machine_is_known() ? "children cannot be traced here"
						: "this kind of processor is not known");
	return is_able;
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = 1000000};
	nanosleep(&time, NULL);
}

static const char python[] =
	"import sys, threading, time\n"
	"over = threading.Event()\n"
	"n = [0] * 4\n"
	"def work(i):\n"
	"    while not over.is_set():\n"
	"        n[i] += sum(range(1000)); time.sleep(0.001 * (i % 2))\n"
	"threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n"
	"[t.start() for t in threads]\n"
	"print('ready', flush=True)\n"
	"sys.stdin.read()\n"
	"over.set()\n"
	"[t.join() for t in threads]\n"
	"sys.exit(7 if all(n) else 1)\n";

static const char *const crowds[] = {"0", "1", "11", "40", "python"};

static bool start_crowd(struct joining *joining, const char *crowd)
{
	char program[JOINING_PATH];
	char threads[8];
	char interpreter[] = "python3";
	char option[] = "-c";
	char code[sizeof(python)];
	joining_path(program, "programs/steadfast");
	snprintf(threads, sizeof(threads), "%.7s", crowd);
	memcpy(code, python, sizeof(python));
	char *const of_c[] = {program, threads, NULL};
	char *const of_python[] = {interpreter, option, code, NULL};
	return joining_start(joining, strcmp(crowd, "python") == 0 ? of_python : of_c);
}

/* Expects that the program ran as if nothing had happened. */
static void expect_unnoticed(struct joining *joining)
{
	char said[400];
	int status = joining_end(joining, said, sizeof(said));
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%#x: %s", status, said);
	ck_assert_str_eq(said, "");
}

/* The program runs until it is asked to end. */
static void expect_running(const struct joining *joining)
{
	int status = -1;
	ck_assert_int_eq(waitpid(joining->pid, &status, WNOHANG), 0);
	kill(joining->pid, SIGTERM);
	ck_assert_int_eq(waitpid(joining->pid, &status, 0), joining->pid);
	ck_assert_int_eq(status, SIGTERM);
}

START_TEST(a_program_does_not_notice)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	if (!can_join())
		return;
	if (!start_crowd(&joining, crowds[_i])) {
		test_skip("no python3");
		return;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		ck_assert_msg(joining_visit(&joining, &got, &err) == i + 1, "round %u: %s", i,
			      err.text);
		ck_assert_int_eq(got.was_there, i > 0);
		ck_assert_uint_gt(got.stopped_ns, 0);
	}
	expect_unnoticed(&joining);
}
END_TEST

/* The program only uses memory and never makes a system call: the tracer does not wait for a moment
 * that never comes. */
START_TEST(a_program_without_system_calls_is_left_alone)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	if (!can_join())
		return;
	joining_configure(&joining);
	joining.pid = fork();
	if (joining.pid == 0) {
		signal(SIGTERM, SIG_DFL);
		for (volatile unsigned i = 0;; i++)
			continue;
	}
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err), TP_BUSY);
	expect_running(&joining);
}
END_TEST

START_TEST(a_thread_that_runs_is_held_at_its_next_call)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	if (!can_join())
		return;
	joining_configure(&joining);
	joining.pid = fork();
	if (joining.pid == 0)
		for (signal(SIGTERM, SIG_DFL);;) {
			for (volatile int i = 0; i < 200000; i++)
				continue;
			if (getppid() <= 0)
				_exit(1);
		}
	ck_assert_msg(joining_visit(&joining, &got, &err) == 1, "%s", err.text);
	expect_running(&joining);
}
END_TEST

static void *change_group(void *unused)
{
	while (setgid(getgid()) == 0)
		nap();
	return unused;
}

static void *read_on(void *end)
{
	char byte;
	while (read(*(int *)end, &byte, 1) != 0)
		continue;
	_exit(7);
}

/* A thread that changes the user has the lock that creating a thread needs, until each thread has
 * answered. */
START_TEST(a_program_may_change_its_user_while_it_is_joined)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	int ends[2];
	int status = -1;
	if (!can_join())
		return;
	joining_configure(&joining);
	ck_assert_int_eq(pipe(ends), 0);
	joining.pid = fork();
	if (joining.pid == 0) {
		pthread_t thread;
		close(ends[1]);
		pthread_create(&thread, NULL, change_group, NULL);
		read_on(&ends[0]);
	}
	close(ends[0]);
	for (unsigned i = 0; i < ROUNDS; i++)
		ck_assert_msg(joining_visit(&joining, &got, &err) == i + 1, "round %u: %s", i,
			      err.text);
	close(ends[1]);
	ck_assert_int_eq(waitpid(joining.pid, &status, 0), joining.pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%#x", status);
}
END_TEST

static bool start_one(struct joining *joining)
{
	return can_join() && start_crowd(joining, "1");
}

START_TEST(missing_requirements_are_named)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	char expected[80];
	if (!start_one(&joining))
		return;
	joining.config.needs = "libcuda";
	snprintf(expected, sizeof(expected), "pid %d does not use libcuda", (int)joining.pid);
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err), TP_ABSENT);
	ck_assert_str_eq(err.text, expected);
	expect_unnoticed(&joining);
}
END_TEST

/* Nothing stays mapped: the program cannot load a file that is no library. */
START_TEST(a_failed_load_is_reported_with_the_loaders_message)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	if (!start_one(&joining))
		return;
	joining.config.library = "/proc/self/status";
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err), TP_IO);
	ck_assert_msg(strstr(err.text, "file too short") || strstr(err.text, "invalid ELF"), "%s",
		      err.text);
	joining.config.library = joining.library;
	joining.config.door = "no_such_door";
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err), TP_IO);
	ck_assert_msg(strstr(err.text, "no_such_door") != NULL, "%s", err.text);
	expect_unnoticed(&joining);
}
END_TEST

START_TEST(refusals_of_the_preflight_are_reported)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	char answer[16];
	snprintf(answer, sizeof(answer), "%d", _i ? -ECANCELED : -EBUSY);
	setenv("VISITOR_ANSWER", answer, 1);
	if (!start_one(&joining))
		return;
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err),
			 _i ? TP_DENIED : TP_BUSY);
	ck_assert_msg(strstr(err.text, _i ? "TRAINPROF_GPU=0" : "another trainprof") != NULL, "%s",
		      err.text);
	ck_assert_str_ne(err.next, "");
	expect_unnoticed(&joining);
}
END_TEST

START_TEST(a_program_that_is_traced_is_refused)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	if (!start_one(&joining))
		return;
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, joining.pid, NULL, NULL), 0);
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err), TP_BUSY);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, joining.pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(joining.pid, NULL, 0), joining.pid);
	ck_assert_int_eq(ptrace(PTRACE_DETACH, joining.pid, NULL, NULL), 0);
	expect_unnoticed(&joining);
}
END_TEST

static uint64_t mapped_by(pid_t pid, const char *name)
{
	char path[64];
	struct tp_buf text = {0};
	struct tp_error err = {0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	ck_assert_msg(tp_file_read(&text, path, 1 << 20, &err) == TP_OK, "%s", err.text);
	uint64_t n = 0;
	for (const char *at = tp_buf_text(&text); (at = strstr(at, name)); at++)
		n++;
	tp_buf_release(&text);
	return n;
}

/* A refused injection leaves the program unchanged. */
START_TEST(nothing_is_mapped_where_it_is_refused)
{
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	if (!start_one(&joining))
		return;
	uint64_t before = mapped_by(joining.pid, "\n");
	joining.config.needs = "libcuda";
	ck_assert_int_eq(tp_inject(&got, joining.pid, &joining.config, &err), TP_ABSENT);
	ck_assert_uint_eq(mapped_by(joining.pid, "\n"), before);
	ck_assert_uint_eq(mapped_by(joining.pid, "trainprof-agent"), 0);
	joining.config.needs = NULL;
	ck_assert_uint_eq(joining_visit(&joining, &got, &err), 1);
	ck_assert_uint_gt(mapped_by(joining.pid, "trainprof-agent"), 0);
	expect_unnoticed(&joining);
}
END_TEST

/* The injecting process is killed at any instant (its helper is not): the program continues
 * unchanged. */
START_TEST(a_program_outlives_the_one_that_joins_it)
{
	struct joining joining;
	if (!can_join() || !start_crowd(&joining, "11"))
		return;
	for (int i = 0; i < ROUNDS; i++) {
		pid_t visitor = fork();
		if (visitor == 0) {
			struct tp_injection got;
			struct tp_error err;
			for (;;)
				(void)!tp_inject(&got, joining.pid, &joining.config, &err);
		}
		const struct timespec time = {.tv_nsec = 1000000 + i * 733000};
		nanosleep(&time, NULL);
		kill(visitor, SIGKILL);
		waitpid(visitor, NULL, 0);
	}
	nap();
	expect_unnoticed(&joining);
}
END_TEST

START_TEST(a_program_may_end_while_it_is_joined)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct joining joining;
		if (!can_join() || !start_crowd(&joining, "1"))
			return;
		pid_t visitor = fork();
		if (visitor == 0) {
			struct tp_injection got;
			struct tp_error err;
			enum tp_status status;
			close(joining.input);
			do
				status = tp_inject(&got, joining.pid, &joining.config, &err);
			while (status == TP_OK);
			_exit(0);
		}
		const struct timespec time = {.tv_nsec = 1000000 + i * 733000};
		nanosleep(&time, NULL);
		close(joining.input);
		joining.input = -1;
		expect_unnoticed(&joining);
		int status = -1;
		ck_assert_int_eq(waitpid(visitor, &status, 0), visitor);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

Suite *suite_inject_inject(void);
Suite *suite_inject_inject(void)
{
	Suite *suite = suite_create("inject/inject");
	TCase *tcase = tcase_create("all");
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, a_program_does_not_notice, 0,
			    sizeof(crowds) / sizeof(crowds[0]));
	tcase_add_test(tcase, a_program_without_system_calls_is_left_alone);
	tcase_add_test(tcase, a_thread_that_runs_is_held_at_its_next_call);
	tcase_add_test(tcase, a_program_may_change_its_user_while_it_is_joined);
	tcase_add_test(tcase, missing_requirements_are_named);
	tcase_add_test(tcase, a_failed_load_is_reported_with_the_loaders_message);
	tcase_add_loop_test(tcase, refusals_of_the_preflight_are_reported, 0, 2);
	tcase_add_test(tcase, a_program_that_is_traced_is_refused);
	tcase_add_test(tcase, nothing_is_mapped_where_it_is_refused);
	tcase_add_test(tcase, a_program_outlives_the_one_that_joins_it);
	tcase_add_test(tcase, a_program_may_end_while_it_is_joined);
	suite_add_tcase(suite, tcase);
	return suite;
}
