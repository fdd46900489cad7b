/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines of a program's own source. */
#include "source_text.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
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

/* Returns the line of the innermost loop around that line in its function; 0 if there is none. */
static uint32_t outer_loop(const struct tp_source_file *file, uint32_t line)
{
	static const char *const loops[] = {"for ", "while ", "async for "};
	static const char *const bodies[] = {"def ", "async def ", "class "};
	uint32_t indent = file->indents[line - 1];
	for (uint32_t i = line - 1; i-- > 0 && indent;) {
		if (!file->lines[i][0] || file->lines[i][0] == '#' || file->indents[i] >= indent)
			continue;
		indent = file->indents[i];
		if (starts_with_any(file->lines[i], loops, TP_ARRAY_LEN(loops)))
			return i + 1;
		if (starts_with_any(file->lines[i], bodies, TP_ARRAY_LEN(bodies)))
			return 0;
	}
	return 0;
}

/* Returns the " for x in" of a comprehension in that line, or NULL. */
static const char *inner_loop(const char *line)
{
	const char *inner = strstr(line, " for ");
	return inner && strstr(inner, " in ") ? inner : NULL;
}

bool tp_source_text_is_in_loop(struct tp_source_text *text, uint32_t path, uint32_t line)
{
	const struct tp_source_file *file = find_file(text, path);
	return line && line <= file->n_lines &&
	       (inner_loop(file->lines[line - 1]) || outer_loop(file, line));
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns true if the name alone stands between the bracket and its end, or between commas there:
 * "x[i]", "y[b, mask]". */
static bool is_index_in(const char *bracket, const char *name, size_t len)
{
	int depth = 0;
	bool is_begin = true;
	for (const char *p = bracket + 1; *p && depth >= 0; p++) {
		bool is_name = is_begin && depth == 0 && strncmp(p, name, len) == 0;
		const char *end = is_name ? p + len + strspn(p + len, " ") : p;
		if (is_name && (*end == ',' || *end == ']'))
			return true;
		is_begin = (is_begin && *p == ' ') || (depth == 0 && *p == ',');
		depth += (strchr("[(", *p) != NULL) - (strchr("])", *p) != NULL);
	}
	return false;
}

static bool is_indexed_by(const char *line, const char *name, size_t len)
{
	for (const char *at = strchr(line, '['); at; at = strchr(at + 1, '['))
		if (at > line && (is_name_char(at[-1]) || at[-1] == ']' || at[-1] == ')') &&
		    is_index_in(at, name, len))
			return true;
	return false;
}

static bool ends_with_name(const char *line, const char *end, const char *name, size_t len)
{
	if ((size_t)(end - line) < len || strncmp(end - len, name, len) != 0)
		return false;
	const char *begin = end - len;
	return begin == line || !(is_name_char(begin[-1]) || begin[-1] == '.');
}

/* Keys of a dictionary are no positions: "for k in grads" beside "grads[k]", or "in d.items()". */
static bool is_over_keys(const char *line, const char *name, size_t len, const char *iterated)
{
	size_t n = 0;
	while (is_name_char(iterated[n]) || iterated[n] == '.')
		n++;
	if (iterated[n] == '(')
		return n > 6 && (strncmp(iterated + n - 6, ".items", 6) == 0 ||
				 strncmp(iterated + n - 5, ".keys", 5) == 0);
	for (const char *at = strchr(line, '['); n && at; at = strchr(at + 1, '['))
		if (ends_with_name(line, at, iterated, n) && is_index_in(at, name, len))
			return true;
	return false;
}

/* `loop` is "for i, x in enumerate(y)"; returns true if the line reads an element by one of its
 * variables. */
static bool is_indexed_by_loop(const char *line, const char *loop)
{
	const char *first = strstr(loop, "for ");
	const char *end = first ? strstr(first, " in ") : NULL;
	if (!end)
		return false;
	for (const char *p = first + 4; p < end; p++) {
		size_t len = 0;
		while (p + len < end && is_name_char(p[len]))
			len++;
		if (len && is_indexed_by(line, p, len) && !is_over_keys(line, p, len, end + 4))
			return true;
		p += len;
	}
	return false;
}

bool tp_source_text_is_by_index(struct tp_source_text *text, uint32_t path, uint32_t line)
{
	const struct tp_source_file *file = find_file(text, path);
	if (!line || line > file->n_lines)
		return false;
	const char *own = file->lines[line - 1];
	const char *inner = inner_loop(own);
	bool is_by_index = inner && is_indexed_by_loop(own, inner);
	for (uint32_t loop = line; !is_by_index && (loop = outer_loop(file, loop)) != 0;)
		is_by_index = is_indexed_by_loop(own, file->lines[loop - 1]);
	return is_by_index;
}

static bool is_text_line(const struct tp_source_file *file, uint32_t line)
{
	return file->lines[line - 1][0] && file->lines[line - 1][0] != '#';
}

/* A pause until a certain time waits for nothing that could wake it. */
static bool reads_clock(const char *head)
{
	return strstr(head, "time(") || strstr(head, "perf_counter") || strstr(head, "monotonic");
}

bool tp_source_text_is_poll(struct tp_source_text *text, uint32_t path, uint32_t line)
{
	const struct tp_source_file *file = find_file(text, path);
	if (!line || line > file->n_lines)
		return false;
	uint32_t loop = tp_text_starts_with(file->lines[line - 1], "while ")
				? line
				: outer_loop(file, line);
	const char *head = loop ? file->lines[loop - 1] : "";
	if (!tp_text_starts_with(head, "while ") || tp_text_starts_with(head, "while True") ||
	    tp_text_starts_with(head, "while 1") || reads_clock(head))
		return false;
	for (uint32_t i = loop + 1; i <= file->n_lines; i++) {
		if (!is_text_line(file, i))
			continue;
		if (file->indents[i - 1] <= file->indents[loop - 1])
			break;
		if (i != line)
			return false;
	}
	return true;
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
