/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of programs that end while CUPTI starts in the agent's thread. Like the real CUPTI, the
 * double registers exit handlers before its start and in the middle of it, and it aborts if it is
 * used after one of them has run. */
#include "agent/cudadouble.h"
#include "agent/ringreading.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

enum { STATUS = 7 };

static char *directory;
static char hold[CUDA_DOUBLE_PATH];

static void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* Starts a program that ends as `how` says, once CUPTI is in the middle of its start. Returns the
 * read end of the pipe with its output. */
static int start_program(const char *how, const char *key, pid_t *pid)
{
	char path[CUDA_DOUBLE_PATH];
	char paths[2 * CUDA_DOUBLE_PATH];
	char script[2 * CUDA_DOUBLE_PATH];
	char when[CUDA_DOUBLE_PATH + 8];
	int ends[2];
	directory = ring_directory();
	snprintf(hold, sizeof(hold), "%s/hold", directory);
	snprintf(when, sizeof(when), "%s.held", hold);
	snprintf(script, sizeof(script), "handlers 3\n%s %s\n", key, hold);
	cupti_script(directory, script);
	touch(hold);
	ck_assert_int_eq(pipe(ends), 0);
	snprintf(paths, sizeof(paths), "%s:", beside(path, "doubles"));
	strcat(paths, beside(path, "doubles/whole"));
	*pid = fork();
	if (*pid == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		setenv("LD_LIBRARY_PATH", paths, 1);
		setenv("CUDA_INJECTION64_PATH", beside(path, "libtrainprof-agent.so"), 1);
		setenv("TRAINPROF_GPU_RINGS", directory, 1);
		setenv("CUDA_ENDS_WHEN", when, 1);
		setenv("CUDA_ENDS_LINGER_MS", "100", 1);
		setenv("NULL_DRIVER_HOLD", hold, 1);
		execl(beside(path, "programs/cuda_ends"), "cuda_ends", how, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	return ends[0];
}

static void read_all(int fd, char *out, size_t size)
{
	size_t n = 0;
	ssize_t got;
	while ((got = read(fd, out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(fd);
}

static const char *const hows[] = {"return", "exit", "thread"};

/* The program's last handler removes the file that CUPTI waits for. So CUPTI continues after the
 * agent gave up waiting, while the program is still ending. */
START_TEST(a_program_that_ends_while_cupti_hangs_ends_as_without_us)
{
	pid_t pid;
	int status;
	char output[64];
	int fd = start_program(hows[_i], "hold", &pid);
	read_all(fd, output, sizeof(output));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == STATUS, "%x", (unsigned)status);
	ck_assert_str_eq(output, "last\nfirst\n");
	ring_remove_directory(directory);
}
END_TEST

static const struct {
	const char *how;
	const char *key;
} in_time[] = {{"return", "hold"},
	       {"exit", "hold"},
	       {"thread", "hold"},
	       {"return", "hold_load"},
	       {"thread", "hold_load"}};

/* The program ends and its first handler has run: now CUPTI continues. The exit waits for the rest
 * of CUPTI's start; if it happened during the load, CUPTI's own handlers have run, and then it must
 * not be called. */
START_TEST(a_start_that_is_done_in_time_is_waited_for)
{
	pid_t pid;
	int status;
	char output[64];
	const struct timespec nap = {.tv_nsec = 300000000};
	int fd = start_program(in_time[_i].how, in_time[_i].key, &pid);
	ck_assert_int_eq(read(fd, output, 5), 5);
	ck_assert_int_eq(memcmp(output, "last\n", 5), 0);
	nanosleep(&nap, NULL);
	unlink(hold);
	read_all(fd, output, sizeof(output));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == STATUS, "%x", (unsigned)status);
	ck_assert_str_eq(output, "first\n");
	ring_remove_directory(directory);
}
END_TEST

Suite *suite_agent_exit_guard(void);
Suite *suite_agent_exit_guard(void)
{
	Suite *suite = suite_create("agent_exitguard");
	TCase *tests = tcase_create("exitguard");
	int n = sizeof(hows) / sizeof(hows[0]);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, a_program_that_ends_while_cupti_hangs_ends_as_without_us, 0, n);
	tcase_add_loop_test(tests, a_start_that_is_done_in_time_is_waited_for, 0,
			    sizeof(in_time) / sizeof(in_time[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
