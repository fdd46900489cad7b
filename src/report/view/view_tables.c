/* SPDX-License-Identifier: Apache-2.0 */
/* Screens of text: GPUs, who launched a kernel, communication, differences between two runs. */
#include "view_launches.h"
#include "view_state.h"

#include "report/text/device_tables.h"
#include "report/text/gpu_table.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/diff_text.h"

#include <stdlib.h>

static void print_sentence(struct tp_page *page, enum tp_paint paint, const char *text)
{
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, paint, text, 0);
}

/* ---- GPUs ---- */

static void print_gpus(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	(void)place;
	if (!view->profile->n_gpus && !view->profile->n_devices) {
		print_sentence(page, TP_PAINT_NONE, "No GPU was seen in this run.");
		return;
	}
	tp_report_gpu_table(page, &view->digest);
	tp_report_device_tables(page, &view->digest);
}

const struct tp_view_screen tp_view_gpus = {
	.id = TP_SCREEN_GPUS,
	.name = "GPU",
	.title = "GPU",
	.print_text = print_gpus,
};

/* ---- who launched a kernel ---- */

enum { PATHS_SHOWN = 10, CALLERS_SHOWN = 12 };

static void print_caller(struct tp_page *page, enum tp_paint paint, const char *text)
{
	tp_page_column(page, 7);
	tp_page_add(page, paint, text);
	tp_page_end(page);
}

static void print_path(struct tp_view *view, const struct tp_view_launch_path *path,
		       uint64_t all_ns, struct tp_page *page)
{
	tp_view_percent(page, all_ns ? (double)path->time_ns / (double)all_ns : 0);
	tp_page_addf(page, TP_PAINT_NONE, "  %s, %s", tp_unit_time((double)path->time_ns).text,
		     tp_unit_counted(path->n, "time").text);
	tp_page_end(page);
	for (size_t i = 0; i < path->depth && i < CALLERS_SHOWN; i++)
		print_caller(page, TP_PAINT_NONE, tp_trace_string(view->trace, path->names[i]));
	if (!path->depth)
		print_caller(page, TP_PAINT_DIM, "outside of all functions that were recorded");
	if (path->depth > CALLERS_SHOWN)
		print_caller(page, TP_PAINT_DIM, "...");
}

static void print_launches(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	const struct tp_kernel_result *kernel = &view->profile->kernels[place->index];
	struct tp_view_launches launches;
	tp_view_launches_find(&launches, view->profile, kernel->name);
	print_sentence(page, TP_PAINT_BOLD, tp_trace_string(view->trace, kernel->name));
	print_sentence(page, TP_PAINT_DIM,
		       launches.n_paths ? "Who launched it, the innermost caller first. The share "
					  "is of the time of this kernel."
					: "Who launched it was not recorded.");
	if (!launches.has_functions)
		print_sentence(page, TP_PAINT_DIM,
			       "Functions and lines need a trace by torch.profiler with "
			       "with_stack=True, and trainprof import --python.");
	for (size_t i = 0; i < launches.n_paths && i < PATHS_SHOWN; i++)
		print_path(view, &launches.paths[i], launches.all_ns, page);
	if (launches.n_paths > PATHS_SHOWN)
		tp_page_addf(page, TP_PAINT_DIM, " and %s more",
			     tp_unit_counted(launches.n_paths - PATHS_SHOWN, "path").text);
	tp_view_launches_release(&launches);
}

const struct tp_view_screen tp_view_launches = {
	.id = TP_SCREEN_LAUNCHES,
	.name = "launches",
	.print_text = print_launches,
};

/* ---- communication ---- */

static void print_late(struct tp_view *view, struct tp_page *page)
{
	const struct tp_profile *profile = view->profile;
	uint64_t *n_late = tp_alloc((profile->n_devices + 1) * sizeof(*n_late));
	for (size_t i = 0; i < profile->n_collectives; i++)
		n_late[profile->collectives[i].late]++;
	tp_page_add_section(page, " Last to arrive, and what others waited for it");
	for (size_t i = 0; i < profile->n_devices; i++) {
		struct tp_buf name = {0};
		double ratio = (double)n_late[i] / (double)profile->n_collectives;
		tp_report_add_device(&name, profile, i);
		tp_page_addf(page, TP_PAINT_NONE, "   %-16s ", tp_buf_text(&name));
		tp_view_percent(page, ratio);
		tp_page_addf(page, TP_PAINT_NONE, "  %s  ",
			     tp_unit_right(tp_unit_time((double)profile->devices[i].wait_caused_ns),
					   9)
				     .text);
		tp_view_bar(view, page, TP_PAINT_PART + TP_PART_COMMUNICATION, ratio, 30);
		tp_page_end(page);
		tp_buf_release(&name);
	}
	free(n_late);
}

static void print_longest(struct tp_view *view, struct tp_page *page)
{
	enum { SHOWN = 20 };
	const struct tp_profile *profile = view->profile;
	size_t places[SHOWN];
	size_t n = tp_report_top_collectives(profile, places, SHOWN);
	tp_page_add_section(page, " Longest waits      waited   transfer  last to arrive");
	for (size_t i = 0; i < n; i++) {
		const struct tp_collective_result *c = &profile->collectives[places[i]];
		struct tp_buf name = {0};
		tp_report_add_device(&name, profile, c->late);
		tp_page_addf(page, TP_PAINT_NONE, "   at %-11s",
			     tp_unit_time((double)c->arrival_ns).text);
		tp_page_addf(page, TP_PAINT_NONE, "%s ",
			     tp_unit_right(tp_unit_time((double)tp_report_collective_wait(
						   profile, places[i])),
					   10)
				     .text);
		tp_page_addf(page, TP_PAINT_NONE, "%s  %s  ",
			     tp_unit_right(tp_unit_time((double)c->transfer_ns), 10).text,
			     tp_buf_text(&name));
		tp_page_add(page, TP_PAINT_DIM, tp_trace_string(view->trace, c->name));
		tp_page_end(page);
		tp_buf_release(&name);
	}
}

static void print_blames(struct tp_view *view, struct tp_page *page)
{
	const struct tp_profile *profile = view->profile;
	tp_page_add_section(page, " What late ranks did meanwhile");
	for (size_t i = 0; i < profile->n_blames; i++) {
		const struct tp_blame_result *blame = &profile->blames[i];
		struct tp_buf name = {0};
		tp_report_add_device(&name, profile, blame->device);
		tp_page_addf(page, TP_PAINT_NONE, "   %-16s %s  %s.%s", tp_buf_text(&name),
			     tp_unit_right(tp_unit_time((double)blame->time_ns), 9).text,
			     tp_part_name(tp_label_part(blame->label)),
			     tp_label_name(blame->label));
		tp_page_end(page);
		tp_buf_release(&name);
	}
}

static void print_communication(struct tp_view *view, struct tp_view_place *place,
				struct tp_page *page)
{
	const struct tp_profile *profile = view->profile;
	const struct tp_part_result *part = &profile->parts[TP_PART_COMMUNICATION];
	(void)place;
	if (profile->total_ns)
		tp_page_addf(
			page, TP_PAINT_NONE, " exposed %s of %s",
			tp_unit_percent((double)part->time_ns / (double)profile->total_ns).text,
			profile->is_of_steps ? "each step" : "the measured time");
	tp_page_end(page);
	if (profile->not_joined)
		print_sentence(page, TP_PAINT_NONE, profile->not_joined);
	if (!profile->n_collectives) {
		print_sentence(page, TP_PAINT_NONE,
			       "No collective was seen on several ranks: which rank comes late "
			       "needs the recordings of all of them.");
		return;
	}
	print_late(view, page);
	print_longest(view, page);
	if (profile->n_blames)
		print_blames(view, page);
}

const struct tp_view_screen tp_view_communication = {
	.id = TP_SCREEN_COMMUNICATION,
	.name = "communication",
	.title = "Comm",
	.print_text = print_communication,
};

/* ---- two runs ---- */

static void print_diff(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	(void)place;
	if (!view->input.diff) {
		print_sentence(page, TP_PAINT_NONE,
			       "This is one run. trainprof view BEFORE AFTER compares two.");
		return;
	}
	tp_report_diff_text(page, view->input.diff);
}

const struct tp_view_screen tp_view_diff = {
	.id = TP_SCREEN_DIFF,
	.name = "diff",
	.title = "Diff",
	.print_text = print_diff,
};
