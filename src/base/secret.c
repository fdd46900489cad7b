/* SPDX-License-Identifier: Apache-2.0 */
/* Finds secrets by the names that people give them, and by the shapes of well-known tokens. */
#include "trainprof/base/secret.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 96 };

static bool begins_word(const char *name, size_t i)
{
	return i && isupper((unsigned char)name[i]) && islower((unsigned char)name[i - 1]);
}

static char lower_or_dash(char c)
{
	unsigned char byte = (unsigned char)c;
	return (char)(isalnum(byte) ? tolower(byte) : '-');
}

/* Converts a name to lower case with single dashes between words: "HF_TOKEN" -> "hf-token". */
static void normalize(char *out, const char *name, size_t len)
{
	size_t n = 0;
	/* Only the end matters, so the end of a longer name is kept. */
	if (len > NAME_MAX_BYTES / 2) {
		name += len - NAME_MAX_BYTES / 2;
		len = NAME_MAX_BYTES / 2;
	}
	for (size_t i = 0; i < len; i++) {
		char now = lower_or_dash(name[i]);
		bool is_open = n && out[n - 1] != '-';
		if (is_open && (now == '-' || begins_word(name, i)))
			out[n++] = '-';
		if (now != '-')
			out[n++] = now;
	}
	if (n && out[n - 1] == '-')
		n--;
	out[n] = '\0';
}

static bool is_in(const char *word, size_t len, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && memcmp(list[i], word, len) == 0)
			return true;
	return false;
}
#define IS_IN(word, len, list) is_in(word, len, list, TP_ARRAY_LEN(list))

/* Returns the start of the last word in the first `len` bytes. */
static const char *last_word(const char *text, size_t len)
{
	while (len && text[len - 1] != '-')
		len--;
	return text + len;
}

/* The variables in which a shell keeps its folder; "--pwd" and "Pwd=" are passwords. */
static bool is_shell_folder(const char *name, size_t len)
{
	return (len == 3 && memcmp(name, "PWD", len) == 0) ||
	       (len == 6 && memcmp(name, "OLDPWD", len) == 0);
}

bool tp_secret_is_name(const char *name, size_t len)
{
	static const char *const anywhere[] = {"password", "passwd", "passphrase", "secret",
					       "credential"};
	static const char *const at_end[] = {"token",  "pass",      "pwd",           "auth",
					     "apikey", "bearer",    "authkey",       "accesskey",
					     "cookie", "signature", "authorization", "sig"};
	/* After these words the value names a file, which is no secret. */
	static const char *const of_files[] = {"file", "path",   "dir", "folder", "name",
					       "type", "length", "len", "size"};
	static const char *const of_texts[] = {"pad",    "eos",     "bos",     "unk",   "mask",
					       "sep",    "cls",     "special", "start", "end",
					       "stop",   "begin",   "image",   "max",   "per",
					       "by",     "decoder", "text",    "audio", "video",
					       "extra",  "add",     "new",     "last",  "prefix",
					       "suffix", "forced"};
	static const char *const of_keys[] = {"sort",   "primary", "foreign",   "monitor",
					      "metric", "dict",    "partition", "group",
					      "image",  "label",   "data",      "input",
					      "output", "index",   "text",      "feature",
					      "cache",  "batch",   "loss",      "state",
					      "record", "by",      "target",    "num"};
	char text[NAME_MAX_BYTES + 1];
	normalize(text, name, len);
	const char *last = last_word(text, strlen(text));
	size_t last_len = strlen(last);
	const char *word = last > text ? last_word(text, (size_t)(last - 1 - text)) : text;
	size_t word_len = last > text ? (size_t)(last - 1 - word) : 0;
	if (is_shell_folder(name, len) || IS_IN(last, last_len, of_files))
		return false;
	for (size_t i = 0; i < TP_ARRAY_LEN(anywhere); i++)
		if (strstr(text, anywhere[i]))
			return true;
	if (strcmp(last, "key") == 0)
		return !IS_IN(word, word_len, of_keys);
	return IS_IN(last, last_len, at_end) && !IS_IN(word, word_len, of_texts);
}

/* ---- values in a text ---------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '\\' || c == '`';
}

/* True if a value ends here that is not quoted and stands among others. */
static bool ends_value(char c)
{
	return !c || is_blank(c) || is_quote(c) || strchr("&,;)}]|<>", c) != NULL;
}

static const char *skip_value(const char *at)
{
	while (!ends_value(*at))
		at++;
	return at;
}

static const char *skip_quoted(const char *at)
{
	while (*at && !is_quote(*at))
		at++;
	return at;
}

/* True if the name before `at` is a secret's: "password" in {"password": and in password = . */
static bool is_after_secret_name(const char *text, const char *at)
{
	while (at > text && (is_blank(at[-1]) || is_quote(at[-1]) || at[-1] == ']'))
		at--;
	const char *end = at;
	while (at > text && is_name_char(at[-1]))
		at--;
	return end > at && tp_secret_is_name(at, (size_t)(end - at));
}

/* Length of "Bearer " or "Basic " including the blank; 0 for anything else. */
static size_t prefix_length(const char *at)
{
	static const char *const schemes[] = {"Bearer ", "Basic ", "Token "};
	for (size_t i = 0; i < TP_ARRAY_LEN(schemes); i++)
		if (strncasecmp(at, schemes[i], strlen(schemes[i])) == 0)
			return strlen(schemes[i]);
	return 0;
}

/* Masks the value after a secret's "=" or ":". `is_whole`: nothing can follow the value. */
static const char *mask_value(struct tp_buf *out, const char *at, bool is_whole)
{
	while (*at == '=' || *at == ':' || is_blank(*at))
		tp_buf_putc(out, *at++);
	const char *begin = at;
	size_t scheme = prefix_length(at);
	tp_buf_add(out, at, scheme);
	at += scheme;
	bool is_quoted = is_quote(*at);
	while (is_quote(*at))
		tp_buf_putc(out, *at++);
	if (is_quoted)
		at = skip_quoted(at);
	else
		at = is_whole ? at + strlen(at) : skip_value(at);
	if (at > begin + scheme)
		tp_buf_puts(out, TP_SECRET_MASK);
	return at;
}

/* "https://user:password@host": `at` is after the slashes. A password may contain slashes; the text
 * after a port may contain an @. */
static const char *mask_address(struct tp_buf *out, const char *at)
{
	enum { TOKEN_BYTES_MIN = 16 };
	const char *end = at;
	const char *sign = NULL;
	for (; *end && !is_blank(*end) && !is_quote(*end); end++)
		if (*end == '@')
			sign = end;
	const char *host_end = at + strcspn(at, "/?#");
	const char *colon = memchr(at, ':', (size_t)(end - at));
	bool has_port = colon && colon < host_end &&
			colon + 1 + strspn(colon + 1, "0123456789") >= host_end;
	if (!sign || (sign > host_end && (!colon || colon > host_end || has_port)))
		return at;
	if (colon && colon < sign)
		tp_buf_add(out, at, (size_t)(colon + 1 - at));
	else if (sign - at < TOKEN_BYTES_MIN)
		return at;
	tp_buf_puts(out, TP_SECRET_MASK);
	return sign;
}

/* Length of a token of a well-known service, recognised by its prefix and minimum length. */
static size_t token_length(const char *at)
{
	enum { TOKEN_REST_MIN = 16 };
	static const char *const begins[] = {"hf_",   "ghp_",        "gho_",   "ghs_",
					     "ghu_",  "github_pat_", "glpat-", "sk-",
					     "xoxb-", "xoxp-",       "AKIA",   "ASIA",
					     "eyJ",   "AIza",        "nvapi-", "pypi-"};
	for (size_t i = 0; i < TP_ARRAY_LEN(begins); i++) {
		if (!tp_text_starts_with(at, begins[i]))
			continue;
		size_t len = strlen(begins[i]);
		size_t rest = 0;
		while (is_name_char(at[len + rest]))
			rest++;
		if (rest >= TOKEN_REST_MIN)
			return len + rest;
	}
	return 0;
}

/* Length of an option such as "--password" that a blank follows; 0 for anything else. */
static size_t option_length(const char *at)
{
	size_t len = 0;
	if (*at != '-')
		return 0;
	while (is_name_char(at[len]))
		len++;
	return is_blank(at[len]) && tp_secret_is_name(at, len) ? len : 0;
}

/* Masks the secret that begins at a word's start. Returns where to continue; `at` itself if there
 * is none. */
static const char *mask_word(struct tp_buf *out, const char *at)
{
	size_t len = option_length(at);
	if (len) {
		while (is_blank(at[len]))
			len++;
		tp_buf_add(out, at, len);
		at += len;
		return *at && *at != '-' ? mask_value(out, at, false) : at;
	}
	len = prefix_length(at);
	if (len) {
		tp_buf_add(out, at, len);
		tp_buf_puts(out, TP_SECRET_MASK);
		return skip_value(at + len);
	}
	len = token_length(at);
	if (len)
		tp_buf_puts(out, TP_SECRET_MASK);
	return at + len;
}

/* A private key in PEM is masked to the end of the text. */
static bool is_private_key(const char *at)
{
	return tp_text_starts_with(at, "-----BEGIN ") && strstr(at, "PRIVATE KEY");
}

static void mask_text(struct tp_buf *out, const char *text)
{
	bool is_option = *text == '-';
	bool is_named = false; /* the first name decides for the whole option */
	for (const char *at = text; *at;) {
		if (is_private_key(at)) {
			tp_buf_puts(out, TP_SECRET_MASK);
			return;
		}
		bool begins = at == text || !is_name_char(at[-1]);
		const char *next = begins ? mask_word(out, at) : at;
		if (next != at) {
			at = next;
			continue;
		}
		if ((*at == '=' || *at == ':') && is_after_secret_name(text, at)) {
			at = mask_value(out, at, is_option && !is_named);
			is_named = true;
			continue;
		}
		is_named |= *at == '=';
		tp_buf_putc(out, *at++);
		if (at - text >= 3 && strncmp(at - 3, "://", 3) == 0)
			at = mask_address(out, at);
	}
}

void tp_secret_add_argument(struct tp_buf *out, struct tp_secret_scan *scan, const char *argument)
{
	bool is_value = scan->expects_value && *argument && *argument != '-';
	size_t len = strlen(argument);
	scan->expects_value = false;
	if (is_value) {
		tp_buf_puts(out, TP_SECRET_MASK);
		return;
	}
	bool is_word = *argument == '-' && !argument[strcspn(argument, "= \t:")];
	scan->expects_value = is_word && tp_secret_is_name(argument, len);
	mask_text(out, argument);
}

void tp_secret_add_variable(struct tp_buf *out, const char *name, const char *value)
{
	if (*value && tp_secret_is_name(name, strlen(name)))
		tp_buf_puts(out, TP_SECRET_MASK);
	else
		mask_text(out, value);
}
