/* Claims about sharing looks out between running and waiting for a CPU. */
#include "collect/runshare.h"

#include <check.h>
#include <stddef.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

/* Turns on a CPU and waits for it, and how the kernel tells of them: in ticks of `tick_ns`. */
static const struct {
	uint64_t on_ns;
	uint64_t off_ns;
	uint64_t tick_ns;
	uint64_t poll_ns;
} rhythms[] = {
	{4000000, 4000000, 4000000, 20000000},
	{3000000, 57000000, 1000000, 20000000},   /* long waits, short turns */
	{100000000, 20000000, 10000000, 7000000}, /* the opposite, polled often */
	{20000000, 20000000, 10000000, 20000000}, /* in step with the looks */
	{50000, 150000, 1000000, 20000000},
};

START_TEST(looks_on_a_cpu_add_up_to_the_time_it_ran)
{
	struct tp_runshare share = {.ran_ns = 0};
	uint64_t period_ns = rhythms[_i].on_ns + rhythms[_i].off_ns;
	double on_ns = 0;
	double all_ns = 0;
	uint64_t seed = 7;
	uint64_t last_ns = 1000000000;
	for (int i = 0; i < 5000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		uint64_t now_ns =
			last_ns + rhythms[_i].poll_ns / 2 + (seed >> 33) % rhythms[_i].poll_ns;
		uint64_t in_turn = now_ns % period_ns;
		uint64_t ran_ns = now_ns / period_ns * rhythms[_i].on_ns +
				  (in_turn < rhythms[_i].on_ns ? in_turn : rhythms[_i].on_ns);
		ran_ns -= ran_ns % rhythms[_i].tick_ns;
		double elapsed_ns = (double)(now_ns - last_ns);
		if (tp_runshare_take(&share, ran_ns, elapsed_ns) == TP_STATE_ON_CPU)
			on_ns += elapsed_ns;
		all_ns += elapsed_ns;
		last_ns = now_ns;
	}
	double truth = (double)rhythms[_i].on_ns / (double)period_ns;
	ck_assert_double_eq_tol(on_ns / all_ns, truth, 0.01);
}
END_TEST

START_TEST(a_thread_that_never_waits_is_always_on_a_cpu)
{
	struct tp_runshare share = {.ran_ns = 0};
	tp_runshare_take(&share, 1000, 0);
	for (uint64_t i = 1; i < 100; i++)
		ck_assert_int_eq(tp_runshare_take(&share, 1000 + i * 20000000, 20000000),
				 TP_STATE_ON_CPU);
}
END_TEST

START_TEST(a_thread_that_gets_no_cpu_is_runnable)
{
	struct tp_runshare share = {.ran_ns = 0};
	tp_runshare_take(&share, 1000, 0);
	for (int i = 1; i < 100; i++)
		ck_assert_int_eq(tp_runshare_take(&share, 1000, 20000000), TP_STATE_RUNNABLE);
}
END_TEST

Suite *suite_collect_runshare(void);
Suite *suite_collect_runshare(void)
{
	Suite *suite = suite_create("collect/runshare");
	TCase *tc = tcase_create("runshare");
	tcase_add_loop_test(tc, looks_on_a_cpu_add_up_to_the_time_it_ran, 0, LEN(rhythms));
	tcase_add_test(tc, a_thread_that_never_waits_is_always_on_a_cpu);
	tcase_add_test(tc, a_thread_that_gets_no_cpu_is_runnable);
	suite_add_tcase(suite, tc);
	return suite;
}
