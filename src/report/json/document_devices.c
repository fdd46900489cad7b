/* SPDX-License-Identifier: Apache-2.0 */
/* Writes devices, kernels and collectives into the JSON report. */
#include "document.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1000 };

/* Names of C++ templates may be longer than the rest of the document. */
static void put_name(struct tp_json_writer *w, const struct tp_trace *trace, uint32_t name)
{
	const char *text = tp_trace_string(trace, name);
	struct tp_buf cut = {0};
	tp_buf_add(&cut, text, strnlen(text, NAME_MAX_BYTES));
	tp_json_put_string(w, "name", tp_buf_text(&cut));
	tp_buf_release(&cut);
}

/* "d3": the index in the profile. */
static void put_device(struct tp_json_writer *w, const char *key, size_t device)
{
	char id[24];
	snprintf(id, sizeof(id), "d%zu", device);
	tp_json_put_string(w, key, id);
}

static void put_numbers(struct tp_json_writer *w, const char *key, const uint64_t *values, size_t n)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '[');
	w->is_flat = true;
	for (size_t i = 0; i < n; i++)
		tp_json_write_uint(w, values[i]);
	tp_json_close(w, ']');
	w->is_flat = false;
}

/* ---- shares of all devices ----------------------------------------------------------------- */

static void put_share(struct tp_json_writer *w, const char *key, uint64_t part, uint64_t whole)
{
	tp_json_put_number(w, key, whole ? (double)part / (double)whole : 0);
}

static void write_self(struct tp_json_writer *w, const char *key, const uint64_t *own_ns,
		       uint64_t whole)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '{');
	for (int p = 0; p < TP_N_PARTS; p++)
		put_share(w, tp_part_name((enum tp_part)p), own_ns[p], whole);
	tp_json_close(w, '}');
}

static void write_job_after(struct tp_json_writer *w, const struct tp_report_job *job)
{
	tp_json_write_key(w, "after_ratio");
	tp_json_open(w, '{');
	for (int p = 0; p < TP_N_PARTS; p++)
		put_share(w, tp_part_name((enum tp_part)p), job->after_ns[p], job->window_ns);
	put_share(w, tp_report_after_name(TP_N_PARTS), job->not_captured_ns, job->window_ns);
	tp_json_close(w, '}');
}

void tp_report_json_job(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	const struct tp_report_job *job = &doc->digest->job;
	if (!profile->n_devices)
		return;
	tp_json_write_key(w, "job");
	tp_json_open(w, '{');
	tp_json_put_uint(w, "ranks", job->n_ranks);
	tp_json_put_uint(w, "devices", profile->n_devices);
	tp_json_put_bool(w, "is_joined", job->n_ranks > 1 && !profile->not_joined);
	tp_report_json_text(w, "not_joined", profile->not_joined);
	tp_json_put_uint(w, "micro_batches", profile->micro_batches);
	tp_json_put_uint(w, "window_ns", job->window_ns);
	write_self(w, "own_ratio", job->own_ns, job->window_ns);
	write_job_after(w, job);
	tp_json_close(w, '}');
}

/* ---- devices ------------------------------------------------------------------------------- */

static void write_whole(struct tp_json_writer *w, const struct tp_device_result *device)
{
	tp_json_write_key(w, "ops");
	tp_json_open(w, '{');
	for (int c = 0; c < TP_N_OP_CLASSES; c++)
		tp_json_put_uint(w, tp_op_class_name((enum tp_op_class)c), device->n_ops[c]);
	tp_json_close(w, '}');
	tp_json_put_uint(w, "ops_unlinked", device->n_unlinked);
	tp_json_put_uint(w, "span_ns", device->span_ns);
	tp_json_put_uint(w, "busy_ns", device->busy_ns);
	tp_json_write_key(w, "union_ns");
	tp_json_open(w, '{');
	for (int c = 0; c < TP_N_OP_CLASSES; c++)
		tp_json_put_uint(w, tp_op_class_name((enum tp_op_class)c), device->union_ns[c]);
	tp_json_close(w, '}');
	tp_json_put_uint(w, "exposed_communication_ns", device->exposed_communication_ns);
	tp_json_put_uint(w, "exposed_copy_ns", device->exposed_copy_ns);
	tp_json_put_uint(w, "overlap_ns", device->overlap_ns);
}

static void write_parts(struct tp_json_writer *w, const struct tp_device_result *device)
{
	uint64_t after[TP_N_PARTS + 1];
	tp_json_put_uint(w, "window_ns", device->window_ns);
	tp_json_write_key(w, "own_ns");
	tp_json_open(w, '{');
	for (int p = 0; p < TP_N_PARTS; p++)
		tp_json_put_uint(w, tp_part_name((enum tp_part)p), device->own_ns[p]);
	tp_json_close(w, '}');
	write_self(w, "own_ratio", device->own_ns, device->window_ns);
	tp_report_after(device, after);
	tp_json_write_key(w, "after_ns");
	tp_json_open(w, '{');
	for (int p = 0; p <= TP_N_PARTS; p++)
		tp_json_put_uint(w, tp_report_after_name(p), after[p]);
	tp_json_close(w, '}');
	tp_json_write_key(w, "gap_ns");
	tp_json_open(w, '{');
	for (int c = 0; c < TP_N_GAP_CAUSES; c++)
		tp_json_put_uint(w, tp_gap_cause_name((enum tp_gap_cause)c), device->gap_ns[c]);
	tp_json_close(w, '}');
	tp_json_put_uint(w, "wait_caused_ns", device->wait_caused_ns);
}

static void write_device_steps(struct tp_report_document *doc,
			       const struct tp_device_result *device)
{
	size_t n = device->n_steps;
	if (n > doc->max_series) {
		doc->cut_device_steps += n - doc->max_series;
		n = doc->max_series;
	}
	tp_json_put_uint(doc->w, "steps", device->n_steps);
	put_numbers(doc->w, "ops_per_step", device->ops_per_step, n);
	put_numbers(doc->w, "step_ns", device->step_ns, n);
}

static void write_device(struct tp_report_document *doc, size_t index)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	const struct tp_device_result *device = &profile->devices[index];
	const struct tp_device_info *info = tp_report_device_info(profile, index);
	tp_json_open(w, '{');
	put_device(w, "id", index);
	tp_json_put_int(w, "rank", tp_report_rank_number(doc->digest->run, device->rank));
	if (device->rank < doc->digest->run->n_ranks)
		tp_json_put_uint(w, "source", device->rank);
	tp_json_put_int(w, "number", device->number);
	tp_report_json_text(w, "name", info ? info->name : NULL);
	write_whole(w, device);
	write_parts(w, device);
	write_device_steps(doc, device);
	tp_json_close(w, '}');
}

void tp_report_json_devices(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	if (!profile->n_devices)
		return;
	tp_json_write_key(doc->w, "devices");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < profile->n_devices; i++)
		write_device(doc, i);
	tp_json_close(doc->w, ']');
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void write_kernel(struct tp_report_document *doc, const struct tp_kernel_result *kernel)
{
	struct tp_json_writer *w = doc->w;
	tp_json_open(w, '{');
	put_name(w, doc->digest->trace, kernel->name);
	tp_json_put_string(w, "pattern", kernel->row);
	tp_report_json_text(w, "family", kernel->family);
	tp_json_put_string(w, "class", tp_op_class_name(kernel->class));
	tp_json_put_bool(w, "is_weak", kernel->is_weak);
	tp_json_put_uint(w, "count", kernel->n);
	tp_json_put_uint(w, "time_ns", kernel->time_ns);
	tp_json_put_uint(w, "overlapped_ns", kernel->overlapped_ns);
	if (kernel->slowdown > 0)
		tp_json_put_number(w, "slowdown_ratio", kernel->slowdown);
	tp_json_close(w, '}');
}

void tp_report_json_kernels(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	size_t n = profile->n_kernels;
	if (!profile->n_devices)
		return;
	if (n > doc->max_kernels) {
		doc->cut_kernels = n - doc->max_kernels;
		n = doc->max_kernels;
	}
	tp_json_write_key(doc->w, "kernels");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < n; i++)
		write_kernel(doc, &profile->kernels[i]);
	tp_json_close(doc->w, ']');
}

/* ---- collectives and blame ----------------------------------------------------------------- */

static void write_collective(struct tp_report_document *doc,
			     const struct tp_collective_result *collective)
{
	struct tp_json_writer *w = doc->w;
	tp_json_open(w, '{');
	put_name(w, doc->digest->trace, collective->name);
	tp_report_json_text(w, "group", tp_trace_string(doc->digest->trace, collective->group));
	put_device(w, "late", collective->late);
	tp_json_put_uint(w, "members", collective->n_members);
	tp_json_put_uint(w, "arrival_ns", collective->arrival_ns);
	tp_json_put_uint(w, "arrival_spread_ns", collective->arrival_spread_ns);
	tp_json_put_uint(w, "end_spread_ns", collective->end_spread_ns);
	tp_json_put_uint(w, "transfer_ns", collective->transfer_ns);
	put_numbers(w, "wait_ns", collective->wait_ns, doc->digest->profile->n_devices);
	tp_json_close(w, '}');
}

void tp_report_json_collectives(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	size_t n = profile->n_collectives;
	if (!profile->n_devices)
		return;
	if (n > doc->max_collectives) {
		doc->cut_collectives = n - doc->max_collectives;
		n = doc->max_collectives;
	}
	tp_json_write_key(doc->w, "collectives");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < n; i++)
		write_collective(doc, &profile->collectives[i]);
	tp_json_close(doc->w, ']');
}

void tp_report_json_blame(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	if (!profile->n_devices)
		return;
	tp_json_write_key(w, "blame");
	tp_json_open(w, '[');
	for (size_t i = 0; i < profile->n_blames; i++) {
		const struct tp_blame_result *blame = &profile->blames[i];
		tp_json_open(w, '{');
		put_device(w, "device", blame->device);
		tp_json_put_string(w, "part", tp_part_name(tp_label_part(blame->label)));
		tp_json_put_string(w, "label", tp_label_name(blame->label));
		tp_json_put_uint(w, "time_ns", blame->time_ns);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}
