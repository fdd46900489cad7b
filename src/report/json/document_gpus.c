/* SPDX-License-Identifier: Apache-2.0 */
/* Writes GPUs, with figures of their driver, into the JSON report. */
#include "document.h"

#include "trainprof/model/gpu.h"

#include <stdio.h>

static void write_gpu(struct tp_report_document *doc, size_t index)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_trace *trace = doc->digest->trace;
	const struct tp_gpu_result *gpu = &doc->digest->profile->gpus[index];
	const char *name = tp_trace_string(trace, trace->tracks[gpu->track].name);
	char id[24];
	snprintf(id, sizeof(id), "g%zu", index);
	tp_json_open(w, '{');
	tp_json_put_string(w, "id", id);
	tp_json_put_int(w, "number", gpu->number);
	if (*name)
		tp_json_put_string(w, "name", name);
	tp_json_put_string(w, "found_by", gpu->is_listed ? "processes" : "nodes");
	tp_json_put_uint(w, "readings", gpu->n);
	for (int f = 0; f < TP_N_GPU_STATS; f++) {
		tp_json_write_key(w, tp_gpu_stat_desc((enum tp_gpu_stat)f)->name);
		tp_report_json_quantity(w, &gpu->figures[f]);
	}
	tp_json_close(w, '}');
}

void tp_report_json_gpus(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	if (!profile->n_gpus)
		return;
	tp_json_write_key(doc->w, "gpus");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < profile->n_gpus; i++)
		write_gpu(doc, i);
	tp_json_close(doc->w, ']');
}
