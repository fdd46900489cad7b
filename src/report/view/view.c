/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer: its open screens, and how a key changes them. */
#include "view_state.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_view_screen *const screens[TP_N_SCREENS] = {
	[TP_SCREEN_OVERVIEW] = &tp_view_overview,
	[TP_SCREEN_STEPS] = &tp_view_steps,
	[TP_SCREEN_PROCESSES] = &tp_view_processes,
	[TP_SCREEN_STACKS] = &tp_view_stacks,
	[TP_SCREEN_GPUS] = &tp_view_gpus,
	[TP_SCREEN_COMMUNICATION] = &tp_view_communication,
	[TP_SCREEN_ADVICE] = &tp_view_advice,
	[TP_SCREEN_DIFF] = &tp_view_diff,
	[TP_SCREEN_PART] = &tp_view_part,
	[TP_SCREEN_LANES] = &tp_view_lanes,
	[TP_SCREEN_FINDING] = &tp_view_finding,
	[TP_SCREEN_SOURCE] = &tp_view_source,
	[TP_SCREEN_HELP] = &tp_view_help,
	[TP_SCREEN_FLAME] = &tp_view_flame,
	[TP_SCREEN_TREE] = &tp_view_tree,
	[TP_SCREEN_THREADS] = &tp_view_threads,
	[TP_SCREEN_LAUNCHES] = &tp_view_launches,
};

static void set_report(struct tp_view *view)
{
	const struct tp_report *report = view->input.report;
	view->profile = report->profile;
	view->trace = view->profile->trace;
	view->findings = report->findings;
	tp_report_digest_make(&view->digest, report);
	tp_view_functions_init(&view->functions, view->profile);
	size_t n = view->findings ? view->findings->n_fired : 0;
	view->is_chosen = tp_alloc(n + 1);
	memset(view->is_chosen, true, n);
}

static void release_report(struct tp_view *view)
{
	while (view->n_places)
		tp_view_release_rows(&view->places[--view->n_places]);
	tp_view_functions_release(&view->functions);
	free(view->is_chosen);
	free(view->by_length);
	free(view->strip);
	view->is_chosen = NULL;
	view->by_length = NULL;
	view->strip = NULL;
	view->n_strip = 0;
}

struct tp_view *tp_view_new(const struct tp_view_input *input)
{
	struct tp_view *view = tp_alloc(sizeof(*view));
	view->input = *input;
	view->screens = screens;
	view->style = (struct tp_report_style){.width = 80, .has_colour = true};
	view->row_lines = 20;
	set_report(view);
	tp_view_show_tab(view, input->diff ? TP_SCREEN_DIFF : TP_SCREEN_OVERVIEW);
	return view;
}

void tp_view_free(struct tp_view *view)
{
	if (!view)
		return;
	release_report(view);
	free(view);
}

bool tp_view_is_held(const struct tp_view *view)
{
	return view->n_places > 1 || view->prompt != TP_VIEW_NO_PROMPT || view->is_held;
}

/* The row of an item; the current row if there is no such item. */
static size_t row_of_item(const struct tp_view_place *place, size_t item)
{
	for (size_t i = 0; i < place->n_rows; i++)
		if (tp_view_item(place, i) == item)
			return i;
	return place->cursor;
}

void tp_view_update(struct tp_view *view, const struct tp_report *report,
		    const struct tp_live *live)
{
	/* Its rows are freed; what the user has chosen remains. */
	struct tp_view_place before = view->places[0];
	size_t item = tp_view_cursor_item(&before);
	release_report(view);
	view->input.report = report;
	view->input.live = live;
	set_report(view);
	tp_view_show_tab(view, view->tab);
	struct tp_view_place *place = tp_view_top_place(view);
	place->cursor = before.cursor;
	place->top = before.top;
	place->mode = before.mode;
	place->sort = before.sort;
	place->only_outliers = before.only_outliers;
	place->selection.state = before.selection.state;
	place->selection.only_python = before.selection.only_python;
	memcpy(place->filter, before.filter, sizeof(place->filter));
	tp_view_make_rows(view, place);
	/* The cursor stays on a part, but the first row is always the largest. */
	if (before.cursor && place->screen->id == TP_SCREEN_OVERVIEW)
		place->cursor = row_of_item(place, item);
}

const char *tp_view_screen_name(const struct tp_view *view)
{
	return view->places[view->n_places - 1].screen->name;
}

/* ---- text that is typed after / and \ ---- */

static void add_character(struct tp_view *view, int key)
{
	size_t len = strlen(view->word);
	if (key < ' ' || key >= TP_KEY_BACKSPACE || len + 1 >= sizeof(view->word))
		return;
	view->word[len] = (char)key;
	view->word[len + 1] = '\0';
}

static void finish_prompt(struct tp_view *view)
{
	struct tp_view_place *place = tp_view_top_place(view);
	enum tp_view_prompt prompt = view->prompt;
	view->prompt = TP_VIEW_NO_PROMPT;
	if (prompt == TP_VIEW_SEARCH) {
		if (view->word[0] && !tp_view_find(view, place, view->word, 1))
			tp_view_show_message(view, "Not found.");
		return;
	}
	if (!place->screen->print_row) {
		tp_view_show_message(view,
				     "This screen has no rows to choose from; / searches it.");
		return;
	}
	snprintf(place->filter, sizeof(place->filter), "%s", view->word);
	place->cursor = place->top = 0;
	tp_view_make_rows(view, place);
}

static void handle_prompt_key(struct tp_view *view, int key)
{
	size_t len = strlen(view->word);
	switch (key) {
	case TP_KEY_ENTER:
	case '\n':
		finish_prompt(view);
		break;
	case TP_KEY_ESCAPE:
		view->prompt = TP_VIEW_NO_PROMPT;
		break;
	case TP_KEY_BACKSPACE:
	case 8:
		if (len)
			view->word[len - 1] = '\0';
		else
			view->prompt = TP_VIEW_NO_PROMPT;
		break;
	default:
		add_character(view, key);
	}
}

enum tp_view_answer tp_view_handle_key(struct tp_view *view, int key)
{
	view->answer = TP_VIEW_STAY;
	view->message[0] = '\0';
	if (view->prompt != TP_VIEW_NO_PROMPT)
		handle_prompt_key(view, key);
	else if (key != TP_KEY_NONE && !tp_view_run_key(view, key))
		tp_view_show_message(view, "This key does nothing here; ? shows those that do.");
	return view->answer;
}
