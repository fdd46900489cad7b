/* SPDX-License-Identifier: Apache-2.0 */
/* Names of parts and sub-labels. */
#include "trainprof/model/part.h"

#include <string.h>

static const char *const part_names[] = {
#define X(id, name, title) name,
	TP_PART_MAP(X)
#undef X
};

static const char *const part_titles[] = {
#define X(id, name, title) title,
	TP_PART_MAP(X)
#undef X
};

static const struct {
	enum tp_part part;
	const char *name;
} labels[] = {
#define X(id, part, name) {TP_PART_##part, name},
	TP_LABEL_MAP(X)
#undef X
};

const char *tp_part_name(enum tp_part part)
{
	return (unsigned)part < TP_N_PARTS ? part_names[part] : "none";
}

const char *tp_part_title(enum tp_part part)
{
	return (unsigned)part < TP_N_PARTS ? part_titles[part] : "None";
}

const char *tp_label_name(enum tp_label label)
{
	return (unsigned)label < TP_N_LABELS ? labels[label].name : "none";
}

enum tp_part tp_label_part(enum tp_label label)
{
	return (unsigned)label < TP_N_LABELS ? labels[label].part : TP_PART_IDLE;
}

enum tp_part tp_part_find(const char *name)
{
	unsigned i = 0;
	while (i < TP_N_PARTS && strcmp(part_names[i], name) != 0)
		i++;
	return (enum tp_part)i;
}

enum tp_label tp_label_find(const char *dotted)
{
	unsigned i = 0;
	for (; i < TP_N_LABELS; i++) {
		const char *part = part_names[labels[i].part];
		size_t len = strlen(part);
		if (strncmp(dotted, part, len) == 0 && dotted[len] == '.' &&
		    strcmp(dotted + len + 1, labels[i].name) == 0)
			break;
	}
	return (enum tp_label)i;
}
