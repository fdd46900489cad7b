/* SPDX-License-Identifier: Apache-2.0 */
/* Names places in a program for readers. */
#include "frame_name.h"

#include "trainprof/base/cxx_name.h"
#include "trainprof/base/text.h"

void tp_report_add_frame(struct tp_buf *out, const struct tp_trace *trace, uint32_t id)
{
	const struct tp_frame *frame = &trace->frames[id];
	const char *symbol = tp_trace_string(trace, frame->symbol);
	const char *module = tp_text_base_name(tp_trace_string(trace, frame->module));
	char plain[256];
	if (frame->kind == TP_FRAME_PYTHON) {
		tp_buf_printf(out, "%s (%s:%u)", symbol,
			      tp_text_base_name(tp_trace_string(trace, frame->file)), frame->line);
		return;
	}
	if (frame->kind == TP_FRAME_KERNEL)
		tp_buf_puts(out, "[kernel]");
	if (frame->kind == TP_FRAME_KERNEL && *symbol)
		tp_buf_printf(out, " %s", symbol);
	else if (*symbol)
		tp_buf_puts(out,
			    tp_cxx_name_demangle(plain, sizeof(plain), symbol) ? plain : symbol);
	else if (frame->kind != TP_FRAME_KERNEL)
		tp_buf_printf(out, "%s+0x%llx", *module ? module : "[unknown]",
			      (unsigned long long)frame->address);
}

void tp_report_add_stack(struct tp_buf *out, const struct tp_trace *trace, uint32_t id,
			 size_t max_frames)
{
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	if (!stack || !stack->n_frames) {
		tp_buf_puts(out, "[no stack]");
		return;
	}
	for (size_t i = 0; i < stack->n_frames && i < max_frames; i++) {
		if (i)
			tp_buf_puts(out, " < ");
		tp_report_add_frame(out, trace, stack->frames[i]);
	}
	if (stack->n_frames > max_frames)
		tp_buf_puts(out, " < …");
}
