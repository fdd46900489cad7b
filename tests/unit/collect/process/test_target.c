/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of starting and following the target. Each test runs a wrapper process and checks it from
 * outside, as a shell would. */
#include "collect/process/target_exec.h"
#include "trainprof/base/clock.h"
#include "trainprof/collect/env.h"
#include "trainprof/collect/target.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char directory[64];

static void setup(void)
{
	strcpy(directory, "/tmp/tp-target-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void teardown(void)
{
	char command[100];
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void write_text(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ck_assert_int_eq(chmod(name, mode), 0);
}

/* Returns the contents of a file, or "" if there is none. */
static const char *said(const char *name)
{
	static char text[4096];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	text[len > 0 ? len : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static void wait_for(const char *name)
{
	for (int i = 0; i < 10000 && access(name, F_OK) != 0; i++)
		usleep(5000);
	ck_assert_int_eq(access(name, F_OK), 0);
}

/* Reads the state in /proc/PID/stat, which follows the name in parentheses. */
static bool is_stopped(pid_t pid)
{
	char path[64];
	char state = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == 'T';
}

static void wait_until_stopped(pid_t pid)
{
	for (int i = 0; i < 10000 && !is_stopped(pid); i++)
		usleep(5000);
	ck_assert(is_stopped(pid));
}

static void *do_nothing(void *argument)
{
	return argument;
}

/* Creates a thread before the start, as calibration does: the C library then reserves its own
 * signals. */
static void make_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
		pthread_join(thread, NULL);
}

/* A complete wrapper: starts the target, releases it, reaps it, and ends with the same status. */
__attribute__((noreturn)) static void wrap(char *const *argv, const struct tp_env *env)
{
	struct tp_inherited inheritance;
	struct tp_target *target;
	struct tp_error err = {0};
	tp_inherited_save(&inheritance);
	struct rlimit raised = {inheritance.files.rlim_max, inheritance.files.rlim_max};
	setrlimit(RLIMIT_NOFILE, &raised);
	signal(SIGPIPE, SIG_IGN); /* as a program that writes reports may do */
	make_thread();
	if (tp_target_start(&target, &inheritance, argv, env, &err))
		_exit(125);
	if (tp_target_release(target, &err)) {
		int fd = open("error", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		dprintf(fd, "%s|%s", err.text, err.next);
		_exit(tp_target_exit_status(target));
	}
	struct tp_target_end end = *tp_target_reap(target);
	tp_target_close(target);
	tp_target_exit_like(&end);
}

static pid_t start_wrapper(const char *script)
{
	char text[600];
	snprintf(text, sizeof(text), "%s", script);
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, text, NULL};
	pid_t pid = fork();
	if (pid == 0)
		wrap(argv, NULL);
	return pid;
}

static int wait_status(pid_t pid)
{
	int status = -1;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(exit_status_is_passed_through)
{
	char script[20];
	snprintf(script, sizeof(script), "exit %d", _i);
	int status = wait_status(start_wrapper(script));
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), _i);
}
END_TEST

static const int deaths[] = {SIGTERM, SIGKILL, SIGSEGV, SIGABRT, SIGINT, SIGHUP,
			     SIGPIPE, SIGUSR1, SIGQUIT, SIGFPE,  SIGBUS, SIGALRM};

START_TEST(death_by_signal_is_repeated_without_a_core_file)
{
	char script[40];
	snprintf(script, sizeof(script), "kill -%d $$", deaths[_i]);
	struct rlimit none = {0};
	setrlimit(RLIMIT_CORE, &none);
	int status = wait_status(start_wrapper(script));
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), deaths[_i]);
	ck_assert(!WCOREDUMP(status));
}
END_TEST

static const struct {
	const char *program;
	const char *text; /* contents of the file; NULL = no file */
	mode_t mode;
	int status;
	const char *error;
} refusals[] = {
	{"trian", NULL, 0, 127, "cannot run 'trian': not in PATH and not a file here|"},
	{"./trian", NULL, 0, 127, "cannot run './trian': no such file|"},
	{"", NULL, 0, 127, "cannot run '': not in PATH and not a file here|"},
	{"train", "x", 0755, 127, "cannot run 'train': not in PATH|trainprof run -- ./train"},
	{"./train.py", "x", 0644, 126,
	 "cannot run './train.py': permission denied (no execute bit)|"
	 "trainprof run -- python3 ./train.py"},
	{"./train", "x", 0600, 126,
	 "cannot run './train': permission denied (no execute bit)|chmod +x ./train"},
	{"/tmp", NULL, 0, 126, "cannot run '/tmp': it is a directory|"},
	{"./train", "#! /nowhere/python3 -u\n", 0755, 126,
	 "cannot run './train': its interpreter /nowhere/python3 is missing|"},
	{"./train", "#!/nowhere/python3 -u\r\n", 0755, 126,
	 "cannot run './train': its interpreter /nowhere/python3 is missing|"},
	{"./train", "#!/bin/sh\r\necho hi\r\n", 0755, 126,
	 "cannot run './train': its first line ends with a carriage return|"
	 "sed -i 's/\\r$//' ./train"},
	{"./train", "\177ELF\1\1\1 garbage", 0755, 126, NULL},
	{"./empty", "", 0755, 126, "cannot run './empty': not a program for this machine|"},
};

START_TEST(refusals_say_why_and_have_the_statuses_of_shells)
{
	char program[40];
	snprintf(program, sizeof(program), "%s", refusals[_i].program);
	if (refusals[_i].text)
		write_text(strncmp(program, "./", 2) == 0 ? program + 2 : program,
			   refusals[_i].text, refusals[_i].mode);
	char *argv[] = {program, NULL};
	pid_t pid = fork();
	if (pid == 0)
		wrap(argv, NULL);
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), refusals[_i].status);
	if (refusals[_i].error)
		ck_assert_str_eq(said("error"), refusals[_i].error);
}
END_TEST

START_TEST(a_process_that_cannot_be_started_is_no_fault_of_the_program)
{
	struct tp_error err = {0};
	ck_assert_int_eq(tp_target_start_explain(EAGAIN, &err), TP_TARGET);
	ck_assert_int_eq(err.status, TP_TARGET);
	ck_assert_str_eq(err.text, "cannot start a process for the program: "
				   "resource temporarily unavailable");
	ck_assert_str_eq(err.next, "ulimit -u");
	ck_assert_int_eq(tp_target_start_explain(EMFILE, NULL), TP_TARGET);
}
END_TEST

/* For example root's PATH after setpriv: a typo is "not found" there too. */
START_TEST(directories_of_others_in_path_hold_nothing)
{
	char *argv[] = {(char[]){"trian"}, NULL};
	ck_assert_int_eq(chmod(".", 0777), 0);
	ck_assert_int_eq(mkdir("locked", 0), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(99);
		setenv("PATH", "locked:/usr/bin:/bin", 1);
		wrap(argv, NULL);
	}
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), 127);
	(void)chmod("locked", 0700);
}
END_TEST

START_TEST(missing_loader_is_named)
{
	/* a copy of our shell with another loader written into it */
	ck_assert_int_eq(system("sed 's,/lib64/ld-linux-x86-64.so.2,/lib64/ld-nowhere-at-all.so,;"
				"s,/lib/ld-linux-aarch64.so.1,/lib/ld-nowhere-64.so.1.2,' "
				"/bin/sh >train; chmod +x train"),
			 0);
	char *argv[] = {(char[]){"./train"}, NULL};
	pid_t pid = fork();
	if (pid == 0)
		wrap(argv, NULL);
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), 126);
	ck_assert_ptr_nonnull(strstr(said("error"), "its loader /lib"));
	ck_assert_ptr_nonnull(strstr(said("error"), "nowhere"));
	ck_assert_ptr_nonnull(strstr(said("error"), "|ldd ./train"));
}
END_TEST

START_TEST(file_without_a_first_line_is_a_shell_script)
{
	write_text("train", "exit 9\n", 0755);
	int status = wait_status(start_wrapper("exec ./train"));
	ck_assert_int_eq(WEXITSTATUS(status), 9);
	char *argv[] = {(char[]){"./train"}, NULL};
	pid_t pid = fork();
	if (pid == 0)
		wrap(argv, NULL);
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), 9);
}
END_TEST

/* Checks that the script has the same output with and without a wrapper around it. */
static void compare_with_direct(const char *script)
{
	char both[400];
	snprintf(both, sizeof(both), "(%s) >wrapped 2>&1", script);
	wait_status(start_wrapper(both));
	pid_t pid = fork();
	if (pid == 0) {
		snprintf(both, sizeof(both), "(%s) >direct 2>&1", script);
		execl("/bin/sh", "sh", "-c", both, (char *)NULL);
		_exit(1);
	}
	wait_status(pid);
	char direct[4096];
	snprintf(direct, sizeof(direct), "%s", said("direct"));
	ck_assert_uint_gt(strlen(direct), 3);
	ck_assert_str_eq(said("wrapped"), direct);
}

/* Ignores the two signals that glibc keeps for itself, as posix_spawn() does; sigaction() refuses
 * them. */
static void ignore_signals_of_the_library(void)
{
	struct {
		void (*handler)(int);
		unsigned long rest[3]; /* flags, restorer, mask */
	} action = {.handler = SIG_IGN};
	for (int signal = 32; signal <= 33; signal++)
		ck_assert_int_eq(syscall(SYS_rt_sigaction, signal, &action, NULL, 8), 0);
}

START_TEST(target_finds_signals_limits_and_descriptors_unchanged)
{
	struct rlimit files = {64, 4096};
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	ignore_signals_of_the_library();
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGCHLD, SIG_DFL);
	/* SigQ is left out: it counts what is queued for all of the user's processes. */
	compare_with_direct("grep -E '^Sig(Pnd|Blk|Ign|Cgt)' /proc/self/status; ulimit -a; "
			    "ls /proc/self/fd; pwd; umask");
}
END_TEST

START_TEST(ended_child_is_seen_when_our_parent_ignored_child_signals)
{
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGCHLD, SIG_IGN);
		char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 5"}, NULL};
		wrap(argv, NULL);
	}
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), 5);
}
END_TEST

START_TEST(closed_descriptors_stay_closed_for_the_target)
{
	pid_t pid = fork();
	if (pid == 0) {
		close(0);
		char *argv[] = {(char[]){"sh"}, (char[]){"-c"},
				(char[]){"readlink /proc/$$/fd/0 >link; exit 6"}, NULL};
		wrap(argv, NULL);
	}
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), 6);
	ck_assert_str_eq(said("link"), "");
}
END_TEST

START_TEST(additions_reach_the_environment)
{
	setenv("TP_OLD", "old", 1);
	struct tp_env env = {0};
	tp_env_set(&env, "TP_NEW", "1");
	tp_env_set(&env, "TP_OLD", "first");
	tp_env_set(&env, "TP_OLD", "new");
	pid_t pid = fork();
	if (pid == 0) {
		char *argv[] = {(char[]){"sh"}, (char[]){"-c"},
				(char[]){"env | grep ^TP_ | sort >env"}, NULL};
		wrap(argv, &env);
	}
	wait_status(pid);
	ck_assert_str_eq(said("env"), "TP_NEW=1\nTP_OLD=new\n");
	tp_env_release(&env);
}
END_TEST

static const struct {
	int signal;
	const char *name;
} passed[] = {{SIGINT, "INT"},   {SIGTERM, "TERM"}, {SIGHUP, "HUP"},   {SIGQUIT, "QUIT"},
	      {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGALRM, "ALRM"}, {SIGXCPU, "XCPU"},
	      {SIGPWR, "PWR"},   {SIGIO, "IO"},     {40, "40"}};

START_TEST(signal_after_the_end_does_not_change_the_status)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct tp_inherited inheritance;
		struct tp_target *target;
		char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 5"}, NULL};
		tp_inherited_save(&inheritance);
		if (tp_target_start(&target, &inheritance, argv, NULL, NULL) != TP_OK ||
		    tp_target_release(target, NULL) != TP_OK)
			_exit(125);
		struct tp_target_end end = *tp_target_reap(target);
		tp_target_close(target);
		kill(getpid(), passed[_i].signal);
		tp_target_exit_like(&end);
	}
	int status = wait_status(pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 5);
}
END_TEST

START_TEST(signal_to_us_alone_reaches_the_target)
{
	char script[200];
	snprintf(script, sizeof(script), "trap 'exit 7' %s; : >ready; while :; do sleep 0.02; done",
		 passed[_i].name);
	pid_t pid = start_wrapper(script);
	wait_for("ready");
	kill(pid, passed[_i].signal);
	int status = wait_status(pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

START_TEST(deadly_signal_to_us_alone_kills_the_target_and_then_us)
{
	pid_t pid = start_wrapper("echo $$ >pid; mv pid ready; exec sleep 60");
	wait_for("ready");
	pid_t inner = (pid_t)strtol(said("ready"), NULL, 10);
	kill(pid, SIGTERM);
	int status = wait_status(pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	ck_assert_int_eq(kill(inner, 0), -1);
}
END_TEST

/* perl -e 'alarm 5; exec @ARGV' is a usual way to bound a program; fork clears the alarm. */
START_TEST(alarm_set_before_our_start_ends_the_target)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"echo $$ >pid; exec sleep 60"},
			NULL};
	pid_t pid = fork();
	if (pid == 0) {
		const struct itimerval soon = {.it_value.tv_usec = 500000};
		setitimer(ITIMER_REAL, &soon, NULL);
		wrap(argv, NULL);
	}
	int status = wait_status(pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
	pid_t inner = (pid_t)strtol(said("pid"), NULL, 10);
	ck_assert_int_gt(inner, 0);
	ck_assert_int_eq(kill(inner, 0), -1);
}
END_TEST

START_TEST(held_target_never_runs_when_we_die)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct tp_inherited inheritance;
		struct tp_target *target;
		tp_inherited_save(&inheritance);
		char *argv[] = {(char[]){"touch"}, (char[]){"ran"}, NULL};
		if (tp_target_start(&target, &inheritance, argv, NULL, NULL))
			_exit(1);
		int fd = open("pid", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		dprintf(fd, "%d", (int)tp_target_pid(target));
		kill(getpid(), SIGKILL);
	}
	wait_status(pid);
	pid_t inner = (pid_t)strtol(said("pid"), NULL, 10);
	for (int i = 0; i < 400 && kill(inner, 0) == 0; i++)
		usleep(5000);
	ck_assert_int_eq(access("ran", F_OK), -1);
}
END_TEST

START_TEST(daemons_of_the_target_do_not_hold_us_up)
{
	int status = wait_status(start_wrapper("sleep 600 & echo $! >pid; exit 4"));
	ck_assert_int_eq(WEXITSTATUS(status), 4);
	/* The child was still running after the wrapper had ended. */
	ck_assert_int_eq(kill((pid_t)strtol(said("pid"), NULL, 10), SIGKILL), 0);
}
END_TEST

/* A session with its own terminal: the wrapper is the foreground job of a tiny shell. */
struct terminal {
	int master;
	pid_t shell;
};

/* The shell waits for its job, reports stops in the file "stopped" and continues it once. */
__attribute__((noreturn)) static void run_shell(const char *slave, const char *script)
{
	setsid();
	int fd = open(slave, O_RDWR | O_CLOEXEC);
	ioctl(fd, TIOCSCTTY, 0);
	signal(SIGTTOU, SIG_IGN);
	pid_t job = fork();
	if (job == 0) {
		setpgid(0, 0);
		tcsetpgrp(fd, getpid());
		signal(SIGTTOU, SIG_DFL);
		char text[600];
		snprintf(text, sizeof(text), "%s", script);
		char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, text, NULL};
		wrap(argv, NULL);
	}
	setpgid(job, job);
	tcsetpgrp(fd, job);
	int status;
	for (;;) {
		if (waitpid(job, &status, WUNTRACED) != job)
			_exit(99);
		if (!WIFSTOPPED(status))
			break;
		int out = open("stopped", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		dprintf(out, "%d", WSTOPSIG(status));
		close(out);
		kill(-job, SIGCONT);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void open_terminal(struct terminal *out, const char *script)
{
	out->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(out->master, 0);
	ck_assert_int_eq(grantpt(out->master) | unlockpt(out->master), 0);
	char slave[100];
	ck_assert_int_eq(ptsname_r(out->master, slave, sizeof(slave)), 0);
	out->shell = fork();
	if (out->shell == 0)
		run_shell(slave, script);
}

START_TEST(ctrl_c_in_a_terminal_is_delivered_once)
{
	struct terminal terminal;
	open_terminal(&terminal, "trap 'echo hit >>hits' INT; : >ready; "
				 "until [ -s hits ]; do sleep 0.02; done; sleep 0.2; exit 3");
	wait_for("ready");
	ck_assert_int_eq(write(terminal.master, "\003", 1), 1);
	ck_assert_int_eq(WEXITSTATUS(wait_status(terminal.shell)), 3);
	ck_assert_str_eq(said("hits"), "hit\n");
}
END_TEST

START_TEST(ctrl_z_stops_the_job_and_fg_continues_it)
{
	struct terminal terminal;
	open_terminal(&terminal, ": >ready; until [ -e stopped ]; do sleep 0.05; done; exit 8");
	wait_for("ready");
	ck_assert_int_eq(write(terminal.master, "\032", 1), 1);
	wait_for("stopped");
	ck_assert_int_eq(WEXITSTATUS(wait_status(terminal.shell)), 8);
	ck_assert_int_eq(atoi(said("stopped")), SIGTSTP);
}
END_TEST

START_TEST(target_that_stops_itself_stops_the_job)
{
	struct terminal terminal;
	open_terminal(&terminal, "kill -TSTP $$; exit 8");
	ck_assert_int_eq(WEXITSTATUS(wait_status(terminal.shell)), 8);
	ck_assert_int_eq(atoi(said("stopped")), SIGTSTP);
}
END_TEST

START_TEST(target_stopped_by_somebody_does_not_stop_us)
{
	pid_t pid = start_wrapper("echo $$ >pid; mv pid ready; "
				  "until [ -e go ]; do sleep 0.02; done; exit 2");
	wait_for("ready");
	pid_t inner = (pid_t)strtol(said("ready"), NULL, 10);
	kill(inner, SIGSTOP);
	wait_until_stopped(inner);
	int status;
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	kill(inner, SIGCONT);
	write_text("go", "", 0600);
	ck_assert_int_eq(WEXITSTATUS(wait_status(pid)), 2);
}
END_TEST

static const struct {
	int signal;
	bool is_ignored;
} leavings[] = {{SIGINT, false}, {SIGTERM, false}, {SIGHUP, false}, {SIGHUP, true}};

START_TEST(attached_target_is_left_by_signals_and_gets_none)
{
	struct tp_error err = {0};
	struct tp_target *attached;
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (leavings[_i].is_ignored)
		signal(leavings[_i].signal, SIG_IGN);
	ck_assert_int_eq(tp_target_attach(&attached, pid, &err), TP_OK);
	ck_assert(tp_target_is_attached(attached));
	ck_assert_int_eq(tp_target_poll(attached), 0);
	kill(getpid(), leavings[_i].signal);
	ck_assert_int_eq(tp_target_poll(attached), leavings[_i].is_ignored ? 0 : TP_TARGET_DETACH);
	ck_assert_int_eq(tp_target_reap(attached)->kind, TP_END_DETACHED);
	tp_target_close(attached);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

/* Between the end and the reaping trainprof may wait for threads. */
START_TEST(the_end_is_when_it_was_first_noticed)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		struct tp_inherited inheritance;
		struct tp_target *target;
		char *argv[] = {(char[]){"true"}, NULL};
		tp_inherited_save(&inheritance);
		if (tp_target_start(&target, &inheritance, argv, NULL, NULL) != TP_OK ||
		    tp_target_release(target, NULL) != TP_OK)
			_exit(125);
		while (!(tp_target_poll(target) & TP_TARGET_ENDED))
			usleep(1000);
		uint64_t noticed_ns = tp_clock_now_ns();
		while (tp_clock_now_ns() == noticed_ns)
			;
		uint64_t ended_ns = tp_target_reap(target)->time_ns;
		_exit(ended_ns > 0 && ended_ns <= noticed_ns ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

Suite *suite_collect_target(void);
Suite *suite_collect_target(void)
{
	Suite *suite = suite_create("collect/target");
	TCase *tc = tcase_create("target");
	tcase_set_timeout(tc, 20);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, exit_status_is_passed_through, 0, 3);
	tcase_add_loop_test(tc, exit_status_is_passed_through, 124, 129);
	tcase_add_loop_test(tc, exit_status_is_passed_through, 254, 256);
	tcase_add_loop_test(tc, death_by_signal_is_repeated_without_a_core_file, 0,
			    sizeof(deaths) / sizeof(deaths[0]));
	tcase_add_loop_test(tc, refusals_say_why_and_have_the_statuses_of_shells, 0,
			    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tc, a_process_that_cannot_be_started_is_no_fault_of_the_program);
	tcase_add_test(tc, directories_of_others_in_path_hold_nothing);
	tcase_add_test(tc, missing_loader_is_named);
	tcase_add_test(tc, file_without_a_first_line_is_a_shell_script);
	tcase_add_test(tc, target_finds_signals_limits_and_descriptors_unchanged);
	tcase_add_test(tc, ended_child_is_seen_when_our_parent_ignored_child_signals);
	tcase_add_test(tc, the_end_is_when_it_was_first_noticed);
	tcase_add_test(tc, closed_descriptors_stay_closed_for_the_target);
	tcase_add_test(tc, additions_reach_the_environment);
	tcase_add_loop_test(tc, signal_to_us_alone_reaches_the_target, 0,
			    sizeof(passed) / sizeof(passed[0]));
	tcase_add_loop_test(tc, signal_after_the_end_does_not_change_the_status, 0,
			    sizeof(passed) / sizeof(passed[0]));
	tcase_add_test(tc, deadly_signal_to_us_alone_kills_the_target_and_then_us);
	tcase_add_test(tc, alarm_set_before_our_start_ends_the_target);
	tcase_add_test(tc, held_target_never_runs_when_we_die);
	tcase_add_test(tc, daemons_of_the_target_do_not_hold_us_up);
	tcase_add_test(tc, ctrl_c_in_a_terminal_is_delivered_once);
	tcase_add_test(tc, ctrl_z_stops_the_job_and_fg_continues_it);
	tcase_add_test(tc, target_that_stops_itself_stops_the_job);
	tcase_add_test(tc, target_stopped_by_somebody_does_not_stop_us);
	tcase_add_loop_test(tc, attached_target_is_left_by_signals_and_gets_none, 0,
			    sizeof(leavings) / sizeof(leavings[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
