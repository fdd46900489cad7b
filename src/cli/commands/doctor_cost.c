/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a program with known work through `trainprof run`, and divides the cost by its
 * samples. */
#include "doctor_cost.h"

#include "cli/compare/pair_run.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/trace.h"
#include "trainprof/store/recording.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 8 };

/* The program is 17 functions deep, which is usual for a training loop; it runs for a CPU time, so
 * that a busy machine gives as many samples. */
static const char program[] = "if command -v python3 >/dev/null; then exec python3 -S -c '\n"
			      "import time\n"
			      "def step(depth):\n"
			      "    if depth:\n"
			      "        return step(depth - 1)\n"
			      "    total = 0\n"
			      "    while time.process_time() < 2:\n"
			      "        for i in range(1000):\n"
			      "            total += i\n"
			      "    return total\n"
			      "step(16)\n"
			      "'; fi\n"
			      "i=0; while [ $i -lt 3000000 ]; do i=$((i + 1)); done";

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return remove(path);
}

static double last_value(const struct tp_trace *trace, enum tp_metric metric)
{
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, TP_NO_TASK, &n);
	return n > 0 ? readings[n - 1].value : 0;
}

static enum tp_status read_books(struct tp_doctor_cost *out, const struct tp_trace *trace,
				 struct tp_error *err)
{
	if (trace->n_samples == 0 || !tp_own_cpu_read(&out->own, trace))
		return tp_fail(err, TP_TARGET, "the test program got no sample");
	for (size_t i = 0; i < trace->n_sources; i++) {
		const struct tp_source *source = &trace->sources[i];
		out->is_python |= strcmp(tp_trace_string(trace, source->name), "python") == 0 &&
				  source->n_records > 0;
	}
	out->n_looks = trace->n_samples;
	out->inside_ns = last_value(trace, TP_METRIC_SELF_SAMPLE_COST);
	out->look_ns = (out->own.cpu_ns - out->own.rows[0].cpu_ns) / (double)out->n_looks;
	return TP_OK;
}

static enum tp_status measure_in(struct tp_doctor_cost *out, const char *folder,
				 struct tp_error *err)
{
	struct tp_pair_run run;
	struct tp_trace trace;
	char *recording = tp_asprintf("%s/run", folder);
	char *log = tp_asprintf("%s/log", folder);
	const struct tp_pair_command command = {.command = program};
	enum tp_status status = tp_pair_run(&run, &command, recording, log, err);
	if (status == TP_OK && (run.exit_code || run.signal))
		status = tp_fail(err, TP_TARGET, "the test program could not be measured");
	if (status == TP_OK)
		status = tp_store_load(&trace, recording, err);
	if (status == TP_OK) {
		status = read_books(out, &trace, err);
		tp_trace_release(&trace);
	}
	free(recording);
	free(log);
	return status;
}

enum tp_status tp_doctor_cost_measure(struct tp_doctor_cost *out, struct tp_error *err)
{
	const char *parent = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): nobody sets any */
	char *folder = tp_asprintf("%s/trainprof-cost-XXXXXX", parent && *parent ? parent : "/tmp");
	*out = (struct tp_doctor_cost){0};
	enum tp_status status = TP_OK;
	if (!mkdtemp(folder)) {
		status = tp_fail_errno(err, errno, "cannot write in '%s'", folder);
		free(folder);
		return status;
	}
	status = measure_in(out, folder, err);
	nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return status;
}
