/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a running process and detects its end. */
#include "target_attach.h"

#include "collect/machine/host_stat.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STATUS_BYTES = 8192,
	EXIT_CODE_FIELD = 52, /* of /proc/PID/stat, proc(5) */
	REAPED_WITHIN_MS = 50,
};

/* linux/pidfd.h of 6.15, whose older versions lack it: the first 64 bytes, PIDFD_INFO_SIZE_VER0. */
struct pidfd_exit_info {
	uint64_t mask;
	uint64_t cgroup_id;
	uint32_t ids[11];
	int32_t exit_code;
};

_Static_assert(sizeof(struct pidfd_exit_info) == 64, "layout");

#define GET_INFO  _IOWR(0xFF, 11, struct pidfd_exit_info)
#define INFO_EXIT (UINT64_C(1) << 3)

/* Reads a file below /proc/PID as text; false if it cannot be read. */
static bool read_text(pid_t pid, const char *name, char *out, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return tp_file_peek(path, out, size) > 0;
}

/* Reads the number after a name in /proc/PID/status. */
static bool status_number(const char *text, const char *name, uint64_t *out)
{
	return tp_host_stat_field(out, text, name);
}

static enum tp_status fail_absent(pid_t pid, struct tp_error *err)
{
	(void)tp_fail(err, TP_TARGET, "cannot attach to pid %d: no such process", (int)pid);
	tp_error_next(err, "pgrep -af train");
	return TP_TARGET;
}

/* Fails if the process belongs to another user and we have no access to it. */
static enum tp_status check_owner(pid_t pid, const char *status, struct tp_error *err)
{
	char path[64];
	char exe[16];
	char names[1024];
	struct passwd entry;
	struct passwd *found = NULL;
	uint64_t uid = 0;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, exe, sizeof(exe)) > 0 || errno != EACCES ||
	    !status_number(status, "Uid:", &uid) || uid == geteuid())
		return TP_OK; /* ours, or access is allowed; unreadable parts are reported later */
	if (getpwuid_r((uid_t)uid, &entry, names, sizeof(names), &found) != 0)
		found = NULL;
	(void)tp_fail(err, TP_DENIED, "cannot attach to pid %d: it belongs to %s%suid %llu%s",
		      (int)pid, found ? found->pw_name : "", found ? " (" : "",
		      (unsigned long long)uid, found ? ")" : "");
	tp_error_next(err, "sudo trainprof attach %d", (int)pid);
	return TP_DENIED;
}

/* Kernel threads have no program. */
static bool is_kernels(pid_t pid)
{
	char path[64];
	char target[16];
	char text[64];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) < 0 && errno == ENOENT &&
	       !read_text(pid, "cmdline", text, sizeof(text));
}

static enum tp_status check_kind(pid_t pid, struct tp_error *err)
{
	char status[STATUS_BYTES];
	uint64_t leader;
	if (!read_text(pid, "status", status, sizeof(status)))
		return fail_absent(pid, err);
	if (status_number(status, "Tgid:", &leader) && leader != (uint64_t)pid) {
		(void)tp_fail(err, TP_TARGET,
			      "cannot attach to pid %d: it is a thread of process %llu", (int)pid,
			      (unsigned long long)leader);
		tp_error_next(err, "trainprof attach %llu", (unsigned long long)leader);
		return TP_TARGET;
	}
	if (strstr(status, "State:\tZ")) {
		(void)tp_fail(err, TP_TARGET, "cannot attach to pid %d: it has ended", (int)pid);
		tp_error_next(err, "pgrep -af train");
		return TP_TARGET;
	}
	if (is_kernels(pid)) {
		(void)tp_fail(err, TP_TARGET,
			      "cannot attach to pid %d: it is a thread of the kernel", (int)pid);
		tp_error_next(err, "pgrep -af train");
		return TP_TARGET;
	}
	return check_owner(pid, status, err);
}

bool tp_target_attachment_has_ended(const struct tp_target_attachment *attachment)
{
	struct pollfd wait = {.fd = attachment->pidfd, .events = POLLIN};
	return poll(&wait, 1, 0) > 0;
}

/* Without one a reused pid could not be noticed. */
static const char no_pidfd_text[] = "pidfd_open is missing here; Linux has it since 5.3";

bool tp_target_can_attach(char *reason, size_t size)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd >= 0) {
		close(fd);
		return true;
	}
	if (errno == ENOSYS)
		snprintf(reason, size, "%s", no_pidfd_text);
	else
		snprintf(reason, size, "pidfd_open: %s", tp_errno_text(errno));
	return false;
}

enum tp_status tp_target_attachment_open(struct tp_target_attachment *out, pid_t pid,
					 struct tp_error *err)
{
	struct tp_target_attachment attachment = {.pid = pid, .pidfd = -1};
	if (pid == getpid()) {
		(void)tp_fail(err, TP_TARGET, "cannot attach to pid %d: it is trainprof itself",
			      (int)pid);
		tp_error_next(err, "pgrep -af train");
		return TP_TARGET;
	}
	/* Before pidfd_open(), which fails with other errors for threads and kernel threads. */
	enum tp_status status = check_kind(pid, err);
	if (status)
		return status;
	attachment.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (attachment.pidfd < 0 && errno == ESRCH)
		return fail_absent(pid, err);
	if (attachment.pidfd < 0 && errno == ENOSYS) {
		(void)tp_fail(err, TP_TARGET, "cannot attach to pid %d: %s", (int)pid,
			      no_pidfd_text);
		tp_error_next(err, "trainprof run -- …   (start the program with trainprof)");
		return TP_TARGET;
	}
	if (attachment.pidfd < 0)
		return tp_fail(err, TP_TARGET, "cannot attach to pid %d: pidfd_open: %s", (int)pid,
			       tp_errno_text(errno));
	/* Again: the pid may have been reused between the two calls. */
	status = check_kind(pid, err);
	if (!status && tp_target_attachment_has_ended(&attachment))
		status = fail_absent(pid, err);
	if (status)
		tp_target_attachment_close(&attachment);
	else
		*out = attachment;
	return status;
}

void tp_target_attachment_close(struct tp_target_attachment *attachment)
{
	if (attachment->pidfd >= 0)
		close(attachment->pidfd);
	attachment->pidfd = -1;
}

/* Reads the exit status of a zombie, if access is allowed. Status as of waitpid(). */
static bool zombie_status(pid_t pid, int *out)
{
	char text[2048];
	if (!read_text(pid, "stat", text, sizeof(text)))
		return false;
	char *at = strrchr(text, ')'); /* after the name, the second field */
	if (!at || strncmp(at, ") Z", 3) != 0)
		return false;
	for (int field = 2; at && field < EXIT_CODE_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*out = (int)strtol(at, NULL, 10);
	return true;
}

/* Reads the exit status of a process that its parent has reaped, on kernels since 6.15. */
static bool reaped_status(const struct tp_target_attachment *attachment, int *out)
{
	struct pidfd_exit_info info = {.mask = INFO_EXIT};
	if (ioctl(attachment->pidfd, GET_INFO, &info) != 0 || !(info.mask & INFO_EXIT))
		return false;
	*out = info.exit_code;
	return true;
}

void tp_target_attachment_end(const struct tp_target_attachment *attachment,
			      struct tp_target_end *out)
{
	const struct timespec wait = {.tv_nsec = 1000000};
	int status = 0;
	*out = (struct tp_target_end){.kind = TP_END_DETACHED, .time_ns = tp_clock_now_ns()};
	if (!tp_target_attachment_has_ended(attachment))
		return;
	bool is_known = reaped_status(attachment, &status);
	/* Neither works between the two states, while its parent reaps it. */
	for (int i = 0; !is_known && i < REAPED_WITHIN_MS; i++) {
		is_known = zombie_status(attachment->pid, &status) ||
			   reaped_status(attachment, &status);
		if (!is_known)
			nanosleep(&wait, NULL);
	}
	out->kind = TP_END_UNKNOWN;
	if (!is_known)
		return;
	out->kind = WIFSIGNALED(status) ? TP_END_SIGNALED : TP_END_EXITED;
	out->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}
