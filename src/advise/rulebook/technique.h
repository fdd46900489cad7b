/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of the guide's files; the results live in the arena of the form. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_TECHNIQUE_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_TECHNIQUE_H

#include "advise/condition/json_form.h"

#include "trainprof/advise/technique.h"

/* Widths of texts in columns: a line of "guide techniques" holds an id and a title. */
enum { TP_TECHNIQUE_TITLE = 60, TP_TECHNIQUE_TEXT = 240 };

/* Reads one technique; `id` is the name of its file. Names of limits, sources and other techniques
 * are kept as written, see catalogue.h. Strict like tp_rule_read().
 * Errors  TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_technique_read(struct tp_technique *out,
					       const struct tp_json_doc *doc, const char *id,
					       const struct tp_thresholds *thresholds,
					       struct tp_arena *arena, struct tp_error *err);

#endif
