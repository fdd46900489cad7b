/* SPDX-License-Identifier: Apache-2.0 */
/* Shows source lines with their times, if the file still exists and was not changed since. */
#include "view_stacks.h"

#include "report/digest/source_lines.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX_BYTES = 4 << 20, CONTEXT = 5 };

struct source_text {
	struct tp_buf text;
	const char **lines; /* heap; each ends at '\n' or at the end of the text */
	size_t n_lines;
	size_t capacity;
	struct tp_view_line_cost *costs; /* heap; by line */
	size_t n_costs;
	size_t costs_capacity;
	uint64_t all_ns;   /* for native code the number of samples instead of ns */
	char problem[200]; /* why the text is missing, or may be a different version; "" */
	char path[512];
	bool is_native;
};

/* ---- the file ---- */

/* Path as in the recording, relative to the directory in which the program was started. */
static char *path_of(const struct tp_view *view, const char *name)
{
	const char *directory = view->trace->run.directory;
	if (*name != '/' && directory && *directory)
		return tp_asprintf("%s/%s", directory, name);
	return tp_strdup(name);
}

/* True if the file was written after the program was started. */
static bool is_changed(const struct tp_view *view, const struct stat *info)
{
	uint64_t written_ns =
		(uint64_t)info->st_mtim.tv_sec * TP_NS_PER_S + (uint64_t)info->st_mtim.tv_nsec;
	return view->trace->run.started_wall_ns && written_ns > view->trace->run.started_wall_ns;
}

static void read_text(struct source_text *source, const struct tp_view *view)
{
	struct tp_error err = {0};
	struct stat info;
	char *path = path_of(view, source->path);
	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		snprintf(source->problem, sizeof(source->problem), "The file is not here.");
	else if (tp_file_read(&source->text, path, FILE_MAX_BYTES, &err) != TP_OK)
		snprintf(source->problem, sizeof(source->problem), "%.180s", err.text);
	else if (is_changed(view, &info))
		snprintf(source->problem, sizeof(source->problem),
			 "The file was changed since the program was started: lines may have "
			 "moved.");
	free(path);
	for (const char *line = tp_buf_text(&source->text); *line;) {
		TP_ARRAY_PUSH(source->lines, source->n_lines, source->capacity) = line;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

/* ---- native code: by debug information ---- */

enum { ADDRESSES_MAX = 1000 };

static void add_line_cost(struct source_text *source, uint32_t line,
			  const struct tp_view_address *address)
{
	for (size_t i = 0; i < source->n_costs; i++)
		if (source->costs[i].line == line) {
			source->costs[i].self_ns += address->n_self;
			source->costs[i].total_ns += address->n_total;
			return;
		}
	TP_ARRAY_PUSH(source->costs, source->n_costs, source->costs_capacity) =
		(struct tp_view_line_cost){line, address->n_self, address->n_total};
}

static int compare_lines(const void *a, const void *b)
{
	const struct tp_view_line_cost *x = a;
	const struct tp_view_line_cost *y = b;
	return (x->line > y->line) - (x->line < y->line);
}

static void find_native_lines(struct source_text *source, struct tp_view *view,
			      struct tp_view_place *place)
{
	const struct tp_frame *frame = tp_view_function_frame(&view->functions, place->function);
	const char *module = tp_trace_string(view->trace, frame->module);
	uint64_t addresses[ADDRESSES_MAX];
	uint32_t lines[ADDRESSES_MAX] = {0};
	size_t n;
	uint64_t most = 0;
	struct tp_view_address *found =
		tp_view_addresses(&view->functions, place->function, &n, &source->all_ns);
	if (n > ADDRESSES_MAX)
		n = ADDRESSES_MAX;
	/* A return address may belong to the next line. */
	for (size_t i = 0; i < n; i++)
		addresses[i] = found[i].address - (found[i].n_self ? 0 : 1);
	bool is_known = n && view->input.find_lines(view->input.context, module, addresses, n,
						    source->path, sizeof(source->path), lines);
	for (size_t i = 0; is_known && i < n; i++)
		if (lines[i])
			add_line_cost(source, lines[i], &found[i]);
	for (size_t i = 0; i < source->n_costs; i++)
		if (source->costs[i].self_ns + source->costs[i].total_ns > most) {
			most = source->costs[i].self_ns + source->costs[i].total_ns;
			place->line = source->costs[i].line;
		}
	if (source->n_costs)
		qsort(source->costs, source->n_costs, sizeof(*source->costs), compare_lines);
	free(found);
}

/* ---- rows: lines of the file, or without it the lines that have a time ---- */

static void make(struct tp_view *view, struct tp_view_place *place)
{
	struct source_text *source = tp_alloc(sizeof(*source));
	place->data = source;
	source->is_native =
		place->function != TP_VIEW_NO_FUNCTION &&
		tp_view_function_frame(&view->functions, place->function)->kind != TP_FRAME_PYTHON;
	if (source->is_native) {
		find_native_lines(source, view, place);
	} else {
		snprintf(source->path, sizeof(source->path), "%s",
			 tp_trace_string(view->trace, place->file));
		source->costs = tp_view_line_costs(&view->functions, &place->selection, place->file,
						   &source->n_costs);
		source->all_ns = tp_view_selected_ns(&view->functions, &place->selection);
	}
	if (source->n_costs || !source->is_native)
		read_text(source, view);
	place->n_items = source->n_lines;
	if (source->n_lines) {
		place->cursor = place->line ? place->line - 1 : 0;
		place->top = place->cursor > CONTEXT ? place->cursor - CONTEXT : 0;
		return;
	}
	place->rows = tp_alloc((source->n_costs + 1) * sizeof(*place->rows));
	place->n_rows = place->n_items = source->n_costs;
	for (size_t i = 0; i < source->n_costs; i++) {
		place->rows[i] = source->costs[i].line - 1;
		if (source->costs[i].line == place->line)
			place->cursor = i;
	}
}

static void release(struct tp_view_place *place)
{
	struct source_text *source = place->data;
	if (!source)
		return;
	tp_buf_release(&source->text);
	free(source->lines);
	free(source->costs);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	const struct source_text *source = place->data;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s  ", source->path);
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_BOLD, tp_buf_text(&text), 2);
	if (source->problem[0]) {
		tp_page_column(page, 1);
		tp_page_wrap(page, 1, TP_PAINT_WARN, source->problem, 2);
	}
	tp_buf_clear(&text);
	if (source->is_native) {
		char name[160];
		tp_buf_printf(&text, "self and total of the CPU samples of all processes, in %s",
			      tp_view_function_name(&view->functions, place->function, name,
						    sizeof(name)));
	} else {
		tp_buf_puts(&text, "self and total of ");
		tp_view_add_selection(&text, view, &place->selection);
	}
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_DIM, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

static const struct tp_view_line_cost *cost_of(const struct source_text *source, size_t line)
{
	size_t at;
	TP_FIND_FIRST(at, 0, source->n_costs, source->costs[at].line >= line);
	return at < source->n_costs && source->costs[at].line == line ? &source->costs[at] : NULL;
}

static void print_code(const struct source_text *source, size_t item, struct tp_page *page)
{
	enum { TAB = 4 };
	struct tp_buf text = {0};
	const char *line = item < source->n_lines ? source->lines[item] : "";
	for (; *line && *line != '\n' && *line != '\r'; line++) {
		if (*line == '\t')
			tp_buf_pad(&text, ' ', TAB);
		else
			tp_buf_putc(&text, *line);
	}
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct source_text *source = place->data;
	const struct tp_view_line_cost *cost = cost_of(source, item + 1);
	double whole = source->all_ns ? (double)source->all_ns : 1;
	(void)view;
	if (cost && cost->self_ns)
		tp_view_percent(page, (double)cost->self_ns / whole);
	tp_page_column(page, 6);
	if (cost)
		tp_view_percent(page, (double)cost->total_ns / whole);
	tp_page_column(page, 12);
	tp_page_addf(page, cost ? TP_PAINT_BOLD : TP_PAINT_DIM, "%5zu  ", item + 1);
	print_code(source, item, page);
	tp_page_end(page);
}

/* Opens the rules whose evidence is about the same part. */
static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	(void)item;
	enum tp_part part = place->selection.part;
	if (place->selection.only_loaders)
		part = TP_PART_DATALOADER;
	struct tp_view_place *next = tp_view_push(view, TP_SCREEN_ADVICE);
	tp_view_make_rows(view, next);
	for (size_t i = 0; view->findings && i < next->n_rows; i++)
		if (part != TP_N_PARTS &&
		    tp_report_evidence_part(&view->findings->items[i]) == part) {
			next->cursor = i;
			return;
		}
}

const struct tp_view_screen tp_view_source = {
	.id = TP_SCREEN_SOURCE,
	.name = "source",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.open = open_row,
	.release = release,
};
