/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over devices, and names ranks and files. */
#include "job.h"

#include <assert.h>
#include <string.h>

static void add_device_times(struct tp_report_job *out, const struct tp_device_result *device)
{
	out->window_ns += device->window_ns;
	out->span_ns += device->span_ns;
	out->busy_ns += device->busy_ns;
	out->window_busy_ns += device->window_busy_ns;
	out->exposed_communication_ns += device->exposed_communication_ns;
	out->exposed_copy_ns += device->exposed_copy_ns;
	out->wait_caused_ns += device->wait_caused_ns;
	for (int c = 0; c < TP_N_OP_CLASSES; c++)
		out->union_ns[c] += device->union_ns[c];
	for (int c = 0; c < TP_N_GAP_CAUSES; c++)
		out->gap_ns[c] += device->gap_ns[c];
}

static void add_device_parts(struct tp_report_job *out, const struct tp_device_result *device)
{
	uint64_t after[TP_N_PARTS + 1];
	tp_report_after(device, after);
	for (int p = 0; p < TP_N_PARTS; p++) {
		out->own_ns[p] += device->own_ns[p];
		out->after_ns[p] += after[p];
	}
	out->not_captured_ns += after[TP_N_PARTS];
}

void tp_report_job_sum(struct tp_report_job *out, const struct tp_profile *profile)
{
	*out = (struct tp_report_job){0};
	for (size_t i = 0; i < profile->n_devices; i++) {
		const struct tp_device_result *device = &profile->devices[i];
		add_device_times(out, device);
		add_device_parts(out, device);
		/* The devices are sorted by rank. */
		out->n_ranks += i == 0 || device->rank != profile->devices[i - 1].rank;
	}
}

int64_t tp_report_rank_number(const struct tp_run_info *run, uint32_t rank)
{
	return rank < run->n_ranks && run->ranks[rank].number >= 0 ? run->ranks[rank].number : rank;
}

const struct tp_device_info *tp_report_device_info(const struct tp_profile *profile, size_t device)
{
	const struct tp_device_result *result = &profile->devices[device];
	const struct tp_run_info *run = &profile->trace->run;
	if (result->rank >= run->n_ranks)
		return NULL;
	const struct tp_rank_info *rank = &run->ranks[result->rank];
	for (size_t i = 0; i < rank->n_devices; i++)
		if (rank->devices[i].number == result->number)
			return &rank->devices[i];
	return NULL;
}

static bool is_before(const struct tp_profile *profile, size_t a, size_t b)
{
	const struct tp_run_info *run = &profile->trace->run;
	int64_t rank_a = tp_report_rank_number(run, profile->devices[a].rank);
	int64_t rank_b = tp_report_rank_number(run, profile->devices[b].rank);
	if (rank_a != rank_b)
		return rank_a < rank_b;
	return profile->devices[a].number < profile->devices[b].number;
}

void tp_report_order_devices(size_t *out, const struct tp_profile *profile)
{
	for (size_t i = 0; i < profile->n_devices; i++) {
		size_t at = i;
		for (; at && is_before(profile, i, out[at - 1]); at--)
			out[at] = out[at - 1];
		out[at] = i;
	}
}

/* True if the rank has another device. */
static bool has_sibling(const struct tp_profile *profile, size_t device)
{
	uint32_t rank = profile->devices[device].rank;
	return (device && profile->devices[device - 1].rank == rank) ||
	       (device + 1 < profile->n_devices && profile->devices[device + 1].rank == rank);
}

void tp_report_add_device(struct tp_buf *out, const struct tp_profile *profile, size_t device)
{
	const struct tp_device_result *result = &profile->devices[device];
	tp_buf_printf(out, "rank %lld",
		      (long long)tp_report_rank_number(&profile->trace->run, result->rank));
	if (has_sibling(profile, device))
		tp_buf_printf(out, " device %d", (int)result->number);
}

const char *tp_report_after_name(int part)
{
	return part < TP_N_PARTS ? tp_part_name((enum tp_part)part) : "not_captured";
}

const char *tp_report_after_words(int part)
{
	return part < TP_N_PARTS ? tp_part_name((enum tp_part)part) : "not captured";
}

void tp_report_after(const struct tp_device_result *device, uint64_t out[TP_N_PARTS + 1])
{
	for (int p = 0; p < TP_N_PARTS; p++)
		out[p] = device->after_ns[p];
	assert(device->not_captured_ns <= device->after_ns[TP_PART_COMMUNICATION]);
	out[TP_PART_COMMUNICATION] -= device->not_captured_ns;
	out[TP_N_PARTS] = device->not_captured_ns;
}

const char *tp_report_known(const char *text)
{
	return text ? text : "unknown";
}

const char *tp_report_base_name(const char *path)
{
	path = tp_report_known(path);
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

bool tp_report_is_same_file(const struct tp_rank_info *a, const struct tp_rank_info *b)
{
	return strcmp(tp_report_known(a->path), tp_report_known(b->path)) == 0;
}

static bool is_repeated(const struct tp_run_info *run, size_t rank)
{
	for (size_t i = 0; i < rank; i++)
		if (tp_report_is_same_file(&run->ranks[i], &run->ranks[rank]))
			return true;
	return false;
}

size_t tp_report_n_files(const struct tp_run_info *run)
{
	size_t n = 0;
	for (size_t i = 0; i < run->n_ranks; i++)
		n += !is_repeated(run, i);
	return n;
}

static bool is_format_repeated(const struct tp_run_info *run, size_t rank)
{
	for (size_t i = 0; i < rank; i++)
		if (strcmp(tp_report_known(run->ranks[i].format),
			   tp_report_known(run->ranks[rank].format)) == 0)
			return true;
	return false;
}

/* Append "kineto", or "kineto, nsys". */
static void add_formats(struct tp_buf *out, const struct tp_run_info *run)
{
	for (size_t i = 0; i < run->n_ranks; i++)
		if (!is_format_repeated(run, i))
			tp_buf_printf(out, "%s%s", i ? ", " : "",
				      tp_report_known(run->ranks[i].format));
}

void tp_report_add_files(struct tp_buf *out, const struct tp_run_info *run)
{
	if (!run->n_ranks) {
		tp_buf_puts(out, "no files");
		return;
	}
	size_t n = tp_report_n_files(run);
	tp_buf_puts(out, tp_report_base_name(run->ranks[0].path));
	if (n > 1)
		tp_buf_printf(out, " and %zu more", n - 1);
	tp_buf_puts(out, " (");
	add_formats(out, run);
	tp_buf_putc(out, ')');
}
