/* SPDX-License-Identifier: Apache-2.0 */
/* Tests lanes that the user names in JSON of tools that are not known. */
#include "import/database.h"

#include <string.h>

#define NAME(what, pid, tid, name)                                                                 \
	"{\"name\":\"" what "_name\",\"ph\":\"M\",\"pid\":" #pid ",\"tid\":" #tid                  \
	",\"args\":{\"name\":\"" name "\"}},"
#define OP(name, pid, tid, ts, dur)                                                                \
	"{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts        \
	",\"dur\":" #dur "},"
#define BORDER(phase, name, ts)                                                                    \
	"{\"ph\":\"" phase "\",\"name\":\"" name "\",\"pid\":5,\"tid\":70,\"ts\":" #ts "},"

/* Names may come behind the events. The second accelerator writes begins and ends. */
static const char file[] = "{\"traceEvents\":[" OP("gemm", 4, 70, 100, 20)
	OP("Memcpy HtoD", 4, 71, 130, 5) OP("launch", 9, 1, 90, 3) BORDER("B", "gemm", 200)
		BORDER("B", "inner", 203) BORDER("E", "", 204) BORDER("E", "", 250)
			BORDER("E", "", 251) NAME("process", 4, 0, "Accel 0")
				NAME("thread", 4, 70, "queue 70") NAME("thread", 4, 71, "copies")
					NAME("process", 5, 0, "Accel 1")
						NAME("thread", 5, 70, "queue 70")
							NAME("process", 9, 0, "driver") "{}]}";

static void import_lanes(struct imported *in, const char *text, const char *lanes)
{
	struct tp_import_options options = {.device_lane = lanes};
	imported_bytes(in, text, strlen(text), &options);
}

START_TEST(lanes_that_the_user_names_are_devices)
{
	static const struct {
		const char *lanes;
		uint64_t gemm_ns;
		uint64_t copies;
		int32_t devices;
	} cases[] = {
		{"Accel *", 70000, 1, 2},   {"Accel 0", 20000, 1, 1},   {"*/queue *", 70000, 0, 2},
		{"queue *", 70000, 0, 2},   {"Accel 1/*", 50000, 0, 1}, {"Accel 0/copies", 0, 1, 1},
		{"Accel */*", 70000, 1, 2},
	};
	struct imported in;
	int32_t last = 0;
	import_lanes(&in, file, cases[_i].lanes);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_str_eq(in.result.ranks[0].format, "lanes");
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "gemm"), cases[_i].gemm_ns);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_COPY), cases[_i].copies);
	/* The kind of the other lanes is not known. */
	for (size_t i = 0; i < in.n_spans; i++) {
		ck_assert(tp_span_kind_is_device(in.spans[i].kind));
		if (imported_track(&in, i)->device > last)
			last = imported_track(&in, i)->device;
	}
	ck_assert_int_eq(last + 1, cases[_i].devices);
	imported_release(&in);
}
END_TEST

START_TEST(an_end_without_a_begin_is_counted)
{
	struct imported in;
	import_lanes(&in, file, "Accel *");
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 1);
	imported_release(&in);
}
END_TEST

START_TEST(lanes_that_are_not_there_are_refused)
{
	struct imported in;
	import_lanes(&in, file, "TPU *");
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "no lane with events fits 'TPU *'"));
	imported_release(&in);
}
END_TEST

/* Its lanes have meanings that the maker gave them. */
START_TEST(a_tool_that_is_known_is_read_by_its_own_lanes)
{
	struct imported in;
	import_lanes(&in,
		     "{\"traceEvents\":[" NAME("process", 1, 0, "/device:GPU:0")
			     OP("gemm", 1, 7, 100, 20) "{}]}",
		     "/device*");
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "xprof-json"));
	imported_release(&in);
}
END_TEST

START_TEST(only_json_has_such_lanes)
{
	struct tp_import_options options = {.device_lane = "*", .format = "nsys"};
	struct imported in;
	imported_bytes(&in, file, strlen(file), &options);
	ck_assert_int_eq(in.status, TP_USAGE);
	imported_release(&in);
	options = (struct tp_import_options){.format = "lanes"};
	imported_bytes(&in, file, strlen(file), &options);
	ck_assert_int_eq(in.status, TP_USAGE);
	imported_release(&in);
}
END_TEST

/* The report has to name the lanes in the form that the option takes. */
START_TEST(lanes_of_a_tool_that_is_not_known_have_the_names_of_their_processes)
{
	struct imported in;
	bool is_found = false;
	imported_text(&in, file);
	ck_assert_str_eq(in.result.ranks[0].format, "unknown");
	for (size_t i = 0; i < in.n_tracks; i++)
		is_found |= strcmp(tp_strtab_text(&in.sink.strings, in.tracks[i].name),
				   "Accel 1/queue 70") == 0;
	ck_assert(is_found);
	imported_release(&in);
}
END_TEST

Suite *suite_import_named_lanes(void);
Suite *suite_import_named_lanes(void)
{
	Suite *suite = suite_create("import/named_lanes");
	TCase *tcase = tcase_create("files");
	tcase_add_loop_test(tcase, lanes_that_the_user_names_are_devices, 0, 7);
	tcase_add_test(tcase, an_end_without_a_begin_is_counted);
	tcase_add_test(tcase, lanes_that_are_not_there_are_refused);
	tcase_add_test(tcase, a_tool_that_is_known_is_read_by_its_own_lanes);
	tcase_add_test(tcase, only_json_has_such_lanes);
	tcase_add_test(tcase, lanes_of_a_tool_that_is_not_known_have_the_names_of_their_processes);
	suite_add_tcase(suite, tcase);
	return suite;
}
