/* SPDX-License-Identifier: Apache-2.0 */
/* Strict reader of JSON objects that a person has written. The first mistake is kept in `status`
 * and reported with file and line; after it every function returns nothing, so that a reader can
 * continue and check the status once. */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_JSON_FORM_H
#define TRAINPROF_SRC_ADVISE_CONDITION_JSON_FORM_H

#include "expr.h"
#include "sentence.h"

#include "trainprof/base/json.h"

enum {
	TP_JSON_FORM_MAX_ITEMS = 64,  /* of every list */
	TP_JSON_FORM_MAX_TEXT = 2000, /* bytes of every text */
};

struct tp_json_form {
	const struct tp_json_doc *doc;
	const struct tp_thresholds *thresholds;
	const struct tp_local *locals;
	size_t n_locals;
	struct tp_arena *arena; /* holds everything that is read */
	struct tp_error *err;
	enum tp_status status;
};

void tp_json_form_fail(struct tp_json_form *form, const struct tp_json *at, const char *format, ...)
	TP_PRINTF(3, 4);
/* Refuses keys that are not among `keys` (ends with NULL), and values that are not objects. */
void tp_json_form_check_keys(struct tp_json_form *form, const struct tp_json *object,
			     const char *what, const char *const *keys);
/* Returns the member `key`; NULL if absent, which is an error if it is required. */
const char *tp_json_form_text(struct tp_json_form *form, const struct tp_json *object,
			      const char *key, bool is_required);
/* The same, but refuses texts wider than `columns`. */
const char *tp_json_form_short_text(struct tp_json_form *form, const struct tp_json *object,
				    const char *key, bool is_required, size_t columns);
/* The same for a date such as 2026-11-20, which is required. */
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
/* Returns the index in `words` (ends with NULL, two or more words); `otherwise` if absent, which is
 * an error if it is below zero. */
int tp_json_form_choice(struct tp_json_form *form, const struct tp_json *object, const char *key,
			const char *const *words, int otherwise);
/* Return a value that is an expression, and a name that is a fact. */
const struct tp_expr *tp_json_form_expr(struct tp_json_form *form, const struct tp_json *value,
					enum tp_expr_type want);
tp_fact_id tp_json_form_fact(struct tp_json_form *form, const struct tp_json *at, const char *name);

#endif
