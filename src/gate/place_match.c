/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the lines of one run in another run, although an edit has moved them. */
#include "place_match.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The places of one function and part, by line. */
struct group {
	const struct tp_value_places *of;
	size_t *places;
	size_t n;
};

static double time_of(const struct group *g, size_t i)
{
	return g->of->items[g->places[i]].per_step_ns;
}

static const char *function_of(const struct tp_value_place *place)
{
	const char *function = strstr(place->text, " (");
	return function ? function : "";
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool are_of_one_function(const struct tp_value_place *a, const struct tp_value_place *b)
{
	if (!a->file || !b->file) /* kernels */
		return !a->file && !b->file && strcmp(a->text, b->text) == 0;
	return a->is_own == b->is_own && is_same_text(a->part, b->part) &&
	       strcmp(tp_text_base_name(a->file), tp_text_base_name(b->file)) == 0 &&
	       strcmp(function_of(a), function_of(b)) == 0;
}

static struct group group_of(const struct tp_value_places *all, const struct tp_value_place *of,
			     struct tp_arena *arena)
{
	struct group out = {.of = all, .places = tp_arena_array(arena, all->n + 1, sizeof(size_t))};
	for (size_t i = 0; i < all->n; i++) {
		if (!are_of_one_function(&all->items[i], of))
			continue;
		size_t at = out.n++;
		for (; at && all->items[out.places[at - 1]].line > all->items[i].line; at--)
			out.places[at] = out.places[at - 1];
		out.places[at] = i;
	}
	return out;
}

static int64_t line_of(const struct group *g, size_t i)
{
	return (int64_t)g->of->items[g->places[i]].line;
}

static bool has_line(const struct group *g, int64_t line)
{
	for (size_t i = 0; i < g->n; i++)
		if (line_of(g, i) == line)
			return true;
	return false;
}

/* The number of lines by which most lines of the function moved. */
static int64_t shift_of_most(const struct group *base, const struct group *now)
{
	int64_t shift = 0;
	size_t n_most = 0;
	for (size_t j = 0; base->n && j < now->n; j++) {
		int64_t candidate = line_of(now, j) - line_of(base, 0);
		size_t n = 0;
		for (size_t i = 0; i < base->n; i++)
			n += has_line(now, line_of(base, i) + candidate);
		if (n > n_most) {
			n_most = n;
			shift = candidate;
		}
	}
	return shift;
}

/* The time that two lines have in common, less where they differ, so that a slow new line is not
 * the successor of a fast one that has its own. Lines that did not move, or moved as most did, may
 * differ by more: all of them may be slower. */
static double similar_time(const struct group *base, size_t i, const struct group *now, size_t j,
			   int64_t shift)
{
	double less = fmin(time_of(base, i), time_of(now, j));
	double more = fmax(time_of(base, i), time_of(now, j));
	int64_t moved = line_of(now, j) - line_of(base, i);
	double ratio = more > 0 ? less / more : 0;
	return less * (moved == 0 || moved == shift ? sqrt(ratio) : ratio);
}

/* The largest sum of similar times for the first i lines of the base and the first j of the new
 * run; lines without a partner add nothing. */
static const double *sum_similar_times(const struct group *base, const struct group *now,
				       struct tp_arena *arena)
{
	size_t width = now->n + 1;
	int64_t shift = shift_of_most(base, now);
	double *sums = tp_arena_array(arena, (base->n + 1) * width, sizeof(*sums));
	for (size_t i = 1; i <= base->n; i++)
		for (size_t j = 1; j <= now->n; j++) {
			double unpaired = fmax(sums[(i - 1) * width + j], sums[i * width + j - 1]);
			double paired = sums[(i - 1) * width + j - 1] +
					similar_time(base, i - 1, now, j - 1, shift);
			sums[i * width + j] = fmax(unpaired, paired);
		}
	return sums;
}

/* Walks back through the sums. */
static void pair_lines(size_t *out, const struct group *base, const struct group *now,
		       struct tp_arena *arena)
{
	const double *sums = sum_similar_times(base, now, arena);
	size_t width = now->n + 1;
	size_t i = base->n;
	size_t j = now->n;
	while (i && j) {
		if (sums[(i - 1) * width + j] >= sums[i * width + j])
			i--;
		else if (sums[i * width + j - 1] >= sums[i * width + j])
			j--;
		else
			out[now->places[--j]] = base->places[--i];
	}
}

const size_t *tp_place_match(const struct tp_value_places *base, const struct tp_value_places *now,
			     struct tp_arena *arena)
{
	size_t *out = tp_arena_array(arena, now->n + 1, sizeof(*out));
	bool *is_done = tp_arena_array(arena, now->n + 1, sizeof(*is_done));
	for (size_t i = 0; i < now->n; i++)
		out[i] = base->n;
	for (size_t i = 0; i < now->n; i++) {
		if (is_done[i])
			continue;
		const struct group b = group_of(base, &now->items[i], arena);
		const struct group n = group_of(now, &now->items[i], arena);
		for (size_t k = 0; k < n.n; k++)
			is_done[n.places[k]] = true;
		pair_lines(out, &b, &n, arena);
	}
	return out;
}
