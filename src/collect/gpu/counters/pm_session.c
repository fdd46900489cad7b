/* SPDX-License-Identifier: Apache-2.0 */
/* Runs CUPTI's PM sampling on one GPU. */
#include "pm_session.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One sample per ms: kernels that matter are longer, and one second of samples decodes in some
 * ms. */
#define INTERVAL_NS UINT64_C(1000000)
#define INTERVAL_CYCLES                                                                            \
	UINT64_C(1500000) /* about the same, on GPUs that need an interval in cycles */
#define BIN_S ((double)TP_PM_BIN_NS * 1e-9)

enum {
	BUFFER_BYTES = 64 << 20, /* as in Kineto for this interval (2026-11-20) */
	SAMPLES_MAX = 2048,      /* two seconds between two reads */
};

static bool fail(struct tp_pm_failure *failure, const char *call, int result)
{
	*failure = (struct tp_pm_failure){call, result};
	return false;
}

/* ---- capabilities --------------------------------------------------------------------------- */

static bool query_chip(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	struct pm_chip_name name = {.size = PM_SIZE(pm_chip_name, chip), .device = session->device};
	int result = session->library->chip_name(&name);
	if (result != PM_OK || !name.chip)
		return fail(failure, "DeviceGetChipName", result ? result : PM_UNKNOWN_CHIP);
	snprintf(session->chip, sizeof(session->chip), "%s", name.chip);
	return true;
}

static bool query_available(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	struct pm_availability ask = {.size = PM_SIZE(pm_availability, image),
				      .device = session->device};
	int result = session->library->availability(&ask);
	if (result == PM_OK) {
		session->availability = ask.image = tp_alloc(ask.bytes + 1);
		result = session->library->availability(&ask);
	}
	return result == PM_OK || fail(failure, "PmSamplingGetCounterAvailability", result);
}

bool tp_pm_session_open(struct tp_pm_session *out, const struct tp_pm_library *library,
			uint32_t device, struct tp_pm_failure *failure)
{
	*out = (struct tp_pm_session){.library = library, .device = device};
	if (query_chip(out, failure) && query_available(out, failure) &&
	    tp_pm_metric_set_build(&out->set, library, out->chip, out->availability, failure))
		return true;
	free(out->availability);
	*out = (struct tp_pm_session){0};
	return false;
}

void tp_pm_session_close(struct tp_pm_session *session)
{
	tp_pm_metric_set_release(&session->set, session->library);
	free(session->availability);
	*session = (struct tp_pm_session){0};
}

/* ---- window --------------------------------------------------------------------------------- */

/* These chips have no trigger by time (CUDA 13.0's cupti_pmsampling.h). */
static bool needs_clock(const char *chip)
{
	return strncmp(chip, "TU", 2) == 0 || strcmp(chip, "GA100") == 0;
}

static bool configure(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	bool by_clock = needs_clock(session->chip);
	struct pm_set_config config = {
		.size = PM_SIZE(pm_set_config, append),
		.sampling = session->sampling,
		.bytes = session->set.image_bytes,
		.image = session->set.image,
		.buffer_bytes = BUFFER_BYTES,
		.interval = by_clock ? INTERVAL_CYCLES : INTERVAL_NS,
		.trigger = by_clock ? PM_TRIGGER_CLOCK : PM_TRIGGER_TIME,
		.append = PM_KEEP_OLDEST,
	};
	int result = session->library->set_config(&config);
	/* CUPTI refuses a structure larger than its own; 12.6 has no member `append`. */
	if (result == PM_INVALID_PARAMETER) {
		config.size = PM_SIZE(pm_set_config, trigger);
		result = session->library->set_config(&config);
	}
	return result == PM_OK || fail(failure, "PmSamplingSetConfig", result);
}

static bool clear_data(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	struct pm_data_initialize init = {.size = PM_SIZE(pm_data_initialize, data),
					  .sampling = session->sampling,
					  .bytes = session->data_bytes,
					  .data = session->data};
	int result = session->library->data_initialize(&init);
	return result == PM_OK || fail(failure, "PmSamplingCounterDataImageInitialize", result);
}

static bool make_data(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	struct pm_data_size size = {.size = PM_SIZE(pm_data_size, bytes),
				    .sampling = session->sampling,
				    .names = session->set.names,
				    .n = session->set.n,
				    .samples_most = SAMPLES_MAX};
	int result = session->library->data_size(&size);
	if (result != PM_OK)
		return fail(failure, "PmSamplingGetCounterDataSize", result);
	session->data = tp_alloc(size.bytes + 1);
	session->data_bytes = size.bytes;
	return clear_data(session, failure);
}

static bool start(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	struct pm_control control = {.size = PM_SIZE(pm_control, sampling),
				     .sampling = session->sampling};
	int result = session->library->start(&control);
	session->opened_ns = tp_clock_now_ns();
	return result == PM_OK || fail(failure, "PmSamplingStart", result);
}

bool tp_pm_window_open(struct tp_pm_session *session, struct tp_pm_failure *failure)
{
	struct pm_enable enable = {.size = PM_SIZE(pm_enable, sampling), .device = session->device};
	int result = session->library->enable(&enable);
	if (result != PM_OK)
		return fail(failure, "PmSamplingEnable", result);
	session->sampling = enable.sampling;
	session->gpu_zero_ns = 0;
	session->n_samples = 0;
	session->has_overflowed = false;
	session->sum = (struct tp_pm_sum){0};
	if (configure(session, failure) && make_data(session, failure) && start(session, failure))
		return true;
	tp_pm_window_close(session);
	return false;
}

static void add_sample(struct tp_pm_sum *sum, const double *values, double seconds)
{
	sum->length_s += seconds;
	for (size_t i = 0; i < TP_N_PM_METRICS; i++) {
		if (isnan(values[i]))
			continue;
		sum->seconds[i] += seconds;
		sum->values[i] += values[i] * seconds;
	}
}

static void emit_bin(struct tp_pm_session *session, uint64_t gpu_ns, tp_pm_bin_fn *each,
		     void *context)
{
	const struct tp_pm_sum *sum = &session->sum;
	struct tp_pm_bin bin = {.time_ns = session->opened_ns + (gpu_ns - session->gpu_zero_ns)};
	for (size_t i = 0; i < TP_N_PM_METRICS; i++)
		bin.values[i] = sum->seconds[i] > 0 ? sum->values[i] / sum->seconds[i] : NAN;
	each(context, &bin);
	session->sum = (struct tp_pm_sum){0};
}

static bool read_sample(struct tp_pm_session *session, size_t index, tp_pm_bin_fn *each,
			void *context, struct tp_pm_failure *failure)
{
	double raw[TP_PM_METRIC_SET_MAX] = {0};
	double values[TP_N_PM_METRICS];
	struct pm_sample_info info = {.size = PM_SIZE(pm_sample_info, end_ns),
				      .sampling = session->sampling,
				      .data = session->data,
				      .bytes = session->data_bytes,
				      .index = index};
	struct pm_evaluate evaluate = {.size = PM_SIZE(pm_evaluate, values),
				       .host = session->set.host,
				       .data = session->data,
				       .bytes = session->data_bytes,
				       .index = index,
				       .names = session->set.names,
				       .n = session->set.n,
				       .values = raw};
	int result = session->library->sample_info(&info);
	if (result != PM_OK)
		return fail(failure, "PmSamplingCounterDataGetSampleInfo", result);
	/* The first sample of a window covers the time before it. */
	if (!session->gpu_zero_ns) {
		session->gpu_zero_ns = info.end_ns;
		return true;
	}
	if (info.end_ns <= info.start_ns)
		return true;
	result = session->library->evaluate(&evaluate);
	if (result != PM_OK)
		return fail(failure, "HostEvaluateToGpuValues", result);
	double seconds = (double)(info.end_ns - info.start_ns) * 1e-9;
	tp_pm_metric_set_convert(&session->set, raw, seconds, values);
	session->n_samples++;
	add_sample(&session->sum, values, seconds);
	if (session->sum.length_s >= BIN_S - 1e-6)
		emit_bin(session, info.end_ns, each, context);
	return true;
}

bool tp_pm_window_read(struct tp_pm_session *session, tp_pm_bin_fn *each, void *context,
		       struct tp_pm_failure *failure)
{
	struct pm_decode decode = {.size = PM_SIZE(pm_decode, overflowed),
				   .sampling = session->sampling,
				   .data = session->data,
				   .bytes = session->data_bytes};
	struct pm_data_info info = {.size = PM_SIZE(pm_data_info, n_completed),
				    .data = session->data,
				    .bytes = session->data_bytes};
	int result = session->library->decode(&decode);
	session->has_overflowed |= decode.overflowed || result == PM_OUT_OF_MEMORY;
	if (result != PM_OK)
		return fail(failure, "PmSamplingDecodeData", result);
	result = session->library->data_info(&info);
	if (result != PM_OK)
		return fail(failure, "PmSamplingGetCounterDataInfo", result);
	for (size_t i = 0; i < info.n_completed; i++)
		if (!read_sample(session, i, each, context, failure))
			return false;
	return clear_data(session, failure);
}

void tp_pm_window_close(struct tp_pm_session *session)
{
	struct pm_control control = {.size = PM_SIZE(pm_control, sampling),
				     .sampling = session->sampling};
	if (session->sampling) {
		(void)session->library->stop(&control);
		(void)session->library->disable(&control);
	}
	free(session->data);
	session->data = NULL;
	session->sampling = NULL;
}
