/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the figures that drivers report about GPUs. */
#include "gpu_table.h"

#include "report/digest/markdown_escape.h"

#include "trainprof/model/fact.h"
#include "trainprof/model/gpu.h"

#include <string.h>

/* "GPU 0 NVIDIA H200". */
static void add_name(struct tp_buf *out, const struct tp_report_digest *digest,
		     const struct tp_gpu_result *gpu)
{
	const struct tp_trace *trace = digest->trace;
	const char *name = tp_trace_string(trace, trace->tracks[gpu->track].name);
	tp_buf_printf(out, "GPU %d%s%s", (int)gpu->number, *name ? " " : "", name);
}

/* Returns the least and the most of a figure in its arguments; false if it is not known for all
 * GPUs. */
static bool range_of(const struct tp_profile *profile, enum tp_gpu_stat figure, double *least,
		     double *most)
{
	for (size_t i = 0; i < profile->n_gpus; i++) {
		const struct tp_quantity *value = &profile->gpus[i].figures[figure];
		if (!value->is_known)
			return false;
		*least = i && *least < value->value ? *least : value->value;
		*most = i && *most > value->value ? *most : value->value;
	}
	return profile->n_gpus > 0;
}

/* The GPU with the fullest memory is the first one that limits a larger batch. */
static const struct tp_gpu_result *max_memory_gpu(const struct tp_profile *profile)
{
	const struct tp_gpu_result *best = NULL;
	for (size_t i = 0; i < profile->n_gpus; i++) {
		const struct tp_gpu_result *gpu = &profile->gpus[i];
		if (gpu->figures[TP_GPU_MEM_USED].is_known &&
		    gpu->figures[TP_GPU_MEM_TOTAL].is_known &&
		    (!best ||
		     gpu->figures[TP_GPU_MEM_USED].value > best->figures[TP_GPU_MEM_USED].value))
			best = gpu;
	}
	return best;
}

static void add_active(struct tp_buf *out, const struct tp_profile *profile)
{
	double least = 0;
	double most = 0;
	if (!range_of(profile, TP_GPU_AWAKE, &least, &most)) {
		tp_buf_puts(out, ": its use is not known");
		return;
	}
	if (profile->n_gpus > 1 && most - least >= 0.01)
		tp_buf_printf(out, ": some kernel ran %s %% of the time",
			      tp_unit_percents(least, most).text);
	else
		tp_buf_printf(out, ": some kernel ran %s of the time", tp_unit_percent(most).text);
}

void tp_report_add_gpu_note(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_gpus)
		return;
	if (profile->n_gpus == 1)
		add_name(out, digest, &profile->gpus[0]);
	else
		tp_buf_printf(out, "%zu GPUs", profile->n_gpus);
	add_active(out, profile);
	const struct tp_gpu_result *full = max_memory_gpu(profile);
	if (full)
		tp_buf_printf(out, "; memory %s%s of %s", profile->n_gpus > 1 ? "at most " : "",
			      tp_unit_bytes(full->figures[TP_GPU_MEM_USED].value).text,
			      tp_unit_bytes(full->figures[TP_GPU_MEM_TOTAL].value).text);
}

static const char *way_of(const struct tp_gpu_result *gpu)
{
	return gpu->is_listed ? "NVML lists the program there"
			      : "the program holds its device node open";
}

/* Names of the figures for lines with room for words. */
static const char *const words[TP_N_GPU_STATS] = {
	[TP_GPU_AWAKE] = "some kernel ran",
	[TP_GPU_MEM_USED] = "memory used, peak",
	[TP_GPU_MEM_OWN] = "of it by the program",
	[TP_GPU_MEM_TOTAL] = "memory",
	[TP_GPU_POWER] = "power",
	[TP_GPU_ENERGY] = "energy in the window",
	[TP_GPU_CLOCK] = "clock",
	[TP_GPU_CLOCK_MAX] = "highest clock",
	[TP_GPU_POWER_CAPPED] = "held back by power",
	[TP_GPU_HEAT_CAPPED] = "held back by heat",
	[TP_GPU_SLOWED] = "slowed by hardware",
	[TP_GPU_OTHERS] = "other processes",
	[TP_GPU_MEM_OTHERS] = "memory of others",
	[TP_GPU_MEM_GROWTH] = "memory growth",
	[TP_GPU_POWER_LIMIT] = "power limit",
	[TP_GPU_POWER_DEFAULT] = "power limit at start",
	[TP_GPU_PCIE_LINK] = "PCIe link carries",
	[TP_GPU_PCIE_LINK_MAX] = "PCIe link could carry",
	[TP_GPU_CAPABILITY] = "compute capability x 10",
	[TP_GPU_SM_ACTIVE] = "multiprocessors active",
	[TP_GPU_OCCUPANCY] = "occupancy",
	[TP_GPU_TENSOR] = "matrix units active",
	[TP_GPU_DRAM] = "memory bandwidth",
	[TP_GPU_PCIE_TX] = "PCIe sent",
	[TP_GPU_PCIE_RX] = "PCIe received",
	[TP_GPU_NVLINK_TX] = "NVLink sent",
	[TP_GPU_NVLINK_RX] = "NVLink received",
	[TP_GPU_L2_HIT] = "L2 cache hits",
	[TP_GPU_DRAM_READ] = "memory read",
	[TP_GPU_DRAM_WRITTEN] = "memory written",
	[TP_GPU_LAUNCHES] = "grids started",
	[TP_GPU_COUNTED_CLOCK] = "clock while counting",
};

static struct tp_unit_text stat_text(const struct tp_gpu_result *gpu, int figure)
{
	const char *unit = tp_gpu_stat_desc((enum tp_gpu_stat)figure)->unit;
	double value = gpu->figures[figure].value;
	return strcmp(unit, "ratio") == 0 ? tp_unit_percent(value) : tp_unit_value(value, unit);
}

/* Unknown figures of a GPU are in one line: most of them have the same reason. */
static void add_unknown(struct tp_buf *out, const struct tp_profile *profile,
			const struct tp_gpu_result *gpu)
{
	const char *separator = "not reported here: ";
	/* Figures that need hardware counters are not reported as missing unless counters were
	 * requested. */
	int end = profile->facts[TP_FACT_GPU_COUNTED].is_known ? TP_N_GPU_STATS : TP_GPU_L2_HIT;
	for (int f = 0; f < end; f++) {
		if (gpu->figures[f].is_known)
			continue;
		tp_buf_printf(out, "%s%s", separator, words[f]);
		separator = ", ";
	}
}

/* "  by hardware counters, in 8 % of the time". */
static void print_source(struct tp_page *page, const struct tp_quantity *figure)
{
	if (!figure->seen)
		return;
	tp_page_add(page, TP_PAINT_DIM, "  by ");
	tp_page_add(page, TP_PAINT_DIM, figure->seen);
	if (figure->coverage > 0.5)
		return;
	tp_page_add(page, TP_PAINT_DIM, ", in ");
	tp_page_add(page, TP_PAINT_DIM, tp_unit_percent(figure->coverage).text);
	tp_page_add(page, TP_PAINT_DIM, " of the time");
}

static void print_gpu(struct tp_page *page, const struct tp_report_digest *digest,
		      const struct tp_gpu_result *gpu)
{
	struct tp_buf text = {0};
	add_name(&text, digest, gpu);
	tp_buf_printf(&text, ": %s, %s", way_of(gpu), tp_unit_counted(gpu->n, "reading").text);
	tp_page_column(page, 2);
	tp_page_wrap(page, 4, TP_PAINT_NONE, tp_buf_text(&text), 0);
	for (int f = 0; f < TP_N_GPU_STATS; f++) {
		if (!gpu->figures[f].is_known)
			continue;
		tp_page_column(page, 4);
		tp_page_add(page, TP_PAINT_NONE, words[f]);
		tp_page_column(page, 28);
		tp_page_add(page, TP_PAINT_NONE, stat_text(gpu, f).text);
		print_source(page, &gpu->figures[f]);
		tp_page_end(page);
	}
	tp_buf_clear(&text);
	add_unknown(&text, digest->profile, gpu);
	tp_page_column(page, 4);
	tp_page_wrap(page, 6, TP_PAINT_DIM, tp_buf_text(&text), 0);
	tp_buf_release(&text);
}

void tp_report_gpu_table(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_gpus)
		return;
	tp_page_add_section(page, "GPUs, by their driver");
	for (size_t i = 0; i < profile->n_gpus; i++)
		print_gpu(page, digest, &profile->gpus[i]);
	tp_page_column(page, 2);
	tp_page_wrap(page, 2, TP_PAINT_DIM,
		     "That some kernel ran says that the GPU was awake, not how busy it was.", 0);
}

void tp_markdown_add_gpus(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_gpus)
		return;
	tp_buf_puts(out, "\n### GPUs, by their driver\n\n|  |");
	for (size_t i = 0; i < profile->n_gpus; i++) {
		struct tp_buf name = {0};
		add_name(&name, digest, &profile->gpus[i]);
		tp_buf_putc(out, ' ');
		tp_markdown_add_plain(out, tp_buf_text(&name));
		tp_buf_puts(out, " |");
		tp_buf_release(&name);
	}
	tp_buf_puts(out, "\n| --- |");
	for (size_t i = 0; i < profile->n_gpus; i++)
		tp_buf_puts(out, " ---: |");
	for (int f = 0; f < TP_N_GPU_STATS; f++) {
		bool any = false;
		for (size_t i = 0; i < profile->n_gpus; i++)
			any |= profile->gpus[i].figures[f].is_known;
		if (!any)
			continue;
		tp_buf_printf(out, "\n| %s |", words[f]);
		for (size_t i = 0; i < profile->n_gpus; i++)
			tp_buf_printf(out, " %s |",
				      profile->gpus[i].figures[f].is_known
					      ? stat_text(&profile->gpus[i], f).text
					      : "");
	}
	tp_buf_putc(out, '\n');
}
