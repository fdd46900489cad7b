/* SPDX-License-Identifier: Apache-2.0 */
/* Amount and source of the program's reads and writes. Needs: window. Gives: io.* */
#include "analyze/classify/frame_class.h"
#include "analyze/thresholds.h"
#include "window_gauges.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <string.h>

static const char *not_read(const struct tp_analysis *analysis)
{
	return tp_window_gauges_reason(analysis, "proc", "/proc/PID/io was not readable");
}

static void set_bytes(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double called;
	double calls;
	double device;
	double written;
	bool has_called = tp_window_gauges_program(analysis, TP_METRIC_IO_RCHAR, &called);
	bool has_calls = tp_window_gauges_program(analysis, TP_METRIC_IO_SYSCR, &calls);
	bool has_device = tp_window_gauges_program(analysis, TP_METRIC_IO_READ, &device);
	bool has_written = tp_window_gauges_program(analysis, TP_METRIC_IO_WRITE, &written);
	const char *why = not_read(analysis);
	tp_window_gauges_set_rate(analysis, TP_FACT_IO_CALL_READ, has_called, called, why);
	tp_window_gauges_set_rate(analysis, TP_FACT_IO_CALLS, has_calls, calls, why);
	tp_window_gauges_set_rate(analysis, TP_FACT_IO_READ, has_device, device, why);
	tp_window_gauges_set_rate(analysis, TP_FACT_IO_WRITE, has_written, written, why);
	if (has_called && has_calls && calls >= 1)
		tp_profile_set(profile, TP_FACT_IO_CALL_BYTES, called / calls, TP_ORIGIN_DERIVED,
			       1);
	else
		tp_profile_set_missing(profile, TP_FACT_IO_CALL_BYTES,
				       has_calls ? "there were no read calls" : why);
	/* Mapped files are read from devices without calls: the device may read more than was
	 * requested. */
	if (has_called && has_device && called >= TP_READ_BYTES_MIN)
		tp_profile_set(profile, TP_FACT_IO_CACHED, fmax(0, 1 - device / called),
			       TP_ORIGIN_DERIVED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_IO_CACHED,
				       has_called && has_device
					       ? "read calls returned hardly any bytes"
					       : why);
}

static void set_devices(struct tp_analysis *analysis)
{
	double busy_ns;
	double stalled_ns;
	bool has_disk = tp_window_gauges_host(analysis, TP_METRIC_DISK_BUSY, &busy_ns);
	bool has_pressure = tp_window_gauges_host(analysis, TP_METRIC_PSI_IO_SOME, &stalled_ns);
	tp_window_gauges_set_rate(analysis, TP_FACT_IO_DISK_BUSY, has_disk, busy_ns * 1e-9,
				  tp_window_gauges_reason(analysis, "host", "no disk was seen"));
	tp_window_gauges_set_rate(
		analysis, TP_FACT_IO_PSI, has_pressure, stalled_ns * 1e-9,
		tp_window_gauges_reason(analysis, "host",
					"the kernel does not report pressure (PSI)"));
}

/* True for a data file by its name, or if the thread is blocked in the file without writing. */
static bool is_data(const struct tp_analysis *analysis, const struct tp_sample *sample)
{
	const char *target = tp_trace_string(analysis->trace, sample->target);
	if (target[0] != '/')
		return false;
	enum tp_file_kind kind = tp_patterns_file(analysis->patterns, target);
	if (kind != TP_FILE_UNKNOWN)
		return kind == TP_FILE_DATA;
	return (sample->cause == TP_CAUSE_FILE || sample->cause == TP_CAUSE_DISK) &&
	       analysis->classes[sample->stack].leaf != TP_LEAF_WRITE;
}

static void set_files(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	struct tp_map seen = {0};
	uint64_t looks = 0;
	for (size_t i = 0; i < trace->n_samples; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		if (sample->time_ns < profile->window_start_ns ||
		    sample->time_ns >= profile->window_end_ns)
			continue;
		looks += (sample->flags & TP_SAMPLE_POLLED) != 0;
		if (sample->target && is_data(analysis, sample))
			tp_map_set(&seen, sample->target, 1);
	}
	if (looks) {
		tp_profile_set(profile, TP_FACT_IO_FILES, (double)seen.n, TP_ORIGIN_SAMPLED, 1);
		profile->facts[TP_FACT_IO_FILES].n = looks;
	} else {
		tp_profile_set_missing(
			profile, TP_FACT_IO_FILES,
			tp_window_gauges_reason(analysis, "proc",
						"no look found a blocked thread in the window"));
	}
	tp_map_release(&seen);
}

enum tp_status tp_pass_io(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	if (tp_window_gauges_length_s(analysis) <= 0)
		return TP_OK;
	set_bytes(analysis);
	set_devices(analysis);
	set_files(analysis);
	return TP_OK;
}
