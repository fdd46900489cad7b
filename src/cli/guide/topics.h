/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that explain trainprof itself: help TOPIC and guide TOPIC. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_TOPICS_H
#define TRAINPROF_SRC_CLI_GUIDE_TOPICS_H

#include "trainprof/report/page.h"

#include <stdbool.h>

struct tp_topic {
	const char *name;
	const char *summary;
	const char *text; /* one paragraph per line; indentation is kept when it is wrapped */
	void (*print)(struct tp_page *page); /* prints content generated from tables, or NULL */
};

/* The list ends with a NULL name. */
const struct tp_topic *tp_topic_list(void);
/* False if there is no such topic. */
bool tp_topic_print(struct tp_page *page, const char *name);
/* Prints one paragraph per line, wrapped if the page is narrower; indentation is kept. */
void tp_topic_text(struct tp_page *page, const char *text);
/* The same with the lines of a paragraph joined, so that they fill the width; lines that begin with
 * a blank stay as they are. */
void tp_topic_prose(struct tp_page *page, const char *text);

#endif
