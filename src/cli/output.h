/* stdout of a command: written whole, checked, paged where a reader sits. */
#ifndef TRAINPROF_SRC_CLI_OUTPUT_H
#define TRAINPROF_SRC_CLI_OUTPUT_H

#include "command.h"
#include "trainprof/report/page.h"

/* Print the page's lines and return the exit status of the printing: 0, or 4 with a message. */
int tp_output_page(const struct tp_page *page);
/* The same through a pager, if stdout is a terminal and has fewer lines. */
int tp_output_paged(const struct tp_page *page);
int tp_output_text(const char *text);
/* Add the page of a rule (tp_rulebook_print); takes the text apart. */
void tp_output_add_rule(struct tp_page *page, char *text);

#endif
