/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: pytorch/kineto, libkineto/include/ActivityType.h and src/ActivityType.cpp, several
 * versions of 2021 to 2026, read 2026-11-22; the first names (Kernel, Memcpy, Operator) are those
 * of 2021. Later ones make mtia_ccp_events another name of kernel and hpu_op one of a runtime.
 * Case counts: other tools write "operator" and "memcpy".
 */
#include "category.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/span.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *name;
	struct tp_category category;
} categories[] = {
	{"kernel", {TP_CATEGORY_KEPT, TP_SPAN_KERNEL}},
	{"Kernel", {TP_CATEGORY_KEPT, TP_SPAN_KERNEL}},
	{"mtia_ccp_events", {TP_CATEGORY_KEPT, TP_SPAN_KERNEL}},
	{"gpu_memcpy", {TP_CATEGORY_KEPT, TP_SPAN_COPY}},
	{"Memcpy", {TP_CATEGORY_KEPT, TP_SPAN_COPY}},
	{"gpu_memset", {TP_CATEGORY_KEPT, TP_SPAN_SET}},
	{"Memset", {TP_CATEGORY_KEPT, TP_SPAN_SET}},
	{"cpu_op", {TP_CATEGORY_KEPT, TP_SPAN_OPERATOR}},
	{"Operator", {TP_CATEGORY_KEPT, TP_SPAN_OPERATOR}},
	{"Runtime", {TP_CATEGORY_KEPT, TP_SPAN_CALL}},
	{"hpu_op", {TP_CATEGORY_KEPT, TP_SPAN_CALL}},
	{"user_annotation", {TP_CATEGORY_KEPT, TP_SPAN_ANNOTATION}},
	{"python_function", {TP_CATEGORY_KEPT, TP_SPAN_PYTHON}},

	/* The host's ranges once more, from the first to the last thing they launched. */
	{"gpu_user_annotation", {TP_CATEGORY_LEFT_OUT, 0}},
	/* The profiler's own activity, and the span of the whole trace. */
	{"overhead", {TP_CATEGORY_LEFT_OUT, 0}},
	{"Trace", {TP_CATEGORY_LEFT_OUT, 0}},
	/* Waits on the device's side, counters, marks: not work. */
	{"cuda_sync", {TP_CATEGORY_LEFT_OUT, 0}},
	{"cuda_event", {TP_CATEGORY_LEFT_OUT, 0}},
	{"cuda_profiler_range", {TP_CATEGORY_LEFT_OUT, 0}},
	{"gpu_pm_counter", {TP_CATEGORY_LEFT_OUT, 0}},
	{"mtia_counters", {TP_CATEGORY_LEFT_OUT, 0}},
	{"mtia_insight", {TP_CATEGORY_LEFT_OUT, 0}},
	{"mtia_workloadd", {TP_CATEGORY_LEFT_OUT, 0}},
	{"cpu_instant_event", {TP_CATEGORY_LEFT_OUT, 0}},
	{"external_correlation", {TP_CATEGORY_LEFT_OUT, 0}},
	{"collective_comm", {TP_CATEGORY_LEFT_OUT, 0}},
};

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);
	return len > n && memcmp(name + len - n, end, n) == 0;
}

static struct tp_category search_table(const char *name, size_t len)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(categories); i++)
		if (strlen(categories[i].name) == len && memcmp(categories[i].name, name, len) == 0)
			return categories[i].category;
	/* cuda_, hip_, xpu_, mtia_, glow_, privateuse1_ and future ones. */
	if (ends_with(name, len, "_runtime") || ends_with(name, len, "_driver"))
		return (struct tp_category){TP_CATEGORY_KEPT, TP_SPAN_CALL};
	return (struct tp_category){TP_CATEGORY_UNKNOWN, 0};
}

struct tp_category tp_category_find(struct tp_category_cache *cache, const char *name, size_t len)
{
	if (len == 0 || len > TP_CATEGORY_CACHED_BYTES)
		return search_table(name, len);
	unsigned slot =
		(unsigned)len * 5 + (unsigned char)name[0] + (unsigned char)name[len / 2] * 3;
	struct tp_category_row *row = &cache->rows[slot % TP_CATEGORY_CACHED];
	if (row->len != len || memcmp(row->name, name, len) != 0) {
		row->len = len;
		memcpy(row->name, name, len);
		row->category = search_table(name, len);
	}
	return row->category;
}
