/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the page with the stacks of all threads of a program. */
#include "trainprof/base/memory.h"
#include "trainprof/report/report.h"
#include "trainprof/report/stacks_page.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct rig {
	struct tp_trace_builder builder;
	struct tp_thread_stacks stacks;
	struct tp_thread_stack items[8];
	size_t n;
};

static void put_task(struct rig *rig, uint32_t id, pid_t pid, pid_t tid, const char *comm)
{
	struct tp_task task = {.id = id, .pid = pid, .tid = tid};
	task.parent = id ? 0 : TP_NO_TASK;
	task.comm = tp_sink_string(&rig->builder.sink, comm);
	tp_sink_task(&rig->builder.sink, &task);
}

static uint32_t python_frame(struct rig *rig, const char *file, unsigned line, const char *symbol)
{
	struct tp_sink *sink = &rig->builder.sink;
	struct tp_frame frame = {.kind = TP_FRAME_PYTHON, .line = line};
	frame.file = tp_sink_string(sink, file);
	frame.symbol = tp_sink_string(sink, symbol);
	return tp_sink_frame(sink, &frame);
}

static uint32_t native_frame(struct rig *rig, const char *module, const char *symbol)
{
	struct tp_sink *sink = &rig->builder.sink;
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
	frame.module = tp_sink_string(sink, module);
	frame.symbol = tp_sink_string(sink, symbol);
	return tp_sink_frame(sink, &frame);
}

/* A training thread that waits for its queue, and three workers that wait for work in the same
 * place. */
static void rig_open(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	tp_trace_builder_init(&rig->builder);
	put_task(rig, 0, 100, 100, "python3");
	for (uint32_t i = 1; i <= 3; i++)
		put_task(rig, i, (pid_t)(200 + i), (pid_t)(200 + i), "pt_data_worker");
	const uint32_t trainer[] = {
		native_frame(rig, "/lib/libc.so.6", "futex_wait"),
		native_frame(rig, "/lib/libpython3.11.so.1.0", "acquire_timed"),
		python_frame(rig, "/x/queue.py", 171, "Queue.get"),
		native_frame(rig, "/lib/libpython3.11.so.1.0", "_PyEval_Vector"),
		python_frame(rig, "/x/train.py", 88, "main"),
	};
	const uint32_t worker[] = {python_frame(rig, "/x/worker.py", 32, "_worker_loop")};
	uint32_t trainer_stack = tp_sink_stack(&rig->builder.sink, trainer, 5, 0);
	uint32_t worker_stack = tp_sink_stack(&rig->builder.sink, worker, 1, 0);
	rig->items[rig->n++] = (struct tp_thread_stack){.task = 0,
							.letter = 'S',
							.state = TP_STATE_BLOCKED,
							.cause = TP_CAUSE_FUTEX,
							.stack = trainer_stack,
							.has_waits = true,
							.waits_ns = 12300000000};
	for (uint32_t i = 1; i <= 3; i++)
		rig->items[rig->n++] =
			(struct tp_thread_stack){.task = i,
						 .letter = 'S',
						 .state = TP_STATE_BLOCKED,
						 .cause = TP_CAUSE_PIPE,
						 .target = tp_sink_string(&rig->builder.sink,
									  "pipe:[7]"),
						 .stack = worker_stack};
}

static void build(struct rig *rig)
{
	const struct tp_run_info run = {.mode = TP_MODE_ATTACH, .pid = 100};
	tp_trace_build(&rig->stacks.trace, &rig->builder, &run);
	rig->stacks.items = rig->items;
	rig->stacks.n = rig->n;
}

static void expect_page(struct rig *rig, const char *expected)
{
	static const struct tp_report_style style = {.width = 80, .is_ascii = true};
	struct tp_page page;
	build(rig);
	tp_page_init(&page, &style);
	tp_report_stacks_page(&page, &rig->stacks);
	ck_assert_str_eq(tp_buf_text(&page.out), expected);
	tp_page_release(&page);
	tp_trace_release(&rig->stacks.trace);
	tp_trace_builder_release(&rig->builder);
}

START_TEST(threads_at_one_place_are_printed_once)
{
	struct rig rig;
	rig_open(&rig);
	expect_page(
		&rig,
		"pid 100: 4 processes, 4 threads\n"
		"\n"
		"python3 thread 100 (main): waits for a lock or a condition (futex), for 12.3 s\n"
		"    futex_wait                      libc.so.6\n"
		"    acquire_timed                   libpython3.11.so.1.0\n"
		"    Queue.get                       queue.py:171\n"
		"    main                            train.py:88\n"
		"\n"
		"pt_data_worker threads 201 (main), 202 (main), 203 (main), each: waits for a\n"
		"  pipe (pipe:[7])\n"
		"    _worker_loop                    worker.py:32\n");
}
END_TEST

START_TEST(unreadable_stacks_are_reported_as_unknown)
{
	struct rig rig;
	rig_open(&rig);
	rig.n = 2;
	rig.items[0] = (struct tp_thread_stack){.task = 0,
						.letter = 'S',
						.state = TP_STATE_BLOCKED,
						.kernel = "odd_wait"};
	rig.items[1] =
		(struct tp_thread_stack){.task = 1, .letter = 'T', .state = TP_STATE_BLOCKED};
	expect_page(&rig,
		    "pid 100: 2 processes, 2 threads\n"
		    "\n"
		    "python3 thread 100 (main): waits for something unknown, in odd_wait() of "
		    "the\n"
		    "  kernel\n"
		    "    no stack could be read\n"
		    "\n"
		    "pt_data_worker thread 201 (main): is stopped by a signal\n"
		    "    no stack could be read\n");
}
END_TEST

START_TEST(json_has_every_thread_and_frame)
{
	struct rig rig;
	struct tp_json_writer w = {0};
	rig_open(&rig);
	build(&rig);
	tp_report_stacks_json(&w, &rig.stacks);
	const char *text = tp_buf_text(&w.out);
	ck_assert_ptr_nonnull(strstr(text, "\"trainprof-stacks/1\""));
	ck_assert_ptr_nonnull(strstr(text, "_PyEval_Vector"));
	ck_assert_ptr_nonnull(strstr(text, "/x/train.py"));
	ck_assert_ptr_nonnull(strstr(text, "12300000000"));
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, "\"tid\"")); at++)
		n++;
	ck_assert_uint_eq(n, 4);
	tp_json_writer_release(&w);
	tp_trace_release(&rig.stacks.trace);
	tp_trace_builder_release(&rig.builder);
}
END_TEST

/* mpirun with five ranks: four wait in the same place, at different addresses, and one is
 * elsewhere; rank 0 has a worker with the same environment variables, rank 1 is started by a
 * shell. */
START_TEST(ranks_at_one_place_are_one_group)
{
	struct rig rig;
	struct tp_sink *sink = &rig.builder.sink;
	memset(&rig, 0, sizeof(rig));
	tp_trace_builder_init(&rig.builder);
	put_task(&rig, 0, 50, 50, "mpirun");
	rig.items[rig.n++] = (struct tp_thread_stack){.letter = 'S', .state = TP_STATE_BLOCKED};
	for (uint32_t i = 1; i <= 7; i++) {
		static const int ranks[] = {0, 0, 1, 1, 2, 3, 4};
		bool is_late = i == 6;
		put_task(&rig, i, (pid_t)(60 + i), (pid_t)(60 + i), i == 3 ? "sh" : "python3");
		tp_sink_gauge(sink, TP_METRIC_PROC_RANK, i, 1, ranks[i - 1]);
		struct tp_frame native = {.kind = TP_FRAME_NATIVE, .address = 0x1000 * i};
		native.symbol = tp_sink_string(sink, "PMPI_Allreduce");
		native.module = tp_sink_string(sink, "/lib/libmpi.so");
		const uint32_t frames[] = {tp_sink_frame(sink, &native),
					   python_frame(&rig, "/x/train.py", is_late ? 30 : 72,
							"main")};
		rig.items[rig.n++] =
			(struct tp_thread_stack){.task = i,
						 .letter = 'S',
						 .state = TP_STATE_BLOCKED,
						 .cause = i == 3 ? TP_CAUSE_CHILD : TP_CAUSE_POLL,
						 .stack = tp_sink_stack(sink, frames + is_late,
									2 - is_late, 0)};
	}
	build(&rig);
	struct tp_report_style style = {.width = 80};
	struct tp_page page;
	tp_page_init(&page, &style);
	ck_assert(tp_report_stacks_job_page(&page, &rig.stacks));
	const char *text = tp_buf_text(&page.out);
	const char *most = strstr(text, "ranks 0-2, 4, each: ");
	const char *late = strstr(text, "rank 3: ");
	ck_assert_ptr_nonnull(strstr(text, "5 ranks at 2 places"));
	ck_assert_msg(most && late && most < late, "%s", text);
	tp_page_release(&page);
	tp_trace_release(&rig.stacks.trace);
	tp_trace_builder_release(&rig.builder);
}
END_TEST

Suite *suite_report_stacks_page(void);
Suite *suite_report_stacks_page(void)
{
	Suite *suite = suite_create("report_stacks_page");
	TCase *tests = tcase_create("pages");
	tcase_add_test(tests, threads_at_one_place_are_printed_once);
	tcase_add_test(tests, unreadable_stacks_are_reported_as_unknown);
	tcase_add_test(tests, json_has_every_thread_and_frame);
	tcase_add_test(tests, ranks_at_one_place_are_one_group);
	suite_add_tcase(suite, tests);
	return suite;
}
