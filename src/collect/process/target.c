/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the target, forwards signals to it, and detects how it ended. */
#include "trainprof/collect/target.h"
#include "trainprof/collect/env.h"

#include "group_signal.h"
#include "job_stop.h"
#include "process_access.h"
#include "target_attach.h"
#include "target_exec.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_OURS = 125, SIGNALS_AT_ONCE = 16 };

static const int leave_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
/* Signals that are sent to end, warn or control a program; batch systems also warn with SIGXCPU.
 * Real-time signals are added. */
static const int forwarded[] = {SIGINT,  SIGQUIT, SIGTERM,   SIGHUP,  SIGUSR1, SIGUSR2, SIGCONT,
				SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};

struct tp_target {
	pid_t pid;
	bool is_attached;
	struct tp_group_listener listener;      /* if not attached */
	struct tp_target_attachment attachment; /* if attached */
	int epoll_fd;                           /* if attached: its end, and signals */
	char *name;                             /* argv[0] */
	int release_fd; /* write end; if it closes without a byte, the child exits */
	int failure_fd; /* read end; an errno if exec failed, end of file if it succeeded */
	int signal_fd;
	sigset_t mask_before; /* of this thread */
	bool is_reaped;
	int exec_status; /* of a failed exec, 0 otherwise */
	struct tp_target_end end;
};

/* A disposition as the kernel stores it. sigaction() rejects the C library's internal signals,
 * which posix_spawn() leaves ignored (as in processes started by make) and which our first thread
 * would set to a handler. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static bool is_ignored(int signal)
{
	struct kernel_action action = {0};
	return syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof(action.mask)) == 0 &&
	       action.handler == SIG_IGN;
}

/* Has no effect on signals that cannot be ignored, which is intended. */
static void set_ignored(int signal, bool shall_be)
{
	struct kernel_action action = {.handler = shall_be ? SIG_IGN : SIG_DFL};
	syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof(action.mask));
}

/* Saves the dispositions to restore in a child, and opens descriptors 0 to 2 if they are closed. */
void tp_inherited_save(struct tp_inherited *out)
{
	pthread_sigmask(SIG_SETMASK, NULL, &out->mask);
	out->ignored = 0;
	for (int signal = 1; signal < NSIG; signal++)
		out->ignored |= (uint64_t)is_ignored(signal) << (signal - 1);
	getrlimit(RLIMIT_NOFILE, &out->files);
	for (int fd = 0; fd <= 2; fd++) {
		/* If nobody reads what a command prints, writing must fail instead of losing the
		 * output. */
		int access = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", access | O_CLOEXEC) != fd)
			return; /* no /dev/null: nothing else can be done */
	}
}

static void child_restore(const struct tp_inherited *inheritance)
{
	for (int signal = 1; signal < NSIG; signal++)
		set_ignored(signal, inheritance->ignored >> (signal - 1) & 1);
	setrlimit(RLIMIT_NOFILE, &inheritance->files);
	pthread_sigmask(SIG_SETMASK, &inheritance->mask, NULL);
}

static bool read_whole(int fd, void *out, size_t size)
{
	ssize_t got;
	do
		got = read(fd, out, size);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)size;
}

/* Waits for the release, then execs the target. If the pipe closes first, trainprof is gone and the
 * child exits. */
__attribute__((noreturn)) static void child_run(const struct tp_inherited *inheritance,
						int release_fd, int failure_fd, char *const *argv,
						char *const *env)
{
	char go;
	if (!read_whole(release_fd, &go, 1))
		_exit(STATUS_OURS);
	child_restore(inheritance);
	int cause = tp_target_exec(argv, env);
	if (write(failure_fd, &cause, sizeof(cause)) != (ssize_t)sizeof(cause))
		_exit(STATUS_OURS);
	_exit(STATUS_OURS);
}

int tp_target_run_alone(const struct tp_inherited *inheritance, char *const *argv,
			struct tp_error *err)
{
	child_restore(inheritance);
	return tp_target_exec_explain(argv[0], tp_target_exec(argv, environ), err);
}

void tp_target_signals(sigset_t *out)
{
	sigemptyset(out);
	for (size_t i = 0; i < TP_ARRAY_LEN(forwarded); i++)
		sigaddset(out, forwarded[i]);
	for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
		sigaddset(out, signal);
}

bool tp_target_should_forward(int signal, int code)
{
	/* A signal from the terminal was already sent to the whole group. An alarm that was set
	 * before our exec also comes from the kernel, and was not inherited by the fork. */
	return code != SI_KERNEL || signal == SIGALRM;
}

static void block_signals(struct tp_target *target)
{
	sigset_t taken;
	tp_target_signals(&taken);
	sigaddset(&taken, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &taken, &target->mask_before);
	/* If our parent ignored SIGCHLD, children would disappear without a status. */
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &action, NULL);
	target->signal_fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

enum tp_status tp_target_start(struct tp_target **out, const struct tp_inherited *inheritance,
			       char *const *argv, const struct tp_env *env, struct tp_error *err)
{
	static const struct tp_env no_additions;
	enum tp_status status = TP_OK;
	int release[2] = {-1, -1};
	int failure[2] = {-1, -1};
	struct tp_target *target = tp_alloc(sizeof(*target));
	char **merged = tp_env_merge(env ? env : &no_additions, environ);
	block_signals(target);
	if (target->signal_fd < 0 || pipe2(release, O_CLOEXEC) != 0 ||
	    pipe2(failure, O_CLOEXEC) != 0) {
		status = tp_target_start_explain(errno, err);
		goto out;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	target->name = tp_strdup(argv[0]);
	target->end.kind = TP_END_RUNNING;
	target->pid = fork();
	if (target->pid == 0) {
		close(release[1]);
		child_run(inheritance, release[0], failure[1], argv, merged);
	}
	if (target->pid < 0) {
		status = tp_target_start_explain(errno, err);
		goto out;
	}
	target->release_fd = release[1];
	target->failure_fd = failure[0];
	release[1] = failure[0] = -1;
	/* After the target, which so remains our first child. */
	tp_group_listener_start(&target->listener);
	*out = target;
out:
	free(merged);
	for (int i = 0; i < 2; i++) {
		close_fd(&release[i]);
		close_fd(&failure[i]);
	}
	if (status) {
		close_fd(&target->signal_fd);
		pthread_sigmask(SIG_SETMASK, &target->mask_before, NULL);
		free(target->name);
		free(target);
	}
	return status;
}

pid_t tp_target_pid(const struct tp_target *target)
{
	return target->pid;
}

/* Signals that were ignored, by nohup or a shell's "&", stay ignored. */
static void block_leaving(struct tp_target *target)
{
	sigset_t taken;
	sigemptyset(&taken);
	for (size_t i = 0; i < TP_ARRAY_LEN(leave_signals); i++) {
		struct sigaction action;
		if (sigaction(leave_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&taken, leave_signals[i]);
	}
	pthread_sigmask(SIG_BLOCK, &taken, &target->mask_before);
	target->signal_fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool watch_fd(const struct tp_target *target, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	return epoll_ctl(target->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

enum tp_status tp_target_attach(struct tp_target **out, pid_t pid, struct tp_error *err)
{
	struct tp_target_attachment attachment;
	enum tp_status status = tp_target_attachment_open(&attachment, pid, err);
	if (status)
		return status;
	struct tp_target *target = tp_alloc(sizeof(*target));
	*target = (struct tp_target){.pid = pid,
				     .is_attached = true,
				     .attachment = attachment,
				     .release_fd = -1,
				     .failure_fd = -1,
				     .end.kind = TP_END_RUNNING};
	block_leaving(target);
	target->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (target->epoll_fd >= 0 && watch_fd(target, target->signal_fd) &&
	    watch_fd(target, attachment.pidfd)) {
		*out = target;
		return TP_OK;
	}
	status = tp_fail(err, TP_TARGET, "cannot wait for pid %d: %s", (int)pid,
			 tp_errno_text(errno));
	pthread_sigmask(SIG_SETMASK, &target->mask_before, NULL);
	tp_target_close(target);
	return status;
}

void tp_target_check_access(const struct tp_target *target, const struct tp_host *host,
			    struct tp_availability *out)
{
	tp_process_access_probe_pid(host, target->pid, out);
}

bool tp_target_is_attached(const struct tp_target *target)
{
	return target->is_attached;
}

enum tp_status tp_target_release(struct tp_target *target, struct tp_error *err)
{
	int cause;
	if (target->is_attached)
		return TP_OK;
	ssize_t sent;
	do
		sent = write(target->release_fd, "", 1);
	while (sent < 0 && errno == EINTR);
	close_fd(&target->release_fd);
	bool has_failed = read_whole(target->failure_fd, &cause, sizeof(cause));
	close_fd(&target->failure_fd);
	if (!has_failed)
		return TP_OK; /* or it was killed meanwhile, which is detected at its end */
	tp_target_reap(target);
	target->exec_status = tp_target_exec_explain(target->name, cause, err);
	return TP_TARGET;
}

int tp_target_exit_status(const struct tp_target *target)
{
	if (target->exec_status)
		return target->exec_status;
	return target->end.kind == TP_END_SIGNALED ? 128 + target->end.code : target->end.code;
}

int tp_target_wait_fd(const struct tp_target *target)
{
	return target->is_attached ? target->epoll_fd : target->signal_fd;
}

/* Orphaned daemons become our children (PR_SET_CHILD_SUBREAPER) and must be reaped. */
static void reap_adopted(const struct tp_target *target)
{
	for (;;) {
		siginfo_t info = {0};
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 ||
		    info.si_pid == target->pid)
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

static bool has_ended(const struct tp_target *target)
{
	siginfo_t info = {0};
	if (target->is_reaped)
		return true;
	return waitid(P_PID, (id_t)target->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == target->pid;
}

/* Returns the signal that stopped it, 0 if it runs. */
static int stopped_by(const struct tp_target *target)
{
	siginfo_t info = {0};
	if (waitid(P_PID, (id_t)target->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid != target->pid)
		return 0;
	return info.si_status;
}

static void stop_like(const struct tp_target *target)
{
	int signal = stopped_by(target);
	if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
		tp_job_stop(target->pid, signal);
}

/* Sends it as we received it: with its value, if it has one. */
static void send_on(pid_t pid, const struct signalfd_siginfo *info)
{
	const union sigval value = {.sival_ptr = (void *)(uintptr_t)info->ssi_ptr};
	if (info->ssi_code == SI_QUEUE)
		sigqueue(pid, (int)info->ssi_signo, value);
	else
		kill(pid, (int)info->ssi_signo);
}

/* A signal of the program itself is meant for its parent, which is ours without us. */
static void forward(const struct tp_target *target, const struct signalfd_siginfo *info)
{
	pid_t parent = getppid();
	if ((pid_t)info->ssi_pid != target->pid)
		send_on(target->pid, info);
	else if (parent > 1)
		send_on(parent, info);
}

/* True for a signal that the target may have received as well, as a member of our group. */
static bool may_be_of_group(const struct tp_target *target, const struct signalfd_siginfo *info)
{
	return info->ssi_signo != SIGCHLD && info->ssi_signo != SIGCONT &&
	       info->ssi_code != SI_KERNEL && getpgid(target->pid) == getpgrp();
}

static unsigned handle_signal(const struct tp_target *target, const struct signalfd_siginfo *info,
			      struct tp_group_signals *of_group)
{
	int signal = (int)info->ssi_signo;
	if (signal == SIGCHLD) {
		bool is_of_stop = info->ssi_code == CLD_STOPPED || info->ssi_code == CLD_CONTINUED;
		stop_like(target);
		return is_of_stop && (pid_t)info->ssi_pid == target->pid ? TP_TARGET_STOPPED : 0;
	}
	/* A shell continues the whole group. */
	bool is_ours_alone = signal == SIGCONT ? stopped_by(target) != 0
					       : tp_target_should_forward(signal, info->ssi_code);
	if (is_ours_alone && !has_ended(target) &&
	    !tp_group_signals_remove(of_group, signal, (pid_t)info->ssi_pid))
		forward(target, info);
	return signal == SIGINT ? TP_TARGET_INTERRUPTED : 0;
}

/* Without an answer of the listener, except for late ones to earlier requests: a signal of the
 * program may be for its group, which the parent is not in; one of others is passed on, rather
 * twice than never. */
static unsigned handle_without_listener(struct tp_target *target,
					const struct signalfd_siginfo *info,
					struct tp_group_signals *of_group)
{
	if (may_be_of_group(target, info) &&
	    !tp_group_signals_has(of_group, (int)info->ssi_signo, (pid_t)info->ssi_pid)) {
		tp_group_listener_give_up(&target->listener, (int)info->ssi_signo,
					  (pid_t)info->ssi_pid);
		if ((pid_t)info->ssi_pid == target->pid)
			return 0;
	}
	return handle_signal(target, info, of_group);
}

/* Returns TP_TARGET_… A process that sends signals without end must not hold up the sampling: at
 * most one batch is handled for which the group is asked, and the next call handles the rest. */
static unsigned handle_signals(struct tp_target *target)
{
	struct signalfd_siginfo infos[SIGNALS_AT_ONCE];
	unsigned events = 0;
	ssize_t got;
	bool has_asked = false;
	while (!has_asked && (got = read(target->signal_fd, infos, sizeof(infos))) > 0) {
		size_t n = (size_t)got / sizeof(infos[0]);
		struct tp_group_signals of_group = {0};
		bool is_answered = true;
		for (size_t i = 0; i < n; i++)
			has_asked |= may_be_of_group(target, &infos[i]);
		if (has_asked)
			is_answered = tp_group_listener_request(&target->listener, &of_group);
		for (size_t i = 0; i < n; i++)
			events |= is_answered
					  ? handle_signal(target, &infos[i], &of_group)
					  : handle_without_listener(target, &infos[i], &of_group);
	}
	return events;
}

static unsigned poll_attached(const struct tp_target *target)
{
	struct signalfd_siginfo info;
	unsigned events = tp_target_attachment_has_ended(&target->attachment) ? TP_TARGET_ENDED : 0;
	while (read(target->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		events |= TP_TARGET_DETACH;
	return events;
}

unsigned tp_target_poll(struct tp_target *target)
{
	if (target->is_attached)
		return poll_attached(target);
	unsigned events = handle_signals(target);
	reap_adopted(target);
	if (has_ended(target)) {
		if (target->end.time_ns == 0)
			target->end.time_ns = tp_clock_now_ns();
		events |= TP_TARGET_ENDED;
	}
	return events;
}

const struct tp_target_end *tp_target_reap(struct tp_target *target)
{
	struct pollfd wait = {.fd = target->signal_fd, .events = POLLIN};
	if (target->is_attached && !target->is_reaped) {
		tp_target_attachment_end(&target->attachment, &target->end);
		target->is_reaped = true;
	}
	while (!target->is_reaped) {
		if (tp_target_poll(target) & TP_TARGET_ENDED) {
			int status = 0;
			wait4(target->pid, &status, 0, &target->end.usage);
			bool by_signal = WIFSIGNALED(status);
			target->end.kind = by_signal ? TP_END_SIGNALED : TP_END_EXITED;
			target->end.code = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
			target->is_reaped = true;
		} else {
			poll(&wait, 1, 1000); /* limit of one second, in case a signal is missed */
		}
	}
	tp_group_listener_end(&target->listener);
	return &target->end;
}

void tp_target_close(struct tp_target *target)
{
	if (!target)
		return;
	bool is_held = target->release_fd >= 0;
	close_fd(&target->release_fd);
	close_fd(&target->failure_fd);
	if (is_held) /* it exits at once */
		waitpid(target->pid, NULL, 0);
	tp_group_listener_end(&target->listener);
	struct signalfd_siginfo info;
	while (read(target->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	close_fd(&target->signal_fd);
	if (target->is_attached) {
		close_fd(&target->epoll_fd);
		tp_target_attachment_close(&target->attachment);
	}
	free(target->name);
	free(target);
}

void tp_target_exit_like(const struct tp_target_end *end)
{
	if (end->kind == TP_END_SIGNALED) {
		/* Only the target's core file matters. */
		struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_DUMPABLE, 0);
		struct sigaction action = {.sa_handler = SIG_DFL};
		sigaction(end->code, &action, NULL);
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, end->code);
		raise(end->code); /* pending while blocked, delivered when unblocked */
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		_exit(128 + end->code); /* a signal that does not terminate here */
	}
	_exit(end->code);
}
