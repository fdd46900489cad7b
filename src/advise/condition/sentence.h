/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences of rules with numbers in them: "{loader.workers} workers at {loader.busy_ratio} CPU".
 *
 * A placeholder is an expression over facts, with an optional format after a bar:
 * "{ceil(loader.workers / (1 - step.dataloader_ratio))|count}". Formats: percent, count, number,
 * time, bytes, rate; without a format the unit decides. Two more words agree with the number:
 * "{loader.workers|count|worker|workers}" is "1 worker" or "2 workers". {whole} is the time that
 * shares refer to ("each step"). {beside} is "; compute 12 %", or the largest part that the
 * sentence is not about if the share of computing is almost zero, or nothing. {settings} is a
 * separate sentence about the loader in use, " Set now: persistent_workers=False, num_workers=2,
 * prefetch_factor=2.", or nothing if the loader object was not read.
 */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_SENTENCE_H
#define TRAINPROF_SRC_ADVISE_CONDITION_SENTENCE_H

#include "expr.h"

#include "trainprof/base/buf.h"

struct tp_sentence;

/* Texts of the words in braces that are not numbers. Borrowed; NULL means "". */
struct tp_sentence_words {
	const char *whole;
	const char *others;
	const char *others_cpus;
};

/* Errors  TP_PARSE: an unclosed brace, an unknown format, or as tp_expr_parse(). */
TP_MUST_CHECK enum tp_status tp_sentence_parse(const struct tp_sentence **out, const char *text,
					       const struct tp_expr_scope *place,
					       struct tp_error *err);
/* Returns the text as it was written. */
const char *tp_sentence_written(const struct tp_sentence *words);
/* Appends the text with "N %", "N" and the like for numbers: for readers of the rule. Nothing if
 * there is no sentence. */
void tp_sentence_describe(const struct tp_sentence *words, struct tp_buf *out);
/* Marks the facts whose numbers the sentence prints. */
void tp_sentence_facts(const struct tp_sentence *words, bool used[TP_MAX_FACTS]);
/* Returns the sentence with numbers, in `arena`; NULL if one of them is unknown. */
const char *tp_sentence_fill(const struct tp_sentence *words, const struct tp_quantity *facts,
			     const struct tp_sentence_words *terms, struct tp_arena *arena);

#endif
