/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON object filled in by a person, read strictly. The first mistake is kept in `status` and
 * told with file and line; after it every question answers with nothing, so that a reader asks on
 * and looks at the status once.
 */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_JSON_FORM_H
#define TRAINPROF_SRC_ADVISE_CONDITION_JSON_FORM_H

#include "expr.h"
#include "sentence.h"

#include "trainprof/base/json.h"

enum {
	TP_JSON_FORM_MAX_ITEMS = 64,  /* of any list */
	TP_JSON_FORM_MAX_TEXT = 2000, /* bytes of any text */
};

struct tp_json_form {
	const struct tp_json_doc *doc;
	const struct tp_thresholds *thresholds;
	const struct tp_local *locals;
	size_t n_locals;
	struct tp_arena *arena; /* all that is read lives here */
	struct tp_error *err;
	enum tp_status status;
};

void tp_json_form_fail(struct tp_json_form *form, const struct tp_json *at, const char *format, ...)
	TP_PRINTF(3, 4);
/* Refuse keys that are not among `keys` (NULL ends), and what is no object. */
void tp_json_form_check_keys(struct tp_json_form *form, const struct tp_json *object,
			     const char *what, const char *const *keys);
/* The member `key`: NULL when absent, which fails when it is required. */
const char *tp_json_form_text(struct tp_json_form *form, const struct tp_json *object,
			      const char *key, bool is_required);
/* The same, refused when it is wider than `columns`. */
const char *tp_json_form_short_text(struct tp_json_form *form, const struct tp_json *object,
				    const char *key, bool is_required, size_t columns);
/* The same for a day such as 2026-11-20, which is required. */
const char *tp_json_form_date(struct tp_json_form *form, const struct tp_json *object,
			      const char *key);
const struct tp_sentence *tp_json_form_sentence(struct tp_json_form *form,
						const struct tp_json *object, const char *key,
						bool is_required);
const struct tp_json *tp_json_form_list(struct tp_json_form *form, const struct tp_json *object,
					const char *key, bool is_required, size_t *n);
const char **tp_json_form_names(struct tp_json_form *form, const struct tp_json *object,
				const char *key, size_t *n);
bool tp_json_form_bool(struct tp_json_form *form, const struct tp_json *object, const char *key);
/* One of `words` (NULL ends, two or more); `otherwise` when absent, which fails below zero. */
int tp_json_form_choice(struct tp_json_form *form, const struct tp_json *object, const char *key,
			const char *const *words, int otherwise);
/* A value that is an expression; a name that is a fact. */
const struct tp_expr *tp_json_form_expr(struct tp_json_form *form, const struct tp_json *value,
					enum tp_expr_type want);
tp_fact_id tp_json_form_fact(struct tp_json_form *form, const struct tp_json *at, const char *name);

#endif
