/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the commit of a git repository from its files. */
#include "git_commit.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LINE_MAX_BYTES = 4096,
	PACKED_MAX_BYTES = 16 << 20, /* larger lists of branches are not searched */
	DEPTH_MAX = 64,              /* folders above */
	REFS_MAX = 5,                /* a symbolic ref may name another; git follows five */
};

/* Reads a file of one line, without its end. False if it is not there, empty or larger. */
static bool read_line(struct tp_buf *out, const char *directory, const char *name)
{
	char *path = tp_asprintf("%s/%s", directory, name);
	tp_buf_clear(out);
	bool is_read = tp_file_read(out, path, LINE_MAX_BYTES, NULL) == TP_OK;
	free(path);
	char *text = is_read ? out->data : NULL;
	if (!text)
		return false;
	text[strcspn(text, "\r\n")] = '\0';
	return *text;
}

static char *absolute(const char *directory, const char *path)
{
	return path[0] == '/' ? tp_strdup(path) : tp_asprintf("%s/%s", directory, path);
}

/* `.git` is a folder, or in other work trees a file that names it. */
static char *git_folder(const char *directory)
{
	static const char names[] = "gitdir: ";
	struct stat info;
	char *path = tp_asprintf("%s/.git", directory);
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return path;
	free(path);
	struct tp_buf line = {0};
	char *folder = NULL;
	if (read_line(&line, directory, ".git") && tp_text_starts_with(line.data, names))
		folder = absolute(directory, line.data + strlen(names));
	tp_buf_release(&line);
	return folder;
}

static char *find_repository(const char *directory)
{
	char *here = tp_strdup(directory);
	char *folder = NULL;
	for (int depth = 0; depth < DEPTH_MAX && !folder; depth++) {
		folder = git_folder(here);
		char *slash = strrchr(here, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	free(here);
	return folder;
}

/* The folder with the branches that all work trees share. */
static char *common_folder(const char *folder)
{
	struct tp_buf line = {0};
	char *common = read_line(&line, folder, "commondir") ? absolute(folder, line.data)
							     : tp_strdup(folder);
	tp_buf_release(&line);
	return common;
}

/* SHA-1 or SHA-256. */
static bool is_hash(const char *text, size_t len)
{
	if (len != 40 && len != 64)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Lines of packed-refs are "HASH REF". */
static const char *find_packed(const char *common, const char *ref, struct tp_arena *arena)
{
	char *path = tp_asprintf("%s/packed-refs", common);
	struct tp_buf text = {0};
	const char *found = NULL;
	enum tp_status status = tp_file_read(&text, path, PACKED_MAX_BYTES, NULL);
	free(path);
	for (const char *line = status == TP_OK ? tp_buf_text(&text) : ""; *line && !found;) {
		size_t len = strcspn(line, "\n");
		size_t hash = strcspn(line, " \n");
		if (is_hash(line, hash) && len > hash && len - hash - 1 == strlen(ref) &&
		    strncmp(line + hash + 1, ref, strlen(ref)) == 0)
			found = tp_arena_strndup(arena, line, hash);
		line += len + (line[len] == '\n');
	}
	tp_buf_release(&text);
	return found;
}

static const char *read_ref(const char *folder, const char *common, struct tp_arena *arena)
{
	static const char symbolic[] = "ref: ";
	struct tp_buf line = {0};
	const char *found = NULL;
	char *ref = tp_strdup("HEAD");
	for (int i = 0; i < REFS_MAX && !found; i++) {
		if (strstr(ref, ".."))
			break;
		if (!read_line(&line, folder, ref) && !read_line(&line, common, ref)) {
			found = find_packed(common, ref, arena);
			break;
		}
		if (is_hash(line.data, strlen(line.data)))
			found = tp_arena_strdup(arena, line.data);
		else if (tp_text_starts_with(line.data, symbolic)) {
			free(ref);
			ref = tp_strdup(line.data + strlen(symbolic));
		} else {
			break;
		}
	}
	free(ref);
	tp_buf_release(&line);
	return found;
}

const char *tp_git_commit_read(const char *directory, struct tp_arena *arena)
{
	char *folder = find_repository(directory);
	if (!folder)
		return NULL;
	char *common = common_folder(folder);
	const char *commit = read_ref(folder, common, arena);
	free(common);
	free(folder);
	return commit;
}
