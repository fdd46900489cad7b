/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the text of a line with an idiom. */
#include "idiom_line.h"

#include "pattern_tables.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stddef.h>
#include <string.h>

static bool is_name_char(char c)
{
	return c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Detects self.seen = cat((self.seen, new)): an attribute persists from call to call, and so does
 * what was appended. A plain name is usually created again each time. */
bool tp_idiom_line_is_growth(const char *code)
{
	size_t n = 0;
	bool is_attribute = false;
	for (; is_name_char(code[n]); n++)
		is_attribute |= code[n] == '.';
	if (!is_attribute || strncmp(code + n, " = ", 3) != 0)
		return false;
	for (const char *at = code + n + 3; *at; at++)
		if (strncmp(at, code, n) == 0 && !is_name_char(at[-1]) && !is_name_char(at[n]))
			return true;
	return false;
}

/* Returns the length of the name that is called there, "append" of "rows.append(". */
static size_t called_name(const char *code, const char *open)
{
	size_t len = 0;
	while (open - len > code && is_name_char(open[-1 - (ptrdiff_t)len]) &&
	       open[-1 - (ptrdiff_t)len] != '.')
		len++;
	return len;
}

static bool is_short_call(const char *name, size_t len)
{
	static const char *const names[] = {"append", "enumerate", "items",  "keys", "len",
					    "range",  "strip",     "values", "zip"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return true;
	return false;
}

/* True if the idiom names that call, "float(" in "*float(x) for*". */
static bool is_call_of_way(const struct tp_idiom_way *way, const char *name, size_t len)
{
	for (const char **glob = way->code; len && *glob; glob++)
		for (const char *at = strchr(*glob, '('); at; at = strchr(at + 1, '('))
			if (called_name(*glob, at) == len && strncmp(at - len, name, len) == 0)
				return true;
	return false;
}

/* True if the line makes calls that cost time besides those of the idiom. A call is a parenthesis
 * right behind a name, a subscript or another call. Where the idiom's names are patterns one of the
 * calls is the idiom's. */
bool tp_idiom_line_has_others(const struct tp_idiom_way *way, const char *code)
{
	unsigned n_others = 0;
	unsigned n_own = 0;
	for (const char *at = strchr(code, '('); at; at = strchr(at + 1, '(')) {
		bool is_call =
			at > code && (is_name_char(at[-1]) || at[-1] == ')' || at[-1] == ']');
		size_t len = called_name(code, at);
		if (is_call && is_call_of_way(way, at - len, len))
			n_own++;
		else if (is_call && !is_short_call(at - len, len))
			n_others++;
	}
	return n_others > (n_own ? 0 : 1);
}

bool tp_idiom_line_fits(const struct tp_idiom_way *way, const char *text, const char *lower)
{
	if (way->not_code && tp_pattern_any_glob(way->not_code, lower))
		return false;
	for (const char **glob = way->code; glob && *glob && text[0]; glob++)
		if (tp_text_glob(*glob, way->has_capitals ? text : lower))
			return true;
	return !way->code;
}
