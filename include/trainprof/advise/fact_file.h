/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts written by hand, for machines that trainprof cannot run on: a JSON object with comment
 * lines (docs/facts-file.md).
 *
 *   { "name": "resnet on 8 cards", "facts": { "step.dataloader_ratio": "65%" } }
 *
 * Consequences of the given facts are filled in: shares of a step add up to 1, and the labels of a
 * part to at most its share; if a device is mentioned, computing on CPUs is excluded. A list of
 * layers ("network") gives the cost of a sample if the facts do not contain it.
 */
#ifndef TRAINPROF_ADVISE_FACT_FILE_H
#define TRAINPROF_ADVISE_FACT_FILE_H

#include "trainprof/base/arena.h"
#include "trainprof/base/json.h"
#include "trainprof/base/status.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/model/quantity.h"

#include <stddef.h>

struct tp_rulebook;

/* Texts and quantities live in its own arena; missing facts are unknown, with a reason. */
struct tp_fact_file {
	struct tp_arena arena;
	const char *name; /* or NULL */
	size_t n_given;
	struct tp_quantity facts[TP_MAX_FACTS];
};

/*
 * Reads the object that is the document's root. The document may be freed afterwards. Errors
 * TP_PARSE, with file and line: an unknown fact (and the nearest), a unit that does not
 *         fit, a negative number, shares above 1, parts that add up to more than 1, labels above
 *         their part, alone or together.
 */
TP_MUST_CHECK enum tp_status tp_fact_file_read(struct tp_fact_file *out,
					       const struct tp_json_doc *doc, struct tp_error *err);
void tp_fact_file_release(struct tp_fact_file *file);

/* Appends a template: the facts that rules use, all null, each with a comment; it can be read back
 * unchanged. `topic` is a family of rules ("input") or NULL for all. Errors  TP_USAGE: no such
 * topic, with the nearest. */
TP_MUST_CHECK enum tp_status tp_fact_file_template(struct tp_buf *out,
						   const struct tp_rulebook *book,
						   const char *topic, struct tp_error *err);
/* Appends the JSON Schema of such files. */
void tp_fact_file_schema(struct tp_buf *out);

#endif
