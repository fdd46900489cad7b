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

/* On a busy machine the child waits for a CPU. One that is stuck is waited for no longer than a
 * look, so that it holds up the sampling only once. */
enum { LOOK_MS = 20, LOOKS_MAX = 100 };

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
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (recv(fd, &answer.asked, sizeof(answer.asked), 0) == sizeof(answer.asked)) {
		drain(&all, &answer);
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			return;
	}
}

/* ---- parent --------------------------------------------------------------------------------- */

void tp_group_listener_start(struct tp_group_listener *out)
{
	*out = (struct tp_group_listener){.fd = -1, .looks_max = LOOKS_MAX};
	pid_t pid = tp_helper_start("trainprof-group", listener_run, &out->fd);
	out->pid = pid > 0 ? pid : 0;
}

static void add(struct tp_group_signals *signals, int signal, pid_t sender)
{
	if (signals->n == TP_GROUP_SIGNALS_MAX)
		return;
	signals->rows[signals->n].signal = signal;
	signals->rows[signals->n++].sender = sender;
}

void tp_group_listener_give_up(struct tp_group_listener *listener, int signal, pid_t sender)
{
	add(&listener->given_up, signal, sender);
}

/* A list that is full may lack some: then none is trusted. */
static bool was_given_up(struct tp_group_listener *listener, int signal, pid_t sender)
{
	return listener->given_up.n == TP_GROUP_SIGNALS_MAX ||
	       tp_group_signals_remove(&listener->given_up, signal, sender);
}

static bool is_stopped(const struct tp_group_listener *listener)
{
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)listener->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == listener->pid;
}

/* Returns false if there is none. One that a debugger has stopped does not look stopped to us. */
static bool receive(struct tp_group_listener *listener, struct tp_group_signals *answer)
{
	struct pollfd wait = {.fd = listener->fd, .events = POLLIN};
	int n_ready;
	unsigned n_looks = 0;
	do
		n_ready = poll(&wait, 1, LOOK_MS);
	while (n_ready == 0 && !listener->is_stuck && !is_stopped(listener) &&
	       ++n_looks < listener->looks_max);
	listener->is_stuck |= n_looks == listener->looks_max;
	return n_ready > 0 &&
	       recv(listener->fd, answer, sizeof(*answer), MSG_DONTWAIT) == sizeof(*answer);
}

bool tp_group_listener_request(struct tp_group_listener *listener, struct tp_group_signals *out)
{
	struct tp_group_signals answer;
	uint32_t asked = ++listener->n_requests;
	out->n = 0;
	if (!listener->pid)
		return false;
	nanosleep(&(struct timespec){.tv_nsec = SPREAD_NS}, NULL);
	if (send(listener->fd, &asked, sizeof(asked), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(asked))
		return false;
	do { /* answers to earlier requests come first */
		if (!receive(listener, &answer))
			return false;
		for (uint32_t i = 0; i < answer.n; i++)
			if (!was_given_up(listener, answer.rows[i].signal, answer.rows[i].sender))
				add(out, answer.rows[i].signal, answer.rows[i].sender);
	} while (answer.asked != asked);
	listener->is_stuck = false;
	listener->given_up.n = 0; /* the rest was not for the group */
	return true;
}

/* Returns the number of signals if there is none. */
static uint32_t find(const struct tp_group_signals *signals, int signal, pid_t sender)
{
	uint32_t i = 0;
	while (i < signals->n &&
	       (signals->rows[i].signal != signal || signals->rows[i].sender != sender))
		i++;
	return i;
}

bool tp_group_signals_has(const struct tp_group_signals *signals, int signal, pid_t sender)
{
	return find(signals, signal, sender) < signals->n;
}

bool tp_group_signals_remove(struct tp_group_signals *signals, int signal, pid_t sender)
{
	uint32_t i = find(signals, signal, sender);
	if (i == signals->n)
		return false;
	signals->rows[i] = signals->rows[--signals->n];
	return true;
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
