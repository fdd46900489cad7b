/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file under a temporary name until it is complete. */
#include "output_file.h"

#include "messages.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tp_output_file_is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

static void tidy(void *context)
{
	const struct tp_output_file *file = context;
	unlink(file->temporary);
	tp_message_print(NULL, "interrupted: '%s' was not written", file->path);
}

static int open_temporary(struct tp_output_file *file)
{
	file->temporary = tp_asprintf("%s.tmp%ld", file->path, (long)getpid());
	/* A file of this name was left by a process that is gone and had our pid. */
	unlink(file->temporary);
	return open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

enum tp_status tp_output_file_open(struct tp_output_file *file, const char *path,
				   struct tp_error *err)
{
	struct stat info;
	*file = (struct tp_output_file){.stream = stdout};
	if (tp_output_file_is_stdout(path))
		return TP_OK;
	file->path = path;
	bool is_special =
		lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
	int fd = is_special ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : open_temporary(file);
	file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!file->stream) {
		free(file->temporary);
		return tp_fail_errno(err, errno, "cannot write '%s'", path);
	}
	if (file->temporary)
		tp_interrupt_start(&file->interrupt, tidy, file);
	return TP_OK;
}

static enum tp_status close_stream(struct tp_output_file *file, struct tp_error *err)
{
	if (!file->path)
		return tp_file_check(file->stream, "stdout", err);
	bool is_good = fflush(file->stream) == 0 && !ferror(file->stream);
	if (is_good && file->temporary)
		is_good = fsync(fileno(file->stream)) == 0;
	int error = errno;
	if (fclose(file->stream) != 0 && is_good) {
		is_good = false;
		error = errno;
	}
	return is_good ? TP_OK : tp_fail_errno(err, error, "cannot write '%s'", file->path);
}

enum tp_status tp_output_file_close(struct tp_output_file *file, enum tp_status so_far,
				    struct tp_error *err)
{
	enum tp_status status = close_stream(file, so_far == TP_OK ? err : NULL);
	if (so_far != TP_OK)
		status = so_far;
	if (!file->temporary)
		return status;
	if (status == TP_OK && rename(file->temporary, file->path) != 0)
		status = tp_fail_errno(err, errno, "cannot write '%s'", file->path);
	if (status != TP_OK)
		unlink(file->temporary);
	tp_interrupt_stop(&file->interrupt);
	free(file->temporary);
	return status;
}
