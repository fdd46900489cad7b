/* SPDX-License-Identifier: Apache-2.0 */
/* Names of span kinds, and the order of spans. */
#include "trainprof/model/span.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *tp_span_kind_name(enum tp_span_kind kind)
{
	static const char *const names[] = {
#define X(id, name) name,
		TP_SPAN_MAP(X)
#undef X
	};
	return (unsigned)kind < TP_N_SPAN_KINDS ? names[kind] : "none";
}

static bool is_before(const struct tp_span *a, const struct tp_span *b)
{
	return a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->end_ns > b->end_ns);
}

/* Merges the sorted [0, middle) and [middle, n); scratch has room for the shorter of them. */
static void merge(struct tp_span *spans, size_t middle, size_t n, struct tp_span *scratch)
{
	/* Only items between the borders of both have to move. */
	size_t from = 0;
	while (from < middle && !is_before(&spans[middle], &spans[from]))
		from++;
	size_t n_left = middle - from;
	if (!n_left)
		return;
	if (n_left <= n - middle) {
		memcpy(scratch, spans + from, n_left * sizeof(*spans));
		size_t left = 0;
		size_t right = middle;
		size_t out = from;
		while (left < n_left && right < n)
			spans[out++] = is_before(&spans[right], &scratch[left]) ? spans[right++]
										: scratch[left++];
		memcpy(spans + out, scratch + left, (n_left - left) * sizeof(*spans));
		return;
	}
	size_t n_right = n - middle;
	memcpy(scratch, spans + middle, n_right * sizeof(*spans));
	size_t left = middle;
	size_t right = n_right;
	size_t out = n;
	while (right > 0 && left > from) {
		if (is_before(&scratch[right - 1], &spans[left - 1]))
			spans[--out] = spans[--left];
		else
			spans[--out] = scratch[--right];
	}
	memcpy(spans + out - right, scratch, right * sizeof(*spans));
}

/* Finds the starts of the ascending runs; the list ends with n. */
static size_t *find_runs(const struct tp_span *spans, size_t n, size_t *n_runs)
{
	size_t *starts = NULL;
	size_t capacity = 0;
	*n_runs = 0;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || is_before(&spans[i], &spans[i - 1]))
			TP_ARRAY_PUSH(starts, *n_runs, capacity) = i;
	size_t n_starts = *n_runs;
	TP_ARRAY_PUSH(starts, n_starts, capacity) = n;
	return starts;
}

void tp_spans_sort(struct tp_span *spans, size_t n)
{
	size_t n_runs;
	size_t *starts = find_runs(spans, n, &n_runs);
	struct tp_span *scratch = n_runs > 1 ? tp_alloc((n / 2 + 1) * sizeof(*scratch)) : NULL;
	while (n_runs > 1) {
		size_t kept = 0;
		for (size_t i = 0; i < n_runs; i += 2) {
			size_t end = i + 2 <= n_runs ? starts[i + 2] : starts[i + 1];
			if (i + 1 < n_runs)
				merge(spans + starts[i], starts[i + 1] - starts[i], end - starts[i],
				      scratch);
			starts[kept++] = starts[i];
		}
		starts[kept] = n;
		n_runs = kept;
	}
	free(scratch);
	free(starts);
}
