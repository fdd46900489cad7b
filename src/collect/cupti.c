/* Collector "cupti": what the GPU did, told by an agent that the driver loads into the program. */
#include "registry.h"

#include "availability.h"
#include "gpurings.h"
#include "hostfile.h"
#include "nvml_library.h"

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

/* What the driver, and NVTX in libraries, load into a program before it does anything. */
#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define AGENT_LIBRARY  "libtrainprof-agent.so"
/* Where the agent is instead of beside us. */
#define AGENT_ENV "TRAINPROF_AGENT"

/*
 * A second of each minute at the default --max-overhead of 1 %. CUPTI slows programs down by 3 to
 * 180 % while it collects (Proton on nanoGPT: 1.03; an injected agent with vLLM: 2.8; published
 * figures, read 2026-11-20), so that is 0.05 to 3 % on average. The first window comes when the
 * program is likely to have warmed up.
 */
#define WINDOW_NS       TP_NS_PER_S
#define WINDOW_FIRST_NS (3 * TP_NS_PER_S)
#define WINDOW_DUTY     (1.0 / 60)

/* A wake-up's work is bounded: 1.3 million events a second of each process, as often as we come. */
enum { EVENTS_AT_ONCE = 1 << 17 };

struct cupti {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_gpu_rings rings;
	char *agent; /* path, heap */
	uint64_t started_ns;
	bool is_paused;
	bool is_open;       /* a window */
	uint64_t change_ns; /* when it opens or closes; 0 = no agent was seen yet */
	uint64_t spent_ns;  /* since then enough is recorded; 0 = not yet */
};

static struct cupti *cupti_of(struct tp_collector *self)
{
	return (struct cupti *)self; /* its first member */
}

/* ---- may it run? ---------------------------------------------------------------------------- */

static void set_absence(struct tp_availability *out, enum tp_presence presence, const char *reason,
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
	if (tp_hostfile_exists(host, "/dev/nvidiactl"))
		return true;
	if (tp_nvml_library_open(&library, NULL, &ignored) != TP_OK)
		return false;
	tp_nvml_library_close(&library);
	return true;
}

/* Beside the program, as it is built, or in the lib of the bin in which it is installed. Heap; NULL
 * when it is nowhere. */
static char *find_agent(void)
{
	static const char *const places[] = {"/" AGENT_LIBRARY, "/../lib/trainprof/" AGENT_LIBRARY,
					     "/../lib/" AGENT_LIBRARY};
	char self[PATH_MAX];
	const char *told = getenv(AGENT_ENV); /* NOLINT(concurrency-mt-unsafe) */
	if (told)
		return access(told, R_OK) == 0 ? tp_strdup(told) : NULL;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len <= 0)
		return NULL;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < TP_ARRAY_LEN(places); i++) {
		char *path = tp_asprintf("%s%s", self, places[i]);
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static void cupti_probe(const struct tp_host *host, struct tp_availability *out)
{
	char text[sizeof(out->reason)];
	const char *wish = getenv("TRAINPROF_GPU"); /* NOLINT(concurrency-mt-unsafe) */
	const char *owner = getenv(CUDA_INJECTION); /* NOLINT(concurrency-mt-unsafe) */
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
	if (wish && strcmp(wish, "0") == 0) {
		set_absence(out, TP_PRESENCE_OFF, "switched off by TRAINPROF_GPU=0", "");
		return;
	}
	if (!has_driver(host)) {
		set_absence(out, TP_PRESENCE_NO_DEVICE, "no NVIDIA driver here", "");
		return;
	}
	if (owner && *owner) {
		snprintf(text, sizeof(text), CUDA_INJECTION " is set to %.80s", owner);
		set_absence(out, TP_PRESENCE_IN_USE, text,
			    "unset " CUDA_INJECTION ", or measure without that tool");
		return;
	}
	char *agent = find_agent();
	if (!agent)
		set_absence(out, TP_PRESENCE_NO_LIBRARY, AGENT_LIBRARY " is not where trainprof is",
			    AGENT_ENV "=/path/of/" AGENT_LIBRARY " trainprof run -- ...");
	free(agent);
}

static enum tp_status cupti_open(struct tp_collector **out,
				 const struct tp_collect_context *context, struct tp_error *err)
{
	if (context->config->is_attaching)
		return tp_fail(err, TP_ABSENT, "the program was not started by trainprof run");
	struct cupti *cupti = tp_alloc(sizeof(*cupti));
	cupti->context = context;
	cupti->agent = find_agent();
	enum tp_status status = cupti->agent
					? tp_gpu_rings_open(&cupti->rings, NULL, context, name, err)
					: tp_fail(err, TP_ABSENT, AGENT_LIBRARY " is gone");
	if (status) {
		free(cupti->agent);
		free(cupti);
		return status;
	}
	*out = &cupti->base;
	return TP_OK;
}

/* ---- while it runs -------------------------------------------------------------------------- */

static bool has_windows(const struct cupti *cupti)
{
	return cupti->context->config->gpu_trace == TP_GPU_TRACE_WINDOWS;
}

static enum tp_status cupti_child_env(struct tp_collector *self, struct tp_env *env,
				      struct tp_error *err)
{
	(void)err;
	struct cupti *cupti = cupti_of(self);
	tp_env_set(env, TP_GPU_RINGS_ENV, cupti->rings.directory);
	tp_env_set(env, CUDA_INJECTION, cupti->agent);
	if (has_windows(cupti))
		tp_env_set(env, TP_GPU_ENV, "idle");
	return TP_OK;
}

static uint64_t count_records(const struct tp_gpu_rings *rings)
{
	uint64_t n = 0;
	for (size_t i = 0; i < rings->n; i++)
		if (rings->items[i]->teller)
			n += tp_gpu_teller_told(rings->items[i]->teller)->n_spans;
	return n;
}

static void ask_agents(struct cupti *cupti)
{
	bool may_collect = !cupti->is_paused && !cupti->spent_ns;
	if (has_windows(cupti))
		may_collect = may_collect && cupti->is_open;
	tp_gpu_rings_want(&cupti->rings, may_collect ? TP_GPU_WANT_EVENTS : TP_GPU_WANT_IDLE);
}

/* Opens and closes windows; of all processes at once, for their ranks wait for each other. */
static void turn_window(struct cupti *cupti, uint64_t now_ns)
{
	double ratio = cupti->context->config->max_overhead_ratio / 0.01;
	double pause_ns = (double)WINDOW_NS * (1 / WINDOW_DUTY - 1) / (ratio > 0 ? ratio : 1);
	if (!has_windows(cupti) || !cupti->rings.n)
		return;
	if (!cupti->change_ns)
		cupti->change_ns = now_ns + WINDOW_FIRST_NS;
	if (now_ns < cupti->change_ns)
		return;
	cupti->is_open = !cupti->is_open;
	cupti->change_ns = now_ns + (cupti->is_open ? WINDOW_NS : (uint64_t)pause_ns);
	ask_agents(cupti);
}

/* A recording has to be judged in memory, and steps that are traced longer tell nothing new. */
static void end_in_time(struct cupti *cupti, uint64_t now_ns)
{
	uint64_t most = cupti->context->config->max_gpu_records;
	if (!most || cupti->spent_ns || count_records(&cupti->rings) < most)
		return;
	cupti->spent_ns = now_ns;
	ask_agents(cupti);
	tp_sink_gap(cupti->context->sink, name, "GPU tracing ended, for enough was recorded",
		    now_ns, UINT64_MAX, 0);
}

static enum tp_status cupti_sample(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct cupti *cupti = cupti_of(self);
	tp_gpu_rings_drain(&cupti->rings, now_ns, EVENTS_AT_ONCE);
	end_in_time(cupti, now_ns);
	turn_window(cupti, now_ns);
	return TP_OK;
}

/* What an agent told before it heard that nobody wants it is put all the same: analysis looks at
 * what was measured only. */
static void cupti_pause(struct tp_collector *self, bool is_paused, uint64_t now_ns)
{
	(void)now_ns;
	struct cupti *cupti = cupti_of(self);
	cupti->is_paused = is_paused;
	ask_agents(cupti);
}

/* ---- what came of it ------------------------------------------------------------------------ */

/* Why a ring has no events, in the words of its state; "" where it has. */
static enum tp_presence explain(const struct tp_gpu_ring_header *header, char *out, size_t size)
{
	switch (header->state) {
	case TP_GPU_STATE_NO_CUPTI:
		snprintf(out, size, "the program has no CUPTI, and none was found");
		return TP_PRESENCE_NO_LIBRARY;
	case TP_GPU_STATE_TAKEN:
		snprintf(out, size, "another tool has CUPTI%s%.40s", header->owner[0] ? ": " : "",
			 header->owner);
		return TP_PRESENCE_IN_USE;
	case TP_GPU_STATE_STOLEN:
		snprintf(out, size, "another tool took CUPTI over while it ran");
		return TP_PRESENCE_DEGRADED;
	case TP_GPU_STATE_FAILED:
		snprintf(out, size, "%.40s of CUPTI failed (%d)", header->failed_call,
			 header->error);
		return TP_PRESENCE_NO_DEVICE;
	case TP_GPU_STATE_UNFIT:
		snprintf(out, size, "CUPTI %u is not supported", header->cupti_version);
		return TP_PRESENCE_NO_LIBRARY;
	case TP_GPU_STATE_NO_ROOM:
		snprintf(out, size, "no room for GPU events: %s", tp_errno_text(header->error));
		return TP_PRESENCE_NO_DEVICE;
	case TP_GPU_STATE_STARTING:
		snprintf(out, size, "CUPTI had not started when the program ended");
		return TP_PRESENCE_DEGRADED;
	case TP_GPU_STATE_UNREAD:
		snprintf(out, size, "the agent gave up: nobody read its events for 10 s");
		return TP_PRESENCE_DEGRADED;
	default:
		out[0] = '\0';
		return TP_PRESENCE_PRESENT;
	}
}

struct outcome {
	size_t n_working; /* processes that told something */
	uint64_t n_put;
	uint64_t n_lost;
	uint64_t n_unplaced;
	uint64_t cost_ns;
	char trouble[100]; /* the first */
	enum tp_presence presence;
};

static void note_trouble(struct outcome *out, enum tp_presence presence, const char *text)
{
	if (out->trouble[0])
		return;
	snprintf(out->trouble, sizeof(out->trouble), "%.99s", text);
	out->presence = presence;
}

static void add_ring(struct outcome *out, const struct tp_gpu_ring *ring)
{
	char text[100];
	if (!ring->teller) {
		note_trouble(out, TP_PRESENCE_NO_LIBRARY, ring->why.text);
		return;
	}
	const struct tp_gpu_ring_header *header = &ring->file.header;
	const struct tp_gpu_told *told = tp_gpu_teller_told(ring->teller);
	uint64_t n_dropped = 0;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		n_dropped += header->n_dropped[i];
	out->n_working += told->n_spans > 0;
	out->n_put += told->n_spans;
	/* What the last LOST event could not tell is in the count. */
	out->n_lost += (n_dropped > told->n_lost ? n_dropped : told->n_lost) + header->n_lost;
	out->n_unplaced += told->n_unplaced + header->n_untimed;
	out->cost_ns += header->cost_ns + told->cupti_ns;
	if (ring->file.is_damaged)
		note_trouble(out, TP_PRESENCE_DEGRADED, "the ring of GPU events was damaged");
	enum tp_presence presence = explain(header, text, sizeof(text));
	if (text[0])
		note_trouble(out, presence, text);
}

static void judge(struct cupti *cupti, const struct outcome *outcome, uint64_t now_ns)
{
	struct tp_availability *out = &cupti->base.availability;
	uint64_t until_ns = cupti->spent_ns ? cupti->spent_ns : now_ns;
	double seconds = (double)(until_ns - cupti->started_ns) * 1e-9;
	*out = (struct tp_availability){0};
	if (!cupti->rings.n) {
		snprintf(out->reason, sizeof(out->reason), "the program did not start CUDA");
		return;
	}
	if (outcome->trouble[0] && !outcome->n_working &&
	    outcome->presence != TP_PRESENCE_DEGRADED) {
		set_absence(out, outcome->presence, outcome->trouble, "");
		return;
	}
	snprintf(out->reason, sizeof(out->reason),
		 "traced %s; of CUPTI's cost %.2g %% of a CPU is known",
		 cupti->spent_ns      ? "until enough was recorded"
		 : has_windows(cupti) ? "in windows"
				      : "all the time",
		 seconds > 0 ? 100e-9 * (double)outcome->cost_ns / seconds : 0);
	if (outcome->trouble[0])
		tp_availability_degrade(out, "%s", outcome->trouble);
	if (outcome->n_unplaced)
		tp_availability_degrade(out, "%llu events without a time",
					(unsigned long long)outcome->n_unplaced);
}

static enum tp_status cupti_start(struct tp_collector *self, pid_t target, struct tp_error *err)
{
	(void)target;
	(void)err;
	cupti_of(self)->started_ns = tp_clock_now_ns();
	return TP_OK;
}

/* All that the rings hold: 32 MiB a process at most. The program may go on, and is left alone. */
static enum tp_status cupti_stop(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct cupti *cupti = cupti_of(self);
	struct outcome outcome = {0};
	tp_gpu_rings_want(&cupti->rings, TP_GPU_WANT_IDLE);
	tp_gpu_rings_drain(&cupti->rings, now_ns, SIZE_MAX);
	for (size_t i = 0; i < cupti->rings.n; i++)
		add_ring(&outcome, cupti->rings.items[i]);
	for (size_t i = 0; has_windows(cupti) && i < cupti->rings.n; i++)
		if (cupti->rings.items[i]->teller)
			tp_gpu_teller_finish(cupti->rings.items[i]->teller, now_ns);
	if (cupti->rings.n_too_many)
		note_trouble(&outcome, TP_PRESENCE_DEGRADED,
			     "more processes use a GPU than can be told apart");
	judge(cupti, &outcome, now_ns);
	tp_sink_source(cupti->context->sink, name, self->type->summary, &self->availability,
		       outcome.n_put, outcome.n_lost);
	return TP_OK;
}

static void cupti_close(struct tp_collector *self)
{
	struct cupti *cupti = cupti_of(self);
	tp_gpu_rings_close(&cupti->rings);
	free(cupti->agent);
	free(cupti);
}

const struct tp_collector_type tp_cupti_collector = {
	.name = name,
	.summary = "GPU kernels, copies and waits, told from inside the program",
	.gains = "what the GPU computed, and why it waited",
	.probe = cupti_probe,
	.open = cupti_open,
	.child_env = cupti_child_env,
	.start = cupti_start,
	.sample = cupti_sample,
	.pause = cupti_pause,
	.stop = cupti_stop,
	.close = cupti_close,
	.period_ns = 100 * TP_NS_PER_MS,
};
