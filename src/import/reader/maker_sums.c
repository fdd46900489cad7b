/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the work that was read, without counting overlapping work twice. */
#include "maker_sums.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

void tp_maker_sums_add(struct tp_maker_sums *sums, enum tp_maker_sum sum, uint64_t start_ns,
		       uint64_t end_ns)
{
	if (sum != TP_MAKER_NONE && end_ns <= TP_MAKER_END_MAX_NS)
		TP_ARRAY_PUSH(sums->work, sums->n, sums->capacity) =
			(struct tp_maker_work){start_ns, end_ns & TP_MAKER_END_MAX_NS,
					       (unsigned)sum & 3};
}

static int by_start(const void *a, const void *b)
{
	const struct tp_maker_work *left = a;
	const struct tp_maker_work *right = b;
	return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

/* Returns the time with work of a kind, TP_MAKER_NONE = of any. The work is sorted. */
static uint64_t union_ns(const struct tp_maker_sums *sums, enum tp_maker_sum only)
{
	uint64_t sum_ns = 0;
	uint64_t until_ns = 0;
	for (size_t i = 0; i < sums->n; i++) {
		const struct tp_maker_work *work = &sums->work[i];
		if ((only != TP_MAKER_NONE && work->sum != only) || work->end_ns <= until_ns)
			continue;
		sum_ns += work->end_ns - (work->start_ns > until_ns ? work->start_ns : until_ns);
		until_ns = work->end_ns;
	}
	return sum_ns;
}

void tp_maker_sums_set(struct tp_maker_sums *sums, struct tp_rank_info *info)
{
	if (!sums->written_ns[TP_MAKER_COMPUTING] && !sums->written_ns[TP_MAKER_COMMUNICATION])
		return;
	if (sums->n)
		qsort(sums->work, sums->n, sizeof(*sums->work), by_start);
	info->maker_computing_ns = sums->written_ns[TP_MAKER_COMPUTING];
	info->maker_communication_ns = sums->written_ns[TP_MAKER_COMMUNICATION];
	info->maker_exposed_ns = sums->written_ns[TP_MAKER_EXPOSED];
	info->read_computing_ns = union_ns(sums, TP_MAKER_COMPUTING);
	info->read_communication_ns = union_ns(sums, TP_MAKER_COMMUNICATION);
	info->read_exposed_ns = union_ns(sums, TP_MAKER_NONE) - info->read_computing_ns;
}

void tp_maker_sums_release(struct tp_maker_sums *sums)
{
	free(sums->work);
	*sums = (struct tp_maker_sums){0};
}
