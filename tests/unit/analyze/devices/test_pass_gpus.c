/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of GPU facts from the driver's readings: hand-made readings with known results, in a window
 * from 2 s to 8 s: seven readings of ten. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"
#include "trainprof/model/gpu.h"

static void put_gpu(struct hand *hand, uint32_t track, int number, bool is_listed)
{
	tp_sink_track(&hand->builder.sink,
		      &(struct tp_track){
			      .id = track,
			      .device = number,
			      .number = TP_TRACK_WHOLE,
			      .name = tp_sink_string(&hand->builder.sink, "NVIDIA L4"),
		      });
	for (int s = 0; s <= 10; s++)
		hand_gauge(hand, TP_METRIC_GPU_IS_LISTED, track, s, is_listed && s > 2);
}

static void put_level(struct hand *hand, enum tp_metric metric, uint32_t track, double even,
		      double odd)
{
	for (int s = 1; s <= 10; s++)
		hand_gauge(hand, metric, track, s, s % 2 ? odd : even);
}

static void begin(struct hand *hand)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
}

static void end(struct hand *hand)
{
	hand_finish(hand);
	hand_pass(hand, tp_pass_gpus);
}

static void near(struct hand *hand, enum tp_fact fact, double want)
{
	ck_assert_msg(hand->profile.facts[fact].is_known, "%s: %s", tp_fact_desc(fact)->name,
		      hand->profile.facts[fact].missing);
	ck_assert_double_eq_tol(hand_fact(hand, fact), want, 1e-9 * (1 + want));
}

START_TEST(figures_of_two_devices_become_facts)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	put_gpu(&hand, 1, 3, true);
	put_level(&hand, TP_METRIC_GPU_AWAKE, 0, 0.5, 0.7);
	put_level(&hand, TP_METRIC_GPU_AWAKE, 1, 0.2, 0.2);
	put_level(&hand, TP_METRIC_GPU_MEM_TOTAL, 0, 100, 100);
	put_level(&hand, TP_METRIC_GPU_MEM_TOTAL, 1, 200, 200);
	put_level(&hand, TP_METRIC_GPU_MEM_USED, 0, 20, 90);
	put_level(&hand, TP_METRIC_GPU_MEM_USED, 1, 100, 100);
	put_level(&hand, TP_METRIC_GPU_OTHERS, 0, 0, 0);
	put_level(&hand, TP_METRIC_GPU_OTHERS, 1, 2, 1);
	hand_counter(&hand, TP_METRIC_GPU_ENERGY, 0, 300);
	hand_counter(&hand, TP_METRIC_GPU_ENERGY, 1, 100);
	hand_counter(&hand, TP_METRIC_GPU_POWER_CAPPED, 0, 0.25e9);
	hand_counter(&hand, TP_METRIC_GPU_POWER_CAPPED, 1, 0);
	end(&hand);
	near(&hand, TP_FACT_GPU_COUNT, 2);
	near(&hand, TP_FACT_GPU_AWAKE, (4.1 / 7 + 0.2) / 2);
	near(&hand, TP_FACT_GPU_AWAKE_LEAST, 0.2);
	near(&hand, TP_FACT_GPU_MEM_USED, 0.9); /* the peak of the fuller one */
	near(&hand, TP_FACT_GPU_MEM_TOTAL, 100);
	near(&hand, TP_FACT_GPU_OTHERS, 2);
	near(&hand, TP_FACT_GPU_ENERGY, 2400);
	near(&hand, TP_FACT_GPU_POWER_CAPPED, 0.25);
	ck_assert_int_eq(hand.profile.facts[TP_FACT_GPU_AWAKE].origin, TP_ORIGIN_SAMPLED);
	ck_assert_int_eq(hand.profile.facts[TP_FACT_GPU_POWER_CAPPED].origin, TP_ORIGIN_MEASURED);
	ck_assert_int_eq(hand.profile.gpus[1].number, 3);
	ck_assert(!hand.profile.facts[TP_FACT_GPU_TENSOR].is_known); /* no GPM on this GPU */
	ck_assert(!hand.profile.facts[TP_FACT_GPU_TENSOR].is_foreign);
	hand_release(&hand);
}
END_TEST

/* The link is slow while nothing is copied: its best reading shows its limit. */
START_TEST(limits_are_reported_with_the_maximum_of_the_device)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	put_gpu(&hand, 1, 1, true);
	for (uint32_t track = 0; track < 2; track++) {
		put_level(&hand, TP_METRIC_GPU_POWER_LIMIT, track, track ? 700 : 560,
			  track ? 700 : 560);
		put_level(&hand, TP_METRIC_GPU_POWER_DEFAULT, track, 700, 700);
		put_level(&hand, TP_METRIC_GPU_PCIE_LINK, track, 4e9, track ? 64e9 : 32e9);
		put_level(&hand, TP_METRIC_GPU_PCIE_LINK_MAX, track, 64e9, 64e9);
		hand_counter(&hand, TP_METRIC_GPU_PCIE_RX, track, 16e9);
		hand_counter(&hand, TP_METRIC_GPU_PCIE_TX, track, 1.6e9);
	}
	put_level(&hand, TP_METRIC_GPU_MEM_OWN, 0, 3e9, 3e9);
	for (int at = 1; at <= 10; at++)
		hand_gauge(&hand, TP_METRIC_GPU_MEM_OWN, 1, at, 1e9 + at * 50e6);
	end(&hand);
	near(&hand, TP_FACT_GPU_POWER_LIMIT, 0.8);
	near(&hand, TP_FACT_GPU_PCIE_LINK, 0.5);
	near(&hand, TP_FACT_GPU_PCIE_RX_RATIO, 0.5); /* relative to the narrower one */
	near(&hand, TP_FACT_GPU_PCIE_TX_RATIO, 0.05);
	near(&hand, TP_FACT_GPU_MEM_GROWTH, 50e6);
	hand_release(&hand);
}
END_TEST

/* A cache that is emptied at each evaluation fills again: it shrinks as much as it grew. */
START_TEST(memory_that_goes_up_and_down_does_not_grow)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	for (int at = 1; at <= 9; at++)
		hand_gauge(&hand, TP_METRIC_GPU_MEM_OWN, 0, at, at % 2 ? 1e9 : 2e9);
	end(&hand);
	near(&hand, TP_FACT_GPU_MEM_GROWTH, 0);
	hand_release(&hand);
}
END_TEST

/* The weaker one of two kinds of devices is used; without traced work the fact is not needed. */
START_TEST(the_driver_says_what_kind_of_device_was_traced)
{
	for (int is_traced = 0; is_traced < 2; is_traced++) {
		struct hand hand;
		begin(&hand);
		put_gpu(&hand, 0, 0, true);
		put_gpu(&hand, 1, 1, true);
		put_level(&hand, TP_METRIC_GPU_CAPABILITY, 0, 90, 90);
		put_level(&hand, TP_METRIC_GPU_CAPABILITY, 1, 61, 61);
		hand_finish(&hand);
		if (is_traced)
			tp_profile_set(&hand.profile, TP_FACT_DEVICE_COUNT, 2, TP_ORIGIN_MEASURED,
				       1);
		hand_pass(&hand, tp_pass_gpus);
		ck_assert_int_eq(hand.profile.facts[TP_FACT_DEVICE_CAPABILITY].is_known, is_traced);
		if (is_traced) {
			near(&hand, TP_FACT_DEVICE_CAPABILITY, 61);
			near(&hand, TP_FACT_DEVICE_TENSOR, 0);
		}
		hand_release(&hand);
	}
}
END_TEST

START_TEST(the_mask_stands_in_for_a_counter_that_is_not_there)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	put_level(&hand, TP_METRIC_GPU_IS_CAPPED, 0, 1, 0);
	put_level(&hand, TP_METRIC_GPU_IS_HOT, 0, 0, 0);
	hand_counter(&hand, TP_METRIC_GPU_HEAT_CAPPED, 0, 1.002e9);
	end(&hand);
	near(&hand, TP_FACT_GPU_POWER_CAPPED, 4.0 / 7);
	ck_assert_int_eq(hand.profile.facts[TP_FACT_GPU_POWER_CAPPED].origin, TP_ORIGIN_SAMPLED);
	near(&hand, TP_FACT_GPU_HEAT_CAPPED,
	     1); /* two clocks differ: never more than the whole time */
	hand_release(&hand);
}
END_TEST

/* One second of readings in the middle: a sixth of the window. */
static void put_counted(struct hand *hand, enum tp_metric metric, uint32_t track, double value)
{
	for (int i = 0; i < 10; i++)
		hand_gauge(hand, metric, track, 4 + 0.1 * i, value);
}

START_TEST(hardware_counters_stand_in_where_gpm_is_not_there_and_say_so)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	put_level(&hand, TP_METRIC_GPU_SM_ACTIVE, 0, 0.5, 0.5);
	put_counted(&hand, TP_METRIC_GPU_PM_SM_ACTIVE, 0, 0.9);
	put_counted(&hand, TP_METRIC_GPU_PM_TENSOR, 0, 0.3);
	put_counted(&hand, TP_METRIC_GPU_PM_L2_HIT, 0, 0.6);
	hand_gauge(&hand, TP_METRIC_GPU_PM_OPEN, 0, 3.9, 1);
	hand_gauge(&hand, TP_METRIC_GPU_PM_OPEN, 0, 4.9, 0);
	end(&hand);
	near(&hand, TP_FACT_GPU_SM_ACTIVE,
	     0.5); /* a reading for the whole time is better than one for a part */
	ck_assert_str_eq(hand.profile.facts[TP_FACT_GPU_SM_ACTIVE].seen, "GPM");
	near(&hand, TP_FACT_GPU_TENSOR, 0.3);
	ck_assert_str_eq(hand.profile.facts[TP_FACT_GPU_TENSOR].seen, "hardware counters");
	ck_assert_double_eq_tol(hand.profile.facts[TP_FACT_GPU_TENSOR].coverage, 1.0 / 6, 1e-9);
	near(&hand, TP_FACT_GPU_L2_HIT, 0.6);
	near(&hand, TP_FACT_GPU_COUNTED, 1.0 / 6);
	ck_assert(!hand.profile.facts[TP_FACT_GPU_DRAM].is_known);
	hand_release(&hand);
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	hand_source(&hand, "gpupmu", TP_PRESENCE_OFF, "not asked for: --counters", 0, 0);
	end(&hand);
	ck_assert_str_eq(hand.profile.facts[TP_FACT_GPU_L2_HIT].missing,
			 "not asked for: --counters");
	ck_assert_str_eq(hand.profile.facts[TP_FACT_GPU_COUNTED].missing,
			 "not asked for: --counters");
	hand_release(&hand);
}
END_TEST

START_TEST(open_device_nodes_do_not_count_if_nvml_lists_the_program)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, false);
	put_gpu(&hand, 1, 1, true);
	put_gpu(&hand, 2, 2, false);
	end(&hand);
	ck_assert_uint_eq(hand.profile.n_gpus, 1);
	ck_assert_int_eq(hand.profile.gpus[0].number, 1);
	ck_assert(hand.profile.gpus[0].is_listed);
	hand_release(&hand);
	begin(&hand);
	put_gpu(&hand, 0, 0, false);
	put_gpu(&hand, 1, 1, false);
	end(&hand);
	ck_assert_uint_eq(hand.profile.n_gpus, 2);
	ck_assert(!hand.profile.gpus[0].is_listed);
	hand_release(&hand);
}
END_TEST

START_TEST(few_readings_make_a_peak_but_no_mean)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	hand_gauge(&hand, TP_METRIC_GPU_AWAKE, 0, 4, 0.5);
	hand_gauge(&hand, TP_METRIC_GPU_AWAKE, 0, 5, 0.5);
	hand_gauge(&hand, TP_METRIC_GPU_MEM_TOTAL, 0, 4, 100);
	hand_gauge(&hand, TP_METRIC_GPU_MEM_USED, 0, 4, 95);
	hand_gauge(&hand, TP_METRIC_GPU_ENERGY, 0, 4, 95);
	end(&hand);
	ck_assert(!hand.profile.facts[TP_FACT_GPU_AWAKE].is_known);
	ck_assert(!hand.profile.facts[TP_FACT_GPU_ENERGY].is_known);
	near(&hand, TP_FACT_GPU_MEM_USED, 0.95);
	ck_assert_double_eq_tol(hand.profile.facts[TP_FACT_GPU_MEM_USED].coverage, 1.0 / 6, 1e-9);
	hand_release(&hand);
}
END_TEST

START_TEST(a_device_lost_in_the_middle_speaks_of_its_half)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	for (int s = 1; s <= 4; s++) {
		hand_gauge(&hand, TP_METRIC_GPU_AWAKE, 0, s, 0.8);
		hand_gauge(&hand, TP_METRIC_GPU_POWER_CAPPED, 0, s, 0.5e9 * s);
	}
	end(&hand);
	near(&hand, TP_FACT_GPU_AWAKE, 0.8);
	near(&hand, TP_FACT_GPU_POWER_CAPPED, 0.5); /* relative to the time with readings */
	ck_assert_double_eq_tol(hand.profile.facts[TP_FACT_GPU_AWAKE].coverage, 0.5, 1e-9);
	hand_release(&hand);
}
END_TEST

START_TEST(restarted_counters_lose_the_time_between)
{
	struct hand hand;
	begin(&hand);
	put_gpu(&hand, 0, 0, true);
	for (int s = 1; s <= 10; s++) {
		int since = s < 5 ? s + 50 : s - 5; /* the driver was reloaded at 5 s */
		hand_gauge(&hand, TP_METRIC_GPU_ENERGY, 0, s, 300.0 * since);
		hand_gauge(&hand, TP_METRIC_GPU_POWER_CAPPED, 0, s, 0.25e9 * since);
	}
	end(&hand);
	near(&hand, TP_FACT_GPU_ENERGY, 1500);
	near(&hand, TP_FACT_GPU_POWER_CAPPED, 0.25);
	hand_release(&hand);
}
END_TEST

static const struct {
	enum tp_presence presence;
	const char *reason;
	bool is_foreign;
} absences[] = {
	{TP_PRESENCE_PRESENT, "the program uses none of the 2 GPUs", true},
	{TP_PRESENCE_NO_DEVICE, "no NVIDIA driver here", true},
	{TP_PRESENCE_NO_PERMISSION, "NVML does not start: no permission (4)", false},
	{TP_PRESENCE_NO_LIBRARY, "libnvidia-ml.so.1 cannot be loaded", false},
	{TP_PRESENCE_OFF, "switched off by TRAINPROF_GPU=0", false},
	{TP_PRESENCE_DEGRADED, "NVML had not started after 2.0 s", false},
};

START_TEST(without_gpu_nothing_is_judged_and_without_a_look_nothing_is_known)
{
	struct hand hand;
	begin(&hand);
	hand_source(&hand, "nvml", absences[_i].presence, absences[_i].reason, 0, 0);
	end(&hand);
	const struct tp_quantity *count = &hand.profile.facts[TP_FACT_GPU_COUNT];
	ck_assert(!count->is_known);
	ck_assert_int_eq(count->is_foreign, absences[_i].is_foreign);
	if (absences[_i].presence != TP_PRESENCE_PRESENT)
		ck_assert_str_eq(count->missing, absences[_i].reason);
	ck_assert_int_eq(hand.profile.facts[TP_FACT_GPU_NVLINK_RX].is_foreign,
			 absences[_i].is_foreign);
	hand_release(&hand);
}
END_TEST

START_TEST(figures_have_names_and_units_of_their_own)
{
	for (int f = 0; f < TP_N_GPU_STATS; f++) {
		const struct tp_gpu_stat_desc *desc = tp_gpu_stat_desc((enum tp_gpu_stat)f);
		ck_assert_uint_gt(strlen(desc->name), 0);
		for (int k = 0; k < f; k++)
			ck_assert_str_ne(desc->name, tp_gpu_stat_desc((enum tp_gpu_stat)k)->name);
	}
}
END_TEST

Suite *suite_analyze_pass_gpus(void);
Suite *suite_analyze_pass_gpus(void)
{
	Suite *suite = suite_create("analyze/pass_gpus");
	TCase *tc = tcase_create("gpus");
	tcase_add_test(tc, figures_of_two_devices_become_facts);
	tcase_add_test(tc, limits_are_reported_with_the_maximum_of_the_device);
	tcase_add_test(tc, memory_that_goes_up_and_down_does_not_grow);
	tcase_add_test(tc, the_driver_says_what_kind_of_device_was_traced);
	tcase_add_test(tc, the_mask_stands_in_for_a_counter_that_is_not_there);
	tcase_add_test(tc, hardware_counters_stand_in_where_gpm_is_not_there_and_say_so);
	tcase_add_test(tc, open_device_nodes_do_not_count_if_nvml_lists_the_program);
	tcase_add_test(tc, few_readings_make_a_peak_but_no_mean);
	tcase_add_test(tc, a_device_lost_in_the_middle_speaks_of_its_half);
	tcase_add_test(tc, restarted_counters_lose_the_time_between);
	tcase_add_loop_test(tc, without_gpu_nothing_is_judged_and_without_a_look_nothing_is_known,
			    0, sizeof(absences) / sizeof(absences[0]));
	tcase_add_test(tc, figures_have_names_and_units_of_their_own);
	suite_add_tcase(suite, tc);
	return suite;
}
