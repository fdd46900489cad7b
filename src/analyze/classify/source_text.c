/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines of a program's own source. */
#include "source_text.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SOURCE_BYTES = 2 << 20 };

static const uint64_t NS_PER_S = 1000000000;

/* A file that was changed after the run began may be another program. Without a date nothing is
 * known. */
static bool is_of_run(const struct tp_trace *trace, const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_mtim.tv_sec >= 0 &&
	       (uint64_t)info.st_mtim.tv_sec <= trace->run.started_wall_ns / NS_PER_S;
}

static void split_lines(struct tp_source_file *file)
{
	size_t capacity = 0;
	size_t indents_capacity = 0;
	char *at = file->text.data;
	while (at && *at) {
		size_t indent = strspn(at, " \t");
		at += indent;
		TP_ARRAY_PUSH(file->indents, file->n_indents, indents_capacity) = (uint32_t)indent;
		TP_ARRAY_PUSH(file->lines, file->n_lines, capacity) = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
}

static struct tp_source_file load(const struct tp_source_text *text, uint32_t path)
{
	struct tp_source_file file = {0};
	const char *name = tp_trace_string(text->trace, path);
	const char *folder = text->trace->run.directory;
	char *whole =
		name[0] == '/' || !folder ? tp_strdup(name) : tp_asprintf("%s/%s", folder, name);
	if (is_of_run(text->trace, whole) &&
	    tp_file_read(&file.text, whole, MAX_SOURCE_BYTES, NULL) == TP_OK)
		split_lines(&file);
	free(whole);
	return file;
}

static const struct tp_source_file *find_file(struct tp_source_text *text, uint32_t path)
{
	uint64_t at;
	if (!tp_map_get(&text->index, path, &at)) {
		at = text->n_files;
		struct tp_source_file file = load(text, path);
		TP_ARRAY_PUSH(text->files, text->n_files, text->capacity) = file;
		tp_map_set(&text->index, path, at);
	}
	return &text->files[at];
}

const char *tp_source_text_line(struct tp_source_text *text, uint32_t path, uint32_t line)
{
	const struct tp_source_file *file = find_file(text, path);
	return line && line <= file->n_lines ? file->lines[line - 1] : "";
}

bool tp_source_text_holds(struct tp_source_text *text, uint32_t path, const char *what)
{
	const struct tp_source_file *file = find_file(text, path);
	for (size_t i = 0; i < file->n_lines; i++)
		if (file->lines[i][0] != '#' && strstr(file->lines[i], what))
			return true;
	return false;
}

static bool starts_with_any(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tp_text_starts_with(text, words[i]))
			return true;
	return false;
}

bool tp_source_text_is_in_loop(struct tp_source_text *text, uint32_t path, uint32_t line)
{
	static const char *const loops[] = {"for ", "while ", "async for "};
	static const char *const bodies[] = {"def ", "async def ", "class "};
	const struct tp_source_file *file = find_file(text, path);
	if (!line || line > file->n_lines)
		return false;
	const char *own = file->lines[line - 1];
	const char *inner = strstr(own, " for ");
	if (inner && strstr(inner, " in "))
		return true;
	uint32_t indent = file->indents[line - 1];
	for (size_t i = line - 1; i-- > 0 && indent;) {
		if (!file->lines[i][0] || file->lines[i][0] == '#' || file->indents[i] >= indent)
			continue;
		indent = file->indents[i];
		if (starts_with_any(file->lines[i], loops, TP_ARRAY_LEN(loops)))
			return true;
		if (starts_with_any(file->lines[i], bodies, TP_ARRAY_LEN(bodies)))
			return false;
	}
	return false;
}

void tp_source_text_release(struct tp_source_text *text)
{
	for (size_t i = 0; i < text->n_files; i++) {
		tp_buf_release(&text->files[i].text);
		free(text->files[i].lines);
		free(text->files[i].indents);
	}
	free(text->files);
	tp_map_release(&text->index);
	*text = (struct tp_source_text){.trace = text->trace};
}
