/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what was set in the loaders of a tried run. */
#include "loader_log.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_place(const struct tp_loader_log *log, const char *place)
{
	for (size_t i = 0; i < log->n_changed; i++)
		if (strcmp(log->changed[i].place, place) == 0)
			return true;
	return false;
}

static void add_line(struct tp_loader_log *out, char *line)
{
	char *rest = NULL;
	const char *kind = strtok_r(line, "\t\n", &rest);
	const char *place = strtok_r(NULL, "\t\n", &rest);
	const char *text = strtok_r(NULL, "\t\n", &rest);
	if (!kind || !place || !text) /* cut off by a full disk */
		return;
	if (strcmp(kind, "changed") != 0) {
		if (!out->kept_because)
			out->kept_because = tp_strdup(text);
		return;
	}
	if (out->n_changed < TP_LOADER_PLACES_MAX && !has_place(out, place))
		out->changed[out->n_changed++] =
			(struct tp_loader_place){tp_strdup(place), tp_strdup(text)};
}

void tp_loader_log_read(struct tp_loader_log *out, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	*out = (struct tp_loader_log){.is_known = true};
	while (file && getline(&line, &size, file) > 0)
		add_line(out, line);
	free(line);
	if (file)
		fclose(file);
}

void tp_loader_log_describe(struct tp_buf *out, const struct tp_loader_place *place)
{
	tp_buf_printf(out, "%s  DataLoader(...", place->place);
	for (const char *at = place->text; *at;) {
		size_t len = strcspn(at, " ");
		const char *value = strstr(at, "->");
		if (value && value < at + len)
			tp_buf_printf(out, ", %.*s=%.*s", (int)strcspn(at, "="), at,
				      (int)(at + len - (value + 2)), value + 2);
		at += len + (at[len] == ' ');
	}
	tp_buf_putc(out, ')');
}

void tp_loader_log_release(struct tp_loader_log *log)
{
	for (size_t i = 0; i < log->n_changed; i++) {
		free(log->changed[i].place);
		free(log->changed[i].text);
	}
	free(log->kept_because);
	*log = (struct tp_loader_log){0};
}
