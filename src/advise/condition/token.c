/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tokens: numbers with units, names, thresholds, signs. Independent of the locale. */
#include "token.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.';
}

static void token_fail(struct tp_token *token, const char *why)
{
	token->kind = TP_TOKEN_BAD;
	snprintf(token->text, sizeof(token->text), "%s", why);
}

/* Reads the digits as one whole number and a power of ten: one rounding, as strtod does. */
static const char *scan_digits(const char *p, double *out)
{
	double whole = 0;
	double power = 1;
	int n = 0;
	for (; is_digit(*p); p++, n++)
		whole = whole * 10 + (*p - '0');
	if (*p == '.' && is_digit(p[1])) {
		for (p++; is_digit(*p); p++, n++) {
			whole = whole * 10 + (*p - '0');
			power *= 10;
		}
	}
	*out = whole / power;
	return n <= 15 ? p : NULL; /* 15 digits are exact in a double */
}

static void scan_number(const char *text, size_t *at, struct tp_token *out)
{
	double value;
	const char *p = scan_digits(text + *at, &value);
	if (!p) {
		token_fail(out, "a number has more than 15 digits");
		return;
	}
	char suffix[8];
	size_t len = 0;
	while ((is_name_char(p[len]) || p[len] == '%') && len < sizeof(suffix) - 1) {
		suffix[len] = p[len];
		len++;
	}
	suffix[len] = '\0';
	p += len;
	bool is_rate = p[0] == '/' && p[1] == 's' && !is_name_char(p[2]);
	if (!tp_dimension_of_suffix(suffix, is_rate, &out->dimension)) {
		char why[TP_TOKEN_MAX];
		snprintf(why, sizeof(why), "no unit '%s%s'", suffix, is_rate ? "/s" : "");
		token_fail(out, why);
		return;
	}
	out->kind = TP_TOKEN_NUMBER;
	/* Divides, because 7 * 0.01 is not 0.07. */
	out->value = out->dimension.is_ratio ? value / 100 : value * out->dimension.scale;
	*at = (size_t)(p - text) + (is_rate ? 2 : 0);
}

static void scan_name(const char *text, size_t *at, struct tp_token *out)
{
	size_t start = *at;
	out->kind = text[start] == '$' ? TP_TOKEN_THRESHOLD : TP_TOKEN_NAME;
	start += text[start] == '$';
	size_t len = 0;
	while (is_name_char(text[start + len]))
		len++;
	if (!len || len >= TP_TOKEN_MAX) {
		token_fail(out, len ? "a name is too long" : "a name must follow '$'");
		return;
	}
	memcpy(out->text, text + start, len);
	out->text[len] = '\0';
	*at = start + len;
}

static void scan_sign(const char *text, size_t *at, struct tp_token *out)
{
	char c = text[*at];
	size_t len = 1;
	if (strchr("<>=!", c) && text[*at + 1] == '=')
		len = 2;
	else if (c == '=' || c == '!' || !strchr("+-*/(),<>", c)) {
		char why[TP_TOKEN_MAX];
		if (c > ' ' && c < 0x7f)
			snprintf(why, sizeof(why), "'%c' is not an operator", c);
		else
			snprintf(why, sizeof(why), "a character that does not belong here");
		token_fail(out, why);
		return;
	}
	out->kind = TP_TOKEN_SIGN;
	memcpy(out->text, text + *at, len);
	out->text[len] = '\0';
	*at += len;
}

void tp_token_next(const char *text, size_t *at, struct tp_token *out)
{
	while (text[*at] == ' ')
		(*at)++;
	*out = (struct tp_token){.at = *at};
	char c = text[*at];
	if (!c)
		out->kind = TP_TOKEN_END;
	else if (is_digit(c))
		scan_number(text, at, out);
	else if (c == '$' || (is_name_char(c) && c != '.'))
		scan_name(text, at, out);
	else
		scan_sign(text, at, out);
}

bool tp_token_parse_number(const char *text, double *value, struct tp_dimension *dimension)
{
	size_t at = 0;
	struct tp_token token;
	tp_token_next(text, &at, &token);
	if (token.kind != TP_TOKEN_NUMBER || text[at])
		return false;
	*value = token.value;
	*dimension = token.dimension;
	return true;
}
