/* Are names that stand as examples in the rows of patterns caught by those very rows? */
#include "kernelgroup.h"
#include "patterns.h"
#include "spanclass.h"

#include <string.h>

/* A row of another file may stand in front on purpose: a user's before ours. */
static const struct tp_kernel_pattern *find_rival(const struct tp_kernel_patterns *rows,
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
	const struct tp_kernel_patterns *rows = tp_patterns_kernels(patterns);
	for (const char **name = row->examples; name && *name; name++) {
		const struct tp_kernel_row *caught = tp_kernel_row_find(patterns, *name);
		const struct tp_kernel_pattern *rival = find_rival(rows, row, caught);
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

enum tp_status tp_patterns_check(const struct tp_patterns *patterns, struct tp_error *err)
{
	const struct tp_kernel_patterns *kernels = tp_patterns_kernels(patterns);
	const struct tp_span_patterns *spans = tp_patterns_spans(patterns);
	enum tp_status status = TP_OK;
	for (size_t i = 0; !status && i < kernels->n_items; i++)
		status = check_kernel(patterns, &kernels->items[i], err);
	const struct tp_kernel_family *unused = tp_kernel_groups_unused(kernels);
	if (!status && unused)
		status = tp_fail(err, TP_PARSE, "%s:%u: no row is of the family '%s'", unused->file,
				 unused->line, unused->name);
	for (size_t i = 0; !status && i < spans->n_items; i++)
		status = check_span(patterns, &spans->items[i], err);
	return status;
}
