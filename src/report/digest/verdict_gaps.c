/* SPDX-License-Identifier: Apache-2.0 */
/* Names the missing sources that would change a verdict. */
#include "verdict_gaps.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* True for the sources that record which threads work or wait, and for what: without one of them
 * the parts are guesses. Counters and gauges of devices only explain the length of a part. */
static bool makes_parts(const char *source)
{
	static const char *const names[] = {"perf", "proc", "python"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		if (strcmp(source, names[i]) == 0)
			return true;
	return false;
}

static bool is_missing(const struct tp_source *source)
{
	return source->presence != TP_PRESENCE_PRESENT &&
	       source->presence != TP_PRESENCE_DEGRADED &&
	       source->presence != TP_PRESENCE_NO_DEVICE;
}

static void add_source(struct tp_buf *out, const struct tp_trace *trace,
		       const struct tp_source *source)
{
	const char *name = tp_trace_string(trace, source->summary);
	const char *reason = tp_trace_string(trace, source->reason);
	if (!*name)
		name = tp_trace_string(trace, source->name);
	tp_buf_puts(out, out->len ? ", " : "Not measured: ");
	tp_buf_add(out, name, strcspn(name, ","));
	tp_buf_printf(out, " (%s)", *reason ? reason : tp_source_state_text(source->presence));
}

void tp_report_add_verdict_gaps(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_trace *trace = digest->trace;
	for (size_t i = 0; !digest->is_import && i < trace->n_sources; i++)
		if (makes_parts(tp_trace_string(trace, trace->sources[i].name)) &&
		    is_missing(&trace->sources[i]))
			add_source(out, trace, &trace->sources[i]);
}
