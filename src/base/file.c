/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole files, replaces files atomically, checks streams. */
#include "trainprof/base/file.h"

#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static enum tp_status fd_read_all(struct tp_buf *out, int fd, const char *path, size_t max_bytes,
				  struct tp_error *err)
{
	char chunk[16384];
	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tp_fail_errno(err, errno, "cannot read '%s'", path);
		if (got == 0)
			return TP_OK;
		if (out->len + (size_t)got > max_bytes)
			return tp_fail(err, TP_PARSE, "'%s' is larger than %zu bytes", path,
				       max_bytes);
		tp_buf_add(out, chunk, (size_t)got);
	}
}

enum tp_status tp_file_read(struct tp_buf *out, const char *path, size_t max_bytes,
			    struct tp_error *err)
{
	tp_buf_clear(out);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tp_fail_errno(err, errno, "cannot open '%s'", path);
	enum tp_status status;
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		status = fd_read_all(out, fd, path, max_bytes, err);
	else
		status = tp_fail(err, TP_IO, "'%s' is not a regular file", path);
	close(fd);
	if (status)
		tp_buf_clear(out);
	return status;
}

bool tp_file_write_all(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;
	while (size) {
		ssize_t put = write(fd, p, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			errno = put ? errno : EIO;
			return false;
		}
		p += put;
		size -= (size_t)put;
	}
	return true;
}

enum tp_status tp_file_replace(const char *path, const void *bytes, size_t size,
			       struct tp_error *err)
{
	enum tp_status status = TP_OK;
	char *temporary = tp_asprintf("%s.tmp%ld", path, (long)getpid());
	/* A file of this name was left by a process that has ended and had our pid. */
	unlink(temporary);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		status = tp_fail_errno(err, errno, "cannot write '%s'", path);
		goto out;
	}
	bool good = tp_file_write_all(fd, bytes, size) && fsync(fd) == 0;
	int error = errno;
	if (close(fd) != 0 && good) {
		good = false;
		error = errno;
	}
	if (good && rename(temporary, path) != 0) {
		good = false;
		error = errno;
	}
	if (!good) {
		status = tp_fail_errno(err, error, "cannot write '%s'", path);
		unlink(temporary);
	}
out:
	free(temporary);
	return status;
}

enum tp_status tp_file_write(const char *path, const void *bytes, size_t size, struct tp_error *err)
{
	struct stat st;
	if (lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return tp_file_replace(path, bytes, size, err);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return tp_fail_errno(err, errno, "cannot write '%s'", path);
	bool good = tp_file_write_all(fd, bytes, size);
	int error = errno;
	if (close(fd) != 0 && good) {
		good = false;
		error = errno;
	}
	return good ? TP_OK : tp_fail_errno(err, error, "cannot write '%s'", path);
}

enum tp_status tp_file_check(FILE *stream, const char *name, struct tp_error *err)
{
	errno = 0;
	if (fflush(stream) == 0 && !ferror(stream))
		return TP_OK;
	if (errno)
		return tp_fail_errno(err, errno, "cannot write %s", name);
	return tp_fail(err, TP_IO, "cannot write %s: an earlier write failed", name);
}

long tp_file_peek(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t got = read(fd, out, size - 1);
	int error = errno;
	close(fd);
	errno = error;
	out[got > 0 ? got : 0] = '\0';
	return got;
}
