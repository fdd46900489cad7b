/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "self": trainprof's own resource use. */
#include "registry.h"

#include "collect/machine/stage_clock.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char name[] = "self";

/* The metrics must be in the order of the stages. */
_Static_assert(TP_METRIC_SELF_RINGS + TP_N_STAGES - 2 == TP_METRIC_SELF_STORE,
	       "a stage has no metric");

struct self_cost {
	struct tp_collector base;
	struct tp_sink *sink;
	const uint64_t *helpers_cpu_ns;      /* may be NULL */
	const struct tp_stage_clock *stages; /* may be NULL */
	uint64_t n_put;
};

static void self_cost_probe(const struct tp_host *host, struct tp_availability *out)
{
	(void)host;
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
}

static enum tp_status self_cost_open(struct tp_collector **out,
				     const struct tp_collect_context *context, struct tp_error *err)
{
	(void)err;
	struct self_cost *own = tp_alloc(sizeof(*own));
	own->sink = context->sink;
	own->helpers_cpu_ns = context->helpers_cpu_ns;
	own->stages = context->stages;
	*out = &own->base;
	return TP_OK;
}

/* The second number of statm is resident pages. */
static uint64_t resident_bytes(void)
{
	char text[128];
	unsigned long long resident = 0;
	if (tp_file_peek("/proc/self/statm", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*u %llu", &resident) != 1)
		return 0;
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static enum tp_status self_cost_sample(struct tp_collector *self, uint64_t now_ns,
				       struct tp_error *err)
{
	(void)err;
	struct self_cost *own = (struct self_cost *)self; /* its first member */
	uint64_t cpu_ns = tp_clock_self_cpu_ns() + (own->helpers_cpu_ns ? *own->helpers_cpu_ns : 0);
	tp_sink_gauge(own->sink, TP_METRIC_SELF_CPU, TP_NO_TASK, now_ns, (double)cpu_ns);
	tp_sink_gauge(own->sink, TP_METRIC_SELF_RSS, TP_NO_TASK, now_ns, (double)resident_bytes());
	own->n_put += 2;
	for (int stage = TP_STAGE_NONE + 1; own->stages && stage < TP_N_STAGES; stage++) {
		tp_sink_gauge(own->sink, (enum tp_metric)(TP_METRIC_SELF_RINGS + stage - 1),
			      TP_NO_TASK, now_ns, own->stages->cpu_ns[stage]);
		own->n_put++;
	}
	return TP_OK;
}

static enum tp_status self_cost_start(struct tp_collector *self, pid_t target, struct tp_error *err)
{
	(void)target;
	return self_cost_sample(self, tp_clock_now_ns(), err);
}

static enum tp_status self_cost_stop(struct tp_collector *self, uint64_t now_ns,
				     struct tp_error *err)
{
	enum tp_status status = self_cost_sample(self, now_ns, err);
	const struct self_cost *own = (const struct self_cost *)self;
	tp_sink_source(own->sink, name, self->type->summary, &self->availability, own->n_put, 0);
	return status;
}

static void self_cost_close(struct tp_collector *self)
{
	free(self);
}

const struct tp_collector_type tp_self_collector = {
	.name = name,
	.summary = "overhead of trainprof itself",
	.gains = "the overhead, to subtract it",
	.probe = self_cost_probe,
	.open = self_cost_open,
	.start = self_cost_start,
	.sample = self_cost_sample,
	.stop = self_cost_stop,
	.stage = TP_STAGE_PROC,
	.close = self_cost_close,
	.period_ns = TP_NS_PER_S,
};
