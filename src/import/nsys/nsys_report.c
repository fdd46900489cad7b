/* SPDX-License-Identifier: Apache-2.0 */
/* Reads reports of nsys in its private format (.nsys-rep) if nsys is installed: nsys exports them
 * to a database in a temporary folder, which is then read. */
#include "import/reader/importer.h"

#include "trainprof/base/memory.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { COMPLAINT_MAX = 600 };

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path);
	size_t n = strlen(suffix);
	return len > n && strcasecmp(path + len - n, suffix) == 0;
}

static bool is_on_path(const char *program)
{
	const char *at = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
	bool is_found = false;
	while (at && *at && !is_found) {
		size_t len = strcspn(at, ":");
		char *path = tp_asprintf("%.*s/%s", (int)len, at, program);
		is_found = access(path, X_OK) == 0;
		free(path);
		at += len + (at[len] == ':');
	}
	return is_found;
}

static bool report_matches(const char *path)
{
	return (has_suffix(path, ".nsys-rep") || has_suffix(path, ".qdrep")) && is_on_path("nsys");
}

/* Writes the output of nsys to `log`. Returns its exit status, or -1 if it could not be started. */
static int export_run(const char *path, const char *target, const char *log)
{
	const char *const command[] = {"nsys",  "export", "--type", "sqlite", "--force-overwrite",
				       "false", "-o",     target,   path,     NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int state = 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
					 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	int failure = posix_spawnp(&pid, command[0], &actions, NULL,
				   (char *const *)(uintptr_t)command, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failure || waitpid(pid, &state, 0) != pid)
		return -1;
	return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

/* Quotes the end of the output of nsys, which contains the reason. */
static enum tp_status fail_export(const char *path, const char *log, struct tp_error *err)
{
	char text[COMPLAINT_MAX + 1] = "";
	FILE *file = fopen(log, "r");
	size_t n = 0;
	if (file) {
		if (fseek(file, -COMPLAINT_MAX, SEEK_END))
			rewind(file);
		n = fread(text, 1, COMPLAINT_MAX, file);
		fclose(file);
	}
	while (n && (unsigned char)text[n - 1] <= ' ')
		n--;
	text[n] = '\0';
	(void)tp_fail(err, TP_PARSE, "nsys cannot export '%s': %s", path,
		      n ? text : "it said nothing");
	tp_error_next_word(err, "nsys export --type sqlite ", path,
			   "   (an nsys older than the report refuses it)");
	return TP_PARSE;
}

static enum tp_status report_read(struct tp_import_reader *import,
				  const struct tp_import_source *source, struct tp_error *err)
{
	const char *base = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
	char *folder = tp_asprintf("%s/trainprof-nsys-XXXXXX", base && *base ? base : "/tmp");
	char *target = NULL;
	char *log = NULL;
	enum tp_status status;
	if (!mkdtemp(folder)) {
		status = tp_fail(err, TP_IO, "cannot make a folder '%s'", folder);
		free(folder);
		return status;
	}
	target = tp_asprintf("%s/export.sqlite", folder);
	log = tp_asprintf("%s/log", folder);
	struct tp_import_source exported = *source;
	exported.path = target;
	status =
		export_run(source->path, target, log) ? fail_export(source->path, log, err) : TP_OK;
	if (!status)
		status = tp_importer_nsys.read(import, &exported, err);
	unlink(target);
	unlink(log);
	rmdir(folder);
	free(target);
	free(log);
	free(folder);
	return status;
}

/* By the name of the file only: the format is private. */
static bool report_probe(const unsigned char *head, size_t size)
{
	(void)head;
	return size > 0;
}

const struct tp_importer tp_importer_nsys_report = {
	.info = {.name = "nsys",
		 .summary = "report of NVIDIA Nsight Systems (.nsys-rep), exported by nsys",
		 .keeps = "as its SQLite export",
		 .loses = "as its SQLite export"},
	.wants_file = true,
	.recognises = report_probe,
	.matches = report_matches,
	.read = report_read,
};
