/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "gpupmu": hardware counters of the GPUs that the target uses, in short windows. */
#include "collect/registry.h"

#include "collect/gpu/common/gpu_environment.h"
#include "collect/gpu/common/gpu_in_use.h"
#include "collect/machine/availability.h"
#include "collect/machine/host_file.h"
#include "collect/process/task_tree.h"
#include "pm_helper.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/proc_maps.h"
#include "trainprof/collect/collector.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "gpupmu";

/* A tenth of the time. While CUPTI samples, it locks the GPU's clocks (pytorch's kineto and
 * NVIDIA's documentation, read 2026-11-20), so the program behaves differently inside a window. */
#define WINDOW_NS TP_NS_PER_S
#define PERIOD_NS (10 * TP_NS_PER_S)
#define FIRST_NS  (2 * TP_NS_PER_S) /* after the program was first seen on a GPU */

/* CUPTI took up to 15 s to start on busy machines (wprof's history, read 2026-11-20). */
#define ANSWER_TIMEOUT_NS (60 * TP_NS_PER_S)

struct gpu_counters {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_pm_helper helper;
	uint64_t given_up; /* a bit for each GPU on which counting has failed */
	uint64_t open;     /* a bit for each GPU with an open window */
	uint64_t asked_ns; /* when the pending request was sent; 0 = none is pending */
	uint64_t next_ns;  /* when to request a window; 0 = no GPU was seen */
	bool is_paused;
	bool has_hung;
	struct tp_availability why; /* the last failure */
	char ready[60];             /* "14 counters of GH100 in one pass" */
	uint64_t n_windows;
	uint64_t n_cut;
	uint64_t n_busy;
	uint64_t n_put;
};

static struct gpu_counters *gpu_counters_of(struct tp_collector *self)
{
	return (struct gpu_counters *)self; /* its first member */
}

/* ---- probe ---------------------------------------------------------------------------------- */

/* CUPTI's answer is known only when the program uses a GPU, because starting it may take
 * seconds. */
static void gpu_counters_probe(const struct tp_host *host, struct tp_availability *out)
{
	tp_nvml_collector.probe(host, out);
	if (out->presence == TP_PRESENCE_PRESENT && tp_gpu_counters_are_restricted(host))
		tp_pm_explain(out, "RmProfilingAdminOnly", PM_NO_PRIVILEGES);
}

/* Before this process has any thread, and before the target exists. */
static enum tp_status gpu_counters_open(struct tp_collector **out,
					const struct tp_collect_context *context,
					struct tp_error *err)
{
	struct tp_pm_helper helper;
	enum tp_status status = tp_pm_helper_start(&helper, err);
	if (status)
		return status;
	struct gpu_counters *counters = tp_alloc(sizeof(*counters));
	counters->context = context;
	counters->helper = helper;
	*out = &counters->base;
	return TP_OK;
}

/* ---- while it runs -------------------------------------------------------------------------- */

static bool track_of(const struct gpu_counters *counters, uint32_t device, uint32_t *track)
{
	const struct tp_gpu_in_use *tracks = counters->context->gpus;
	for (size_t i = 0; i < tracks->n; i++)
		if (tracks->items[i].device == device) {
			*track = tracks->items[i].track;
			return true;
		}
	return false;
}

static void emit_gauge(struct gpu_counters *counters, uint32_t device, unsigned metric,
		       uint64_t time_ns, double value)
{
	uint32_t track;
	if (!track_of(counters, device, &track))
		return;
	tp_sink_gauge(counters->context->sink, (enum tp_metric)metric, track, time_ns, value);
	counters->n_put++;
}

static void emit_bin(struct gpu_counters *counters, const struct tp_pm_event *news)
{
	for (unsigned i = 0; !counters->is_paused && i < TP_N_PM_METRICS; i++)
		if (!isnan(news->bin.values[i]))
			emit_gauge(counters, news->device, TP_METRIC_PM_FIRST + i,
				   news->bin.time_ns, news->bin.values[i]);
}

static void begin_window(struct gpu_counters *counters, const struct tp_pm_event *news)
{
	counters->open |= UINT64_C(1) << news->device;
	counters->n_windows++;
	emit_gauge(counters, news->device, TP_METRIC_GPU_PM_OPEN, news->time_ns, 1);
}

static void end_window(struct gpu_counters *counters, const struct tp_pm_event *news)
{
	counters->open &= ~(UINT64_C(1) << news->device);
	emit_gauge(counters, news->device, TP_METRIC_GPU_PM_OPEN, news->time_ns, 0);
	if (news->why.presence == TP_PRESENCE_PRESENT)
		return;
	counters->n_cut++;
	counters->why = news->why;
	tp_sink_gap(counters->context->sink, name, news->why.reason, news->time_ns, news->time_ns,
		    0);
}

/* Another tool may release the counters later; everything else stays as it is. */
static void record_failure(struct gpu_counters *counters, const struct tp_pm_event *news)
{
	counters->why = news->why;
	if (news->why.presence == TP_PRESENCE_IN_USE)
		counters->n_busy++;
	else
		counters->given_up |= UINT64_C(1) << news->device;
}

static void handle_event(struct gpu_counters *counters, const struct tp_pm_event *news,
			 uint64_t now_ns)
{
	switch (news->kind) {
	case TP_PM_READY:
		snprintf(counters->ready, sizeof(counters->ready), "%.59s", news->why.reason);
		return;
	case TP_PM_FAILED:
		record_failure(counters, news);
		return;
	case TP_PM_OPENED:
		begin_window(counters, news);
		return;
	case TP_PM_BIN:
		emit_bin(counters, news);
		return;
	case TP_PM_CLOSED:
		end_window(counters, news);
		return;
	case TP_PM_DONE:
		counters->asked_ns = 0;
		if (counters->context->helpers_cpu_ns)
			*counters->context->helpers_cpu_ns = news->cpu_ns;
		counters->next_ns = now_ns + PERIOD_NS - WINDOW_NS;
		return;
	}
}

/* Ends windows that will not be closed otherwise. */
static void close_all(struct gpu_counters *counters, uint64_t now_ns)
{
	for (uint32_t i = 0; i < TP_PM_DEVICES_MAX; i++)
		if (counters->open >> i & 1)
			emit_gauge(counters, i, TP_METRIC_GPU_PM_OPEN, now_ns, 0);
	counters->open = 0;
}

static void receive_events(struct gpu_counters *counters, uint64_t now_ns)
{
	struct tp_pm_event news;
	while (tp_pm_helper_receive(&counters->helper, &news))
		if (news.device < TP_PM_DEVICES_MAX)
			handle_event(counters, &news, now_ns);
	if (counters->asked_ns && now_ns > counters->asked_ns + WINDOW_NS + ANSWER_TIMEOUT_NS) {
		counters->has_hung = true;
		tp_pm_helper_end(&counters->helper);
		counters->helper.is_gone = true;
	}
	if (counters->helper.is_gone)
		close_all(counters, now_ns);
}

/* A library next to the program's would be loaded into our process, with root's rights if we are
 * root, so it must not be chosen by another user. */
static bool is_of_our_user(const struct tp_host *host, pid_t pid)
{
	char path[64];
	char text[64];
	unsigned real;
	unsigned effective;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return tp_host_file_field(host, path, "Uid", text, sizeof(text)) &&
	       sscanf(text, "%u %u", &real, &effective) == 2 && real == geteuid() &&
	       effective == geteuid();
}

/* Finds the path of a CUDA library that the process has loaded; "" = none. */
static void find_in_maps(const struct tp_host *host, pid_t pid, char *out, size_t size)
{
	char proc[PATH_MAX];
	struct tp_buf text = {0};
	struct tp_mapping mapping;
	*out = '\0';
	enum tp_status status =
		tp_proc_maps_read(&text, tp_host_path(host, proc, sizeof(proc), "/proc"), pid,
				  NULL);
	char *at = text.data;
	while (status == TP_OK && !*out && tp_proc_maps_next(&at, &mapping))
		if (strstr(mapping.path, "/libcudart.so") || strstr(mapping.path, "/libcupti.so"))
			snprintf(out, size, "%s", mapping.path);
	tp_buf_release(&text);
}

/* There usually is a CUPTI next to the runtime that the program has loaded: "" if it has loaded
 * none. */
static void find_runtime(const struct gpu_counters *counters, char *out, size_t size)
{
	const struct tp_host *host = counters->context->host;
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	*out = '\0';
	while (!*out && (task = tp_task_tree_next(counters->context->tree, &cursor)))
		if (task->info.tid == task->info.pid && is_of_our_user(host, task->info.pid))
			find_in_maps(host, task->info.pid, out, size);
}

static void request_window(struct gpu_counters *counters, uint64_t devices, uint64_t now_ns)
{
	struct tp_pm_request wish = {.devices = devices, .window_ns = WINDOW_NS};
	if (!counters->n_windows)
		find_runtime(counters, wish.runtime, sizeof(wish.runtime));
	if (tp_pm_helper_request(&counters->helper, &wish))
		counters->asked_ns = now_ns;
}

static enum tp_status gpu_counters_sample(struct tp_collector *self, uint64_t now_ns,
					  struct tp_error *err)
{
	(void)err;
	struct gpu_counters *counters = gpu_counters_of(self);
	const struct tp_gpu_in_use *tracks = counters->context->gpus;
	uint64_t devices = 0;
	receive_events(counters, now_ns);
	for (size_t i = 0; i < tracks->n; i++)
		if (tracks->items[i].device < TP_PM_DEVICES_MAX)
			devices |= UINT64_C(1) << tracks->items[i].device;
	devices &= ~counters->given_up;
	if (devices && !counters->next_ns)
		counters->next_ns = now_ns + FIRST_NS;
	if (devices && !counters->is_paused && !counters->asked_ns && !counters->helper.is_gone &&
	    now_ns >= counters->next_ns)
		request_window(counters, devices, now_ns);
	return TP_OK;
}

static void gpu_counters_pause(struct tp_collector *self, bool is_paused, uint64_t now_ns)
{
	struct gpu_counters *counters = gpu_counters_of(self);
	receive_events(counters, now_ns);
	counters->is_paused = is_paused;
}

/* ---- result --------------------------------------------------------------------------------- */

static void report_availability(struct gpu_counters *counters)
{
	struct tp_availability *out = &counters->base.availability;
	bool has_gpus = counters->context->gpus->n > 0;
	*out = (struct tp_availability){0};
	if (counters->n_windows)
		snprintf(out->reason, sizeof(out->reason), "%s; %llu window%s", counters->ready,
			 (unsigned long long)counters->n_windows,
			 counters->n_windows == 1 ? "" : "s");
	else if (counters->why.presence != TP_PRESENCE_PRESENT)
		*out = counters->why;
	else if (!has_gpus)
		snprintf(out->reason, sizeof(out->reason), "NVML knows of no GPU in use");
	else if (!counters->helper.is_gone)
		tp_availability_degrade(out, "the program ended before the first window");
	if (counters->n_windows && counters->n_cut)
		tp_availability_degrade(out, "%llu cut: %s", (unsigned long long)counters->n_cut,
					counters->why.reason);
	if (counters->n_windows && counters->n_busy)
		tp_availability_degrade(out, "another tool had them %llu times",
					(unsigned long long)counters->n_busy);
	if (counters->helper.is_gone)
		tp_availability_degrade(out, counters->has_hung ? "CUPTI did not answer for 60 s"
								: "CUPTI ended its process");
}

static enum tp_status gpu_counters_stop(struct tp_collector *self, uint64_t now_ns,
					struct tp_error *err)
{
	(void)err;
	struct gpu_counters *counters = gpu_counters_of(self);
	receive_events(counters, now_ns);
	close_all(counters, now_ns);
	report_availability(counters);
	tp_sink_source(counters->context->sink, name, self->type->summary, &self->availability,
		       counters->n_put, 0);
	return TP_OK;
}

static void gpu_counters_close(struct tp_collector *self)
{
	struct gpu_counters *counters = gpu_counters_of(self);
	tp_pm_helper_end(&counters->helper);
	free(counters);
}

const struct tp_collector_type tp_gpu_counters_collector = {
	.name = name,
	.summary = "GPU hardware counters, sampled in short windows with locked clocks",
	.gains = "how busy matrix units, caches and memory of the GPU are",
	.probe = gpu_counters_probe,
	.open = gpu_counters_open,
	.sample = gpu_counters_sample,
	.pause = gpu_counters_pause,
	.stop = gpu_counters_stop,
	.close = gpu_counters_close,
	.period_ns = TP_NS_PER_S,
};
