/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests what may help if steps are too short. */
#include "steps_hint.h"

#include "analyze/thresholds.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/text.h"

#include <string.h>

static const struct tp_source *find_breakpoints(const struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_sources; i++)
		if (strcmp(tp_trace_string(trace, trace->sources[i].name), "breakpoints") == 0)
			return &trace->sources[i];
	return NULL;
}

const char *tp_steps_hint_no_breakpoint(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_source *source = find_breakpoints(trace);
	if (!source)
		return "no hardware breakpoints were used";
	if (source->presence != TP_PRESENCE_PRESENT)
		return tp_arena_printf(analysis->arena, "hardware breakpoints cannot be used: %s",
				       tp_trace_string(trace, source->reason));
	return "no variable or function was found that changes once per step and is cheap enough "
	       "to "
	       "watch";
}

const char *tp_steps_hint_command(const struct tp_analysis *analysis)
{
	const struct tp_run_info *run = &analysis->trace->run;
	if ((run->mode != TP_MODE_RUN && run->mode != TP_MODE_ATTACH) || run->n_command == 0)
		return NULL;
	if (run->asked_rate_hz >= TP_HINT_RATE_HZ)
		return "call trainprof_step() (trainprof/mark.h) or, in Python, trainprof.step()";
	struct tp_buf text = {0};
	tp_buf_printf(&text, "trainprof %s --rate=%.0f --max-overhead=5%%%s",
		      run->mode == TP_MODE_RUN ? "run" : "attach", TP_HINT_RATE_HZ,
		      run->mode == TP_MODE_RUN ? " --" : "");
	if (run->mode == TP_MODE_ATTACH)
		tp_buf_printf(&text, " %d", (int)run->pid);
	for (size_t i = 0; i < run->n_command && run->mode == TP_MODE_RUN; i++) {
		tp_buf_puts(&text, " ");
		tp_text_add_argument(&text, run->command[i]);
	}
	const char *command = tp_arena_strdup(analysis->arena, tp_buf_text(&text));
	tp_buf_release(&text);
	return command;
}
