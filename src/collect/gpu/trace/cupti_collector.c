/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "cupti": what the GPU did, recorded by an agent that the driver loads into the
 * program. */
#include "collect/machine/stage_clock.h"
#include "collect/registry.h"

#include "agent_attach.h"
#include "agent_path.h"
#include "agent_state.h"
#include "collect/gpu/common/gpu_tools.h"
#include "collect/gpu/nvml/nvml_library.h"
#include "collect/machine/availability.h"
#include "collect/machine/host_file.h"
#include "gpu_ring_set.h"
#include "gpu_trace_windows.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "cupti";

/* Libraries that the driver, and NVTX in libraries, load into a program at its start. */
#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"

static const char without_tool[] = "unset " CUDA_INJECTION ", or measure without that tool";

/* CUPTI uses GPU memory: 51 MB that the agent allows, and what it needs for itself. A program that
 * would fail for lack of that is not traced. */
#define FREE_BYTES_MIN (512.0 * 1048576)

/* Bounds the work of one wake-up: 1.3 million events per second and process at our rate. */
enum { EVENTS_AT_ONCE = 1 << 17 };

/* If a program ends within this time after its agent has closed, the two belong together. */
#define ENDING_NS (500 * TP_NS_PER_MS)

struct cupti {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_gpu_ring_set rings;
	struct tp_agent_attach_stats joined; /* for attach */
	char *agent;                         /* path, heap */
	uint64_t started_ns;
	bool has_cuda;   /* CUDA loads no other tool */
	bool has_ranges; /* no other tool receives NVTX ranges */
	bool is_paused;
	bool is_open;      /* a window is open */
	uint64_t spent_ns; /* when enough was recorded; 0 = not yet */
	struct tp_progress progress;
	struct tp_gpu_trace_windows windows;
};

static struct cupti *cupti_of(struct tp_collector *self)
{
	return (struct cupti *)self; /* its first member */
}

/* ---- probe ---------------------------------------------------------------------------------- */

static void set_absent(struct tp_availability *out, enum tp_presence presence, const char *reason,
		       const char *remedy)
{
	*out = (struct tp_availability){.presence = presence};
	snprintf(out->reason, sizeof(out->reason), "%.119s", reason);
	snprintf(out->remedy, sizeof(out->remedy), "%.119s", remedy);
}

static bool has_driver(const struct tp_host *host)
{
	struct tp_nvml_library library;
	struct tp_error ignored = {0};
	if (!host->is_live)
		return false;
	if (tp_host_file_exists(host, "/dev/nvidiactl"))
		return true;
	if (tp_nvml_library_open(&library, NULL, &ignored) != TP_OK)
		return false;
	tp_nvml_library_close(&library);
	return true;
}

/* CUDA loads one tool, and so does NVTX. Another tool may rely on being the only one, so its
 * setting is left unchanged and nothing is put before it. */
static const char *owner_of(const char *injection)
{
	const char *owner = getenv(injection); /* NOLINT(concurrency-mt-unsafe) */
	return owner && *owner ? owner : NULL;
}

/* NVTX ranges give steps and the sizes of collectives, but no kernels. */
static void report_owner(const char *owner, struct tp_availability *out)
{
	char text[sizeof(out->reason)];
	const char *tool = tp_gpu_tool_of_library(owner);
	snprintf(text, sizeof(text), CUDA_INJECTION " is set to %.60s%s%s%s", owner,
		 tool ? " (" : "", tool ? tool : "", tool ? ")" : "");
	set_absent(out, TP_PRESENCE_IN_USE, text, without_tool);
	if (owner_of(NVTX_INJECTION))
		return;
	out->presence = TP_PRESENCE_DEGRADED;
	tp_availability_degrade(out, "only NVTX ranges are recorded");
}

static void cupti_probe(const struct tp_host *host, struct tp_availability *out)
{
	const char *wish = getenv("TRAINPROF_GPU"); /* NOLINT(concurrency-mt-unsafe) */
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
	if (wish && strcmp(wish, "0") == 0) {
		set_absent(out, TP_PRESENCE_OFF, "switched off by TRAINPROF_GPU=0", "");
		return;
	}
	if (!has_driver(host)) {
		set_absent(out, TP_PRESENCE_NO_DEVICE, "no NVIDIA driver here", "");
		return;
	}
	char *agent = tp_agent_path();
	if (!agent)
		set_absent(out, TP_PRESENCE_NO_LIBRARY,
			   TP_AGENT_LIBRARY " is not where trainprof is",
			   TP_AGENT_ENV "=/path/of/" TP_AGENT_LIBRARY " trainprof run -- ...");
	else if (owner_of(CUDA_INJECTION))
		report_owner(owner_of(CUDA_INJECTION), out);
	else if (owner_of(NVTX_INJECTION))
		tp_availability_degrade(out,
					"NVTX ranges are another tool's: " NVTX_INJECTION
					" is set to %.60s",
					owner_of(NVTX_INJECTION));
	free(agent);
}

static bool has_windows(const struct cupti *cupti)
{
	return cupti->context->config->gpu_trace == TP_GPU_TRACE_WINDOWS;
}

/* True if the program was running already. */
static bool is_attach_run(const struct cupti *cupti)
{
	return cupti->context->config->is_attaching;
}

/* Observes the progress of the program in the records of all sources. */
static void on_record(void *context, const struct tp_record *record)
{
	struct cupti *cupti = context;
	tp_progress_add_record(&cupti->progress, record);
}

static enum tp_status cupti_open(struct tp_collector **out,
				 const struct tp_collect_context *context, struct tp_error *err)
{
	struct cupti *cupti = tp_alloc(sizeof(*cupti));
	cupti->context = context;
	cupti->agent = tp_agent_path();
	cupti->has_cuda = true;
	enum tp_status status = TP_OK;
	if (!cupti->agent)
		status = tp_fail(err, TP_ABSENT, TP_AGENT_LIBRARY " is gone");
	else if (is_attach_run(cupti))
		tp_gpu_ring_set_init(&cupti->rings, context, name);
	else
		status = tp_gpu_ring_set_open(&cupti->rings, NULL, context, name, err);
	if (status) {
		free(cupti->agent);
		free(cupti);
		return status;
	}
	if (has_windows(cupti)) {
		tp_gpu_trace_windows_init(&cupti->windows, &cupti->progress,
					  context->config->max_overhead_ratio, tp_clock_now_ns());
		tp_sink_watch(context->sink, on_record, cupti);
		cupti->rings.progress = &cupti->progress;
	}
	*out = &cupti->base;
	return TP_OK;
}

/* ---- while it runs -------------------------------------------------------------------------- */

/* Not called for a program that was running already. */
static enum tp_status cupti_child_env(struct tp_collector *self, struct tp_env *env,
				      struct tp_error *err)
{
	(void)err;
	struct cupti *cupti = cupti_of(self);
	tp_env_set(env, TP_GPU_RINGS_ENV, cupti->rings.directory);
	cupti->has_cuda = !owner_of(CUDA_INJECTION);
	cupti->has_ranges = !owner_of(NVTX_INJECTION);
	if (cupti->has_cuda)
		tp_env_set(env, CUDA_INJECTION, cupti->agent);
	if (cupti->has_ranges)
		tp_env_set(env, NVTX_INJECTION, cupti->agent);
	if (has_windows(cupti))
		tp_env_set(env, TP_GPU_ENV, "idle");
	return TP_OK;
}

static uint64_t count_records(const struct tp_gpu_ring_set *rings)
{
	uint64_t n = 0;
	for (size_t i = 0; i < rings->n; i++)
		if (rings->items[i]->decoder)
			n += tp_gpu_decoder_get_stats(rings->items[i]->decoder)->n_spans;
	return n;
}

static void request_agents(struct cupti *cupti)
{
	bool may_collect = !cupti->is_paused && !cupti->spent_ns;
	if (has_windows(cupti))
		may_collect = may_collect && cupti->is_open;
	tp_gpu_ring_set_request(&cupti->rings,
				may_collect ? TP_GPU_REQUEST_EVENTS : TP_GPU_REQUEST_IDLE);
}

/* Unknown is not low: without NVML the answer is false. */
static bool is_out_of_room(const struct cupti *cupti)
{
	const double *free_bytes = cupti->context->gpu_free_bytes;
	return free_bytes && *free_bytes < FREE_BYTES_MIN;
}

/* Combines all processes, because their windows open and close at the same time. */
static void read_agents(const struct cupti *cupti, struct tp_gpu_agents_state *out)
{
	*out = (struct tp_gpu_agents_state){.is_there = cupti->rings.n > 0,
					    .lacks_room = is_out_of_room(cupti),
					    .n_events = count_records(&cupti->rings)};
	for (size_t i = 0; i < cupti->rings.n; i++) {
		const struct tp_gpu_ring *ring = cupti->rings.items[i];
		if (!ring->decoder)
			continue;
		const struct tp_gpu_decode_stats *stats = tp_gpu_decoder_get_stats(ring->decoder);
		out->is_collecting |= ring->file.header.state == TP_GPU_STATE_OPEN;
		if (stats->opened_ns > out->opened_ns)
			out->opened_ns = stats->opened_ns;
		if (stats->closed_ns > out->closed_ns)
			out->closed_ns = stats->closed_ns;
	}
}

/* Opens and closes windows in all processes at once, because their ranks wait for each other. */
static void switch_window(struct cupti *cupti, uint64_t now_ns)
{
	struct tp_gpu_agents_state agents;
	if (!has_windows(cupti) || !cupti->has_cuda || cupti->is_paused || cupti->spent_ns ||
	    cupti->windows.state == TP_GPU_WINDOWS_ENDED)
		return;
	read_agents(cupti, &agents);
	bool was_open = cupti->is_open;
	cupti->is_open = tp_gpu_trace_windows_tick(&cupti->windows, &agents, now_ns);
	if (cupti->is_open != was_open)
		request_agents(cupti);
	if (cupti->windows.state == TP_GPU_WINDOWS_ENDED)
		tp_sink_gap(cupti->context->sink, name,
			    "GPU tracing ended, for the program stayed slower between windows",
			    now_ns, UINT64_MAX, 0);
}

/* A recording must be analysed in memory, and tracing more steps adds nothing new. */
static void end_early(struct cupti *cupti, uint64_t now_ns)
{
	uint64_t most = cupti->context->config->max_gpu_records;
	if (!most || cupti->spent_ns || count_records(&cupti->rings) < most)
		return;
	cupti->spent_ns = now_ns;
	cupti->rings.is_spent = true;
	request_agents(cupti);
	tp_sink_gap(cupti->context->sink, name, "GPU tracing ended, for enough was recorded",
		    now_ns, UINT64_MAX, 0);
}

static enum tp_status cupti_sample(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct cupti *cupti = cupti_of(self);
	tp_gpu_ring_set_drain(&cupti->rings, now_ns, EVENTS_AT_ONCE);
	end_early(cupti, now_ns);
	switch_window(cupti, now_ns);
	return TP_OK;
}

/* Events that arrive after the request to pause are still recorded: analysis uses only the measured
 * period. */
static void cupti_pause(struct tp_collector *self, bool is_paused, uint64_t now_ns)
{
	(void)now_ns;
	struct cupti *cupti = cupti_of(self);
	cupti->is_paused = is_paused;
	request_agents(cupti);
}

/* ---- result --------------------------------------------------------------------------------- */

struct outcome {
	size_t n_working;    /* processes that reported something */
	size_t n_cuda;       /* processes that initialised CUDA */
	size_t n_traced;     /* processes in which CUPTI collected for a time */
	uint64_t n_left_out; /* ranges left out */
	uint64_t n_put;
	uint64_t n_lost;
	uint64_t n_unplaced;
	uint64_t cost_ns;
	bool has_holes;    /* tracing that should be continuous has gaps */
	char trouble[100]; /* the first problem */
	enum tp_presence presence;
};

static void add_problem(struct outcome *out, enum tp_presence presence, const char *text)
{
	if (out->trouble[0])
		return;
	snprintf(out->trouble, sizeof(out->trouble), "%.99s", text);
	out->presence = presence;
}

static void add_ring(struct outcome *out, const struct tp_gpu_ring *ring)
{
	char text[100];
	if (!ring->decoder) {
		add_problem(out, ring->has_no_file ? TP_PRESENCE_NO_DEVICE : TP_PRESENCE_NO_LIBRARY,
			    ring->why.text);
		return;
	}
	const struct tp_gpu_ring_header *header = &ring->file.header;
	const struct tp_gpu_decode_stats *stats = tp_gpu_decoder_get_stats(ring->decoder);
	uint64_t n_dropped = 0;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		n_dropped += header->n_dropped[i];
	out->n_working += stats->n_spans > 0;
	out->n_cuda += header->cupti_version || (header->state != TP_GPU_STATE_STARTING &&
						 header->state != TP_GPU_STATE_FINISHED);
	out->n_traced += header->kinds != 0; /* a window begins even if CUPTI then refuses */
	out->n_left_out += header->n_nvtx_lost;
	out->n_put += stats->n_spans;
	/* Losses after the last LOST event are in the counter. */
	out->n_lost += (n_dropped > stats->n_lost ? n_dropped : stats->n_lost) + header->n_lost;
	out->n_unplaced += stats->n_unplaced + header->n_untimed;
	out->cost_ns += header->cost_ns + stats->cupti_ns;
	if (ring->file.is_damaged)
		add_problem(out, TP_PRESENCE_DEGRADED, "the ring of GPU events was damaged");
	enum tp_presence presence = tp_agent_state_explain(header, text, sizeof(text));
	if (text[0])
		add_problem(out, presence, text);
}

/* True if it ended by itself while the program continued, mostly for another tool. */
static bool has_detached(const struct cupti *cupti, const struct tp_gpu_ring *ring)
{
	const struct tp_gpu_decode_stats *stats = tp_gpu_decoder_get_stats(ring->decoder);
	return !cupti->spent_ns && !cupti->is_paused && stats->closed_ns > stats->opened_ns &&
	       ring->file.header.heartbeat_ns > stats->closed_ns + ENDING_NS;
}

/* Reports what was not traced after the last window. */
static void finish_rings(struct cupti *cupti, struct outcome *outcome, uint64_t now_ns)
{
	for (size_t i = 0; i < cupti->rings.n; i++) {
		const struct tp_gpu_ring *ring = cupti->rings.items[i];
		if (!ring->decoder)
			continue;
		bool has_ended = has_detached(cupti, ring);
		outcome->has_holes |= has_ended || ring->file.header.n_windows > 1;
		if (has_ended || has_windows(cupti))
			tp_gpu_decoder_finish(ring->decoder, now_ns);
	}
}

static const char *window_text(const struct cupti *cupti, const struct outcome *outcome)
{
	return cupti->spent_ns      ? "until enough was recorded"
	       : outcome->has_holes ? "for some of the time"
				    : "all the time";
}

static void describe(const struct cupti *cupti, const struct outcome *outcome, double seconds,
		     char *out, size_t size)
{
	if (!cupti->has_cuda)
		snprintf(out, size,
			 "only NVTX ranges are recorded; " CUDA_INJECTION " is another tool's");
	else if (!outcome->n_cuda)
		snprintf(out, size,
			 "the program did not start CUDA, and only named ranges by NVTX");
	else if (!cupti->spent_ns && has_windows(cupti))
		tp_gpu_trace_windows_describe(&cupti->windows, seconds, out, size);
	else if (!outcome->n_traced)
		snprintf(out, size, "%s",
			 outcome->n_working ? "only NVTX ranges are recorded"
					    : "nothing was traced");
	else
		snprintf(out, size, "traced %s; of CUPTI's cost %.2g %% of a CPU is known",
			 window_text(cupti, outcome),
			 seconds > 0 ? 100e-9 * (double)outcome->cost_ns / seconds : 0);
}

static void report_availability(struct cupti *cupti, const struct outcome *outcome, uint64_t now_ns)
{
	struct tp_availability *out = &cupti->base.availability;
	uint64_t until_ns = cupti->spent_ns ? cupti->spent_ns : now_ns;
	double seconds = (double)(until_ns - cupti->started_ns) * 1e-9;
	*out = (struct tp_availability){0};
	if (cupti->has_cuda && !cupti->rings.n) {
		snprintf(out->reason, sizeof(out->reason),
			 "no process started CUDA, or none with " CUDA_INJECTION);
		return;
	}
	if (outcome->trouble[0] && !outcome->n_working &&
	    outcome->presence != TP_PRESENCE_DEGRADED) {
		set_absent(out, outcome->presence, outcome->trouble, "");
		return;
	}
	describe(cupti, outcome, seconds, out->reason, sizeof(out->reason));
	if (cupti->windows.state == TP_GPU_WINDOWS_ENDED || !cupti->has_cuda)
		out->presence = TP_PRESENCE_DEGRADED;
	if (!cupti->has_cuda)
		snprintf(out->remedy, sizeof(out->remedy), "%s", without_tool);
	if (outcome->trouble[0])
		tp_availability_degrade(out, "%s", outcome->trouble);
	if (cupti->joined.n_refused)
		tp_availability_degrade(out, "%zu processes not joined", cupti->joined.n_refused);
	if (!cupti->has_ranges && !is_attach_run(cupti))
		tp_availability_degrade(out, NVTX_INJECTION " is another tool's");
	if (outcome->n_left_out)
		tp_availability_degrade(out, "%llu NVTX ranges left out: too many, or over 32 deep",
					(unsigned long long)outcome->n_left_out);
	if (cupti->windows.n_left_out)
		tp_availability_degrade(out, "%u window%s left out: GPU memory nearly full",
					cupti->windows.n_left_out,
					cupti->windows.n_left_out == 1 ? "" : "s");
	if (outcome->n_unplaced)
		tp_availability_degrade(out, "%llu events without a time",
					(unsigned long long)outcome->n_unplaced);
}

static enum tp_status cupti_start(struct tp_collector *self, pid_t target, struct tp_error *err)
{
	struct cupti *cupti = cupti_of(self);
	cupti->started_ns = tp_clock_now_ns();
	if (!is_attach_run(cupti))
		return TP_OK;
	enum tp_status status = tp_agent_attach(&cupti->joined, &cupti->rings, cupti->context->tree,
						target, cupti->agent, err);
	if (status != TP_OK)
		return status;
	request_agents(cupti);
	struct tp_availability *out = &self->availability;
	snprintf(out->reason, sizeof(out->reason),
		 "an agent joined %zu process%s, holding a thread for %.2g ms", cupti->joined.n,
		 cupti->joined.n == 1 ? "" : "es", (double)cupti->joined.stopped_ns * 1e-6);
	if (cupti->joined.n_refused)
		tp_availability_degrade(out, "%zu could not be joined", cupti->joined.n_refused);
	return TP_OK;
}

/* Reads everything in the rings: at most 32 MiB per process. The program may continue
 * undisturbed. */
static enum tp_status cupti_stop(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct cupti *cupti = cupti_of(self);
	struct outcome outcome = {0};
	struct tp_gpu_agents_state agents;
	if (is_attach_run(cupti)) {
		tp_gpu_ring_set_detach(&cupti->rings, now_ns);
	} else {
		tp_gpu_ring_set_request(&cupti->rings, TP_GPU_REQUEST_IDLE);
		tp_gpu_ring_set_drain(&cupti->rings, now_ns, SIZE_MAX);
	}
	for (size_t i = 0; i < cupti->rings.n; i++)
		if (cupti->rings.items[i]->decoder)
			tp_gpu_decoder_flush(cupti->rings.items[i]->decoder);
	for (size_t i = 0; i < cupti->rings.n; i++)
		add_ring(&outcome, cupti->rings.items[i]);
	finish_rings(cupti, &outcome, now_ns);
	read_agents(cupti, &agents);
	if (has_windows(cupti))
		tp_gpu_trace_windows_finish(&cupti->windows, &agents, now_ns);
	if (cupti->rings.n_too_many)
		add_problem(&outcome, TP_PRESENCE_DEGRADED,
			    "more processes use a GPU than can be distinguished");
	report_availability(cupti, &outcome, now_ns);
	tp_sink_source(cupti->context->sink, name, self->type->summary, &self->availability,
		       outcome.n_put, outcome.n_lost);
	return TP_OK;
}

static void cupti_close(struct tp_collector *self)
{
	struct cupti *cupti = cupti_of(self);
	if (has_windows(cupti))
		tp_sink_end_watch(cupti->context->sink, cupti);
	tp_progress_release(&cupti->progress);
	tp_gpu_ring_set_close(&cupti->rings);
	free(cupti->agent);
	free(cupti);
}

const struct tp_collector_type tp_cupti_collector = {
	.name = name,
	.summary = "GPU kernels, copies and waits (CUPTI, inside the program)",
	.gains = "what the GPU computed, and why it waited",
	.probe = cupti_probe,
	.open = cupti_open,
	.child_env = cupti_child_env,
	.start = cupti_start,
	.sample = cupti_sample,
	.pause = cupti_pause,
	.stop = cupti_stop,
	.stage = TP_STAGE_RINGS,
	.close = cupti_close,
	.period_ns = 100 * TP_NS_PER_MS,
};
