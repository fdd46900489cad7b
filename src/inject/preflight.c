/* SPDX-License-Identifier: Apache-2.0 */
/* Checks status, executable and settings of a process before it is touched. */
#include "preflight.h"

#include "image_map.h"

#include "trainprof/base/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 8192, FILTERS = 2 /* mode 2 of seccomp */ };

struct preflight_subject {
	const char *proc;
	pid_t pid;
	char status[STATUS_BYTES];
	char own[STATUS_BYTES]; /* our own status */
};

/* ---- read ----------------------------------------------------------------------------------- */

static void path_of(char *out, size_t size, const struct preflight_subject *subject, bool is_own,
		    const char *name)
{
	if (is_own)
		snprintf(out, size, "%s/self/%s", subject->proc, name);
	else
		snprintf(out, size, "%s/%d/%s", subject->proc, (int)subject->pid, name);
}

static bool read_status(struct preflight_subject *subject, bool is_own)
{
	char path[PATH_MAX];
	char *out = is_own ? subject->own : subject->status;
	path_of(path, sizeof(path), subject, is_own, "status");
	return tp_file_peek(path, out, STATUS_BYTES) > 0;
}

/* Returns the text after a name in a status file, or "". */
static const char *field(const char *status, const char *name)
{
	const char *at = strstr(status, name);
	return at ? at + strlen(name) + strspn(at + strlen(name), " \t") : "";
}

static long number(const char *status, const char *name)
{
	return strtol(field(status, name), NULL, 10);
}

/* True if both processes are in the same namespaces as far as known: a filter that both have is
 * then the same filter. */
static bool is_same_namespace(const struct preflight_subject *subject)
{
	static const char *const names[] = {"ns/mnt", "ns/pid"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];
		char ours[64] = "";
		char theirs[64] = "";
		path_of(path, sizeof(path), subject, true, names[i]);
		ssize_t n = readlink(path, ours, sizeof(ours) - 1);
		path_of(path, sizeof(path), subject, false, names[i]);
		if (n <= 0 || readlink(path, theirs, sizeof(theirs) - 1) <= 0 ||
		    strcmp(ours, theirs) != 0)
			return false;
	}
	return true;
}

/* ---- refuse --------------------------------------------------------------------------------- */

void tp_preflight_suggest_run(struct tp_error *err)
{
	tp_error_next(err, "trainprof run --gpu-trace=windows -- PROGRAM");
}

static enum tp_status check_tracer(const struct preflight_subject *subject, struct tp_error *err)
{
	long tracer = number(subject->status, "\nTracerPid:");
	if (!tracer)
		return TP_OK;
	(void)tp_fail(err, TP_BUSY, "pid %d is traced by pid %ld", (int)subject->pid, tracer);
	tp_error_next(err, "ps -p %ld", tracer);
	return TP_BUSY;
}

static enum tp_status check_state(const struct preflight_subject *subject, struct tp_error *err)
{
	char state = *field(subject->status, "\nState:");
	if (state != 'T' && state != 't' && state != 'Z' && state != 'X')
		return TP_OK;
	bool is_stopped = state == 'T' || state == 't';
	(void)tp_fail(err, TP_TARGET, "pid %d %s", (int)subject->pid,
		      is_stopped ? "is stopped" : "has ended");
	tp_error_next(err, is_stopped ? "kill -CONT %d" : "ps -p %d", (int)subject->pid);
	return TP_TARGET;
}

/* A seccomp filter may kill the program for a system call that it does not know. A filter that we
 * are under ourselves allows the agent's calls. */
static enum tp_status check_filter(const struct preflight_subject *subject, struct tp_error *err)
{
	long mode = number(subject->status, "\nSeccomp:");
	bool is_ours = mode == FILTERS && number(subject->own, "\nSeccomp:") == FILTERS &&
		       number(subject->status, "\nSeccomp_filters:") ==
			       number(subject->own, "\nSeccomp_filters:") &&
		       is_same_namespace(subject);
	if (!mode || is_ours)
		return TP_OK;
	(void)tp_fail(err, TP_DENIED, "pid %d has a seccomp filter, which might kill it",
		      (int)subject->pid);
	tp_preflight_suggest_run(err);
	return TP_DENIED;
}

static enum tp_status check_shadow_stack(const struct preflight_subject *subject,
					 struct tp_error *err)
{
	const char *features = field(subject->status, "\nx86_Thread_features:");
	const char *end = strchr(features, '\n');
	const char *found = strstr(features, "shstk");
	if (!found || (end && found > end))
		return TP_OK;
	(void)tp_fail(err, TP_ABSENT, "pid %d has a shadow stack", (int)subject->pid);
	tp_preflight_suggest_run(err);
	return TP_ABSENT;
}

static enum tp_status check_kind(const struct preflight_subject *subject, struct tp_error *err)
{
	char path[PATH_MAX];
	Elf64_Ehdr theirs;
	Elf64_Ehdr ours;
	path_of(path, sizeof(path), subject, false, "exe");
	if (tp_file_peek(path, (char *)&theirs, sizeof(theirs)) < EI_NIDENT + 4)
		return TP_OK; /* unreadable: permissions are checked next */
	path_of(path, sizeof(path), subject, true, "exe");
	if (tp_file_peek(path, (char *)&ours, sizeof(ours)) < EI_NIDENT + 4)
		return TP_OK;
	if (memcmp(theirs.e_ident, ELFMAG, SELFMAG) == 0 &&
	    theirs.e_ident[EI_CLASS] == ours.e_ident[EI_CLASS] &&
	    theirs.e_machine == ours.e_machine)
		return TP_OK;
	(void)tp_fail(err, TP_ABSENT, "pid %d is a program for another kind of processor",
		      (int)subject->pid);
	tp_preflight_suggest_run(err);
	return TP_ABSENT;
}

/* Opening its memory for writing makes the kernel and Yama apply the same check as ptrace. */
static enum tp_status check_right(const struct preflight_subject *subject, struct tp_error *err)
{
	char path[PATH_MAX];
	char scope[16] = "0";
	path_of(path, sizeof(path), subject, false, "mem");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int failure = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || (failure != EACCES && failure != EPERM))
		return TP_OK;
	snprintf(path, sizeof(path), "%s/sys/kernel/yama/ptrace_scope", subject->proc);
	(void)!tp_file_peek(path, scope, sizeof(scope));
	if (atoi(scope) > 0)
		(void)tp_fail(err, TP_DENIED, "ptrace_scope is %d", atoi(scope));
	else if (number(subject->status, "\nUid:") != (long)geteuid())
		(void)tp_fail(err, TP_DENIED, "pid %d is another user's", (int)subject->pid);
	else if (number(subject->status, "\nNoNewPrivs:"))
		(void)tp_fail(err, TP_DENIED, "pid %d is in a sandbox (no_new_privs)",
			      (int)subject->pid);
	else
		(void)tp_fail(err, TP_DENIED, "pid %d may not be traced", (int)subject->pid);
	tp_error_next(err, "sudo trainprof attach --gpu-trace=windows %d", (int)subject->pid);
	return TP_DENIED;
}

enum tp_status tp_preflight_process(const char *proc, pid_t pid, struct tp_error *err)
{
	static enum tp_status (*const checks[])(const struct preflight_subject *,
						struct tp_error *) = {
		check_tracer, check_state,        check_right,
		check_filter, check_shadow_stack, check_kind,
	};
	struct preflight_subject subject = {.proc = proc, .pid = pid};
	if (!read_status(&subject, false) || !read_status(&subject, true)) {
		(void)tp_fail(err, TP_TARGET, "pid %d has ended", (int)pid);
		tp_error_next(err, "ps -p %d", (int)pid);
		return TP_TARGET;
	}
	enum tp_status status = TP_OK;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && status == TP_OK; i++)
		status = checks[i](&subject, err);
	return status;
}

enum tp_status tp_preflight_images(const struct tp_image_map *map, pid_t pid, struct tp_error *err)
{
	struct tp_image image;
	const char *what = "statically linked";
	bool is_musl = tp_image_map_find(&image, map, "ld-musl");
	if (!is_musl && tp_image_map_find_libc(&image, map))
		return TP_OK;
	if (tp_image_map_find(&image, map, "ld"))
		what = "not linked with the GNU C library";
	(void)tp_fail(err, TP_ABSENT, "pid %d is %s", (int)pid, what);
	tp_preflight_suggest_run(err);
	return TP_ABSENT;
}
