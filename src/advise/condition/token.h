/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the text of a condition into tokens. */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_TOKEN_H
#define TRAINPROF_SRC_ADVISE_CONDITION_TOKEN_H

#include "dimension.h"

#include <stdbool.h>
#include <stddef.h>

enum tp_token_kind {
	TP_TOKEN_END,
	TP_TOKEN_BAD,
	TP_TOKEN_NUMBER,    /* 0.05  5%  2ms  1GiB  100/s */
	TP_TOKEN_NAME,      /* words, functions, facts: letters, digits, '_' and '.' */
	TP_TOKEN_THRESHOLD, /* $name; text is the name */
	TP_TOKEN_SIGN,      /* + - * / ( ) , < <= > >= == != */
};

enum { TP_TOKEN_MAX = 64 };

struct tp_token {
	enum tp_token_kind kind;
	size_t at; /* offset in the text */
	char text[TP_TOKEN_MAX];
	double value; /* NUMBER: in base units */
	struct tp_dimension dimension;
};

/* Reads the token at *at and moves *at past it. A bad token has the reason in its text. */
void tp_token_next(const char *text, size_t *at, struct tp_token *out);

/* Parses a text that is exactly one number with a unit: "5%". False if it is not. */
bool tp_token_parse_number(const char *text, double *value, struct tp_dimension *dimension);

#endif
