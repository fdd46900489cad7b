/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a program's output to a file and to its original destination.
 *
 * A separate process does it, not the sampler's loop: the program must not wait while the sampler
 * reads /proc, and it must be able to write when trainprof is killed.
 */
#include "log_tee.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* After the program's end: the silence that counts as the end of its helpers, and the limit. */
enum { SILENCE_MS = 200, LINGER_MS = 1000 };

/* Signals of the terminal are meant for the program. */
static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR2};

static volatile sig_atomic_t is_draining;

static void on_drain_signal(int signal)
{
	(void)signal;
	is_draining = 1;
}

/* Copies the available data, at most `most` bytes; returns the number of bytes, or -1 if there are
 * none just now. Returns 0 at the end of the stream, or if nothing reads it any more: closing our
 * end then has the same effect on the program as a closed terminal or `head`. */
static ssize_t copy_some(int from, int to, int log, size_t most)
{
	char bytes[65536];
	ssize_t got = read(from, bytes, most < sizeof(bytes) ? most : sizeof(bytes));
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? -1 : 0;
	/* A full disk must not stop the program's output. */
	(void)tp_file_write_all(log, bytes, (size_t)got);
	return tp_file_write_all(to, bytes, (size_t)got) ? got : 0;
}

/* The program has ended: all its output is in the pipe by now. */
static void drain(int from, int to, int log)
{
	int left = 0;
	if (ioctl(from, FIONREAD, &left) != 0)
		return;
	while (left > 0) {
		ssize_t n = copy_some(from, to, log, (size_t)left);
		if (n == 0)
			return;
		left -= n > 0 ? (int)n : 0;
	}
}

/* The copying process may get a CPU only after the program has ended: signals that arrive before it
 * is ready must not kill it. */
static void hold_signals(sigset_t *before)
{
	sigset_t held;
	sigemptyset(&held);
	sigaddset(&held, SIGUSR1);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaddset(&held, ignored[i]);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

/* The copying process ends when the program has closed its output. */
static void ignore_signals(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	const struct sigaction drain = {.sa_handler = on_drain_signal};
	sigset_t usr1;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigaction(SIGUSR1, &drain, NULL);
	/* Delivered only inside ppoll(), so that it cannot arrive between the check and the
	 * wait. */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &usr1, NULL);
}

/* If both pipes always have data, ppoll() never delivers the signal. */
static bool is_over(void)
{
	sigset_t pending;
	return is_draining || (sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
}

static void copy_ready(struct pollfd fds[2], const int to[2], int log)
{
	for (int i = 0; i < 2; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		if (copy_some(fds[i].fd, to[i], log, SIZE_MAX) == 0) {
			close(fds[i].fd);
			fds[i].fd = -1;
		}
	}
}

static bool is_open(const struct pollfd fds[2])
{
	return fds[0].fd >= 0 || fds[1].fd >= 0;
}

/* Copies the remaining output of helpers of the program (`exec > >(tee file)` in a script). A
 * daemon that never stops writing must not delay the end. */
static void linger(struct pollfd fds[2], const int to[2], int log)
{
	const struct timespec silence = {.tv_nsec = SILENCE_MS * TP_NS_PER_MS};
	uint64_t until_ns = tp_clock_now_ns() + LINGER_MS * TP_NS_PER_MS;
	while (is_open(fds) && tp_clock_now_ns() < until_ns && ppoll(fds, 2, &silence, NULL) > 0)
		copy_ready(fds, to, log);
}

__attribute__((noreturn)) static void tee_run(const int from[2], const int to[2], int log)
{
	struct pollfd fds[2] = {{.fd = from[0], .events = POLLIN},
				{.fd = from[1], .events = POLLIN}};
	sigset_t none;
	sigemptyset(&none);
	ignore_signals();
	while (!is_over() && is_open(fds))
		if (ppoll(fds, 2, NULL, &none) > 0)
			copy_ready(fds, to, log);
	for (int i = 0; i < 2; i++)
		if (fds[i].fd >= 0)
			drain(fds[i].fd, to[i], log);
	linger(fds, to, log);
	_exit(0);
}

static void close_pair(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static enum tp_status save_outputs(struct tp_log_tee *tee, struct tp_error *err)
{
	for (int i = 0; i < 2; i++) {
		tee->saved[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
		if (tee->saved[i] < 0)
			return tp_fail_errno(err, errno, "cannot keep stdout and stderr");
	}
	return TP_OK;
}

static enum tp_status tee_start(struct tp_log_tee *tee, int log, struct tp_error *err)
{
	int out[2] = {-1, -1};
	int error[2] = {-1, -1};
	enum tp_status status = TP_OK;
	sigset_t mask;
	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) {
		status = tp_fail_errno(err, errno, "cannot make a pipe");
		goto out;
	}
	status = save_outputs(tee, err);
	if (status != TP_OK)
		goto out;
	hold_signals(&mask);
	tee->pid = fork();
	if (tee->pid == 0) {
		const int from[2] = {out[0], error[0]};
		/* Only the program may have the writing ends, or their end would never be seen. */
		close(out[1]);
		close(error[1]);
		tee_run(from, tee->saved, log);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (tee->pid < 0) {
		status = tp_fail_errno(err, errno, "cannot start a process");
		goto out;
	}
	dup2(out[1], STDOUT_FILENO);
	dup2(error[1], STDERR_FILENO);
out:
	close_pair(out);
	close_pair(error);
	/* stdout and stderr were not replaced: this closes their saved copies. */
	if (status)
		tp_log_tee_detach(tee);
	return status;
}

static enum tp_status open_log(int *log, const char *path, struct tp_error *err)
{
	*log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (*log >= 0)
		return TP_OK;
	enum tp_status status = tp_fail_errno(err, errno, "cannot write '%s'", path);
	tp_error_next(err, "trainprof run --log=/tmp/train.log -- …");
	return status;
}

enum tp_status tp_log_tee_open(struct tp_log_tee *tee, const char *path, struct tp_error *err)
{
	int log;
	*tee = (struct tp_log_tee){.is_open = true, .saved = {-1, -1}};
	enum tp_status status = open_log(&log, path, err);
	if (status != TP_OK)
		return status;
	status = tee_start(tee, log, err);
	close(log);
	return status;
}

enum tp_status tp_log_tee_open_file(struct tp_log_tee *tee, const char *path, struct tp_error *err)
{
	int log;
	*tee = (struct tp_log_tee){.is_open = true, .saved = {-1, -1}};
	enum tp_status status = open_log(&log, path, err);
	if (status != TP_OK)
		return status;
	status = save_outputs(tee, err);
	if (status == TP_OK) {
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
	}
	close(log);
	return status;
}

void tp_log_tee_detach(struct tp_log_tee *tee)
{
	if (!tee->is_open)
		return;
	for (int i = 0; i < 2; i++) {
		if (tee->saved[i] < 0)
			continue;
		dup2(tee->saved[i], STDOUT_FILENO + i);
		close(tee->saved[i]);
		tee->saved[i] = -1;
	}
}

void tp_log_tee_close(struct tp_log_tee *tee)
{
	if (tee->pid <= 0)
		return;
	tp_log_tee_detach(tee);
	/* The copying process ends early if nothing reads its output; after reaping it, its pid may
	 * belong to another process. */
	siginfo_t info;
	if (waitid(P_PID, (id_t)tee->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
		kill(tee->pid, SIGUSR1); /* makes it copy the remaining data, and end soon */
		while (waitpid(tee->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	tee->pid = 0;
}
