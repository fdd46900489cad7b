/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about XSpaces of XProf: devices, threads, steps, and what a damaged file leaves. */
#include "import/imported.h"
#include "xspace.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of names of statistics in the scenes below. */
enum {
	STAT_CORRELATION = 1,
	STAT_MEMCPY,
	STAT_KERNEL,
	STAT_STEP,
	STAT_HLO_OP,
	STAT_CATEGORY,
	STAT_VENDOR,
	STAT_PROCESS
};

static void put_stat_names(struct tp_buf *plane)
{
	static const char *const names[] = {"correlation_id", "memcpy_details", "kernel_details",
					    "step_num",       "hlo_op",         "hlo_category",
					    "device_vendor",  "process_id"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		put_name(plane, 5, i + 1, names[i], NULL);
}

/* A GPU with a kernel, a copy and a line that sums them up. */
static void put_gpu(struct tp_buf *space)
{
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	put_number(&plane, 1, 3);
	put_text(&plane, 2, "/device:GPU:2");
	put_line_head(&line, 17, "Stream #17(Compute)", 1000);
	put_stat(&stats, 4, STAT_CORRELATION, NULL, 9);
	put_stat(&stats, 4, STAT_KERNEL, "regs:38 grid:160,2,1 block:128,1,1", 0);
	put_event(&line, 1, 2000999, 5000002, &stats); /* to 7,001,001 ps */
	put_message(&plane, 3, &line);
	put_line_head(&line, 18, "Stream #18(MemcpyH2D)", 1000);
	put_stat(&stats, 4, STAT_MEMCPY, "size:112 dest:4 async:0", 0);
	put_event(&line, 2, 0, 1000000, &stats);
	put_message(&plane, 3, &line);
	put_line_head(&line, 99, "XLA Modules", 1000);
	put_event(&line, 1, 0, 9000000, NULL);
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "fusion_12", NULL);
	put_name(&plane, 4, 2, "MemcpyH2D", NULL);
	put_stat_names(&plane);
	put_stat(&plane, 6, STAT_VENDOR, "Nvidia", 0);
	put_message(space, 1, &plane);
}

static void put_host(struct tp_buf *space)
{
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	put_text(&plane, 2, "/host:CPU");
	put_line_head(&line, 77, "python3", 5000);
	put_event(&line, 1, 0, 90000000, NULL);
	put_event(&line, 2, 1000000, 2000000, NULL); /* inside of it */
	put_stat(&stats, 4, STAT_STEP, NULL, 41);
	put_event(&line, 3, 2000000, 50000000, &stats);
	put_event(&line, 4, 3000000, 0, NULL); /* an instant */
	put_message(&plane, 3, &line);
	put_line_head(&line, 78, "tf_data_iterator_get_next/78", 5000);
	put_event(&line, 5, 4000000, 7000000, NULL);
	put_event(&line, 6, 4100000, 6000000, NULL);
	put_event(&line, 9, 4100000, 6000000, NULL);
	put_message(&plane, 3, &line);
	put_line_head(&line, 79, "Host Threads/79", 5000);
	put_stat(&stats, 4, STAT_CORRELATION, NULL, 9);
	put_stat(&stats, 4, STAT_HLO_OP, "fusion.12", 0);
	put_event(&line, 7, 100000, 20000, &stats);
	put_message(&plane, 3, &line);
	put_line_head(&line, 80, "tf_XLAEigen/80", 5000);
	put_stat(&stats, 4, STAT_HLO_OP, "dot.3", 0);
	put_event(&line, 8, 100000, 20000, &stats);
	put_event(&line, 9, 500000, 20000, NULL);
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "$train.py:12 main", NULL);
	put_name(&plane, 4, 2, "$train.py:40 batch", NULL);
	put_name(&plane, 4, 3, "train", NULL);
	put_name(&plane, 4, 4, "MemoryAllocation", NULL);
	put_name(&plane, 4, 5, "IteratorGetNextOp::DoCompute", NULL);
	put_name(&plane, 4, 6, "Iterator::Root", NULL);
	put_name(&plane, 4, 7, "cuLaunchKernel", NULL);
	put_name(&plane, 4, 8, "dot.3", NULL);
	put_text(&stats, 4, "MatMul");
	put_name(&plane, 4, 9, "dense/MatMul:MatMul", &stats);
	put_stat_names(&plane);
	put_stat(&plane, 6, STAT_PROCESS, NULL, 4711);
	put_message(space, 1, &plane);
}

static void put_hostname(struct tp_buf *space)
{
	put_text(space, 4, "node-7");
}

/* The span of that name; fails when there is none. */
static size_t place_of(const struct imported *in, const char *name)
{
	for (size_t i = 0; i < in->n_spans; i++)
		if (strcmp(imported_name(in, i), name) == 0)
			return i;
	ck_abort_msg("no span '%s'", name);
	return 0;
}

static bool has_span(const struct imported *in, const char *name)
{
	for (size_t i = 0; i < in->n_spans; i++)
		if (strcmp(imported_name(in, i), name) == 0)
			return true;
	return false;
}

static void import_space(struct imported *in, struct tp_buf *space)
{
	imported_bytes(in, tp_buf_text(space), space->len, NULL);
	tp_buf_release(space);
}

START_TEST(work_of_a_gpu_becomes_kernels_and_copies)
{
	struct tp_buf space = {0};
	struct imported in;
	put_gpu(&space);
	put_hostname(&space);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_uint_eq(in.n_spans, 2); /* what sums it up is left out */
	size_t kernel = place_of(&in, "fusion_12");
	ck_assert_uint_eq(in.spans[kernel].start_ns, 3000);
	ck_assert_uint_eq(in.spans[kernel].end_ns, 8001); /* each end is rounded down */
	ck_assert_uint_eq(in.spans[kernel].kind, TP_SPAN_KERNEL);
	ck_assert_uint_eq(in.spans[kernel].link, 9);
	ck_assert_int_eq(imported_track(&in, kernel)->device, 2);
	ck_assert_int_eq(imported_track(&in, kernel)->number, 17);
	ck_assert_uint_eq(imported_detail(&in, kernel).blocks, 320);
	ck_assert_uint_eq(imported_detail(&in, kernel).threads, 128);
	size_t copy = place_of(&in, "Memcpy HtoD");
	ck_assert_uint_eq(in.spans[copy].kind, TP_SPAN_COPY);
	ck_assert_uint_eq(imported_detail(&in, copy).bytes, 112);
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_str_eq(rank->format, "xprof");
	ck_assert_str_eq(rank->host, "node-7");
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_int_eq(rank->devices[0].number, 2);
	ck_assert_str_eq(rank->devices[0].name, "Nvidia GPU");
	imported_release(&in);
}
END_TEST

START_TEST(an_event_of_the_host_is_what_only_its_kind_has)
{
	struct tp_buf space = {0};
	struct imported in;
	put_host(&space);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_int_eq(in.result.ranks[0].pid, 4711);
	ck_assert_uint_eq(in.spans[place_of(&in, "step 41")].kind, TP_SPAN_ANNOTATION);
	size_t python = place_of(&in, "train.py(12): main");
	ck_assert_uint_eq(in.spans[python].kind, TP_SPAN_PYTHON);
	ck_assert(!has_span(&in, "train.py(40): batch")); /* not the outermost */
	ck_assert(!has_span(&in, "MemoryAllocation"));
	size_t call = place_of(&in, "cuLaunchKernel");
	ck_assert_uint_eq(in.spans[call].kind, TP_SPAN_CALL);
	ck_assert_uint_eq(in.spans[call].link, 9);
	ck_assert_uint_eq(in.spans[place_of(&in, "dot.3")].kind, TP_SPAN_OPERATOR);
	/* On a thread of tf.data it prepares a batch. */
	for (size_t i = 0; i < in.n_spans; i++)
		if (strcmp(imported_name(&in, i), "dense/MatMul:MatMul") == 0)
			ck_assert_int_eq(in.spans[i].kind == TP_SPAN_OPERATOR,
					 imported_track(&in, i)->number == 80);
	/* The trainer's thread waits while another fetches its batch. */
	size_t fetch = place_of(&in, "IteratorGetNextOp::DoCompute");
	ck_assert_int_eq(imported_track(&in, fetch)->number, 77);
	ck_assert_int_eq(imported_track(&in, place_of(&in, "Iterator::Root"))->number, 78);
	imported_release(&in);
}
END_TEST

START_TEST(all_python_functions_are_kept_when_asked_for)
{
	static const struct tp_import_options options = {.keeps_python = true};
	struct tp_buf space = {0};
	struct imported in;
	put_host(&space);
	imported_bytes(&in, tp_buf_text(&space), space.len, &options);
	tp_buf_release(&space);
	ck_assert(has_span(&in, "train.py(40): batch"));
	imported_release(&in);
}
END_TEST

/* A loop of 0 to 10 us holds a copy from 1 to 4 and an all-reduce from 6 to 7: the loop itself has
 * the rest. */
START_TEST(a_tpu_does_what_the_innermost_operation_does)
{
	struct tp_buf space = {0};
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	struct imported in;
	put_text(&plane, 2, "/device:TPU:0");
	put_line_head(&line, 1, "XLA Ops", 0);
	put_event(&line, 2, 1000000, 3000000, NULL);
	put_event(&line, 1, 0, 10000000, NULL);
	put_event(&line, 3, 6000000, 1000000, NULL);
	put_message(&plane, 3, &line);
	put_line_head(&line, 2, "Async XLA Ops", 0);
	put_event(&line, 2, 0, 10000000, NULL);
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "while.1", NULL);
	put_stat(&stats, 5, STAT_CATEGORY, "copy-done", 0);
	put_name(&plane, 4, 2, "copy-done.7", &stats);
	put_stat(&stats, 5, STAT_CATEGORY, "all-reduce fusion", 0);
	put_name(&plane, 4, 3, "fusion.9", &stats);
	put_stat_names(&plane);
	put_message(&space, 1, &plane);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	uint64_t loop_ns = 0;
	for (size_t i = 0; i < in.n_spans; i++)
		if (strcmp(imported_name(&in, i), "while.1") == 0)
			loop_ns += in.spans[i].end_ns - in.spans[i].start_ns;
	ck_assert_uint_eq(loop_ns, 6000);
	size_t copy = place_of(&in, "copy-done.7");
	ck_assert_uint_eq(in.spans[copy].kind, TP_SPAN_COPY);
	ck_assert_uint_eq(in.spans[copy].start_ns, 1000);
	ck_assert_uint_eq(in.spans[copy].end_ns, 4000);
	ck_assert_uint_eq(in.spans[place_of(&in, "all-reduce")].kind, TP_SPAN_KERNEL);
	ck_assert_uint_eq(in.n_spans, 5); /* three pieces of the loop */
	imported_release(&in);
}
END_TEST

START_TEST(a_cut_file_is_read_as_far_as_it_goes)
{
	struct tp_buf space = {0};
	put_host(&space);
	size_t plane_end = space.len; /* a file that ends there is whole */
	put_gpu(&space);
	struct imported in;
	imported_bytes(&in, tp_buf_text(&space), space.len, NULL);
	size_t n_whole = in.n_spans;
	imported_release(&in);
	for (size_t len = 4; len < space.len; len++) {
		imported_bytes(&in, tp_buf_text(&space), len, NULL);
		ck_assert_uint_le(in.n_spans, n_whole);
		ck_assert(in.status || len == plane_end || in.result.ranks[0].is_cut);
		imported_release(&in);
	}
	tp_buf_release(&space);
}
END_TEST

START_TEST(times_beyond_all_measure_and_sums_are_counted)
{
	struct tp_buf space = {0};
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf event = {0};
	struct imported in;
	put_text(&plane, 2, "/device:GPU:0");
	put_line_head(&line, 1, "Stream #1", 5);
	put_event(&line, 1, UINT64_MAX, 10000, NULL);
	put_event(&line, 1, INT64_MAX, INT64_MAX, NULL);
	put_number(&event, 1, 1);
	put_number(&event, 5, 12); /* occurrences */
	put_message(&line, 4, &event);
	put_event(&line, 1, 0, 10000, NULL);
	put_message(&plane, 3, &line);
	put_message(&space, 1, &plane);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_uint_eq(in.result.ranks[0].n_events, 4);
	ck_assert_uint_eq(in.result.ranks[0].n_kept, 2);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 2);
	imported_release(&in);
}
END_TEST

/* pprof and Perfetto begin with the same byte; names of planes are not searched for in texts. */
START_TEST(other_messages_are_not_taken_for_an_xspace)
{
	static const char *const others[] = {
		"\x0a\x06\x08\x01\x10\x02\x18\x03\x12\x04\x08\x03\x10\x04 /host:CPU",
		"\x0a\x14\x08\x05\xe2\x03\x0f/host:CPU /device",
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(others); i++) {
		struct imported in;
		imported_bytes(&in, others[i], strlen(others[i]), NULL);
		ck_assert_int_eq(in.status, TP_PARSE);
		ck_assert_ptr_nonnull(strstr(in.err.text, "pprof or Perfetto"));
		imported_release(&in);
	}
}
END_TEST

Suite *suite_import_xprof(void);
Suite *suite_import_xprof(void)
{
	Suite *suite = suite_create("import/xprof");
	TCase *tcase = tcase_create("spaces");
	tcase_add_test(tcase, work_of_a_gpu_becomes_kernels_and_copies);
	tcase_add_test(tcase, an_event_of_the_host_is_what_only_its_kind_has);
	tcase_add_test(tcase, all_python_functions_are_kept_when_asked_for);
	tcase_add_test(tcase, a_tpu_does_what_the_innermost_operation_does);
	tcase_add_test(tcase, a_cut_file_is_read_as_far_as_it_goes);
	tcase_add_test(tcase, times_beyond_all_measure_and_sums_are_counted);
	tcase_add_test(tcase, other_messages_are_not_taken_for_an_xspace);
	suite_add_tcase(suite, tcase);
	return suite;
}
