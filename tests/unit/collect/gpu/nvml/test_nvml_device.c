/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the readings of one device, with a test double of NVML. */
#include "collect/gpu/nvml/nvml_device.h"
#include "collect/nvmldouble.h"

#include <time.h>

static const char whole_script[] = "devices 1\n"
				   "name NVIDIA H200\n"
				   "awake 63\n"
				   "total 150000000000\n"
				   "used 75000000000\n"
				   "reserved 600000000\n"
				   "power 512250\n"
				   "energy 7000\n"
				   "clock 1500\n"
				   "clock_max 1980\n"
				   "reasons 0x44\n"
				   "field_74 2000000000\n"
				   "field_75 3000000000\n"
				   "field_197 5000000000\n"
				   "field_198 6000000000\n"
				   "power_limit 600000\n"
				   "power_default 700000\n"
				   "link_generation 4\n"
				   "link_width 16\n"
				   "link_generation_max 5\n"
				   "link_width_max 16\n"
				   "capability 90\n";

static const struct {
	enum tp_metric metric;
	double want;
} told[] = {
	{TP_METRIC_GPU_AWAKE, 0.63},
	{TP_METRIC_GPU_MEM_TOTAL, 150e9},
	{TP_METRIC_GPU_MEM_USED, 75e9}, /* without memory reserved by the driver */
	{TP_METRIC_GPU_POWER, 512.25},
	{TP_METRIC_GPU_ENERGY, 7},
	{TP_METRIC_GPU_CLOCK, 1500e6},
	{TP_METRIC_GPU_CLOCK_MAX, 1980e6},
	{TP_METRIC_GPU_IS_CAPPED, 1}, /* 0x4 */
	{TP_METRIC_GPU_IS_HOT, 1},    /* 0x40 */
	{TP_METRIC_GPU_IS_SLOWED, 1},
	{TP_METRIC_GPU_POWER_CAPPED, 2e9},
	{TP_METRIC_GPU_HEAT_CAPPED, 3e9},
	{TP_METRIC_GPU_PCIE_TX, 5e9},
	{TP_METRIC_GPU_PCIE_RX, 6e9},
	{TP_METRIC_GPU_POWER_LIMIT, 600},
	{TP_METRIC_GPU_POWER_DEFAULT, 700},
	{TP_METRIC_GPU_PCIE_LINK, 31.5072e9}, /* 16 lanes of 16 GT/s */
	{TP_METRIC_GPU_PCIE_LINK_MAX, 63.016e9},
	{TP_METRIC_GPU_CAPABILITY, 90},
};

START_TEST(figures_are_those_of_the_script)
{
	struct double_rig rig;
	double_open(&rig, "whole", whole_script);
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_eq_tol(double_value(&rig, told[_i].metric), told[_i].want,
				1e-9 * told[_i].want);
	ck_assert_str_eq(rig.device.name, "NVIDIA H200");
	ck_assert(!rig.device.has_gpm);
	double_close(&rig);
}
END_TEST

START_TEST(an_old_driver_tells_less_and_nothing_wrong)
{
	struct double_rig rig;
	double_open(&rig, "old", whole_script);
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_MEM_USED), 75.6e9);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_IS_CAPPED), 1);
	ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_POWER_CAPPED));
	ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_PCIE_TX));
	double_close(&rig);
}
END_TEST

/* Each call, with the metric that is unknown if the call fails. */
static const struct {
	const char *symbol;
	enum tp_metric metric;
} calls[] = {
	{"nvmlDeviceGetUtilizationRates", TP_METRIC_GPU_AWAKE},
	{"nvmlDeviceGetPowerUsage", TP_METRIC_GPU_POWER},
	{"nvmlDeviceGetTotalEnergyConsumption", TP_METRIC_GPU_ENERGY},
	{"nvmlDeviceGetClockInfo", TP_METRIC_GPU_CLOCK},
	{"nvmlDeviceGetMaxClockInfo", TP_METRIC_GPU_CLOCK_MAX},
	{"nvmlDeviceGetCurrentClocksEventReasons", TP_METRIC_GPU_IS_HOT},
	{"nvmlDeviceGetFieldValues", TP_METRIC_GPU_POWER_CAPPED},
	{"nvmlDeviceGetEnforcedPowerLimit", TP_METRIC_GPU_POWER_LIMIT},
	{"nvmlDeviceGetPowerManagementDefaultLimit", TP_METRIC_GPU_POWER_DEFAULT},
	{"nvmlDeviceGetCurrPcieLinkGeneration", TP_METRIC_GPU_PCIE_LINK},
	{"nvmlDeviceGetCurrPcieLinkWidth", TP_METRIC_GPU_PCIE_LINK},
	{"nvmlDeviceGetMaxPcieLinkGeneration", TP_METRIC_GPU_PCIE_LINK_MAX},
	{"nvmlDeviceGetMaxPcieLinkWidth", TP_METRIC_GPU_PCIE_LINK_MAX},
	{"nvmlDeviceGetCudaComputeCapability", TP_METRIC_GPU_CAPABILITY},
};
static const int errors[] = {3, 4, 9, 15, 999};
enum { N_CALLS = sizeof(calls) / sizeof(calls[0]), N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

START_TEST(a_failing_call_takes_its_own_figure_only)
{
	struct double_rig rig;
	char script[1024];
	int call = _i / N_ERRORS;
	int error = errors[_i % N_ERRORS];
	snprintf(script, sizeof(script), "%sfail_%s %d\n", whole_script, calls[call].symbol, error);
	double_open(&rig, "whole", script);
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_nan(double_value(&rig, calls[call].metric));
	for (size_t i = 0; i < N_CALLS; i++)
		if (calls[i].metric != calls[call].metric)
			ck_assert_double_ge(double_value(&rig, calls[i].metric), 0);
	/* A lost device is not read again. */
	ck_assert_int_eq(rig.device.is_lost, error == 15);
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_int_eq(isnan(double_value(&rig, TP_METRIC_GPU_MEM_TOTAL)), error == 15);
	double_close(&rig);
}
END_TEST

START_TEST(memory_comes_from_the_older_call_where_the_newer_fails)
{
	struct double_rig rig;
	char script[1024];
	snprintf(script, sizeof(script), "%sfail_nvmlDeviceGetMemoryInfo_v2 3\n", whole_script);
	double_open(&rig, "whole", script);
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_MEM_USED), 75.6e9);
	double_close(&rig);
}
END_TEST

/* The double changes its values two seconds after its start, far from both readings. */
START_TEST(counters_only_grow)
{
	struct double_rig rig;
	double_open(&rig, "whole",
		    "devices 1\n"
		    "energy 5000\nat 2 energy 100\n"          /* restarted */
		    "field_74_bits 32\nfield_74 4294967290\n" /* wraps: after 16 more it is 10 */
		    "at 2 field_74 4294967306\n"
		    "field_197 4000000000\nat 2 field_197 5\n" /* 32 bits, reported as 64 */
		    "field_198_bits 32\nfield_198 7\n");       /* is never accepted */
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_ENERGY), 5);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_POWER_CAPPED), 4294967290.0);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_PCIE_TX), 4e9);
	ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_PCIE_RX));
	double_advance("whole", 2.4);
	tp_nvml_device_read(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_eq_tol(double_value(&rig, TP_METRIC_GPU_ENERGY), 5.1, 1e-9);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_POWER_CAPPED), 4294967306.0);
	ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_PCIE_TX));
	double_close(&rig);
}
END_TEST

START_TEST(gpm_tells_what_lies_between_two_samples)
{
	struct double_rig rig;
	double_open(&rig, "whole", "devices 1\ngpm 1\ngpm_2 80\ngpm_10 40\ngpm_20 1024\n");
	ck_assert(rig.device.has_gpm);
	tp_nvml_device_read_gpm(&rig.device, &rig.library, &rig.reading);
	ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_SM_ACTIVE));
	for (int round = 0; round < 3; round++) {
		double_advance("whole", 0.12); /* the double refuses intervals below 100 ms, and
						  samples out of order */
		*tp_nvml_value(&rig.reading, TP_METRIC_GPU_SM_ACTIVE) = NAN;
		tp_nvml_device_read_gpm(&rig.device, &rig.library, &rig.reading);
		ck_assert_double_eq_tol(double_value(&rig, TP_METRIC_GPU_SM_ACTIVE), 0.8, 1e-12);
	}
	ck_assert_double_eq_tol(double_value(&rig, TP_METRIC_GPU_DRAM), 0.4, 1e-12);
	ck_assert_double_eq(double_value(&rig, TP_METRIC_GPU_PCIE_TX_RATE), 1073741824.0);
	ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_TENSOR)); /* not supported */
	double_close(&rig);
}
END_TEST

static const char *const gpm_calls[] = {"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc",
					"nvmlGpmSampleGet", "nvmlGpmMetricsGet"};

START_TEST(gpm_that_fails_says_nothing)
{
	struct double_rig rig;
	char script[256];
	snprintf(script, sizeof(script), "devices 1\ngpm 1\ngpm_2 80\nfail_%s %d\n",
		 gpm_calls[_i / N_ERRORS], errors[_i % N_ERRORS]);
	double_open(&rig, "whole", script);
	for (int round = 0; round < 2; round++) {
		double_advance("whole", 0.11);
		tp_nvml_device_read_gpm(&rig.device, &rig.library, &rig.reading);
		ck_assert_double_nan(double_value(&rig, TP_METRIC_GPU_SM_ACTIVE));
	}
	double_close(&rig);
}
END_TEST

Suite *suite_collect_nvml_device(void);
Suite *suite_collect_nvml_device(void)
{
	Suite *suite = suite_create("collect/nvml_device");
	TCase *tc = tcase_create("device");
	tcase_add_loop_test(tc, figures_are_those_of_the_script, 0, sizeof(told) / sizeof(told[0]));
	tcase_add_test(tc, an_old_driver_tells_less_and_nothing_wrong);
	tcase_add_loop_test(tc, a_failing_call_takes_its_own_figure_only, 0, N_CALLS * N_ERRORS);
	tcase_add_test(tc, memory_comes_from_the_older_call_where_the_newer_fails);
	tcase_add_test(tc, counters_only_grow);
	tcase_add_test(tc, gpm_tells_what_lies_between_two_samples);
	tcase_add_loop_test(tc, gpm_that_fails_says_nothing, 0, 4 * N_ERRORS);
	suite_add_tcase(suite, tc);
	return suite;
}
