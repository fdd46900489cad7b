/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the interpreter's own frames with Python frames. */
#include "python_merge.h"

#include <string.h>

/* An interpreter built with tail calls has a function for each instruction. */
static const char *const evaluators[] = {"_PyEval_EvalFrameDefault", "_TAIL_CALL_"};

bool tp_python_merge_is_evaluation(const char *symbol)
{
	for (size_t i = 0; i < sizeof(evaluators) / sizeof(*evaluators); i++)
		if (strncmp(symbol, evaluators[i], strlen(evaluators[i])) == 0)
			return true;
	return false;
}

struct merge {
	struct tp_python_merge_slot *out;
	size_t n;
	size_t max;
	const struct tp_python_place *places;
	size_t n_places;
	size_t next; /* first place not used yet */
};

static void add_slot(struct merge *merge, bool is_python, size_t at)
{
	if (merge->n < merge->max)
		merge->out[merge->n++] = (struct tp_python_merge_slot){is_python, (uint32_t)at};
}

/* Adds the places of one call from C, up to the one that C called. */
static void add_call(struct merge *merge)
{
	while (merge->next < merge->n_places) {
		size_t at = merge->next++;
		add_slot(merge, true, at);
		if (merge->places[at].is_entry)
			return;
	}
}

static void skip_call(struct merge *merge)
{
	while (merge->next < merge->n_places)
		if (merge->places[merge->next++].is_entry)
			return;
}

/* Returns the number of calls from C; the outermost frame is always such a call. */
static size_t count_calls(const struct tp_python_place *places, size_t n)
{
	size_t n_calls = 0;
	for (size_t i = 0; i < n; i++)
		n_calls += places[i].is_entry || i + 1 == n;
	return n_calls;
}

static size_t count_evaluations(const bool *is_evaluation, size_t n)
{
	size_t n_found = 0;
	for (size_t i = 0; i < n; i++)
		n_found += is_evaluation[i];
	return n_found;
}

size_t tp_python_merge(struct tp_python_merge_slot *out, size_t max, const bool *is_evaluation,
		       size_t n_native, bool is_cut, const struct tp_python_place *places,
		       size_t n_places, bool *fits)
{
	struct merge merge = {.out = out, .max = max, .places = places, .n_places = n_places};
	size_t n_calls = count_calls(places, n_places);
	size_t n_evaluations = count_evaluations(is_evaluation, n_native);
	/* The outer ends are the same calls, unless the native part is cut there. */
	size_t n_unknown = n_evaluations > n_calls ? n_evaluations - n_calls : 0;
	*fits = n_evaluations == n_calls || (is_cut && n_evaluations < n_calls);
	for (size_t i = n_evaluations; i < n_calls && !is_cut; i++)
		skip_call(&merge);
	for (size_t i = 0; i < n_native; i++) {
		if (!is_evaluation[i] || n_unknown > 0)
			add_slot(&merge, false, i);
		else
			add_call(&merge);
		n_unknown -= is_evaluation[i] && n_unknown > 0;
	}
	while (is_cut && merge.next < n_places)
		add_call(&merge);
	return merge.n;
}
