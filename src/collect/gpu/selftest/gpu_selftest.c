/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what can be measured of GPUs, and what each of them reports. */
#include "trainprof/collect/gpu_selftest.h"

#include "collect/gpu/common/gpu_environment.h"
#include "collect/gpu/counters/pm_helper.h"
#include "collect/gpu/nvml/nvml_thread.h"
#include "collect/machine/availability.h"
#include "collect/registry.h"
#include "cupti_selftest.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_NS (50 * TP_NS_PER_MS)
#define GPM_S   2.0 /* two samples, half a second apart, on a busy machine */

/* Names for readers; the first metric represents the others. */
static const struct {
	enum tp_metric metric;
	const char *words;
} kinds[] = {
	{TP_METRIC_GPU_AWAKE, "use"},
	{TP_METRIC_GPU_MEM_USED, "memory"},
	{TP_METRIC_GPU_POWER, "power"},
	{TP_METRIC_GPU_ENERGY, "energy"},
	{TP_METRIC_GPU_CLOCK, "clocks"},
	{TP_METRIC_GPU_POWER_CAPPED, "time held back"},
	{TP_METRIC_GPU_IS_CAPPED, "what holds it back"},
	{TP_METRIC_GPU_OTHERS, "other processes"},
	{TP_METRIC_GPU_PCIE_TX, "PCIe bytes"},
	{TP_METRIC_GPU_SM_ACTIVE, "activity by GPM"},
};

enum { DEVICES_MAX = 64 };

/* For each device, whether each kind was reported at least once. */
struct device_readings {
	bool is_read;
	bool kinds[TP_ARRAY_LEN(kinds)];
};

static void add_readings(struct device_readings *device_readings, const struct tp_nvml_update *news)
{
	for (size_t i = 0; i < news->n_readings; i++) {
		struct tp_nvml_reading *reading = &news->readings[i];
		if (reading->device >= DEVICES_MAX)
			continue;
		device_readings[reading->device].is_read = true;
		for (size_t k = 0; k < TP_ARRAY_LEN(kinds); k++)
			if (!isnan(*tp_nvml_value(reading, kinds[k].metric)))
				device_readings[reading->device].kinds[k] = true;
	}
}

/* Receives until the thread fails, has been running long enough, or the time is over. */
static void receive_updates(struct tp_nvml_thread *watch, struct tp_nvml_update *news,
			    struct device_readings *device_readings, double seconds)
{
	uint64_t now_ns = tp_clock_now_ns();
	uint64_t until_ns = now_ns + (uint64_t)(seconds * 1e9);
	uint64_t ran_ns = 0;
	do {
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
		now_ns = tp_clock_now_ns();
		tp_nvml_thread_receive(watch, news);
		add_readings(device_readings, news);
		free(news->readings);
		if (news->state == TP_NVML_RUNNING && !ran_ns)
			ran_ns = now_ns;
	} while (news->state != TP_NVML_FAILED && now_ns < until_ns &&
		 (!ran_ns || now_ns < ran_ns + (uint64_t)(GPM_S * 1e9)));
}

static void describe(struct tp_gpu_selftest_row *row, unsigned i, const char *name,
		     const struct device_readings *device_readings)
{
	size_t len;
	*row = (struct tp_gpu_selftest_row){0};
	snprintf(row->name, sizeof(row->name), "gpu %u", i);
	snprintf(row->text, sizeof(row->text), "%.90s", *name ? name : "a GPU without a name");
	if (!device_readings->is_read) {
		row->availability.presence = TP_PRESENCE_NO_DEVICE;
		snprintf(row->availability.reason, sizeof(row->availability.reason),
			 "it does not answer");
		snprintf(row->availability.remedy, sizeof(row->availability.remedy),
			 "nvidia-smi -i %u -q", i);
		return;
	}
	const char *separator = ": ";
	for (int is_answered = 1; is_answered >= 0; is_answered--) {
		for (size_t k = 0; k < TP_ARRAY_LEN(kinds); k++) {
			if (device_readings->kinds[k] != (is_answered != 0))
				continue;
			len = strlen(row->text);
			snprintf(row->text + len, sizeof(row->text) - len, "%s%s", separator,
				 kinds[k].words);
			separator = ", ";
		}
		separator = "; not reported: ";
	}
}

static size_t report_one(struct tp_gpu_selftest_row *row, const struct tp_availability *why)
{
	*row = (struct tp_gpu_selftest_row){.name = "gpu", .availability = *why};
	snprintf(row->text, sizeof(row->text), "GPUs of this machine");
	/* A user who requests a GPU test expects a GPU. */
	if (why->presence == TP_PRESENCE_NO_DEVICE && !why->remedy[0])
		snprintf(row->availability.remedy, sizeof(row->availability.remedy),
			 "install NVIDIA's driver; in a container: docker run --gpus all");
	return 1;
}

/* The number of GPUs is 0 if it does not become known. */
static size_t test_all(struct tp_gpu_selftest_row *rows, size_t most, struct tp_nvml_thread *watch,
		       double seconds, unsigned *n_devices)
{
	struct device_readings *device_readings = tp_alloc(DEVICES_MAX * sizeof(*device_readings));
	struct tp_nvml_update news = {0};
	struct tp_availability why = {0};
	size_t n = 0;
	receive_updates(watch, &news, device_readings, seconds);
	if (news.state == TP_NVML_FAILED) {
		n = report_one(rows, &news.why);
	} else if (news.state == TP_NVML_STARTING) {
		why.presence = TP_PRESENCE_NO_DEVICE;
		snprintf(why.reason, sizeof(why.reason), "NVML had not started after %.0f s",
			 seconds);
		snprintf(why.remedy, sizeof(why.remedy), "sudo nvidia-smi -pm 1");
		n = report_one(rows, &why);
	} else if (!news.n_devices) {
		why.presence = TP_PRESENCE_NO_DEVICE;
		snprintf(why.reason, sizeof(why.reason), "NVML knows of none");
		n = report_one(rows, &why);
	}
	for (unsigned i = 0; news.state == TP_NVML_RUNNING && i < news.n_devices && n < most; i++)
		describe(&rows[n++], i, tp_nvml_thread_device_name(watch, i), &device_readings[i]);
	*n_devices = news.state == TP_NVML_RUNNING ? news.n_devices : 0;
	free(device_readings);
	return n;
}

/* Receives the helper's answers about the devices until it is done or the time is over. */
static void receive_counters(struct tp_gpu_selftest_row *row, struct tp_pm_helper *helper,
			     double seconds)
{
	struct tp_availability *found = &row->availability;
	struct tp_pm_event news = {.kind = TP_PM_READY};
	uint64_t until_ns = tp_clock_now_ns() + (uint64_t)(seconds * 1e9);
	*found = (struct tp_availability){.presence = TP_PRESENCE_NO_DEVICE};
	snprintf(found->reason, sizeof(found->reason), "CUPTI did not answer in %.0f s", seconds);
	while (news.kind != TP_PM_DONE && !helper->is_gone && tp_clock_now_ns() < until_ns) {
		if (!tp_pm_helper_receive(helper, &news)) {
			nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
		} else if (news.kind == TP_PM_READY) {
			*found = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
			snprintf(row->text, sizeof(row->text), "hardware counters: %.180s",
				 news.why.reason);
		} else if (news.kind == TP_PM_FAILED && found->presence != TP_PRESENCE_PRESENT) {
			*found = news.why;
		}
	}
	if (helper->is_gone)
		snprintf(found->reason, sizeof(found->reason), "CUPTI ended its process");
}

/* Samples nothing and locks no clock. */
static void test_counters(struct tp_gpu_selftest_row *row, struct tp_pm_helper *helper,
			  unsigned n_devices, double seconds)
{
	struct tp_pm_request wish = {
		.devices = n_devices < DEVICES_MAX ? (UINT64_C(1) << n_devices) - 1 : UINT64_MAX};
	*row = (struct tp_gpu_selftest_row){.name = "counters", .text = "hardware counters"};
	(void)tp_pm_helper_request(helper, &wish);
	receive_counters(row, helper, seconds);
}

static size_t test_nvml(struct tp_gpu_selftest_row *rows, size_t most, const struct tp_host *host,
			double seconds)
{
	struct tp_availability found;
	struct tp_nvml_thread *watch;
	struct tp_error why = {0};
	struct tp_pm_helper helper;
	if (!most)
		return 0;
	tp_nvml_collector.probe(host, &found);
	if (found.presence != TP_PRESENCE_PRESENT)
		return report_one(rows, &found);
	/* before the NVML thread exists */
	bool has_helper = tp_pm_helper_start(&helper, &why) == TP_OK;
	size_t n = 0;
	unsigned n_devices = 0;
	if (tp_nvml_thread_start(&watch, NULL, host->root, &why) == TP_OK) {
		tp_nvml_thread_read_all(watch);
		n = test_all(rows, most, watch, seconds, &n_devices);
		tp_nvml_thread_end(watch);
	} else {
		tp_availability_fail(&found, &why);
		n = report_one(rows, &found);
	}
	if (has_helper && n_devices && n < most)
		test_counters(&rows[n++], &helper, n_devices, seconds);
	if (has_helper)
		tp_pm_helper_end(&helper);
	return n;
}

size_t tp_gpu_selftest(struct tp_gpu_selftest_row *rows, size_t most, const struct tp_host *host,
		       char *const *environment, double seconds)
{
	size_t n = tp_gpu_environment_check(rows, most, host, environment);
	/* Before NVML has its thread. */
	if (host->is_live && n < most)
		tp_cupti_selftest(&rows[n++], seconds);
	return n + test_nvml(rows + n, most - n, host, seconds);
}
