/* SPDX-License-Identifier: Apache-2.0 */
/* Parses patterns for single frames and matches them. */
#include "frame_glob.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

enum {
	MAX_GLOB_NAME = 512,
	MIN_LITERAL = 3, /* of a file or library name */
	MIN_NAME = 6,    /* of a function name that may be in any file or library */
};

static const char *const prefixes[TP_N_GLOB_PLACES] = {"c:", "k:", "py:", "own:"};

/* Splits "a|b" and converts it to lower case; *n_literal is that of the least specific
 * alternative. */
static const char **split_globs(struct tp_arena *arena, const char *text, size_t len,
				unsigned *n_literal)
{
	char lower[MAX_GLOB_NAME];
	char *copy = tp_arena_strndup(arena, text, len);
	copy = tp_arena_strdup(arena, tp_pattern_lower(lower, sizeof(lower), copy));
	size_t n = 1;
	for (const char *p = copy; *p; p++)
		n += *p == '|';
	const char **globs = tp_arena_array(arena, n + 1, sizeof(*globs));
	*n_literal = MAX_GLOB_NAME;
	for (size_t i = 0; i < n; i++) {
		char *end = strchr(copy, '|');
		if (end)
			*end = '\0';
		globs[i] = copy;
		unsigned literal = 0;
		for (const char *p = copy; *p; p++)
			literal += *p != '*' && *p != '?';
		*n_literal = literal < *n_literal ? literal : *n_literal;
		copy = end ? end + 1 : copy;
	}
	return globs;
}

static enum tp_glob_place place_of_text(const char *text)
{
	int place = 0;
	while (place < TP_N_GLOB_PLACES && !tp_text_starts_with(text, prefixes[place]))
		place++;
	return (enum tp_glob_place)place;
}

enum tp_status tp_frame_glob_read(struct tp_frame_glob *out, const struct tp_pattern_row *row,
				  const struct tp_json *text, struct tp_error *err)
{
	const char *written = tp_json_string(text);
	enum tp_glob_place place = written ? place_of_text(written) : TP_N_GLOB_PLACES;
	if (place == TP_N_GLOB_PLACES || strlen(written) >= MAX_GLOB_NAME)
		return tp_pattern_row_fail(row, text,
					   "no frame as c:MODULE:FUNCTION, k:, py: or own:",
					   written ? written : "(not a string)", NULL, err);
	*out = (struct tp_frame_glob){.place = place};
	const char *rest = written + strlen(prefixes[place]);
	unsigned n_of_file = 0;
	if (place == TP_GLOB_NATIVE || place == TP_GLOB_LIBRARY) {
		const char *colon = strchr(rest, ':');
		if (!colon)
			return tp_pattern_row_fail(row, text, "no function in", written, NULL, err);
		out->where = split_globs(row->arena, rest, (size_t)(colon - rest), &n_of_file);
		rest = colon + 1;
	}
	out->function = split_globs(row->arena, rest, strlen(rest), &out->n_literal);
	if (out->where && n_of_file < MIN_LITERAL && out->n_literal < MIN_NAME)
		return tp_pattern_row_fail(row, text, "fits any file or library:", written, NULL,
					   err);
	out->n_literal += n_of_file;
	return TP_OK;
}

/* ---- frames ---- */

/* Returns the path below the folder that contains libraries; NULL if it is in none. */
static const char *library_path(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *found = NULL;
	for (size_t i = 0; i < TP_ARRAY_LEN(folders); i++)
		for (const char *p = strstr(path, folders[i]); p; p = strstr(p, folders[i]))
			found = p = p + strlen(folders[i]);
	if (found)
		return found;
	const char *standard = strstr(path, "/lib/python3");
	standard = standard ? strchr(standard + strlen("/lib/"), '/') : NULL;
	return standard ? standard + 1 : NULL;
}

struct tp_glob_subject tp_glob_subject_of(const struct tp_trace *trace,
					  const struct tp_frame *frame, bool is_own)
{
	struct tp_glob_subject subject = {.place = TP_N_GLOB_PLACES,
					  .where = "",
					  .function = tp_trace_string(trace, frame->symbol)};
	if (frame->kind == TP_FRAME_KERNEL) {
		subject.place = TP_GLOB_KERNEL;
	} else if (frame->kind != TP_FRAME_PYTHON) {
		subject.place = TP_GLOB_NATIVE;
		subject.where = tp_text_base_name(tp_trace_string(trace, frame->module));
	} else {
		const char *below = library_path(tp_trace_string(trace, frame->file));
		subject.place = below ? TP_GLOB_LIBRARY : is_own ? TP_GLOB_OWN : TP_N_GLOB_PLACES;
		subject.where = below ? below : "";
	}
	return subject;
}

bool tp_glob_subject_parse(struct tp_glob_subject *out, char *text)
{
	enum tp_glob_place place = place_of_text(text);
	if (place == TP_N_GLOB_PLACES)
		return false;
	char *rest = text + strlen(prefixes[place]);
	*out = (struct tp_glob_subject){.place = place, .where = "", .function = rest};
	if (place == TP_GLOB_KERNEL || place == TP_GLOB_OWN)
		return true;
	char *colon = strchr(rest, ':');
	if (!colon)
		return false;
	*colon = '\0';
	out->function = colon + 1;
	out->where = place == TP_GLOB_NATIVE ? rest : library_path(rest);
	if (!out->where)
		*out = (struct tp_glob_subject){.place = TP_GLOB_OWN,
						.where = "",
						.function = colon + 1};
	return true;
}

/* ---- matching ---- */

bool tp_frame_glob_fits_file(const struct tp_frame_glob *glob, enum tp_glob_place place,
			     const char *where)
{
	return glob->place == place && (!glob->where || tp_pattern_any_glob(glob->where, where));
}

bool tp_frame_glob_fits_function(const struct tp_frame_glob *glob, const char *function)
{
	if (tp_pattern_any_glob(glob->function, function))
		return true;
	if (glob->place != TP_GLOB_LIBRARY && glob->place != TP_GLOB_OWN)
		return false;
	const char *dot = strrchr(function, '.');
	return dot && tp_pattern_any_glob(glob->function, dot + 1);
}

bool tp_frame_glob_fits(const struct tp_frame_glob *glob, const struct tp_glob_subject *subject)
{
	char where[MAX_GLOB_NAME];
	char function[MAX_GLOB_NAME];
	return tp_frame_glob_fits_file(glob, subject->place,
				       tp_pattern_lower(where, sizeof(where), subject->where)) &&
	       tp_frame_glob_fits_function(glob, tp_pattern_lower(function, sizeof(function),
								  subject->function));
}
