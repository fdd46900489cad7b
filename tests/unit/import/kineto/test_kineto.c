/* SPDX-License-Identifier: Apache-2.0 */
/* Tests events of Kineto and Chrome traces: which become spans, and which are skipped. */
#include "import/imported.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* One X event of a thread, and of a device. */
#define HOST(cat, name, ts, dur)                                                                   \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":7,\"ts\":" ts   \
	",\"dur\":" dur "}"
#define DEVICE(cat, name, args)                                                                    \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name                                       \
	"\",\"pid\":0,\"tid\":\"stream 7\",\"ts\":5,\"dur\":2,\"args\":{" args "}}"

static const struct tp_rank_info *rank_of(const struct imported *imported)
{
	ck_assert_msg(!imported->status, "%s", imported->err.text);
	ck_assert_uint_eq(imported->result.n_ranks, 1);
	return &imported->result.ranks[0];
}

/* ---- kinds and tracks ---- */

START_TEST(times_are_exact_and_names_are_clean)
{
	struct imported in;
	imported_text(&in, "{\"traceEvents\":[" HOST("cpu_op", "a\\n\\\"b\\\"",
						     "1661203462598738.123", "0.0019") "]}");
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_uint_eq(in.spans[0].start_ns, UINT64_C(1661203462598738123));
	ck_assert_uint_eq(in.spans[0].end_ns, UINT64_C(1661203462598738124));
	ck_assert_str_eq(imported_name(&in, 0), "a \"b\"");
	ck_assert_uint_eq(in.result.first_ns, in.spans[0].start_ns);
	ck_assert_uint_eq(in.result.last_ns, in.spans[0].end_ns);
	const struct tp_rank_info *rank = rank_of(&in);
	ck_assert_int_eq(rank->pid, 9);
	ck_assert_str_eq(rank->format, "kineto");
	ck_assert_uint_eq(strlen(rank->sha256), 64);
	imported_release(&in);
}
END_TEST

/* No known writer does so, but every parser reads it. */
START_TEST(escapes_in_keys_phases_and_categories_hide_nothing)
{
	struct imported in;
	imported_text(
		&in,
		"{\"trace\\u0045vents\":[{\"p\\u0068\":\"\\u0058\",\"\\u0063at\":\"kern\\u0065l\","
		"\"n\\u0061me\":\"k\",\"pid\":0.0,\"tid\":7e0,\"ts\":5,\"dur\":2,\"\\u0061rgs\":{"
		"\"devic\\u0065\":1.0,\"str\\u0065am\":2e1,\"corr\\u0065lation\":12}},"
		"{\"ph\":\"\\u0069\",\"ts\":1,\"name\":\"instant\"}]}");
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_int_eq(in.spans[0].kind, TP_SPAN_KERNEL);
	ck_assert_str_eq(imported_name(&in, 0), "k");
	ck_assert_uint_eq(in.spans[0].link, 12);
	ck_assert_int_eq(imported_track(&in, 0)->device, 1);
	ck_assert_int_eq(imported_track(&in, 0)->number, 20);
	ck_assert_uint_eq(rank_of(&in)->n_events, 2);
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 0);
	imported_release(&in);
}
END_TEST

START_TEST(a_launch_and_its_kernel_share_a_link)
{
	struct imported in;
	imported_text(
		&in,
		"[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
		"\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{\"cbid\":1,\"correlation\":12}}," DEVICE(
			"kernel", "k",
			"\"device\":3,\"stream\":20,\"correlation\":12,\"grid\":[50,2,1],"
			"\"block\":[256,1,1]") "," DEVICE("Memcpy", "c", "\"bytes\":832") "]");
	ck_assert_uint_eq(in.n_spans, 3);
	ck_assert_uint_eq(in.spans[0].link, 12);
	ck_assert_uint_eq(in.spans[1].link, 12);
	ck_assert_uint_eq(in.spans[2].link, 0);
	ck_assert_int_eq(in.spans[0].kind, TP_SPAN_CALL);
	ck_assert_int_eq(imported_track(&in, 0)->device, TP_TRACK_THREAD);
	ck_assert_int_eq(imported_track(&in, 0)->number, 7);
	ck_assert_int_eq(in.spans[1].kind, TP_SPAN_KERNEL);
	ck_assert_int_eq(imported_track(&in, 1)->device, 3);
	ck_assert_int_eq(imported_track(&in, 1)->number, 20);
	ck_assert_uint_eq(imported_detail(&in, 1).blocks, 100);
	ck_assert_uint_eq(imported_detail(&in, 1).threads, 256);
	/* Without args the device is the pid, and the stream is in the tid. */
	ck_assert_int_eq(in.spans[2].kind, TP_SPAN_COPY);
	ck_assert_int_eq(imported_track(&in, 2)->device, 0);
	ck_assert_int_eq(imported_track(&in, 2)->number, 7);
	ck_assert_uint_eq(imported_detail(&in, 2).bytes, 832);
	imported_release(&in);
}
END_TEST

/* Correlations that are not small numbers, and the one of the call. */
static const struct {
	const char *kernel;
	const char *call;
	bool are_linked;
} correlations[] = {
	{"5", "5", true},
	{"5", "\"5\"", true},
	{"0", "0", false},
	{"-1", "-1", false},
	{"4294967295", "4294967295", true},
	{"4294967296", "4294967296", true},
	{"4294967296", "4294967297", false},
	{"9223372036854775807", "9223372036854775807", true},
	{"\"0x7f\"", "\"0x7f\"", true},
	{"\"0x7f\"", "\"0x7e\"", false},
	{"2147483648", "2147483648", true},
	{"", "", false},
};

START_TEST(correlations_of_any_shape_link)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_printf(
		&text,
		"[" HOST(
			"cpu_op", "o", "0",
			"1") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,"
			     "\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{\"correlation\":%s}},{\"ph\":"
			     "\"X\","
			     "\"cat\":\"Runtime\",\"pid\":9,\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{"
			     "\"correlation\":%s}}]",
		correlations[_i].kernel, correlations[_i].call);
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(in.n_spans, 3);
	bool are_linked = in.spans[1].link && in.spans[1].link == in.spans[2].link;
	ck_assert_int_eq(are_linked, correlations[_i].are_linked);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(collectives_say_what_they_move_and_with_whom)
{
	struct imported in;
	imported_text(&in,
		      "[" DEVICE("kernel", "ncclDevKernel_AllReduce",
				 "\"Collective name\":\"allreduce\",\"In msg nelems\":1000,"
				 "\"dtype\":\"BFloat16\",\"Process Group Name\":\"2\","
				 "\"Process Group Description\":\"default_pg\",\"Group size\":8,"
				 "\"Seq\":41") "]");
	struct tp_detail detail = imported_detail(&in, 0);
	const struct tp_strtab *strings = &in.sink.strings;
	ck_assert_uint_eq(detail.bytes, 2000);
	ck_assert_str_eq(tp_strtab_text(strings, detail.op), "allreduce");
	ck_assert_str_eq(tp_strtab_text(strings, detail.type), "BFloat16");
	ck_assert_str_eq(tp_strtab_text(strings, detail.group), "2");
	ck_assert_uint_eq(detail.n_ranks, 8);
	ck_assert_uint_eq(detail.sequence, 42);
	imported_release(&in);
}
END_TEST

/* A sender and its receiver are one pair in both traces, whatever numbers their communicator has.
 */
START_TEST(a_send_and_its_receive_have_one_name)
{
	static const char *const words[] = {
		"\"Collective name\":\"send\",\"Rank\":3,\"Dst Rank\":5,\"Seq\":7",
		"\"Collective name\":\"recv\",\"Rank\":5,\"Src Rank\":3,\"Seq\":9"};
	for (size_t i = 0; i < TP_ARRAY_LEN(words); i++) {
		struct imported in;
		struct tp_buf text = {0};
		tp_buf_printf(&text,
			      "[" DEVICE("kernel", "ncclDevKernel_SendRecv",
					 "\"Process Group Name\":\"pp\",\"Group size\":4,%s") "]",
			      words[i]);
		imported_text(&in, text.data);
		struct tp_detail detail = imported_detail(&in, 0);
		const struct tp_strtab *strings = &in.sink.strings;
		ck_assert_str_eq(tp_strtab_text(strings, detail.op), "sendrecv");
		ck_assert_str_eq(tp_strtab_text(strings, detail.group), "rank 3 to rank 5");
		ck_assert_uint_eq(detail.n_ranks, 2);
		ck_assert_uint_eq(detail.sequence, 0);
		imported_release(&in);
		tp_buf_release(&text);
	}
}
END_TEST

/* ---- threads ---- */

START_TEST(communicators_are_told_apart_by_their_members)
{
	static const char *const ranks[] = {"\"Process Group Ranks\":\"[0, 1]\"",
					    "\"Process Group Ranks\":\"[2, 3]\"",
					    "\"Process Group Ranks\":[0,1]",
					    "\"Group Ranks\":\"[0, 1]\"",
					    "\"Process Group Ranks\":\"[]\"",
					    "\"Group size\":2"};
	static const char *const names[] = {
		"tp (ranks 0,1)", "tp (ranks 2,3)", "tp (ranks 0,1)", "tp (ranks 0,1)", "tp", "tp"};
	for (size_t i = 0; i < TP_ARRAY_LEN(ranks); i++) {
		struct imported in;
		struct tp_buf text = {0};
		tp_buf_printf(&text,
			      "[" DEVICE("kernel", "ncclKernel",
					 "\"Collective name\":\"allreduce\",\"Process Group "
					 "Name\":\"tp\",%s") "]",
			      ranks[i]);
		imported_text(&in, text.data);
		ck_assert_uint_eq(in.n_spans, 1);
		struct tp_detail detail = imported_detail(&in, 0);
		ck_assert_str_eq(tp_strtab_text(&in.sink.strings, detail.group), names[i]);
		imported_release(&in);
		tp_buf_release(&text);
	}
}
END_TEST

START_TEST(a_quoted_number_is_the_number)
{
	struct imported in;
	imported_text(
		&in,
		"[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":\"5\",\"ts\":1,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":\"1\",\"tid\":5,\"ts\":2,\"dur\":1}]");
	ck_assert_uint_eq(in.n_tracks, 1);
	ck_assert_int_eq(in.tracks[0].number, 5);
	imported_release(&in);
}
END_TEST

START_TEST(threads_of_other_processes_and_without_numbers_are_apart)
{
	struct imported in;
	imported_text(
		&in,
		"[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":5,\"ts\":1,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":2,\"tid\":5,\"ts\":2,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":\"main\",\"ts\":3,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":-1,\"ts\":4,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":5,\"dur\":1}]");
	ck_assert_uint_eq(in.n_spans, 5);
	ck_assert_uint_eq(in.n_tracks, 5);
	static const int64_t numbers[] = {5, -1, -2, -3, 0};
	static const char *const names[] = {"", "thread 5 of process 2", "main",
					    "thread -1 of process 1", ""};
	for (size_t i = 0; i < 5; i++) {
		const struct tp_track *track = imported_track(&in, i);
		ck_assert_int_eq(track->number, numbers[i]);
		ck_assert_str_eq(tp_strtab_text(&in.sink.strings, track->name), names[i]);
	}
	ck_assert_int_eq(rank_of(&in)->pid, 1);
	imported_release(&in);
}
END_TEST

START_TEST(names_of_threads_and_streams_may_come_late)
{
	struct imported in;
	imported_text(&in, "[" HOST("cpu_op", "o", "1", "1") "," DEVICE(
				   "kernel", "k",
				   "\"stream\":7") ","
						   "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":"
						   "9,\"tid\":7,\"args\":{\"name\":"
						   "\"thread 7 "
						   "(python)\"}},{\"ph\":\"M\",\"name\":\"thread_"
						   "name\",\"pid\":0,"
						   "\"tid\":7,\"args\":{\"name\":\"stream 7 "
						   "\"}},{\"ph\":\"M\",\"name\":"
						   "\"thread_name\",\"pid\":8,\"tid\":8,\"args\":{"
						   "\"name\":\"nobody\"}}]");
	ck_assert_uint_eq(in.n_tracks, 2);
	ck_assert_str_eq(tp_strtab_text(&in.sink.strings, imported_track(&in, 0)->name),
			 "thread 7 (python)");
	ck_assert_str_eq(tp_strtab_text(&in.sink.strings, imported_track(&in, 1)->name),
			 "stream 7");
	imported_release(&in);
}
END_TEST

/* ---- kept events ---- */

START_TEST(what_repeats_or_is_no_work_is_left_out_unskipped)
{
	struct imported in;
	imported_text(
		&in,
		"[" HOST("user_annotation", "ProfilerStep#1", "1", "9") "," HOST(
			"gpu_user_annotation", "ProfilerStep#1", "1",
			"9") "," HOST("overhead", "Buffer Flush", "1",
				      "1") "," HOST("Trace", "PyTorch Profiler (0)", "1",
						    "9") ","
							 "{\"ph\":\"i\",\"name\":\"[memory]\","
							 "\"ts\":1},"
							 "{\"ph\":\"s\",\"cat\":\"ac2g\",\"id\":1,"
							 "\"ts\":1},"
							 "{\"ph\":\"C\",\"name\":\"c\",\"ts\":1}]");
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_int_eq(in.spans[0].kind, TP_SPAN_ANNOTATION);
	ck_assert_uint_eq(rank_of(&in)->n_events, 7);
	ck_assert_uint_eq(rank_of(&in)->n_kept, 1);
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 0);
	imported_release(&in);
}
END_TEST

START_TEST(of_python_the_outermost_is_kept_or_all)
{
	static const char text[] =
		"[{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"main\",\"pid\":1,\"tid\":1,"
		"\"ts\":1,\"dur\":9,\"args\":{\"Python parent id\":null,\"Python id\":1}},"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"inner\",\"pid\":1,\"tid\":1,"
		"\"ts\":2,\"dur\":7,\"args\":{\"Python parent id\":1,\"Python id\":2}}]";
	for (int all = 0; all < 2; all++) {
		struct imported in;
		struct tp_import_options options = {.keeps_python = all};
		imported_bytes(&in, text, strlen(text), &options);
		ck_assert_uint_eq(in.n_spans, all ? 2 : 1);
		ck_assert_str_eq(imported_name(&in, 0), "main");
		ck_assert_uint_eq(rank_of(&in)->n_skipped, 0);
		imported_release(&in);
	}
}
END_TEST

/* Traces of other makers: every event with a length is a range on its thread. */
static const struct {
	const char *events;
	size_t n_spans;
} others[] = {
	{HOST("toplevel", "a", "1", "2") "," HOST("blink", "b", "1", "1"), 2},
	{"{\"ph\":\"X\",\"name\":\"no category\",\"ts\":1,\"dur\":1}", 1},
	{HOST("Trace", "a", "1", "2") "," HOST("mine", "b", "1", "1"), 1},
	/* After the first Kineto event, categories that Kineto does not have are left out. */
	{HOST("mine", "a", "1", "2") "," HOST("cpu_op", "b", "1", "1"), 1},
	{HOST("cpu_op", "a", "1", "2") "," HOST("mine", "b", "1", "1"), 1},
	{"{\"ph\":\"B\",\"cat\":\"mine\",\"ts\":1}," HOST("cpu_op", "a", "1",
							  "2") ",{\"ph\":\"E\",\"ts\":3}",
	 1},
};

START_TEST(unknown_categories_count_where_no_known_one_is)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "[%s]", others[_i].events);
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(in.n_spans, others[_i].n_spans);
	ck_assert_uint_eq(rank_of(&in)->n_kept, others[_i].n_spans);
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 0);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(many_events_of_unknown_categories_decide)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_puts(&text, "[");
	for (int i = 0; i < 70000; i++)
		tp_buf_puts(&text, HOST("mine", "a", "1", "2") ",");
	tp_buf_puts(&text, HOST("cpu_op", "b", "1", "2") "]");
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_ANNOTATION), 70000);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_OPERATOR), 1);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(begins_and_ends_are_matched_by_thread)
{
	struct imported in;
	imported_text(&in, "[{\"ph\":\"B\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":1},"
			   "{\"ph\":\"B\",\"name\":\"other\",\"pid\":1,\"tid\":2,\"ts\":2},"
			   "{\"ph\":\"B\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":3},"
			   "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4},"
			   "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5},"
			   "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":6},"
			   "{\"ph\":\"B\",\"name\":\"backwards\",\"pid\":1,\"tid\":1,\"ts\":9},"
			   "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":8}]");
	ck_assert_uint_eq(in.n_spans, 2);
	ck_assert_str_eq(imported_name(&in, 0), "inner");
	ck_assert_uint_eq(in.spans[0].start_ns, 3000);
	ck_assert_uint_eq(in.spans[0].end_ns, 4000);
	ck_assert_str_eq(imported_name(&in, 1), "outer");
	ck_assert_uint_eq(in.spans[1].end_ns, 5000);
	/* The extra end, the one that goes back in time, and the begin without an end. */
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 3);
	ck_assert_str_eq(rank_of(&in)->skipped_because, "an end without a begin");
	imported_release(&in);
}
END_TEST

/* ---- errors ---- */

static const struct {
	const char *event;
	const char *because;
} wrongs[] = {
	{HOST("cpu_op", "x", "null", "1"), "an event without a time that makes sense"},
	{HOST("cpu_op", "x", "-5", "1"), "an event without a time that makes sense"},
	{HOST("cpu_op", "x", "NaN", "1"), "an event without a time that makes sense"},
	{HOST("cpu_op", "x", "1e300", "1"), "an event without a time that makes sense"},
	{HOST("cpu_op", "x", "1", "-1"), "an event without a length that makes sense"},
	{HOST("cpu_op", "x", "1", "\"long\""), "an event without a length that makes sense"},
	{HOST("cpu_op", "x", "1", "[1]"), "an event without a length that makes sense"},
	{"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1}",
	 "an event without a length that makes sense"},
	{"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"dur\":1}", "an event without a time that makes sense"},
	{"{\"ph\":\"X\" \"cat\"}", "a malformed event"},
	{"{ph:\"X\"}", "a malformed event"},
	{"5", "an entry that is no event"},
	{"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":\"GPU\",\"tid\":1,\"ts\":1,\"dur\":1}",
	 "work of a device without the number of the device"},
	{DEVICE("kernel", "k", "\"device\":-1"), "work of a device whose number makes no sense"},
	{DEVICE("kernel", "k", "\"device\":4294967296"),
	 "work of a device whose number makes no sense"},
	{"{\"ph\":\"E\",\"ts\":1}", "an end without a begin"},
	{"{\"ph\":\"B\",\"cat\":\"cpu_op\",\"ts\":\"\"}",
	 "a begin without a time that makes sense"},
};

START_TEST(what_is_wrong_is_skipped_and_the_rest_stays)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_printf(&text,
		      "{\"traceEvents\":[" HOST("cpu_op", "before", "1",
						"1") ",%s," HOST("cpu_op", "after", "2", "1") "]}",
		      wrongs[_i].event);
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(in.n_spans, 2);
	ck_assert_str_eq(imported_name(&in, 1), "after");
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 1);
	ck_assert_str_eq(rank_of(&in)->skipped_because, wrongs[_i].because);
	ck_assert(!rank_of(&in)->is_cut);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

/* Valid, if unusual: kept without a message. */
static const char *const oddities[] = {
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"ts\":1,\"dur\":1}",
	HOST("cpu_op", "x", "\"1.5\"", "1"),
	HOST("cpu_op", "", "1", "0"),
	"{\"ph\":\"X\",\"ph\":\"X\",\"cat\":\"mine\",\"cat\":\"cpu_op\",\"ts\":null,\"ts\":1,"
	"\"dur\":1}",
	"{\"dur\":1,\"ts\":1,\"cat\":\"cpu_op\",\"args\":{\"ph\":\"i\"},\"ph\":\"X\"}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":1,\"args\":{\"a\": ,\"b\":NaN}}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":1,\"args\":null}",
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":\"\",\"ts\":1,\"dur\":1,\"args\":[]}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"raw \n \x01 \xff\",\"ts\":1,\"dur\":1}",
	DEVICE("kernel", "k", "\"grid\":[1e9,0,-3],\"block\":\"none\",\"bytes\":-1"),
	DEVICE("kernel", "k",
	       "\"grid\":[4294967295,4294967295,4294967295],\"block\":[65536,65536,65536]"),
	DEVICE("kernel", "k",
	       "\"Collective name\":\"x\",\"In msg nelems\":9223372036854775807,"
	       "\"dtype\":\"ComplexDouble\",\"Seq\":-1,\"Group size\":-8"),
};

START_TEST(what_is_unusual_is_kept)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "[%s]", oddities[_i]);
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 0);
	struct tp_detail detail = imported_detail(&in, 0);
	ck_assert_uint_eq(detail.bytes + detail.blocks + detail.threads + detail.sequence, 0);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(what_was_whole_before_a_cut_is_kept)
{
	struct imported in;
	imported_text(&in, "{\"traceEvents\":[" HOST("cpu_op", "whole", "1", "1") ",{\"ph\":\"X\"");
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert(rank_of(&in)->is_cut);
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 0);
	imported_release(&in);
}
END_TEST

START_TEST(nests_of_any_depth_are_passed_over)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_puts(&text, "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":1,\"args\":");
	tp_buf_pad(&text, '[', 1000000);
	tp_buf_pad(&text, ']', 1000000);
	tp_buf_puts(&text, "}]");
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(in.n_spans, 1);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(threads_beyond_the_limit_are_skipped_and_counted)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_puts(&text, "[");
	for (int i = 0; i < TP_TRACKS_MAX + 5; i++)
		tp_buf_printf(&text,
			      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"tid\":%d,\"ts\":1,\"dur\":1},",
			      i);
	tp_buf_puts(&text, "]");
	imported_text(&in, tp_buf_text(&text));
	ck_assert_uint_eq(in.n_tracks, TP_TRACKS_MAX);
	ck_assert_uint_eq(rank_of(&in)->n_kept, TP_TRACKS_MAX);
	ck_assert_uint_eq(rank_of(&in)->n_skipped, 5);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

/* ---- members besides the events ---- */

START_TEST(the_job_and_its_devices_are_known)
{
	struct imported in;
	imported_text(&in,
		      "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"A100\","
		      "\"totalGlobalMem\":42505273344,\"computeMajor\":8,\"computeMinor\":6,"
		      "\"numSms\":108},5,{\"id\":1}],\"traceEvents\":[" HOST(
			      "cpu_op", "o", "1",
			      "1") "],\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,\"world_"
				   "size\":8,"
				   "\"pg_config\":[{\"ranks\":[0,1]}]},\"host_name\":\"node7\"}");
	const struct tp_rank_info *rank = rank_of(&in);
	ck_assert_int_eq(rank->number, 3);
	ck_assert_uint_eq(rank->n_ranks, 8);
	ck_assert_str_eq(rank->host, "node7");
	ck_assert_uint_eq(rank->n_devices, 2);
	ck_assert_str_eq(rank->devices[0].name, "A100");
	ck_assert_uint_eq(rank->devices[0].n_processors, 108);
	ck_assert_uint_eq(rank->devices[0].memory_bytes, UINT64_C(42505273344));
	ck_assert_uint_eq(rank->devices[0].capability, 86);
	ck_assert_int_eq(rank->devices[1].number, 1);
	ck_assert_ptr_null(rank->devices[1].name);
	imported_release(&in);
}
END_TEST

static const struct {
	const char *text;
	const char *says;
} empties[] = {
	{"{}", "' holds no trace events"},
	{"[]", "' holds no trace events"},
	{"{\"a\":[{\"ph\":\"X\"}]}", "' holds no trace events"},
	{"{\"traceEvents\":{}}", "' holds no trace events"},
	{"[1,2,3]", "' holds no trace events"},
	{"[{\"ph\":\"i\",\"ts\":1}]", "': none of its 1 events is of use: none has a duration"},
	{"[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1}]",
	 "': none of its 1 events is of use: an event without a length that makes sense"},
};

START_TEST(nothing_of_use_is_an_error)
{
	struct imported in;
	imported_text(&in, empties[_i].text);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_msg(strstr(in.err.text, empties[_i].says), "%s", in.err.text);
	imported_release(&in);
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof((table)[0]))

Suite *suite_import_kineto(void);
Suite *suite_import_kineto(void)
{
	Suite *suite = suite_create("import/kineto");
	TCase *tc = tcase_create("kineto");
	tcase_add_test(tc, times_are_exact_and_names_are_clean);
	tcase_add_test(tc, escapes_in_keys_phases_and_categories_hide_nothing);
	tcase_add_test(tc, a_launch_and_its_kernel_share_a_link);
	LOOP(tc, correlations_of_any_shape_link, correlations);
	tcase_add_test(tc, collectives_say_what_they_move_and_with_whom);
	tcase_add_test(tc, communicators_are_told_apart_by_their_members);
	tcase_add_test(tc, a_send_and_its_receive_have_one_name);
	tcase_add_test(tc, a_quoted_number_is_the_number);
	tcase_add_test(tc, threads_of_other_processes_and_without_numbers_are_apart);
	tcase_add_test(tc, names_of_threads_and_streams_may_come_late);
	tcase_add_test(tc, what_repeats_or_is_no_work_is_left_out_unskipped);
	tcase_add_test(tc, of_python_the_outermost_is_kept_or_all);
	LOOP(tc, unknown_categories_count_where_no_known_one_is, others);
	tcase_add_test(tc, many_events_of_unknown_categories_decide);
	tcase_add_test(tc, begins_and_ends_are_matched_by_thread);
	LOOP(tc, what_is_wrong_is_skipped_and_the_rest_stays, wrongs);
	LOOP(tc, what_is_unusual_is_kept, oddities);
	tcase_add_test(tc, what_was_whole_before_a_cut_is_kept);
	tcase_add_test(tc, nests_of_any_depth_are_passed_over);
	tcase_add_test(tc, threads_beyond_the_limit_are_skipped_and_counted);
	tcase_add_test(tc, the_job_and_its_devices_are_known);
	LOOP(tc, nothing_of_use_is_an_error, empties);
	suite_add_tcase(suite, tc);
	return suite;
}
