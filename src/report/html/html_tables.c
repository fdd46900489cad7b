/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of processes, workers, GPUs, kernels and ranks, and how they were measured. */
#include "html.h"

#include "report/digest/job_notes.h"
#include "report/export/weights.h"

enum { MAX_ROWS = 200, OPEN_ROWS = 12, MAX_PROCESSES = 60, MAX_NAME = 240 };

/* ---- processes and workers ----------------------------------------------------------------- */

static void add_process(struct tp_buf *out, const struct tp_trace *trace,
			const struct tp_process_result *process)
{
	uint64_t blocked_ns = 0;
	double lived = process->lived_ns ? (double)process->lived_ns : 1;
	for (int cause = 0; cause < TP_N_CAUSES; cause++)
		blocked_ns += process->blocked_ns[cause];
	tp_buf_puts(out, "<tr><th scope=\"row\">");
	tp_html_add_text(out, tp_trace_string(trace, trace->tasks[process->task].comm));
	tp_buf_printf(out, "</th><td class=\"n\">%d</td><td>%s</td><td class=\"n\">%u</td>",
		      (int)trace->tasks[process->task].pid, tp_role_name(process->role),
		      process->n_threads);
	tp_html_add_number(out, tp_unit_time((double)process->cpu_ns).text);
	tp_html_add_number(out, tp_unit_percent((double)process->on_cpu_ns / lived).text);
	tp_html_add_number(out, tp_unit_percent((double)process->runnable_ns / lived).text);
	tp_html_add_number(out, tp_unit_percent((double)blocked_ns / lived).text);
	tp_html_add_number(out, process->rss_peak_bytes
					? tp_unit_bytes((double)process->rss_peak_bytes).text
					: "unknown");
	tp_buf_puts(out, "</tr>\n");
}

static void add_worker(struct tp_buf *out, const struct tp_profile *profile,
		       const struct tp_worker_result *worker)
{
	const struct tp_task *task = &profile->trace->tasks[worker->task];
	double lived = worker->lived_ns ? (double)worker->lived_ns : 1;
	tp_buf_puts(out, "<tr><th scope=\"row\">");
	tp_html_add_text(out, tp_trace_string(profile->trace, task->comm));
	tp_buf_printf(out, " (%d)</th>", (int)task->tid);
	for (int what = 0; what < TP_N_WORKER_TIMES; what++)
		tp_html_add_number(out,
				   tp_unit_percent((double)worker->time_ns[what] / lived).text);
	tp_buf_puts(out, "</tr>\n");
}

static void add_worker_table(struct tp_buf *out, const struct tp_profile *profile)
{
	struct tp_buf heads = {0};
	tp_buf_puts(&heads, "worker");
	for (int what = 0; what < TP_N_WORKER_TIMES; what++)
		tp_buf_printf(&heads, "|>%s", tp_worker_time_name((enum tp_worker_time)what));
	tp_html_begin_table(out, "What the workers of the loader do", tp_buf_text(&heads));
	for (size_t i = 0; i < profile->n_workers && i < MAX_PROCESSES; i++)
		add_worker(out, profile, &profile->workers[i]);
	tp_html_end_table(out);
	tp_buf_release(&heads);
}

static void add_left_out(struct tp_buf *out, size_t n, size_t shown)
{
	if (n > shown)
		tp_buf_printf(out, "<p>%zu more are in <code>trainprof report --json</code>.</p>\n",
			      n - shown);
}

void tp_html_add_workers(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_processes)
		return;
	tp_html_begin_section(out, "processes", "Processes and workers");
	if (profile->n_workers)
		add_worker_table(out, profile);
	tp_html_begin_table(
		out, "Processes",
		"process|>pid|role|>threads|>CPU time|>on a CPU|>waits for one|>other waits|"
		">memory, peak");
	for (size_t i = 0; i < profile->n_processes && i < MAX_PROCESSES; i++)
		add_process(out, profile->trace, &profile->processes[i]);
	tp_html_end_table(out);
	add_left_out(out, profile->n_processes, MAX_PROCESSES);
	tp_buf_puts(out, "</section>\n");
}

/* ---- GPUs ---------------------------------------------------------------------------------- */

static void add_gpu(struct tp_buf *out, const struct tp_profile *profile,
		    const struct tp_gpu_result *gpu)
{
	const char *name =
		gpu->track < profile->trace->n_tracks
			? tp_trace_string(profile->trace, profile->trace->tracks[gpu->track].name)
			: "";
	tp_buf_printf(out, "<h3>GPU %d ", gpu->number);
	tp_html_add_text(out, name);
	tp_buf_puts(out, "</h3>\n");
	tp_html_begin_table(out, "Figures of the driver", "figure|>value");
	for (int i = 0; i < TP_N_GPU_STATS; i++) {
		const struct tp_gpu_stat_desc *desc = tp_gpu_stat_desc((enum tp_gpu_stat)i);
		if (!gpu->figures[i].is_known)
			continue;
		tp_buf_printf(out, "<tr><th scope=\"row\">%s</th>", desc->name);
		tp_html_add_number(out, tp_unit_value(gpu->figures[i].value, desc->unit).text);
		tp_buf_puts(out, "</tr>\n");
	}
	tp_html_end_table(out);
}

static void add_kernel(struct tp_buf *out, const struct tp_profile *profile, size_t index)
{
	const struct tp_kernel_result *kernel = &profile->kernels[index];
	tp_buf_puts(out, "<tr><th scope=\"row\" class=\"long\">");
	tp_html_add_short(out, tp_trace_string(profile->trace, kernel->name), MAX_NAME);
	tp_buf_puts(out, "</th>");
	tp_html_add_cell(out, kernel->family ? kernel->family : "unknown");
	tp_html_add_number(out, tp_unit_count(kernel->n).text);
	tp_html_add_number(out, tp_unit_time((double)kernel->time_ns).text);
	tp_html_add_number(out, tp_unit_time((double)kernel->overlapped_ns).text);
	tp_buf_puts(out, "</tr>\n");
}

static void add_kernel_table(struct tp_buf *out, const struct tp_profile *profile,
			     const char *caption, size_t from, size_t to)
{
	tp_html_begin_table(out, caption, "name|family|>calls|>time|>beside communication");
	for (size_t i = from; i < to; i++)
		add_kernel(out, profile, i);
	tp_html_end_table(out);
}

/* Readers want the first ones; the rest is folded. */
static void add_kernels(struct tp_buf *out, const struct tp_profile *profile)
{
	size_t n = profile->n_kernels < MAX_ROWS ? profile->n_kernels : MAX_ROWS;
	size_t open = n < OPEN_ROWS ? n : OPEN_ROWS;
	add_kernel_table(out, profile, "Kernels and copies by time", 0, open);
	if (n > open) {
		tp_buf_printf(out, "<details class=\"rest\"><summary>%zu more</summary>\n",
			      n - open);
		add_kernel_table(out, profile, "Further kernels and copies", open, n);
		tp_buf_puts(out, "</details>\n");
	}
	add_left_out(out, profile->n_kernels, MAX_ROWS);
}

void tp_html_add_gpus(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_gpus && !profile->n_kernels)
		return;
	tp_html_begin_section(out, "gpus", "GPUs");
	for (size_t i = 0; i < profile->n_gpus; i++)
		add_gpu(out, profile, &profile->gpus[i]);
	if (profile->n_kernels)
		add_kernels(out, profile);
	tp_buf_puts(out, "</section>\n");
}

/* ---- ranks --------------------------------------------------------------------------------- */

static void add_device(struct tp_buf *out, const struct tp_profile *profile, uint32_t index)
{
	const struct tp_export_weight weight = {.task = TP_NO_TASK, .device = index};
	const struct tp_device_result *device = &profile->devices[index];
	double window = device->window_ns ? (double)device->window_ns : 1;
	struct tp_buf name = {0};
	tp_export_add_process(&name, profile, &weight);
	tp_buf_puts(&name, ", ");
	tp_export_add_thread(&name, profile, &weight);
	tp_buf_puts(out, "<tr><th scope=\"row\">");
	tp_html_flush_text(out, &name);
	tp_buf_puts(out, "</th>");
	for (int part = 0; part < TP_N_PARTS; part++)
		tp_html_add_number(out,
				   tp_unit_percent((double)device->after_ns[part] / window).text);
	tp_html_add_number(out, tp_unit_time((double)device->wait_caused_ns).text);
	tp_buf_puts(out, "</tr>\n");
}

void tp_html_add_ranks(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_devices)
		return;
	tp_html_begin_section(out, "ranks", "Ranks and devices");
	for (int i = 0; i < TP_JOB_NOTES_MAX; i++) {
		struct tp_buf note = {0};
		tp_report_add_job_note(&note, digest, i);
		if (note.len) {
			tp_buf_puts(out, "<p>");
			tp_html_add_text(out, tp_buf_text(&note));
			tp_buf_puts(out, "</p>\n");
		}
		tp_buf_release(&note);
	}
	tp_html_begin_table(out, "Share of the parts on each device",
			    "device|>compute|>communication|>memory|>dataloader|>host|>idle|"
			    ">makes others wait");
	for (uint32_t i = 0; i < profile->n_devices && i < MAX_ROWS; i++)
		add_device(out, profile, i);
	tp_html_end_table(out);
	add_left_out(out, profile->n_devices, MAX_ROWS);
	tp_buf_puts(out, "</section>\n");
}

/* ---- how it was measured ------------------------------------------------------------------- */

static void add_source(struct tp_buf *out, const struct tp_trace *trace,
		       const struct tp_source *source)
{
	tp_buf_puts(out, "<tr><th scope=\"row\">");
	tp_html_add_text(out, tp_trace_string(trace, source->name));
	tp_buf_puts(out, "</th>");
	tp_html_add_cell(out, tp_trace_string(trace, source->summary));
	tp_html_add_cell(out, tp_source_state_text(source->presence));
	tp_html_add_cell(out, tp_trace_string(trace, source->reason));
	tp_html_add_number(out, tp_unit_count(source->n_records).text);
	tp_html_add_number(out, tp_unit_count(source->n_lost).text);
	tp_buf_puts(out, "</tr>\n");
}

static void add_sentence(struct tp_buf *out, const char *name, struct tp_buf *text)
{
	if (text->len) {
		tp_buf_printf(out, "<p><b>%s</b> ", name);
		tp_html_add_text(out, tp_buf_text(text));
		tp_buf_puts(out, "</p>\n");
	}
	tp_buf_release(text);
}

static void add_warnings(struct tp_buf *out, const struct tp_profile *profile)
{
	if (!profile->n_warnings)
		return;
	tp_buf_puts(out, "<ul>\n");
	for (size_t i = 0; i < profile->n_warnings; i++) {
		tp_buf_puts(out, "<li>");
		tp_html_add_text(out, profile->warnings[i].text);
		if (profile->warnings[i].effect) {
			tp_buf_puts(out, ": ");
			tp_html_add_text(out, profile->warnings[i].effect);
		}
		tp_buf_puts(out, "</li>\n");
	}
	tp_buf_puts(out, "</ul>\n");
}

static void add_machine(struct tp_buf *out, const struct tp_run_info *run)
{
	struct tp_buf text = {0};
	if (run->host.name)
		tp_buf_printf(&text, "%s, ", run->host.name);
	if (run->host.cpu_model)
		tp_buf_printf(&text, "%s, ", run->host.cpu_model);
	if (run->host.n_cpus)
		tp_buf_printf(&text, "%u CPUs, ", run->host.n_cpus);
	if (run->host.memory_bytes)
		tp_buf_printf(&text, "%s of memory, ",
			      tp_unit_bytes((double)run->host.memory_bytes).text);
	tp_buf_puts(&text, run->host.kernel ? run->host.kernel : "kernel unknown");
	add_sentence(out, "Machine:", &text);
}

void tp_html_add_sources(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_trace *trace = digest->trace;
	struct tp_buf text = {0};
	tp_html_begin_section(out, "measured", "How it was measured");
	tp_report_add_missing(&text, digest, true);
	add_sentence(out, "Gaps:", &text);
	tp_report_add_reduced(&text, digest);
	add_sentence(out, "Less detail:", &text);
	tp_report_add_stops(&text, digest);
	add_sentence(out, "Left out:", &text);
	if (digest->is_import)
		tp_report_add_origin(&text, digest);
	add_sentence(out, "Read from:", &text);
	if (digest->profile->steps_reason)
		tp_buf_puts(&text, digest->profile->steps_reason);
	add_sentence(out, "Steps:", &text);
	add_machine(out, digest->run);
	add_warnings(out, digest->profile);
	tp_html_begin_table(out, "Sources", "source|what|state|why|>records|>lost");
	for (size_t i = 0; i < trace->n_sources; i++)
		add_source(out, trace, &trace->sources[i]);
	tp_html_end_table(out);
	tp_buf_puts(out, "</section>\n");
}
