/* SPDX-License-Identifier: Apache-2.0 */
/* The desired counters, and how many of them a chip delivers in one pass. */
#include "pm_metric_set.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"

enum metric_way {
	PERCENT,
	AMOUNT, /* amount per sample, reported per second */
	RATE,
};

enum { NAMES_MAX = 3 };

/* In order of priority. The first name in a row that the chip knows is used; two rows of one metric
 * add up. Names as in the host library of CUPTI 13.0 for its chips (2026-11-22). */
static const struct metric_choice {
	enum tp_metric metric;
	enum metric_way way;
	const char *names[NAMES_MAX];
} metric_choices[] = {
	{TP_METRIC_GPU_PM_SM_ACTIVE, PERCENT, {"sm__cycles_active" OF_PEAK}},
	{TP_METRIC_GPU_PM_TENSOR,
	 PERCENT,
	 {"sm__pipe_tensor_cycles_active_realtime" OF_PEAK,
	  "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime" OF_PEAK}},
	{TP_METRIC_GPU_PM_DRAM, PERCENT, {"dram__read_throughput" OF_PEAK}},
	{TP_METRIC_GPU_PM_DRAM, PERCENT, {"dram__write_throughput" OF_PEAK}},
	{TP_METRIC_GPU_PM_CLOCK, RATE, {"gpc__cycles_elapsed.avg.per_second"}},
	{TP_METRIC_GPU_PM_OCCUPANCY,
	 PERCENT,
	 {"TPC.TriageCompute.tpc__warps_active_realtime" OF_PEAK,
	  "tpc__warps_active_realtime" OF_PEAK}},
	{TP_METRIC_GPU_PM_DRAM_READ, AMOUNT, {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
	{TP_METRIC_GPU_PM_DRAM_WRITE,
	 AMOUNT,
	 {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
	{TP_METRIC_GPU_PM_L2_HIT,
	 PERCENT,
	 {"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct",
	  "lts__average_t_sector_hit_rate_realtime.pct"}},
	{TP_METRIC_GPU_PM_NVLINK_RX, AMOUNT, {"nvlrx__bytes.sum"}},
	{TP_METRIC_GPU_PM_NVLINK_TX, AMOUNT, {"nvltx__bytes.sum"}},
	{TP_METRIC_GPU_PM_PCIE_RX,
	 AMOUNT,
	 {"pcie__read_bytes.sum", "PCI.TriageCompute.pcie__read_bytes.sum"}},
	{TP_METRIC_GPU_PM_PCIE_TX,
	 AMOUNT,
	 {"pcie__write_bytes.sum", "PCI.TriageCompute.pcie__write_bytes.sum"}},
	{TP_METRIC_GPU_PM_LAUNCHES,
	 AMOUNT,
	 {"FE_A.TriageCompute.gr__dispatch_count.sum", "gr__dispatch_count.sum"}},
};

_Static_assert(TP_ARRAY_LEN(metric_choices) <= TP_PM_METRIC_SET_MAX, "room for all wishes");

/* One chip as described by CUPTI. */
struct set_builder {
	const struct tp_pm_library *library;
	const char *chip;
	const uint8_t *availability;
	struct tp_pm_failure *failure;
};

static bool fail(const struct set_builder *set_builder, const char *call, int result)
{
	*set_builder->failure = (struct tp_pm_failure){call, result};
	return false;
}

static bool open_host(const struct set_builder *set_builder, struct pm_host **out)
{
	struct pm_host_initialize open = {.size = PM_SIZE(pm_host_initialize, host),
					  .profiler = PM_PROFILER_SAMPLING,
					  .chip = set_builder->chip,
					  .availability = set_builder->availability};
	int result = set_builder->library->host_initialize(&open);
	*out = open.host;
	return result == PM_OK || fail(set_builder, "HostInitialize", result);
}

static void close_host(const struct set_builder *set_builder, struct pm_host *host)
{
	struct pm_host_deinitialize close = {.size = PM_SIZE(pm_host_deinitialize, host),
					     .host = host};
	set_builder->library->host_deinitialize(&close);
}

static bool add_names(const struct set_builder *set_builder, struct pm_host *host,
		      const char **names, size_t n)
{
	struct pm_add_metrics add = {.size = PM_SIZE(pm_add_metrics, n),
				     .host = host,
				     .names = names,
				     .n = n};
	int result = set_builder->library->add_metrics(&add);
	return result == PM_OK || fail(set_builder, "HostConfigAddMetrics", result);
}

/* Rebuilds the set's image. */
static bool make_image(const struct set_builder *set_builder, struct tp_pm_metric_set *set)
{
	struct pm_image_size size = {.size = PM_SIZE(pm_image_size, bytes), .host = set->host};
	int result = set_builder->library->image_size(&size);
	if (result != PM_OK)
		return fail(set_builder, "HostGetConfigImageSize", result);
	free(set->image);
	set->image = tp_alloc(size.bytes + 1);
	set->image_bytes = size.bytes;
	struct pm_image image = {.size = PM_SIZE(pm_image, image),
				 .host = set->host,
				 .bytes = size.bytes,
				 .image = set->image};
	result = set_builder->library->image(&image);
	return result == PM_OK || fail(set_builder, "HostGetConfigImage", result);
}

static bool is_one_pass(const struct set_builder *set_builder, const struct tp_pm_metric_set *set)
{
	struct pm_passes passes = {.size = PM_SIZE(pm_passes, n),
				   .bytes = set->image_bytes,
				   .image = set->image};
	int result = set_builder->library->passes(&passes);
	if (result != PM_OK)
		return fail(set_builder, "HostGetNumOfPasses", result);
	return passes.n == 1 || fail(set_builder, "HostGetNumOfPasses", PM_NOT_SUPPORTED);
}

/* Succeeds if the set's names fit into a single pass; otherwise the set is unchanged except its
 * image. */
static bool try_set(const struct set_builder *set_builder, struct tp_pm_metric_set *set)
{
	struct pm_host *before = set->host;
	if (!open_host(set_builder, &set->host)) {
		set->host = before;
		return false;
	}
	if (add_names(set_builder, set->host, set->names, set->n) && make_image(set_builder, set) &&
	    is_one_pass(set_builder, set)) {
		if (before)
			close_host(set_builder, before);
		return true;
	}
	close_host(set_builder, set->host);
	set->host = before;
	return false;
}

/* The first name of a row that the chip knows; NULL = none. */
static const char *known_name(const struct set_builder *set_builder,
			      const struct metric_choice *metric_choice)
{
	const char *found = NULL;
	for (size_t i = 0; i < NAMES_MAX && metric_choice->names[i] && !found; i++) {
		const char *name = metric_choice->names[i];
		struct pm_host *host;
		if (!open_host(set_builder, &host))
			return NULL;
		if (add_names(set_builder, host, &name, 1))
			found = name;
		close_host(set_builder, host);
	}
	return found;
}

static void push(struct tp_pm_metric_set *set, const char *name, size_t row)
{
	set->names[set->n] = name;
	set->rows[set->n++] = (uint8_t)row;
}

/* On most chips all counters fit into one pass; otherwise they are added one by one while they
 * fit. */
static bool fill(const struct set_builder *set_builder, struct tp_pm_metric_set *set)
{
	const char *known[TP_ARRAY_LEN(metric_choices)];
	for (size_t i = 0; i < TP_ARRAY_LEN(metric_choices); i++) {
		known[i] = known_name(set_builder, &metric_choices[i]);
		if (known[i])
			push(set, known[i], i);
	}
	if (!set->n || try_set(set_builder, set))
		return set->n > 0;
	set->n = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(metric_choices); i++) {
		if (!known[i])
			continue;
		push(set, known[i], i);
		if (!try_set(set_builder, set))
			set->n--;
	}
	/* The image is that of the last attempt. */
	return set->n && make_image(set_builder, set);
}

bool tp_pm_metric_set_build(struct tp_pm_metric_set *out, const struct tp_pm_library *library,
			    const char *chip, const uint8_t *availability,
			    struct tp_pm_failure *failure)
{
	const struct set_builder set_builder = {library, chip, availability, failure};
	*out = (struct tp_pm_metric_set){0};
	if (fill(&set_builder, out))
		return true;
	tp_pm_metric_set_release(out, library);
	return false;
}

void tp_pm_metric_set_release(struct tp_pm_metric_set *set, const struct tp_pm_library *library)
{
	const struct set_builder set_builder = {.library = library};
	if (set->host)
		close_host(&set_builder, set->host);
	free(set->image);
	*set = (struct tp_pm_metric_set){0};
}

static double convert(enum metric_way way, double value, double seconds)
{
	return way == PERCENT ? value / 100 : way == AMOUNT ? value / seconds : value;
}

void tp_pm_metric_set_convert(const struct tp_pm_metric_set *set, const double *values,
			      double seconds, double out[TP_N_PM_METRICS])
{
	unsigned n_wished[TP_N_PM_METRICS] = {0};
	unsigned n_known[TP_N_PM_METRICS] = {0};
	for (size_t i = 0; i < TP_N_PM_METRICS; i++)
		out[i] = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(metric_choices); i++)
		n_wished[metric_choices[i].metric - TP_METRIC_PM_FIRST]++;
	for (size_t i = 0; i < set->n; i++) {
		const struct metric_choice *metric_choice = &metric_choices[set->rows[i]];
		unsigned at = metric_choice->metric - TP_METRIC_PM_FIRST;
		out[at] += convert(metric_choice->way, values[i], seconds);
		n_known[at]++;
	}
	/* A metric with only half of its addends is dropped. */
	for (size_t i = 0; i < TP_N_PM_METRICS; i++)
		if (n_known[i] < n_wished[i] || !isfinite(out[i]))
			out[i] = NAN;
}
