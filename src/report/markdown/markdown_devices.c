/* SPDX-License-Identifier: Apache-2.0 */
/* Writes devices, kernels and ranks as Markdown tables. */
#include "markdown_devices.h"

#include "report/digest/markdown_escape.h"

#include "report/text/device_tables.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { N_KERNELS_SHOWN = 10, N_COLLECTIVES_SHOWN = 10, NAME_MAX_BYTES = 80 };

static void add_name(struct tp_buf *out, const char *name)
{
	struct tp_buf cut = {0};
	size_t len = strnlen(name, NAME_MAX_BYTES);
	/* Do not cut inside a character. */
	while (name[len] && len && ((unsigned char)name[len] & 0xc0) == 0x80)
		len--;
	tp_buf_add(&cut, name, len);
	if (name[len])
		tp_buf_puts(&cut, "…");
	tp_markdown_add_plain(out, tp_buf_text(&cut));
	tp_buf_release(&cut);
}

static struct tp_unit_text percent(uint64_t part, uint64_t whole)
{
	return tp_unit_percent(whole ? (double)part / (double)whole : 0);
}

static const char *gap_name(int cause)
{
	return tp_gap_cause_name((enum tp_gap_cause)cause);
}

static void add_device(struct tp_buf *out, const struct tp_profile *profile, size_t index)
{
	const struct tp_device_result *device = &profile->devices[index];
	uint64_t after[TP_N_PARTS + 1];
	tp_report_after(device, after);
	tp_buf_puts(out, "| ");
	tp_report_add_device(out, profile, index);
	tp_buf_printf(out, " | %s | ", percent(device->busy_ns, device->span_ns).text);
	tp_report_add_shares(out, device->own_ns, TP_N_PARTS, device->window_ns,
			     tp_report_after_words);
	tp_buf_puts(out, " | ");
	tp_report_add_shares(out, after, TP_N_PARTS + 1, device->window_ns, tp_report_after_words);
	tp_buf_puts(out, " | ");
	tp_report_add_shares(out, device->gap_ns, TP_N_GAP_CAUSES, device->window_ns, gap_name);
	tp_buf_printf(out, " | %s |\n", tp_unit_time((double)device->wait_caused_ns).text);
}

static void add_device_table(struct tp_buf *out, const struct tp_profile *profile)
{
	tp_buf_puts(out, "| device | busy | own | waits split by cause | idle by | "
			 "others waited for it |\n| --- | ---: | --- | --- | --- | ---: |\n");
	size_t *order = tp_alloc(profile->n_devices * sizeof(*order));
	tp_report_order_devices(order, profile);
	for (size_t i = 0; i < profile->n_devices; i++)
		add_device(out, profile, order[i]);
	free(order);
	tp_buf_putc(out, '\n');
}

static void add_kernel_table(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	uint64_t all_ns = 0;
	if (!profile->n_kernels)
		return;
	for (size_t i = 0; i < profile->n_kernels; i++)
		all_ns += profile->kernels[i].time_ns;
	tp_buf_puts(out, "| kernel or copy | family | number | time | share | beside communication "
			 "|\n| --- | --- | ---: | ---: | ---: | ---: |\n");
	for (size_t i = 0; i < profile->n_kernels && i < N_KERNELS_SHOWN; i++) {
		const struct tp_kernel_result *kernel = &profile->kernels[i];
		tp_buf_puts(out, "| ");
		add_name(out, tp_trace_string(digest->trace, kernel->name));
		tp_buf_printf(out, " | %s | %s | %s | %s | ", kernel->family,
			      tp_unit_count(kernel->n).text,
			      tp_unit_time((double)kernel->time_ns).text,
			      percent(kernel->time_ns, all_ns).text);
		if (kernel->overlapped_ns && kernel->slowdown > 0)
			tp_buf_puts(out, tp_unit_factor(kernel->slowdown).text);
		tp_buf_puts(out, " |\n");
	}
	tp_buf_putc(out, '\n');
}

static void add_collective_table(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	size_t worst[N_COLLECTIVES_SHOWN];
	size_t n = tp_report_top_collectives(profile, worst, N_COLLECTIVES_SHOWN);
	if (!n)
		return;
	tp_buf_puts(out, "| collective | last | behind the first | all waited | transfer |\n"
			 "| --- | --- | ---: | ---: | ---: |\n");
	for (size_t i = 0; i < n; i++) {
		const struct tp_collective_result *collective = &profile->collectives[worst[i]];
		uint64_t wait_ns = tp_report_collective_wait(profile, worst[i]);
		tp_buf_puts(out, "| ");
		add_name(out, tp_trace_string(digest->trace, collective->name));
		tp_buf_puts(out, " | ");
		tp_report_add_device(out, profile, collective->late);
		tp_buf_printf(out, " | %s | %s | %s |\n",
			      tp_unit_time((double)collective->arrival_spread_ns).text,
			      tp_unit_time((double)wait_ns).text,
			      tp_unit_time((double)collective->transfer_ns).text);
	}
	tp_buf_putc(out, '\n');
}

static void add_blame_table(struct tp_buf *out, const struct tp_profile *profile)
{
	if (!profile->n_blames)
		return;
	tp_buf_puts(out, "| made others wait | doing | time |\n| --- | --- | ---: |\n");
	for (size_t i = 0; i < profile->n_blames; i++) {
		const struct tp_blame_result *blame = &profile->blames[i];
		struct tp_buf label = {0};
		tp_buf_printf(&label, "%s.%s", tp_part_name(tp_label_part(blame->label)),
			      tp_label_name(blame->label));
		tp_buf_puts(out, "| ");
		tp_report_add_device(out, profile, blame->device);
		tp_buf_puts(out, " | ");
		tp_markdown_add_plain(out, tp_buf_text(&label));
		tp_buf_printf(out, " | %s |\n", tp_unit_time((double)blame->time_ns).text);
		tp_buf_release(&label);
	}
	tp_buf_putc(out, '\n');
}

void tp_markdown_add_devices(struct tp_buf *out, const struct tp_report_digest *digest)
{
	if (!digest->has_devices)
		return;
	add_device_table(out, digest->profile);
	add_kernel_table(out, digest);
	add_collective_table(out, digest);
	add_blame_table(out, digest->profile);
}

void tp_markdown_add_files(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_run_info *run = digest->run;
	if (!run->n_ranks)
		return;
	tp_buf_puts(out, "| rank | file | SHA-256 | kept |\n| ---: | --- | --- | --- |\n");
	for (size_t i = 0; i < run->n_ranks; i++) {
		const struct tp_rank_info *rank = &run->ranks[i];
		struct tp_buf kept = {0};
		tp_buf_printf(out, "| %lld | ", (long long)tp_report_rank_number(run, (uint32_t)i));
		tp_markdown_add_plain(out, tp_report_known(rank->path));
		if (rank->member) {
			tp_buf_puts(out, ", ");
			tp_markdown_add_plain(out, rank->member);
		}
		tp_buf_puts(out, " (");
		tp_markdown_add_plain(out, tp_report_known(rank->format));
		tp_buf_puts(out, ") | ");
		tp_markdown_add_plain(out, tp_report_known(rank->sha256));
		tp_buf_puts(out, " | ");
		tp_report_add_kept(&kept, rank);
		tp_markdown_add_plain(out, tp_buf_text(&kept));
		tp_buf_puts(out, " |\n");
		tp_buf_release(&kept);
	}
	tp_buf_putc(out, '\n');
}
