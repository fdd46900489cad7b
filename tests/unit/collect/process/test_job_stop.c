/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of stopping and continuing together with the program. */
#include "collect/process/job_stop.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED_ITSELF = 7 };

/* Starts a job: a parent that stops like its child; it writes the child's pid first. */
static pid_t start_job(int signal, int *program)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	pid_t job = fork();
	if (job == 0) {
		setpgid(0, 0);
		pid_t child = fork();
		if (child == 0) {
			kill(getpid(), SIGSTOP);
			_exit(ENDED_ITSELF);
		}
		int status;
		waitpid(child, &status, WUNTRACED);
		if (write(ends[1], &child, sizeof(child)) != sizeof(child))
			_exit(1);
		tp_job_stop(child, signal);
		waitpid(child, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	ck_assert_int_eq(read(ends[0], program, sizeof(*program)), sizeof(*program));
	return job;
}

static void check_stopped_by(pid_t job, int signal)
{
	int status;
	ck_assert_int_eq(waitpid(job, &status, WUNTRACED), job);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(WSTOPSIG(status), signal);
}

static int end_of(pid_t job)
{
	int status;
	ck_assert_int_eq(waitpid(job, &status, 0), job);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(a_shell_sees_the_stop_and_continues_the_group)
{
	int program;
	pid_t job = start_job(SIGTSTP, &program);
	check_stopped_by(job, SIGTSTP);
	kill(-job, SIGCONT);
	ck_assert_int_eq(end_of(job), ENDED_ITSELF);
}
END_TEST

START_TEST(a_program_that_is_continued_alone_continues_its_parent)
{
	int program;
	pid_t job = start_job(SIGTTIN, &program);
	check_stopped_by(job, SIGTTIN);
	kill(program, SIGCONT);
	ck_assert_int_eq(end_of(job), ENDED_ITSELF);
}
END_TEST

START_TEST(a_program_that_is_killed_continues_its_parent)
{
	int program;
	pid_t job = start_job(SIGTTOU, &program);
	check_stopped_by(job, SIGTTOU);
	kill(program, SIGKILL);
	ck_assert_int_eq(end_of(job), SIGKILL);
}
END_TEST

Suite *suite_collect_job_stop(void);
Suite *suite_collect_job_stop(void)
{
	Suite *suite = suite_create("collect/job_stop");
	TCase *tc = tcase_create("job_stop");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_shell_sees_the_stop_and_continues_the_group);
	tcase_add_test(tc, a_program_that_is_continued_alone_continues_its_parent);
	tcase_add_test(tc, a_program_that_is_killed_continues_its_parent);
	suite_add_tcase(suite, tc);
	return suite;
}
