/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the example names in the rows of patterns are matched by those rows. */
#include "frame_class.h"
#include "kernel_group.h"
#include "pattern_tables.h"
#include "python_class.h"
#include "setting_class.h"
#include "span_class.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A row of another file may precede it on purpose: a user's row before a built-in one. */
static const struct tp_kernel_pattern *find_conflict(const struct tp_kernel_patterns *rows,
						     const struct tp_kernel_pattern *row,
						     const struct tp_kernel_row *caught)
{
	for (size_t i = 0; i < rows->n_items; i++)
		if (&rows->items[i].says == caught && caught != &row->says)
			return strcmp(rows->items[i].file, row->file) == 0 ? &rows->items[i] : NULL;
	return NULL;
}

static enum tp_status check_kernel(const struct tp_patterns *patterns,
				   const struct tp_kernel_pattern *row, struct tp_error *err)
{
	const struct tp_kernel_patterns *rows = &patterns->kernels;
	for (const char **name = row->examples; name && *name; name++) {
		const struct tp_kernel_row *caught = tp_kernel_row_find(patterns, *name);
		const struct tp_kernel_pattern *rival = find_conflict(rows, row, caught);
		if (rival)
			return tp_fail(err, TP_PARSE,
				       "%s:%u: row '%s' of line %u catches the example '%.80s'",
				       row->file, row->line, caught->id, rival->line, *name);
		if (strcmp(caught->id, "unknown") == 0)
			return tp_fail(err, TP_PARSE, "%s:%u: no row catches the example '%.80s'",
				       row->file, row->line, *name);
	}
	return TP_OK;
}

static enum tp_status check_span(const struct tp_patterns *patterns,
				 const struct tp_span_pattern *row, struct tp_error *err)
{
	for (const char **name = row->examples; name && *name; name++) {
		for (unsigned kind = 0; kind < TP_N_SPAN_KINDS; kind++) {
			if (!(row->kinds & 1U << kind))
				continue;
			enum tp_span_sense sense =
				tp_span_sense_find(patterns, (enum tp_span_kind)kind, *name);
			if (sense != row->sense)
				return tp_fail(err, TP_PARSE,
					       "%s:%u: the example '%.80s' means %s as %s",
					       row->file, row->line, *name,
					       tp_span_sense_name(sense),
					       tp_span_kind_name((enum tp_span_kind)kind));
		}
	}
	return TP_OK;
}

/* Properties from other rows (a root, an entry) are no conflict: only the values of this row must
 * come out. */
static bool is_class_of_row(const struct tp_frame_class *class, const struct tp_python_pattern *row)
{
	const struct tp_frame_class *says = &row->says;
	return (!row->gives_phase || class->phase == says->phase) &&
	       (!says->leaf || class->leaf == says->leaf) &&
	       (!says->doing || class->doing == says->doing) &&
	       class->is_loader_root >= says->is_loader_root &&
	       class->is_helper_root >= says->is_helper_root &&
	       class->is_task_root >= says->is_task_root &&
	       class->is_fork_server >= says->is_fork_server &&
	       class->is_fetch_root >= says->is_fetch_root && class->is_entry >= says->is_entry &&
	       class->is_library >= says->is_library;
}

static enum tp_status check_python(const struct tp_patterns *patterns,
				   const struct tp_python_pattern *row, struct tp_error *err)
{
	for (const char **example = row->examples; example && *example; example++) {
		const char *colon = strrchr(*example, ':');
		if (!colon)
			return tp_fail(err, TP_PARSE,
				       "%s:%u: the example '%.80s' is not FILE:FUNCTION", row->file,
				       row->line, *example);
		char *path = tp_asprintf("%.*s", (int)(colon - *example), *example);
		struct tp_frame_class class =
			row->is_native
				? (struct tp_frame_class){.is_library =
								  tp_python_class_is_installed(
									  patterns, path)}
				: tp_python_class_find(patterns, path, colon + 1);
		free(path);
		if (!is_class_of_row(&class, row))
			return tp_fail(err, TP_PARSE, "%s:%u: the example '%.80s' means %s",
				       row->file, row->line, *example, tp_phase_name(class.phase));
	}
	return TP_OK;
}

static enum tp_status check_setting(const struct tp_setting_pattern *row, struct tp_error *err)
{
	for (const char **example = row->examples; example && *example; example++)
		if (!tp_setting_match_example(row, *example))
			return tp_fail(err, TP_PARSE,
				       "%s:%u: the row does not catch its example '%.80s'",
				       row->file, row->line, *example);
	return TP_OK;
}

static enum tp_status check_counter(const struct tp_patterns *patterns,
				    const struct tp_counter_pattern *row, struct tp_error *err)
{
	for (const char **example = row->examples; example && *example; example++)
		if (tp_counter_meaning_find(patterns, row->is_attribute, *example) != row->meaning)
			return tp_fail(err, TP_PARSE,
				       "%s:%u: the row does not catch its example '%.80s'",
				       row->file, row->line, *example);
	return TP_OK;
}

enum tp_status tp_patterns_check(const struct tp_patterns *patterns, struct tp_error *err)
{
	const struct tp_kernel_patterns *kernels = &patterns->kernels;
	const struct tp_span_patterns *spans = &patterns->spans;
	enum tp_status status = TP_OK;
	for (size_t i = 0; !status && i < kernels->n_items; i++)
		status = check_kernel(patterns, &kernels->items[i], err);
	const struct tp_kernel_family *unused = tp_kernel_groups_unused(kernels);
	if (!status && unused)
		status = tp_fail(err, TP_PARSE, "%s:%u: no row is of the family '%s'", unused->file,
				 unused->line, unused->name);
	for (size_t i = 0; !status && i < spans->n_items; i++)
		status = check_span(patterns, &spans->items[i], err);
	const struct tp_python_patterns *python = &patterns->python;
	for (size_t i = 0; !status && i < python->n_items; i++)
		status = check_python(patterns, &python->items[i], err);
	const struct tp_setting_patterns *settings = &patterns->settings;
	for (size_t i = 0; !status && i < settings->n_items; i++)
		status = check_setting(&settings->items[i], err);
	const struct tp_counter_patterns *counters = &patterns->counters;
	for (size_t i = 0; !status && i < counters->n_items; i++)
		status = check_counter(patterns, &counters->items[i], err);
	return status ? status : tp_idioms_check(&patterns->idioms, err);
}
