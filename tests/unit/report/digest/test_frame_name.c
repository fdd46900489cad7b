/* SPDX-License-Identifier: Apache-2.0 */
/* Names of frames contain what is known about them. */
#include "report/digest/frame_name.h"

#include "trainprof/model/sink.h"

#include <check.h>

static struct tp_trace_builder builder;
static struct tp_trace trace;

static uint32_t add(struct tp_frame frame, const char *module, const char *symbol, const char *file)
{
	frame.module = tp_sink_string(&builder.sink, module);
	frame.symbol = tp_sink_string(&builder.sink, symbol);
	frame.file = tp_sink_string(&builder.sink, file);
	return tp_sink_frame(&builder.sink, &frame);
}

START_TEST(each_kind_has_its_name)
{
	tp_trace_builder_init(&builder);
	const uint32_t frames[] = {
		add((struct tp_frame){.kind = TP_FRAME_NATIVE, .address = 0x1f3a}, "/lib/libc.so.6",
		    "", ""),
		add((struct tp_frame){.kind = TP_FRAME_NATIVE}, "/bin/train", "decode_jpeg", ""),
		add((struct tp_frame){.kind = TP_FRAME_KERNEL}, "[kernel]", "do_sys_poll", ""),
		add((struct tp_frame){.kind = TP_FRAME_KERNEL}, "[kernel]", "", ""),
		add((struct tp_frame){.kind = TP_FRAME_PYTHON, .line = 88}, "", "load",
		    "/home/me/data.py"),
		add((struct tp_frame){.kind = TP_FRAME_JIT, .address = 0x10}, "", "", ""),
		add((struct tp_frame){.kind = TP_FRAME_NATIVE}, "/bin/train",
		    "_ZN10DataLoader4nextERK6Tensor", ""),
	};
	static const char *const names[] = {
		"libc.so.6+0x1f3a",  "decode_jpeg",    "[kernel] do_sys_poll", "[kernel]",
		"load (data.py:88)", "[unknown]+0x10", "DataLoader::next",
	};
	uint32_t stack = tp_sink_stack(&builder.sink, frames, 7, 0);
	const struct tp_run_info run = {.id = "r-0000000000000000"};
	tp_trace_build(&trace, &builder, &run);
	for (size_t i = 0; i < 7; i++) {
		struct tp_buf text = {0};
		tp_report_add_frame(&text, &trace, frames[i]);
		ck_assert_str_eq(tp_buf_text(&text), names[i]);
		tp_buf_release(&text);
	}
	struct tp_buf text = {0};
	tp_report_add_stack(&text, &trace, stack, 2);
	tp_buf_puts(&text, "; ");
	tp_report_add_stack(&text, &trace, 0, 2);
	ck_assert_str_eq(tp_buf_text(&text), "libc.so.6+0x1f3a < decode_jpeg < …; [no stack]");
	tp_buf_release(&text);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
}
END_TEST

Suite *suite_report_frame_name(void);
Suite *suite_report_frame_name(void)
{
	Suite *suite = suite_create("report_frames");
	TCase *tc = tcase_create("frames");
	tcase_add_test(tc, each_kind_has_its_name);
	suite_add_tcase(suite, tc);
	return suite;
}
