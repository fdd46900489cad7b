/* SPDX-License-Identifier: Apache-2.0 */
/* Runs addr2line: it supports every version of DWARF, and is installed with compilers. */
#include "native_lines.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_usable(const struct tp_native_lines_query *query)
{
	struct stat info;
	if (stat(query->module, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	uint64_t written_ns =
		(uint64_t)info.st_mtim.tv_sec * TP_NS_PER_S + (uint64_t)info.st_mtim.tv_nsec;
	return !query->older_than_ns || written_ns <= query->older_than_ns;
}

/* addr2line -e MODULE ADDRESS...; NULL-terminated, all on the heap. */
static char **make_arguments(const struct tp_native_lines_query *query)
{
	char **argv = tp_alloc((query->n + 5) * sizeof(*argv));
	size_t n = 0;
	argv[n++] = tp_strdup("addr2line");
	argv[n++] = tp_strdup("-e");
	argv[n++] = tp_strdup(query->module);
	argv[n++] = tp_strdup("--");
	for (size_t i = 0; i < query->n; i++)
		argv[n++] = tp_asprintf("0x%llx", (unsigned long long)query->addresses[i]);
	return argv;
}

static void free_arguments(char **argv)
{
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* Returns its stdout; -1 if it could not be started. */
static int start_program(char **argv, pid_t *pid)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	if (*pid < 0)
		close(ends[0]);
	return *pid < 0 ? -1 : ends[0];
}

/* "/src/loop.c:12 (discriminator 3)"; the file's name may contain colons. */
static uint32_t parse_line(char *text)
{
	char *colon = strrchr(text, ':');
	if (!colon || strncmp(text, "??", 2) == 0)
		return 0;
	*colon = '\0';
	return (uint32_t)strtoul(colon + 1, NULL, 10);
}

static size_t read_lines(FILE *out, size_t n, char *file, size_t size, uint32_t *lines)
{
	char *text = NULL;
	size_t capacity = 0;
	size_t n_known = 0;
	for (size_t i = 0; i < n && getline(&text, &capacity, out) >= 0; i++) {
		text[strcspn(text, "\n")] = '\0';
		uint32_t line = parse_line(text);
		if (line && !n_known)
			snprintf(file, size, "%s", text);
		lines[i] = line && strcmp(text, file) == 0 ? line : 0;
		n_known += lines[i] != 0;
	}
	free(text);
	return n_known;
}

bool tp_native_lines_find(const struct tp_native_lines_query *query, char *file, size_t size,
			  uint32_t *lines)
{
	pid_t pid = -1;
	size_t n_known = 0;
	if (!query->n || !is_usable(query))
		return false;
	char **argv = make_arguments(query);
	int fd = start_program(argv, &pid);
	FILE *out = fd >= 0 ? fdopen(fd, "r") : NULL;
	file[0] = '\0';
	if (out)
		n_known = read_lines(out, query->n, file, size, lines);
	if (out)
		fclose(out);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	free_arguments(argv);
	return n_known != 0;
}
