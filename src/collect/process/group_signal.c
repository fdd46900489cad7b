/* SPDX-License-Identifier: Apache-2.0 */
/* Learns from a child which signals the whole process group received. */
#include "group_signal.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/helper_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPREAD_NS (10 * (long)TP_NS_PER_MS)

enum { ANSWER_WAIT_MS = 20 };

/* ---- child ---------------------------------------------------------------------------------- */

/* Blocked signals stay pending even if they are ignored. */
static void drain(const sigset_t *all, struct tp_group_signals *out)
{
	static const struct timespec at_once;
	siginfo_t info;
	out->n = 0;
	while (out->n < TP_GROUP_SIGNALS_MAX && sigtimedwait(all, &info, &at_once) > 0) {
		if (info.si_code == SI_KERNEL)
			continue;
		out->rows[out->n].signal = info.si_signo;
		out->rows[out->n++].sender = info.si_pid;
	}
}

static void listener_run(int fd)
{
	struct tp_group_signals answer = {0};
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (recv(fd, &answer.asked, sizeof(answer.asked), 0) == sizeof(answer.asked)) {
		drain(&all, &answer);
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			return;
	}
}

/* ---- parent --------------------------------------------------------------------------------- */

void tp_group_listener_start(struct tp_group_listener *out)
{
	*out = (struct tp_group_listener){.fd = -1, .answer_wait_ms = ANSWER_WAIT_MS};
	pid_t pid = tp_helper_start("trainprof-group", listener_run, &out->fd);
	out->pid = pid > 0 ? pid : 0;
}

bool tp_group_listener_request(struct tp_group_listener *listener, struct tp_group_signals *out)
{
	struct pollfd wait = {.fd = listener->fd, .events = POLLIN};
	struct tp_group_signals answer;
	uint32_t asked = ++listener->n_requests;
	out->n = 0;
	if (!listener->pid)
		return false;
	nanosleep(&(struct timespec){.tv_nsec = SPREAD_NS}, NULL);
	if (send(listener->fd, &asked, sizeof(asked), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(asked))
		return false;
	/* If it was stopped, answers to earlier requests come first. */
	while (poll(&wait, 1, listener->answer_wait_ms) > 0 &&
	       recv(listener->fd, &answer, sizeof(answer), MSG_DONTWAIT) == sizeof(answer)) {
		for (uint32_t i = 0; i < answer.n && out->n < TP_GROUP_SIGNALS_MAX; i++)
			out->rows[out->n++] = answer.rows[i];
		if (answer.asked == asked)
			return true;
	}
	return false;
}

bool tp_group_signals_remove(struct tp_group_signals *signals, int signal, pid_t sender)
{
	for (uint32_t i = 0; i < signals->n; i++) {
		if (signals->rows[i].signal != signal || signals->rows[i].sender != sender)
			continue;
		signals->rows[i] = signals->rows[--signals->n];
		return true;
	}
	return false;
}

/* Its end may have been reaped already, together with daemons. */
void tp_group_listener_end(struct tp_group_listener *listener)
{
	if (!listener->pid)
		return;
	close(listener->fd);
	if (waitid(P_PID, (id_t)listener->pid, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) == 0) {
		kill(listener->pid, SIGKILL);
		while (waitpid(listener->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	tp_helper_remove(listener->pid);
	*listener = (struct tp_group_listener){.fd = -1};
}
