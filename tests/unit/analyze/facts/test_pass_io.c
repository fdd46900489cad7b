/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading and writing files. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

static void put_reads(struct hand *hand, double called, double calls, double device)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
	hand_counter(hand, TP_METRIC_IO_RCHAR, 0, called);
	hand_counter(hand, TP_METRIC_IO_SYSCR, 0, calls);
	hand_counter(hand, TP_METRIC_IO_READ, 0, device);
	hand_counter(hand, TP_METRIC_IO_WRITE, 0, 1e6);
}

START_TEST(bytes_calls_and_the_cache_agree)
{
	static const struct {
		double called;
		double calls;
		double device;
		double cached; /* below 0 = must be missing */
	} cases[] = {
		{100e6, 1000, 25e6, 0.75}, {100e6, 1000, 0, 1},
		{100e6, 1000, 400e6, 0}, /* mapped files are read without system calls */
		{1000, 10, 0, -1},         {0, 0, 50e6, -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hand hand;
		put_reads(&hand, cases[i].called, cases[i].calls, cases[i].device);
		hand_finish(&hand);
		hand_pass(&hand, tp_pass_io);
		ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_CALL_READ), cases[i].called,
					1e-3);
		ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_READ), cases[i].device, 1e-3);
		ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_WRITE), 1e6, 1e-3);
		if (cases[i].calls > 0)
			ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_CALL_BYTES),
						cases[i].called / cases[i].calls, 1e-3);
		else
			hand_missing(&hand, TP_FACT_IO_CALL_BYTES);
		if (cases[i].cached < 0)
			hand_missing(&hand, TP_FACT_IO_CACHED);
		else
			ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_CACHED),
						cases[i].cached, 1e-6);
		hand_release(&hand);
	}
}
END_TEST

START_TEST(each_data_file_counts_once)
{
	static const struct {
		const char *target;
		double at_s;
		enum tp_cause cause;
	} looks[] = {
		{"/data/a.jpg", 3, TP_CAUSE_FILE},      {"/data/a.jpg", 4, TP_CAUSE_FILE},
		{"/data/b.jpg", 5, TP_CAUSE_FILE},      {"/data/early.jpg", 1, TP_CAUSE_FILE},
		{"pipe:[12]", 5, TP_CAUSE_PIPE},        {"/out/model.ckpt", 5, TP_CAUSE_FILE},
		{"/var/train.log", 6, TP_CAUSE_FILE},   {"/mnt/shard-000017", 6, TP_CAUSE_DISK},
		{"/mnt/unrelated", 6, TP_CAUSE_SOCKET},
	};
	struct hand hand;
	put_reads(&hand, 1e6, 10, 0);
	hand_counter(&hand, TP_METRIC_DISK_BUSY, TP_NO_TASK, 0.4e9);
	hand_counter(&hand, TP_METRIC_PSI_IO_SOME, TP_NO_TASK, 0.2e9);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct tp_sample sample = {.state = TP_STATE_BLOCKED,
					   .cause = looks[i].cause,
					   .flags = TP_SAMPLE_POLLED,
					   .syscall = -1};
		sample.target = tp_sink_string(&hand.builder.sink, looks[i].target);
		hand_sample(&hand, &sample, looks[i].at_s);
	}
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_io);
	/* a.jpg, b.jpg and the shard on which a thread blocked. */
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_IO_FILES), 3);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_DISK_BUSY), 0.4, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_IO_PSI), 0.2, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(unreadable_io_says_why)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_io);
	for (int fact = TP_FACT_IO_READ; fact <= TP_FACT_IO_FILES; fact++)
		ck_assert_str_ne(hand_missing(&hand, (enum tp_fact)fact), "not measured");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_io(void);
Suite *suite_analyze_pass_io(void)
{
	Suite *suite = suite_create("analyze/pass_io");
	TCase *tc = tcase_create("io");
	tcase_add_test(tc, bytes_calls_and_the_cache_agree);
	tcase_add_test(tc, each_data_file_counts_once);
	tcase_add_test(tc, unreadable_io_says_why);
	suite_add_tcase(suite, tc);
	return suite;
}
