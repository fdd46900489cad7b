/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about the available sources, for users: run --dry-run and doctor. */
#ifndef TRAINPROF_SRC_CLI_SESSION_SOURCE_LIST_H
#define TRAINPROF_SRC_CLI_SESSION_SOURCE_LIST_H

#include "trainprof/collect/plan.h"
#include "trainprof/report/page.h"

enum tp_mark_word { TP_MARK_WORD_OK, TP_MARK_WORD_WARN, TP_MARK_WORD_FAIL, TP_MARK_WORD_NONE };

/* "ok", "WARN", "FAIL", or "----" if nothing can be done. */
enum tp_mark_word tp_source_list_mark(const struct tp_plan_row *row);
/* The additional data that a source could provide; NULL if its reason already names them. */
const char *tp_source_list_gains(const struct tp_plan_row *row);

/* Prints one row of the table: mark, name, text, and what would help. */
void tp_source_list_row(struct tp_page *page, enum tp_mark_word mark, const char *name,
			const char *text, const char *gains, const char *next);

/* A sentence about what can be measured: "Ready, with less detail". */
const char *tp_source_list_tier(enum tp_tier tier);

/* Prints all sources of a plan, chosen or not, with reasons. */
void tp_source_list_print(struct tp_page *page, const struct tp_plan *plan);

#endif
