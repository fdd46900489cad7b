/* SPDX-License-Identifier: Apache-2.0 */
/* Help generated from the tables of commands and options. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_HELP_H
#define TRAINPROF_SRC_CLI_GUIDE_HELP_H

#include "cli/options/command.h"
#include "trainprof/report/page.h"

/* All commands on one screen. */
void tp_help_summary(struct tp_page *page, const struct tp_command_table *table);
/* Help of one command; with `is_full` including its rare options. */
void tp_help_command(struct tp_page *page, const struct tp_command *command, bool is_full);
/* The options that all commands have. */
void tp_help_options(struct tp_page *page, const struct tp_command_table *table);
/* The options of all commands as Markdown, for the manual page. */
void tp_help_manual(struct tp_buf *out, const struct tp_command_table *table);

#endif
