/* SPDX-License-Identifier: Apache-2.0 */
/* Tests Horovod's timeline. */
#include "import/database.h"

#include <string.h>

#define TENSOR(pid)                                                                                \
	"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" #pid ",\"args\":{\"name\":\"t\"}},"
#define B(pid, name, ts) "{\"ph\":\"B\",\"name\":\"" name "\",\"ts\":" #ts ",\"pid\":" #pid "},"
#define E(pid, ts)       "{\"ph\":\"E\",\"ts\":" #ts ",\"pid\":" #pid "},"
#define READY(pid, rank, ts)                                                                       \
	"{\"ph\":\"X\",\"name\":\"" #rank "\",\"ts\":" #ts ",\"pid\":" #pid ",\"dur\":0},"
/* clang-format off */
/* Rank 2 comes 100 ms after the first; then 3 ms of NCCL, of which the input took 1 ms. */
#define LATE                                                                                       \
	TENSOR(1)                                                                                  \
	B(1, "NEGOTIATE_ALLREDUCE", 1000)                                                          \
	READY(1, 0, 1001)                                                                          \
	READY(1, 2, 100990)                                                                        \
	E(1, 101000) B(1, "ALLREDUCE", 101000) B(1, "WAIT_FOR_DATA", 101000) E(1, 102000)          \
		B(1, "NCCL_ALLREDUCE", 102000) E(1, 105000) E(1, 105000)
/* Within one cycle of the coordinator, while the other is still negotiated. */
#define TOGETHER                                                                                   \
	TENSOR(2) B(2, "NEGOTIATE_BROADCAST", 2000) READY(2, 1, 2000) READY(2, 0, 4000) E(2, 4000)
/* clang-format on */

START_TEST(the_last_rank_and_the_transfer_are_found)
{
	struct imported in;
	imported_text(&in, "[" LATE TOGETHER); /* a comma without a bracket is a complete file */
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, "horovod");
	ck_assert(!in.result.ranks[0].is_cut);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 0);
	ck_assert_uint_eq(in.n_spans, 4);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_ANNOTATION), 4);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "NEGOTIATE_ALLREDUCE"), 100000000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "NCCL_ALLREDUCE"), 3000000);
	for (size_t i = 0; i < in.n_spans; i++) {
		const struct tp_track *track = imported_track(&in, i);
		const char *lane = tp_strtab_text(&in.sink.strings, track->name);
		const char *name = imported_name(&in, i);
		if (strcmp(name, "NEGOTIATE_ALLREDUCE") == 0) {
			ck_assert_int_eq(track->number, 2);
			ck_assert_str_eq(lane, "rank 2 was ready last");
		} else {
			ck_assert_int_lt(track->number, 0);
		}
	}
	imported_release(&in);
}
END_TEST

static const struct {
	const char *text;
	size_t n_skipped;
} odd[] = {
	{"[" LATE E(1, 200000) "{}]", 1},
	{"[" LATE "7]", 1},
	{"[" LATE B(1, "ALLREDUCE", 9) B(1, "NCCL_X", 50) E(1, 40) "{}]", 1},
	{"[" LATE "{\"ph\":\"B\",\"name\":\"A\",\"pid\":1,\"ts\":\"x\"}]", 1},
	{"[" LATE "{\"ph\":\"i\",\"name\":\"CYCLE_START\",\"pid\":0,\"ts\":1}]", 0},
	{"[" LATE READY(1, 77, 200000) "]", 0},
};

START_TEST(what_does_not_fit_is_counted)
{
	struct imported in;
	imported_text(&in, odd[_i].text);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.n_spans, 3);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, odd[_i].n_skipped);
	imported_release(&in);
}
END_TEST

Suite *suite_import_horovod_timeline(void);

Suite *suite_import_horovod_timeline(void)
{
	Suite *suite = suite_create("import/horovod_timeline");
	TCase *tc = tcase_create("horovod");
	tcase_add_test(tc, the_last_rank_and_the_transfer_are_found);
	tcase_add_loop_test(tc, what_does_not_fit_is_counted, 0,
			    (int)(sizeof(odd) / sizeof(odd[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
