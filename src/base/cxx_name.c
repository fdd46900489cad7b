/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names out of mangled C++ symbols and skips their types. */
#include "trainprof/base/cxx_name.h"

#include <ctype.h>
#include <string.h>

/* The rest of the symbol, and what was found so far. */
struct name_reader {
	const char *at;
	char *out;
	size_t size;
	size_t n;
	unsigned n_literals; /* literals nested in each other */
};

/* Bound on templates in the types of literals in templates; no compiler nests deeper. */
enum { LITERALS_MAX = 32 };

/* Parses "4next" as 4 and advances past the number; returns 0 if the name would end beyond the
 * symbol. */
static size_t read_length(struct name_reader *reader)
{
	size_t length = 0;
	while (isdigit((unsigned char)*reader->at) && length < 65536)
		length = 10 * length + (size_t)(*reader->at++ - '0');
	return strnlen(reader->at, length) == length ? length : 0;
}

static void append(struct name_reader *reader, const char *text, size_t length)
{
	for (size_t i = 0; i < length && reader->n + 1 < reader->size; i++)
		reader->out[reader->n++] = text[i];
}

static bool read_identifier(struct name_reader *reader)
{
	size_t length = read_length(reader);
	if (!length)
		return false;
	if (reader->n)
		append(reader, "::", 2);
	append(reader, reader->at, length);
	reader->at += length;
	return true;
}

/* S_, S0_, St, Sa …; T_, T0_ */
static void skip_reference(struct name_reader *reader)
{
	bool is_standard = reader->at[0] == 'S' && islower((unsigned char)reader->at[1]);
	if (is_standard) {
		reader->at += 2;
		return;
	}
	reader->at += strcspn(reader->at, "_");
	reader->at += *reader->at == '_';
}

/* Recognises "T_" and "T0_" by looking a few characters ahead only, so that long names stay
 * fast. */
static bool is_reference(const char *at)
{
	enum { NAME_MAX_LENGTH = 16 };
	size_t n = 1;
	if (*at != 'T')
		return *at == 'S';
	while (n < NAME_MAX_LENGTH &&
	       (isdigit((unsigned char)at[n]) || isupper((unsigned char)at[n])))
		n++;
	return at[n] == '_';
}

static bool skip_arguments(struct name_reader *reader);

/* A literal: "Li5E", "LN4mine4KindE0E"; its digits are not the length of a name. */
static bool skip_literal(struct name_reader *reader)
{
	bool has_named_type = reader->at[1] == 'N' || isdigit((unsigned char)reader->at[1]);
	reader->at++;
	if (has_named_type) {
		/* Names may contain E too. */
		bool is_good = ++reader->n_literals <= LITERALS_MAX && skip_arguments(reader);
		reader->n_literals--;
		if (!is_good)
			return false;
	}
	reader->at += strcspn(reader->at, "E");
	reader->at += *reader->at == 'E';
	return true;
}

/* Skips a letter of a type or an expression; some letters open a pair that E closes. */
static void skip_letter(struct name_reader *reader, size_t *depth)
{
	const char *at = reader->at;
	bool is_long =
		(at[0] == 'U' && at[1] == 'l') || (at[0] == 'D' && (at[1] == 't' || at[1] == 'T'));
	*depth += is_long || strchr("INXJFZ", at[0]);
	*depth -= at[0] == 'E';
	reader->at += is_long ? 2 : 1;
}

/* Skips one template argument; returns false at the end of the symbol. */
static bool skip_item(struct name_reader *reader, size_t *depth)
{
	char c = *reader->at;
	if (c == '\0')
		return false;
	if (isdigit((unsigned char)c)) {
		size_t length = read_length(reader);
		reader->at += length;
		return length > 0;
	}
	if (is_reference(reader->at)) {
		skip_reference(reader);
	} else if (strncmp(reader->at, "L_Z", 3) == 0) {
		(*depth)++; /* the address of something */
		reader->at += 3;
	} else if (c == 'L') {
		return skip_literal(reader);
	} else if (c == 'A' || (c == 'U' && reader->at[1] == 't')) {
		reader->at += strcspn(reader->at, "_"); /* sizes and numbers */
	} else {
		skip_letter(reader, depth);
	}
	return true;
}

/* Skips one item, and everything up to its E if it opens a pair: the arguments between I and E, or
 * a type. */
static bool skip_arguments(struct name_reader *reader)
{
	size_t depth = 0;
	do {
		if (!skip_item(reader, &depth))
			return false;
	} while (depth);
	return true;
}

/* Reads the names between N and its E. */
static bool read_nested(struct name_reader *reader)
{
	reader->at++;
	reader->at += strspn(reader->at, "rVKRO");
	while (*reader->at && *reader->at != 'E') {
		char c = *reader->at;
		bool is_good = true;
		if (isdigit((unsigned char)c))
			is_good = read_identifier(reader);
		else if (c == 'I')
			is_good = skip_arguments(reader);
		else if (c == 'S' || c == 'T')
			skip_reference(reader);
		else if (c == 'L')
			reader->at++;
		else if (c == 'B' && isdigit((unsigned char)*++reader->at))
			reader->at += read_length(reader);
		else if ((c == 'C' || c == 'D') && isdigit((unsigned char)reader->at[1]))
			reader->at += 2;
		else
			return reader->n > 0; /* an operator or a lambda: the enclosing class or
						 function is known */
		if (!is_good)
			return false;
	}
	return reader->n > 0;
}

bool tp_cxx_name_demangle(char *out, size_t size, const char *symbol)
{
	char found[512];
	struct name_reader reader = {.at = symbol + 2, .out = found, .size = sizeof(found)};
	if (strncmp(symbol, "_Z", 2) != 0 || !size)
		return false;
	reader.at += strspn(reader.at, "Z");
	if (strncmp(reader.at, "St", 2) == 0)
		reader.at += 2;
	reader.at += *reader.at == 'L';
	bool is_good = *reader.at == 'N' ? read_nested(&reader) : read_identifier(&reader);
	if (!is_good)
		return false;
	size_t length = reader.n < size - 1 ? reader.n : size - 1;
	memcpy(out, found, length);
	out[length] = '\0';
	return true;
}
