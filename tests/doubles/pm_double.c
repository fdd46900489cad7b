/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the double of libcupti that samples hardware counters, with the same script:
 *
 *   METRIC VALUE        a counter that the chip knows, and the value of each of its samples
 *   chip NAME           GH100 by default; devices N: 1 by default
 *   one_pass_most N     more counters than these need two passes
 *   config_bytes N      the size of SetConfig's structure that it knows: 60 in 12.6
 *   overflow_after N    the hardware's buffer overflows after that many samples of a window
 *
 * The first sample of a window is an outlier, as in reality. It is as strict as the other part: it
 * checks sizes of structures, order of calls and leftovers against the headers.
 */
#include "collect/gpu/counters/pm_abi.h"
#include "cupti_script.h"

#include <stdint.h>

enum { MOST_DEVICES = 16, IMAGE_BYTES = 64, OUTLIER = 1000 };

struct pm_host {
	size_t n;
};

struct pm_sampling {
	bool is_enabled;
	bool is_started;
	bool is_configured;
	size_t samples_most;
	uint64_t interval_ns;
	uint64_t started_ns;
	uint64_t n_decoded;
};

/* The content of a counter data image in this double. */
struct data {
	uint64_t first; /* number of its first sample in the window */
	uint64_t n;
	uint64_t started_ns;
	uint64_t interval_ns;
};

static struct pm_sampling samplings[MOST_DEVICES];
static bool is_initialized;

__attribute__((constructor)) static void begin(void)
{
	read_lines();
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define WHOLE(p, type, last)                                                                       \
	claim((p)->size == PM_SIZE(type, last) && !(p)->zero, "size of a " #type)

/* ---- the host's side ------------------------------------------------------------------------ */

static const char *chip_name(void)
{
	return find("chip") ? find("chip") : "GH100";
}

static int fill_chips(struct pm_supported_chips *p)
{
	static const char *chips[1];
	WHOLE(p, pm_supported_chips, chips);
	chips[0] = chip_name();
	p->chips = chips;
	p->n = 1;
	return PM_OK;
}

static int open_host(struct pm_host_initialize *p)
{
	WHOLE(p, pm_host_initialize, host);
	claim(p->profiler == PM_PROFILER_SAMPLING, "another profiler");
	if (strcmp(p->chip, chip_name()) != 0)
		return PM_UNKNOWN_CHIP;
	p->host = calloc(1, sizeof(*p->host));
	return PM_OK;
}

static int close_host(struct pm_host_deinitialize *p)
{
	WHOLE(p, pm_host_deinitialize, host);
	free(p->host);
	return PM_OK;
}

static int add_metrics(struct pm_add_metrics *p)
{
	WHOLE(p, pm_add_metrics, n);
	for (size_t i = 0; i < p->n; i++)
		if (!find(p->names[i]))
			return PM_INVALID_METRIC_NAME;
	p->host->n += p->n;
	return PM_OK;
}

static int fill_image(struct pm_image *p)
{
	WHOLE(p, pm_image, image);
	claim(p->bytes == IMAGE_BYTES, "size of an image");
	memset(p->image, (int)p->host->n, p->bytes);
	return PM_OK;
}

static int count_passes(struct pm_passes *p)
{
	WHOLE(p, pm_passes, n);
	p->n = p->image[0] > number("one_pass_most", 64) ? 2 : 1;
	return PM_OK;
}

static int evaluate(struct pm_evaluate *p)
{
	const struct data *data = (const void *)p->data;
	WHOLE(p, pm_evaluate, values);
	claim(p->index < data->n && p->n == p->host->n, "what is to be evaluated");
	for (size_t i = 0; i < p->n; i++)
		p->values[i] = number(p->names[i], 0) *
			       (data->first + p->index == 0 ? (double)OUTLIER : 1);
	return PM_OK;
}

CALL(cuptiProfilerHostGetSupportedChips, return fill_chips(p), struct pm_supported_chips *p)
CALL(cuptiProfilerHostInitialize, return open_host(p), struct pm_host_initialize *p)
CALL(cuptiProfilerHostDeinitialize, return close_host(p), struct pm_host_deinitialize *p)
CALL(cuptiProfilerHostConfigAddMetrics, return add_metrics(p), struct pm_add_metrics *p)
CALL(cuptiProfilerHostGetConfigImageSize, WHOLE(p, pm_image_size, bytes);
     p->bytes = IMAGE_BYTES, struct pm_image_size *p)
CALL(cuptiProfilerHostGetConfigImage, return fill_image(p), struct pm_image *p)
CALL(cuptiProfilerHostGetNumOfPasses, return count_passes(p), struct pm_passes *p)
CALL(cuptiProfilerHostEvaluateToGpuValues, return evaluate(p), struct pm_evaluate *p)

/* ---- the device's side ---------------------------------------------------------------------- */

static bool is_device(size_t device)
{
	return device < (size_t)number("devices", 1) && device < MOST_DEVICES;
}

static int name_chip(struct pm_chip_name *p)
{
	WHOLE(p, pm_chip_name, chip);
	claim(is_initialized, "the profiler was not initialised");
	p->chip = chip_name();
	return is_device(p->device) ? PM_OK : PM_INVALID_DEVICE;
}

static int fill_availability(struct pm_availability *p)
{
	WHOLE(p, pm_availability, image);
	claim(!p->image || p->bytes == IMAGE_BYTES, "room for what is available");
	p->bytes = IMAGE_BYTES;
	if (p->image)
		memset(p->image, 1, p->bytes);
	return is_device(p->device) ? PM_OK : PM_INVALID_DEVICE;
}

static int enable(struct pm_enable *p)
{
	WHOLE(p, pm_enable, sampling);
	if (!is_device(p->device))
		return PM_INVALID_DEVICE;
	if (samplings[p->device].is_enabled)
		return PM_INVALID_OPERATION;
	p->sampling = &samplings[p->device];
	*p->sampling = (struct pm_sampling){.is_enabled = true};
	return PM_OK;
}

static int set_config(struct pm_set_config *p)
{
	if ((double)p->size > number("config_bytes", (double)PM_SIZE(pm_set_config, append)))
		return PM_INVALID_PARAMETER;
	if (!find("config_bytes"))
		WHOLE(p, pm_set_config, append);
	claim(p->sampling->is_enabled && p->bytes == IMAGE_BYTES, "configuration");
	bool by_clock = p->trigger == PM_TRIGGER_CLOCK;
	if (!by_clock && (strncmp(chip_name(), "TU", 2) == 0 || !strcmp(chip_name(), "GA100")))
		return PM_NOT_SUPPORTED;
	p->sampling->is_configured = true;
	p->sampling->interval_ns = by_clock ? p->interval * 2 / 3 : p->interval;
	return p->image[0] > number("one_pass_most", 64) ? PM_NOT_SUPPORTED : PM_OK;
}

static int size_data(struct pm_data_size *p)
{
	WHOLE(p, pm_data_size, bytes);
	p->sampling->samples_most = p->samples_most;
	p->bytes = sizeof(struct data);
	return PM_OK;
}

static int empty_data(struct pm_data_initialize *p)
{
	WHOLE(p, pm_data_initialize, data);
	claim(p->bytes == sizeof(struct data), "size of data");
	memset(p->data, 0, p->bytes);
	return PM_OK;
}

static int start(struct pm_control *p)
{
	WHOLE(p, pm_control, sampling);
	claim(p->sampling->is_configured && !p->sampling->is_started, "started out of turn");
	p->sampling->is_started = true;
	p->sampling->started_ns = now_ns();
	return PM_OK;
}

static int stop(struct pm_control *p)
{
	WHOLE(p, pm_control, sampling);
	p->sampling->is_started = false;
	return PM_OK;
}

static int disable(struct pm_control *p)
{
	WHOLE(p, pm_control, sampling);
	claim(p->sampling->is_enabled && !p->sampling->is_started, "disabled out of turn");
	p->sampling->is_enabled = false;
	return PM_OK;
}

static int decode(struct pm_decode *p)
{
	struct pm_sampling *s = p->sampling;
	struct data *data = (void *)p->data;
	WHOLE(p, pm_decode, overflowed);
	claim(s->is_started, "decoded out of turn");
	claim(data->n == 0, "the last samples were not taken out");
	uint64_t n = (now_ns() - s->started_ns) / s->interval_ns - s->n_decoded;
	p->overflowed = 0;
	if (find("overflow_after") && (double)(s->n_decoded + n) > number("overflow_after", 0)) {
		p->overflowed = 1;
		return PM_OUT_OF_MEMORY;
	}
	*data = (struct data){.first = s->n_decoded,
			      .n = n < s->samples_most ? n : s->samples_most,
			      .started_ns = s->started_ns,
			      .interval_ns = s->interval_ns};
	s->n_decoded += data->n;
	return PM_OK;
}

static int fill_info(struct pm_data_info *p)
{
	WHOLE(p, pm_data_info, n_completed);
	p->n_completed = p->n_populated = ((const struct data *)(const void *)p->data)->n;
	return PM_OK;
}

/* The samples have a clock of their own, far from the host's. */
static int fill_sample(struct pm_sample_info *p)
{
	const struct data *data = (const void *)p->data;
	WHOLE(p, pm_sample_info, end_ns);
	claim(p->index < data->n, "no such sample");
	p->start_ns = 1700000000000000000u + (data->first + p->index) * data->interval_ns;
	p->end_ns = p->start_ns + data->interval_ns;
	return PM_OK;
}

CALL(cuptiProfilerInitialize, WHOLE(p, pm_initialize, zero);
     is_initialized = true, struct pm_initialize *p)
CALL(cuptiDeviceGetChipName, return name_chip(p), struct pm_chip_name *p)
CALL(cuptiPmSamplingGetCounterAvailability, return fill_availability(p), struct pm_availability *p)
CALL(cuptiPmSamplingEnable, return enable(p), struct pm_enable *p)
CALL(cuptiPmSamplingSetConfig, return set_config(p), struct pm_set_config *p)
CALL(cuptiPmSamplingGetCounterDataSize, return size_data(p), struct pm_data_size *p)
CALL(cuptiPmSamplingCounterDataImageInitialize, return empty_data(p), struct pm_data_initialize *p)
CALL(cuptiPmSamplingStart, return start(p), struct pm_control *p)
CALL(cuptiPmSamplingStop, return stop(p), struct pm_control *p)
CALL(cuptiPmSamplingDisable, return disable(p), struct pm_control *p)
CALL(cuptiPmSamplingDecodeData, return decode(p), struct pm_decode *p)
CALL(cuptiPmSamplingGetCounterDataInfo, return fill_info(p), struct pm_data_info *p)
CALL(cuptiPmSamplingCounterDataGetSampleInfo, return fill_sample(p), struct pm_sample_info *p)
