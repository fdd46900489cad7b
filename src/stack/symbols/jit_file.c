/* SPDX-License-Identifier: Apache-2.0 */
/* Reads perf maps from /tmp, where any user can create files of that name. */
#include "jit_file.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 64 << 20 };

static enum tp_status check(const struct stat *st, const char *path, uid_t uid,
			    uint64_t since_wall_ns, struct tp_error *err)
{
	if (!S_ISREG(st->st_mode))
		return tp_fail(err, TP_DENIED, "%s: not a regular file", path);
	if (st->st_uid != uid)
		return tp_fail(err, TP_DENIED, "%s: belongs to another user", path);
	if (st->st_size > MAX_BYTES)
		return tp_fail(err, TP_PARSE, "%s: larger than 64 MiB", path);
	if (since_wall_ns > 0 && (uint64_t)st->st_mtim.tv_sec + 1 < since_wall_ns / TP_NS_PER_S)
		return tp_fail(err, TP_ABSENT, "%s: left by an earlier process", path);
	return TP_OK;
}

static enum tp_status read_all(struct tp_buf *out, int fd, const char *path, struct tp_error *err)
{
	char block[65536];
	while (out->len < MAX_BYTES) {
		ssize_t n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			tp_buf_clear(out);
			return tp_fail_errno(err, errno, "cannot read '%s'", path);
		}
		if (n == 0)
			break;
		tp_buf_add(out, block, (size_t)n);
	}
	return TP_OK;
}

static enum tp_status read_path(struct tp_buf *out, const char *path, uid_t uid,
				uint64_t since_wall_ns, struct tp_error *err)
{
	tp_buf_clear(out);
	/* O_NONBLOCK: a pipe of that name must not block us. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ELOOP)
			return tp_fail(err, TP_DENIED, "%s: is a symbolic link", path);
		return tp_fail_errno(err, errno, "cannot open '%s'", path);
	}
	struct stat st;
	enum tp_status status;
	if (fstat(fd, &st) != 0)
		status = tp_fail_errno(err, errno, "cannot read '%s'", path);
	else
		status = check(&st, path, uid, since_wall_ns, err);
	if (status == TP_OK)
		status = read_all(out, fd, path, err);
	close(fd);
	return status;
}

/* Returns the pid that the process itself sees: the last number of "NSpid: 4242 17". 0 if the
 * process has exited. */
static long inner_pid(pid_t pid)
{
	char path[40];
	char text[4096];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (tp_file_peek(path, text, sizeof(text)) < 0)
		return 0;
	char *at = strstr(text, "\nNSpid:");
	if (!at)
		return (long)pid;
	at += strlen("\nNSpid:");
	long number = 0;
	for (char *end;; at = end) {
		long next = strtol(at, &end, 10);
		if (end == at || next <= 0)
			break;
		number = next;
		if (*end == '\n')
			break;
	}
	return number;
}

enum tp_status tp_jit_file_read(struct tp_buf *out, const struct tp_jit_file_owner *owner,
				struct tp_error *err)
{
	char path[80];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d", (int)owner->pid);
	long number = stat(path, &st) == 0 ? inner_pid(owner->pid) : 0;
	if (number > 0) {
		/* The process may have changed its user since it was first seen. */
		snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%ld.map", (int)owner->pid,
			 number);
		enum tp_status status = read_path(out, path, st.st_uid, 0, err);
		if (status != TP_ABSENT)
			return status;
	}
	tp_buf_clear(out);
	if (!owner->is_known)
		return tp_fail(err, TP_ABSENT, "process %d is gone", (int)owner->pid);
	/* The process has exited: its /tmp was most often the same as ours. */
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)owner->pid);
	return read_path(out, path, owner->uid, owner->met_wall_ns, err);
}
