/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rules: shipped ones relative to the program, the user's after them. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RULES_DIR_H
#define TRAINPROF_SRC_CLI_SESSION_RULES_DIR_H

#include "cli/options/options.h"
#include "trainprof/base/status.h"

#include <stddef.h>

struct tp_buf;
struct tp_rulebook;
struct tp_patterns;

enum { TP_RULES_DIRS = 40 };

/* In the order of loading: later ones replace rules of the same id. */
struct tp_rules_dirs {
	char *items[TP_RULES_DIRS]; /* owned; items[0] is the shipped one */
	size_t n;
};

/* Checks that each folder of TRAINPROF_RULES and --rules exists and contains rules; called before a
 * program is started.
 * Errors  TP_ABSENT, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_rules_dir_check(const struct tp_words *extra, struct tp_error *err);

/* `extra` are the --rules options, which come after TRAINPROF_RULES.
 * Errors  TP_ABSENT: no shipped rules, or as tp_rules_dir_check(). */
TP_MUST_CHECK enum tp_status tp_rules_dir_find(struct tp_rules_dirs *out,
					       const struct tp_words *extra, struct tp_error *err);
void tp_rules_dir_release(struct tp_rules_dirs *dirs);

TP_MUST_CHECK enum tp_status
tp_rules_dir_load(struct tp_rulebook **out, const struct tp_rules_dirs *dirs, struct tp_error *err);
/* With `problems` invalid entries are skipped and listed there, one per line; NULL makes them an
 * error. */
TP_MUST_CHECK enum tp_status tp_rules_dir_load_rest(struct tp_rulebook **out,
						    const struct tp_rules_dirs *dirs,
						    struct tp_buf *problems, struct tp_error *err);
/* Does everything for callers that need only the rules; entries that a lenient load skips are
 * reported on stderr. */
TP_MUST_CHECK enum tp_status tp_rules_dir_rulebook(struct tp_rulebook **out,
						   const struct tp_words *extra, bool is_lenient,
						   struct tp_error *err);
TP_MUST_CHECK enum tp_status tp_rules_dir_load_patterns(struct tp_patterns **out,
							const struct tp_rules_dirs *dirs,
							struct tp_error *err);

#endif
