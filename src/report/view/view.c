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
};

struct tp_view *tp_view_new(const struct tp_view_input *input)
{
	struct tp_view *view = tp_alloc(sizeof(*view));
	view->input = *input;
	view->screens = screens;
	view->profile = input->report->profile;
	view->trace = view->profile->trace;
	view->findings = input->report->findings;
	view->style = (struct tp_report_style){.width = 80, .has_colour = true};
	view->row_lines = 20;
	tp_report_digest_make(&view->digest, input->report);
	tp_view_functions_init(&view->functions, view->profile);
	size_t n = view->findings ? view->findings->n_fired : 0;
	view->is_chosen = tp_alloc(n + 1);
	memset(view->is_chosen, true, n);
	tp_view_show_tab(view, input->diff ? TP_SCREEN_DIFF : TP_SCREEN_OVERVIEW);
	return view;
}

void tp_view_free(struct tp_view *view)
{
	if (!view)
		return;
	while (view->n_places)
		tp_view_release_rows(&view->places[--view->n_places]);
	tp_view_functions_release(&view->functions);
	free(view->is_chosen);
	free(view->by_length);
	free(view->strip);
	free(view);
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
