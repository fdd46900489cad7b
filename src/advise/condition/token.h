/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the text of a condition into tokens. */
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

/* The token at *at, which moves behind it. A bad one has a reason in text. */
void tp_token_next(const char *text, size_t *at, struct tp_token *out);

/* A whole text that is one number with a unit: "5%". False otherwise. */
bool tp_token_parse_number(const char *text, double *value, struct tp_dimension *dimension);

#endif
