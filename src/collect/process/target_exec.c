/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a program in PATH, executes it, and explains failures. */
#include "target_exec.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, HEAD_SIZE = 256, STATUS_NOT_RUNNABLE = 126, STATUS_NOT_FOUND = 127 };

static const char elf_magic[4] = {'\177', 'E', 'L', 'F'};

/* Joins the next directory of PATH with `file`; false at the end. An empty entry is the current
 * directory. */
static bool search_next(const char **rest, const char *file, char *out, size_t size)
{
	while (*rest) {
		size_t len = strcspn(*rest, ":");
		int n = snprintf(out, size, "%.*s%s%s", (int)len, *rest, len ? "/" : "", file);
		*rest = (*rest)[len] ? *rest + len + 1 : NULL;
		if (n > 0 && (size_t)n < size)
			return true;
	}
	return false;
}

static const char *search_path(void)
{
	const char *path = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
	return path ? path : "/bin:/usr/bin";
}

/* Reads the first bytes of a file, NUL-terminated; 0 if it cannot be read. */
static size_t read_head(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	ssize_t len = read(fd, out, size - 1);
	close(fd);
	out[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
}

/* A file that the kernel does not recognise is run by sh, unless it is a binary after all. */
static int exec_script(const char *path, char *const *argv, char *const *env)
{
	char head[HEAD_SIZE];
	size_t len = read_head(path, head, sizeof(head));
	if (len == 0 || memchr(head, 0, len) ||
	    (len >= sizeof(elf_magic) && memcmp(head, elf_magic, sizeof(elf_magic)) == 0))
		return ENOEXEC;
	size_t n = 0;
	while (argv[n])
		n++;
	char **script = tp_alloc((n + 2) * sizeof(*script));
	script[0] = tp_strdup("/bin/sh");
	script[1] = tp_strdup(path);
	for (size_t i = 1; i < n; i++)
		script[i + 1] = argv[i];
	execve(script[0], script, env);
	return errno;
}

static int exec_one(const char *path, char *const *argv, char *const *env)
{
	execve(path, argv, env);
	return errno == ENOEXEC ? exec_script(path, argv, env) : errno;
}

int tp_target_exec(char *const *argv, char *const *env)
{
	if (strchr(argv[0], '/'))
		return exec_one(argv[0], argv, env);
	if (!*argv[0])
		return ENOENT;
	char path[PATH_SIZE];
	int cause = ENOENT;
	const char *rest = search_path();
	while (search_next(&rest, argv[0], path, sizeof(path))) {
		int failure = exec_one(path, argv, env);
		if (failure == ENOENT && access(path, F_OK) == 0)
			return failure; /* the file exists, but not its loader */
		if (failure != ENOENT && failure != ENOTDIR && failure != EACCES)
			return failure;
		/* Continue, because a later directory may have a usable one. A directory without
		 * search permission counts as empty, as in shells: root's PATH often remains set
		 * for other users. */
		if (failure == EACCES && access(path, F_OK) == 0)
			cause = EACCES;
	}
	return cause;
}

/* Finds the path of `file`, searched like exec does. */
static bool find_file(const char *file, char *out, size_t size)
{
	if (strchr(file, '/')) {
		snprintf(out, size, "%s", file);
		return access(out, F_OK) == 0;
	}
	const char *rest = search_path();
	while (*file && search_next(&rest, file, out, size))
		if (access(out, F_OK) == 0)
			return true;
	return false;
}

/* "#!/usr/bin/env python3" names /usr/bin/env. */
static bool find_script_interpreter(const char *head, char *out, size_t size)
{
	if (strncmp(head, "#!", 2) != 0)
		return false;
	const char *name = head + 2 + strspn(head + 2, " \t");
	snprintf(out, size, "%.*s", (int)strcspn(name, " \t\r\n"), name);
	return *out != '\0';
}

/* Offsets in ELF files of 32 and 64 bits (System V ABI, gABI 4.1, chapters 4 and 5). */
static const struct elf_layout {
	size_t word_bytes;
	size_t table_at; /* in the file's header: offset of the program headers */
	size_t count_at;
	size_t entry_bytes; /* size of a program header */
	size_t offset_at;   /* in a program header: offset of the segment */
	size_t size_at;
} elf_layouts[] = {
	{4, 28, 44, 32, 4, 16},
	{8, 32, 56, 56, 8, 32},
};

enum { ELF_INTERP = 3 }; /* p_type */

/* Reads a number in the byte order of this machine; programs of other machines are not examined. */
static uint64_t number_at(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;
	for (size_t i = size; i-- > 0;)
		number = number << 8 | bytes[i];
	return number;
}

/* Finds the loader's name in the file. */
static bool find_interp(int fd, off_t *offset, size_t *size)
{
	uint8_t head[64];
	uint8_t entry[56];
	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, elf_magic, sizeof(elf_magic)) != 0)
		return false;
	const struct elf_layout *at = &elf_layouts[head[4] == 2];
	uint64_t table = number_at(head + at->table_at, at->word_bytes);
	uint64_t n = number_at(head + at->count_at, 2);
	for (uint64_t i = 0; i < n; i++) {
		if (pread(fd, entry, at->entry_bytes, (off_t)(table + i * at->entry_bytes)) !=
		    (ssize_t)at->entry_bytes)
			return false;
		if (number_at(entry, 4) != ELF_INTERP)
			continue;
		*offset = (off_t)number_at(entry + at->offset_at, at->word_bytes);
		*size = (size_t)number_at(entry + at->size_at, at->word_bytes);
		return true;
	}
	return false;
}

static bool find_loader(const char *path, char *out, size_t size)
{
	off_t offset;
	size_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool found = find_interp(fd, &offset, &len) && len > 1 && len < size &&
		     pread(fd, out, len, offset) == (ssize_t)len;
	close(fd);
	if (found)
		out[len - 1] = '\0';
	return found;
}

/* The file exists, but a file that it needs does not. */
static int explain_missing_loader(const char *file, const char *path, struct tp_error *err)
{
	char head[HEAD_SIZE];
	char loader[PATH_SIZE];
	bool is_script = read_head(path, head, sizeof(head)) &&
			 find_script_interpreter(head, loader, sizeof(loader));
	/* The kernel takes it for a part of the name. */
	if (is_script && strstr(head, loader)[strlen(loader)] == '\r') {
		(void)tp_fail(err, TP_TARGET,
			      "cannot run '%s': its first line ends with a carriage return", file);
		tp_error_next_word(err, "sed -i 's/\\r$//' ", path, "");
	} else if (is_script) {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': its interpreter %s is missing",
			      file, loader);
	} else if (find_loader(path, loader, sizeof(loader))) {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': its loader %s is missing", file,
			      loader);
		tp_error_next_word(err, "ldd ", path, "");
	} else {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': %s", file, tp_errno_text(ENOENT));
	}
	return STATUS_NOT_RUNNABLE;
}

static int explain_absent(const char *file, struct tp_error *err)
{
	struct stat meta;
	if (strchr(file, '/')) {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': no such file", file);
	} else if (stat(file, &meta) == 0 && S_ISREG(meta.st_mode)) {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': not in PATH", file);
		tp_error_next_word(err, "trainprof run -- ./", file, "");
	} else {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': not in PATH and not a file here",
			      file);
	}
	return STATUS_NOT_FOUND;
}

static int explain_denied(const char *file, const char *path, struct tp_error *err)
{
	struct stat meta;
	size_t len = strlen(path);
	if (stat(path, &meta) == 0 && S_ISDIR(meta.st_mode)) {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': it is a directory", file);
	} else if (stat(path, &meta) == 0 && (meta.st_mode & 0111) == 0) {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': permission denied (no execute bit)",
			      file);
		if (len > 3 && strcmp(path + len - 3, ".py") == 0)
			tp_error_next_word(err, "trainprof run -- python3 ", file, "");
		else
			tp_error_next_word(err, "chmod +x ", path, "");
	} else {
		(void)tp_fail(err, TP_TARGET, "cannot run '%s': permission denied", file);
	}
	return STATUS_NOT_RUNNABLE;
}

int tp_target_exec_explain(const char *file, int cause, struct tp_error *err)
{
	char path[PATH_SIZE];
	bool is_there = find_file(file, path, sizeof(path));
	if (cause == ENOENT && !is_there)
		return explain_absent(file, err);
	if (cause == ENOENT)
		return explain_missing_loader(file, path, err);
	if (cause == EACCES && is_there)
		return explain_denied(file, path, err);
	const char *why =
		cause == ENOEXEC ? "not a program for this machine" : tp_errno_text(cause);
	(void)tp_fail(err, TP_TARGET, "cannot run '%s': %s", file, why);
	return STATUS_NOT_RUNNABLE;
}

enum tp_status tp_target_start_explain(int cause, struct tp_error *err)
{
	static const char what[] = "cannot start a process for the program";
	if (cause == EAGAIN && syscall(SYS_sched_getscheduler, 0) == SCHED_DEADLINE) {
		(void)tp_fail(err, TP_TARGET, "%s: SCHED_DEADLINE allows only one", what);
		tp_error_next(err, "trainprof run -- chrt --deadline …");
	} else {
		(void)tp_fail_errno(err, cause, "%s", what);
		if (cause == EAGAIN)
			tp_error_next(err, "ulimit -u");
	}
	if (err)
		err->status = TP_TARGET;
	return TP_TARGET;
}
