/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "nvml": the driver's data about the GPUs that the target uses. */
#include "collect/registry.h"

#include "collect/gpu/common/gpu_in_use.h"
#include "collect/machine/availability.h"
#include "collect/machine/host_file.h"
#include "collect/process/task_tree.h"
#include "nvml_thread.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "nvml";

/* A call of NVML that takes longer than this is reported. */
#define HANG_TIMEOUT_NS (3 * TP_NS_PER_S)

struct nvml_gpu {
	uint32_t device; /* NVML's index */
	uint32_t track;
	bool is_listed;
	double free_bytes; /* free memory at the last reading; NAN = unknown */
};

struct nvml {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_nvml_thread *watch;
	struct nvml_gpu *gpus; /* those that the target uses */
	size_t n_gpus;
	size_t gpus_capacity;
	bool is_paused;
	bool has_failed;
	uint64_t started_ns;
	uint64_t n_put;
	uint64_t n_lost;
	unsigned n_lost_devices;
};

static struct nvml *nvml_of(struct tp_collector *self)
{
	return (struct nvml *)self; /* its first member */
}

/* ---- probe --------------------------------------------------------------------------------- */

static void set_absent(struct tp_availability *out, enum tp_presence presence, const char *reason,
		       const char *remedy)
{
	*out = (struct tp_availability){.presence = presence};
	snprintf(out->reason, sizeof(out->reason), "%.119s", reason);
	snprintf(out->remedy, sizeof(out->remedy), "%.119s", remedy);
}

/* Initialising NVML may take seconds, too long for a probe: it is enough that the library loads. */
static void nvml_probe(const struct tp_host *host, struct tp_availability *out)
{
	struct tp_nvml_library library;
	struct tp_error why = {0};
	const char *wish = getenv("TRAINPROF_GPU"); /* NOLINT(concurrency-mt-unsafe) */
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
	if (wish && strcmp(wish, "0") == 0) {
		set_absent(out, TP_PRESENCE_OFF, "switched off by TRAINPROF_GPU=0", "");
		return;
	}
	bool has_driver = tp_host_file_exists(host, "/dev/nvidiactl");
	if (!host->is_live)
		set_absent(out, TP_PRESENCE_NO_DEVICE, "a recorded machine has no GPU", "");
	else if (tp_nvml_library_open(&library, NULL, &why) == TP_OK)
		tp_nvml_library_close(&library);
	else if (why.status == TP_VERSION)
		set_absent(out, TP_PRESENCE_NO_LIBRARY, why.text, "");
	else if (has_driver)
		set_absent(out, TP_PRESENCE_NO_LIBRARY, TP_NVML_LIBRARY " cannot be loaded",
			   "in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	else
		set_absent(out, TP_PRESENCE_NO_DEVICE, "no NVIDIA driver here", "");
}

static enum tp_status nvml_open(struct tp_collector **out, const struct tp_collect_context *context,
				struct tp_error *err)
{
	(void)err;
	struct nvml *nvml = tp_alloc(sizeof(*nvml));
	nvml->context = context;
	*out = &nvml->base;
	return TP_OK;
}

/* ---- while it runs ------------------------------------------------------------------------- */

static void send_pids(struct nvml *nvml)
{
	pid_t *pids = NULL;
	size_t n_pids = 0;
	size_t capacity = 0;
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(nvml->context->tree, &cursor)))
		if (task->info.tid == task->info.pid)
			TP_ARRAY_PUSH(pids, n_pids, capacity) = task->info.pid;
	tp_nvml_thread_set_pids(nvml->watch, pids, n_pids);
	free(pids);
}

/* Creates its track when the target is first seen to use it. NULL: there are too many tracks. */
static struct nvml_gpu *gpu_of(struct nvml *nvml, uint32_t device)
{
	struct tp_sink *sink = nvml->context->sink;
	for (size_t i = 0; i < nvml->n_gpus; i++)
		if (nvml->gpus[i].device == device)
			return &nvml->gpus[i];
	struct tp_track track = {
		.id = tp_sink_new_track(sink),
		.device = (int32_t)device,
		.number = TP_TRACK_WHOLE,
		.name = tp_sink_string(sink, tp_nvml_thread_device_name(nvml->watch, device)),
	};
	if (track.id >= TP_TRACKS_MAX)
		return NULL;
	tp_sink_track(sink, &track);
	tp_gpu_in_use_add(nvml->context->gpus, device, track.id);
	struct nvml_gpu *gpu = &TP_ARRAY_PUSH(nvml->gpus, nvml->n_gpus, nvml->gpus_capacity);
	*gpu = (struct nvml_gpu){.device = device, .track = track.id, .free_bytes = NAN};
	return gpu;
}

static void emit_reading(struct nvml *nvml, const struct tp_nvml_reading *reading)
{
	struct nvml_gpu *gpu = gpu_of(nvml, reading->device);
	if (gpu && !isnan(reading->free_bytes))
		gpu->free_bytes = reading->free_bytes;
	for (size_t i = 0; gpu && i < TP_N_GPU_METRICS; i++) {
		if (isnan(reading->values[i]))
			continue;
		enum tp_metric metric = (enum tp_metric)(TP_METRIC_GPU_FIRST + i);
		tp_sink_gauge(nvml->context->sink, metric, gpu->track, reading->time_ns,
			      reading->values[i]);
		nvml->n_put++;
		if (metric == TP_METRIC_GPU_IS_LISTED && reading->values[i] > 0)
			gpu->is_listed = true;
	}
}

static void record_losses(struct nvml *nvml, const struct tp_nvml_update *news, uint64_t now_ns)
{
	struct tp_sink *sink = nvml->context->sink;
	if (news->n_lost > nvml->n_lost)
		tp_sink_gap(sink, name, "readings came faster than they were taken", now_ns, now_ns,
			    news->n_lost - nvml->n_lost);
	if (news->n_lost_devices > nvml->n_lost_devices)
		tp_sink_gap(sink, name, "a GPU is lost", now_ns, UINT64_MAX, 0);
	nvml->n_lost = news->n_lost;
	nvml->n_lost_devices = news->n_lost_devices;
}

/* For sources that would use some of it. */
static void publish_free_memory(const struct nvml *nvml)
{
	double least = NAN;
	for (size_t i = 0; i < nvml->n_gpus; i++)
		least = fmin(least, nvml->gpus[i].free_bytes);
	if (nvml->context->gpu_free_bytes)
		*nvml->context->gpu_free_bytes = least;
}

/* Processes the available updates; never waits. */
static void handle_update(struct nvml *nvml, struct tp_nvml_update *news, uint64_t now_ns)
{
	tp_nvml_thread_receive(nvml->watch, news);
	for (size_t i = 0; !nvml->is_paused && i < news->n_readings; i++)
		emit_reading(nvml, &news->readings[i]);
	free(news->readings);
	news->readings = NULL;
	publish_free_memory(nvml);
	record_losses(nvml, news, now_ns);
}

static enum tp_status nvml_start(struct tp_collector *self, pid_t target, struct tp_error *err)
{
	(void)target;
	struct nvml *nvml = nvml_of(self);
	/* Not earlier: the target was forked from a single-threaded process and inherits no
	 * descriptor of NVML. */
	nvml->started_ns = tp_clock_now_ns();
	enum tp_status status =
		tp_nvml_thread_start(&nvml->watch, NULL, nvml->context->host->root, err);
	if (status == TP_OK)
		send_pids(nvml);
	return status;
}

static enum tp_status nvml_sample(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct nvml *nvml = nvml_of(self);
	struct tp_nvml_update news;
	if (nvml->has_failed)
		return TP_OK;
	send_pids(nvml);
	handle_update(nvml, &news, now_ns);
	nvml->has_failed = news.state == TP_NVML_FAILED;
	return TP_OK;
}

/* The list of processes is updated even while nothing is recorded. */
static void nvml_pause(struct tp_collector *self, bool is_paused, uint64_t now_ns)
{
	struct nvml *nvml = nvml_of(self);
	struct tp_nvml_update news;
	if (nvml->watch)
		handle_update(nvml, &news, now_ns);
	nvml->is_paused = is_paused;
}

/* ---- result -------------------------------------------------------------------------------- */

/* "2 of 8 GPUs, found by the processes that NVML lists". */
static void describe(struct nvml *nvml, const struct tp_nvml_update *news)
{
	struct tp_availability *out = &nvml->base.availability;
	size_t n_listed = 0;
	for (size_t i = 0; i < nvml->n_gpus; i++)
		n_listed += nvml->gpus[i].is_listed;
	out->presence = TP_PRESENCE_PRESENT;
	if (!news->n_devices)
		set_absent(out, TP_PRESENCE_NO_DEVICE, "NVML knows of no GPU here", "nvidia-smi");
	else if (n_listed)
		snprintf(out->reason, sizeof(out->reason),
			 "%zu of %u GPUs, found by the processes that NVML lists", n_listed,
			 news->n_devices);
	else if (nvml->n_gpus)
		snprintf(out->reason, sizeof(out->reason),
			 "%zu of %u GPUs, found by the device nodes that the program holds open",
			 nvml->n_gpus, news->n_devices);
	else
		snprintf(out->reason, sizeof(out->reason), "the program uses none of the %u GPU%s",
			 news->n_devices, news->n_devices == 1 ? "" : "s");
	if (news->n_lost_devices)
		tp_availability_degrade(out, "%u GPU%s lost", news->n_lost_devices,
					news->n_lost_devices == 1 ? " is" : "s are");
}

static void report_availability(struct nvml *nvml, const struct tp_nvml_update *news,
				uint64_t now_ns)
{
	struct tp_availability *out = &nvml->base.availability;
	double waited_s = (double)(now_ns - nvml->started_ns) * 1e-9;
	*out = (struct tp_availability){0};
	switch (news->state) {
	case TP_NVML_FAILED:
		*out = news->why;
		return;
	case TP_NVML_STARTING:
		tp_availability_degrade(out, "NVML had not started after %.1f s", waited_s);
		return;
	case TP_NVML_RUNNING:
		describe(nvml, news);
		if (news->waits_since_ns && now_ns > news->waits_since_ns + HANG_TIMEOUT_NS)
			tp_availability_degrade(out, "NVML did not answer in the last %.0f s",
						(double)(now_ns - news->waits_since_ns) * 1e-9);
		return;
	}
}

static enum tp_status nvml_stop(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct nvml *nvml = nvml_of(self);
	struct tp_nvml_update news = {0};
	if (!nvml->watch)
		return TP_OK;
	handle_update(nvml, &news, now_ns);
	report_availability(nvml, &news, now_ns);
	tp_sink_source(nvml->context->sink, name, self->type->summary, &self->availability,
		       nvml->n_put, nvml->n_lost);
	return TP_OK;
}

static void nvml_close(struct tp_collector *self)
{
	struct nvml *nvml = nvml_of(self);
	if (nvml->watch)
		tp_nvml_thread_end(nvml->watch);
	free(nvml->gpus);
	free(nvml);
}

const struct tp_collector_type tp_nvml_collector = {
	.name = name,
	.summary = "GPU metrics from the NVIDIA driver: use, memory, power, clocks",
	.gains = "how busy the GPU is, what limits its clocks, who else uses it",
	.probe = nvml_probe,
	.open = nvml_open,
	.start = nvml_start,
	.sample = nvml_sample,
	.pause = nvml_pause,
	.stop = nvml_stop,
	.close = nvml_close,
	.period_ns = TP_NS_PER_S,
};
