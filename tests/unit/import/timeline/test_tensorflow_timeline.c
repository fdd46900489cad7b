/* SPDX-License-Identifier: Apache-2.0 */
/* Tests TensorFlow 1's timeline. */
#include "import/database.h"

#include <string.h>

#define NAME(pid, name)                                                                            \
	"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" #pid ",\"args\":{\"name\":\"" name      \
	"\"}},"
#define OP(pid, op, ts, dur)                                                                       \
	"{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"" op "\",\"pid\":" #pid ",\"tid\":0,\"ts\":" #ts  \
	",\"dur\":" #dur ",\"args\":{\"name\":\"a/" op "\",\"op\":\"" op "\"}},"
#define CPU                                                                                        \
	NAME(7, "/job:localhost/replica:0/task:0/device:CPU:0 Compute")                            \
	OP(7, "IteratorGetNext", 90, 8)
#define STREAMS                                                                                    \
	NAME(1, "/device:GPU:1/stream:13 Compute")                                                 \
	NAME(2, "/device:GPU:1/stream:13 Tensors")                                                 \
	OP(1, "Conv2D", 100, 20) OP(1, "MEMCPYHtoD", 130, 5)
#define SUMS                                                                                       \
	NAME(3, "/device:GPU:1/stream:all Compute")                                                \
	NAME(4, "/device:GPU:1/memcpy Compute")                                                    \
	OP(3, "Conv2D", 100, 20)                                                                   \
	OP(4, "MEMCPYHtoD", 130, 5)                                                                \
	NAME(5, "/job:localhost/replica:0/task:0/device:GPU:1 Compute")                            \
	OP(5, "Conv2D", 50, 500)

static const char *const files[] = {
	"{\"traceEvents\":[" CPU STREAMS SUMS "]}",
	"{\"traceEvents\":[" CPU STREAMS "]}",
	"{\"traceEvents\":[" SUMS CPU "]}",
};

/* Files with streams, with their sum, or with both. */
START_TEST(each_operation_counts_once)
{
	struct imported in;
	imported_text(&in, files[_i]);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, "timeline");
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "Conv2D"), 20000);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_COPY), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "Memcpy HtoD"), 5000);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_OPERATOR), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_OPERATOR, "IteratorGetNext"), 8000);
	for (size_t i = 0; i < in.n_spans; i++)
		if (tp_span_kind_is_device(in.spans[i].kind))
			ck_assert_int_eq(imported_track(&in, i)->device, 1);
	imported_release(&in);
}
END_TEST

/* The executor's lane shows when an operation was placed on a device, not the work of the
 * device. */
START_TEST(the_executors_lane_is_no_device)
{
	struct imported in;
	imported_text(&in, "{\"traceEvents\":[" NAME(
				   5, "/job:localhost/replica:0/task:0/device:GPU:1 Compute")
				   OP(5, "Conv2D", 50, 500) "]}");
	ck_assert_int_eq(in.status, TP_PARSE);
	imported_release(&in);
}
END_TEST

Suite *suite_import_tensorflow_timeline(void);

Suite *suite_import_tensorflow_timeline(void)
{
	Suite *suite = suite_create("import/tensorflow_timeline");
	TCase *tc = tcase_create("timeline");
	tcase_add_loop_test(tc, each_operation_counts_once, 0,
			    (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_test(tc, the_executors_lane_is_no_device);
	suite_add_tcase(suite, tc);
	return suite;
}
