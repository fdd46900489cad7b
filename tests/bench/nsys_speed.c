/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the speed of importing an nsys export, in CPU time. The export is generated first, with
 * as many kernels as calls. nsys_speed FILE [MILLIONS [samples]]; an existing file is used as it
 * is. With "samples" the export has one kernel, switches, as many stack frames and a twentieth as
 * many samples. */
#include "trainprof/base/clock.h"
#include "trainprof/import/import.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Columns as nsys 2026.2 writes them; unused columns are filled with similar values. */
static const char schema[] =
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
	"eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT "
	"NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
	"deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId "
	"INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT "
	"NULL, "
	"shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
	"registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, "
	"gridZ "
	"INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT "
	"NULL, "
	"staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
	"localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER "
	"NOT "
	"NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;";

/* Two processes, eight streams each, four hundred names; %lld rows of each kind. */
static const char rows[] =
	"INSERT INTO StringIds WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
	"WHERE i "
	"< 400) SELECT i, 'void at::native::vectorized_elementwise_kernel<(int)4, "
	"at::native::Functor' || i || '>(int, T2, T3)' FROM n;"
	"INSERT INTO StringIds VALUES (1000, 'cudaLaunchKernel_v7000'), (1001, "
	"'cudaLaunchKernelExC_v1"
	"1060');"
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
	"i + "
	"1 FROM n WHERE i < %lld) SELECT 155357693245 + 5000 * i, 155357693245 + 5000 * i + 3000 + "
	"i "
	"%% 1999, i %% 2, 1, 0, 7 + i %% 8, 1000000 + i / 2, 281476838981632 + (i %% 2 << 24), 1 + "
	"i "
	"%% 400, 1 + i %% 400, 1 + i %% 400, 1, 1, 32, 200 + i %% 64, 1, 1, 128, 1, 1, 0, 0, 0, "
	"250871808, 75434 + i, 32768, NULL, 0 FROM n;"
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
	"i + "
	"1 FROM n WHERE i < %lld) SELECT 155357683245 + 5000 * i, 155357683245 + 5000 * i + 4000, "
	"0, "
	"281476838981743 + (i %% 2 << 24), 1000000 + i / 2, 1000 + i %% 2, 0, NULL FROM n; COMMIT;";

static const char sample_schema[] =
	"CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn "
	"INTEGER NOT NULL, globalTid INTEGER, threadState INTEGER, threadBlock INTEGER);"
	"CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, "
	"cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);"
	"CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module "
	"INTEGER NOT NULL, kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry "
	"INTEGER, originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL, PRIMARY "
	"KEY (id, stackDepth));";

/* Eight threads; stacks of twenty frames; the inner three frames are from forty functions. */
static const char sample_rows[] =
	"INSERT INTO StringIds WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
	"WHERE i < 400) SELECT i, 'at::native::function' || i FROM n;"
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 0, 1000, 0, 1, 0, 7, 1, 281476838981632, 1, "
	"1, 1, 1, 1, 32, 1, 1, 1, 128, 1, 1, 0, 0, 0, 0, 0, 32768, NULL, 0;"
	"INSERT INTO SCHED_EVENTS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
	"WHERE i < %lld - 1) SELECT 155357693245 + 5000 * i, i %% 8, (i / 8 + 1) %% 2, "
	"281476838981743 + i %% 8, 1 + i / 8 %% 2, NULL FROM n;"
	"INSERT INTO COMPOSITE_EVENTS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
	"n WHERE i < %lld / 20) SELECT i, 155357693245 + 100000 * i, i %% 8, 1, 281476838981743 + "
	"i "
	"%% 8, 1 FROM n;"
	"INSERT INTO SAMPLING_CALLCHAINS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 "
	"FROM n WHERE i < %lld - 1) SELECT i / 20 + 1, CASE WHEN i %% 20 < 3 THEN 1 + (i / 20 * 7 "
	"+ i) %% 40 ELSE 100 + i %% 20 END, 390, 0, 0, 0, NULL, 140000000000000 + i %% 1000, 3, i "
	"%% 20 FROM n; COMMIT;";

static int file_make(const char *path, long long n, bool has_samples)
{
	sqlite3 *db;
	char *error = NULL;
	char *sql =
		has_samples ? sqlite3_mprintf(sample_rows, n, n, n) : sqlite3_mprintf(rows, n, n);
	int result = sqlite3_open(path, &db);
	if (!result)
		result = sqlite3_exec(db, schema, NULL, NULL, &error);
	if (!result && has_samples)
		result = sqlite3_exec(db, sample_schema, NULL, NULL, &error);
	if (!result)
		result = sqlite3_exec(db, sql, NULL, NULL, &error);
	if (result)
		fprintf(stderr, "%s: %s\n", path, error ? error : "cannot be made");
	sqlite3_free(sql);
	sqlite3_close(db);
	return result;
}

struct counter {
	struct tp_sink sink;
	uint64_t n_spans;
	uint64_t n_stays;
	uint64_t n_samples;
	uint64_t sum_ns;
};

static void counter_put(struct tp_sink *sink, const struct tp_record *record)
{
	struct counter *counter = (struct counter *)sink;
	counter->n_stays += record->kind == TP_RECORD_RUN;
	counter->n_samples += record->kind == TP_RECORD_SAMPLE;
	if (record->kind != TP_RECORD_SPAN)
		return;
	counter->n_spans++;
	counter->sum_ns += record->of.span.end_ns - record->of.span.start_ns;
}

int main(int argc, char **argv)
{
	static const struct tp_sink_type type = {"counter", counter_put};
	static const struct tp_import_options options = {.format = "nsys", .n_threads = 1};
	struct counter counter = {0};
	struct tp_import_result result;
	struct tp_error err = {0};
	struct rusage usage;
	if (argc < 2) {
		fprintf(stderr, "usage: nsys_speed FILE [MILLIONS [samples]]\n");
		return 2;
	}
	const char *path = argv[1];
	long long n = (argc > 2 ? strtoll(argv[2], NULL, 10) : 4) * 1000000;
	bool has_samples = argc > 3;
	if (access(path, F_OK) && file_make(path, n, has_samples))
		return 1;
	tp_sink_init(&counter.sink, &type);
	uint64_t begun_ns = tp_clock_self_cpu_ns();
	if (tp_import_files(&result, &path, 1, &options, &counter.sink, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	uint64_t cpu_ns = tp_clock_self_cpu_ns() - begun_ns;
	getrusage(RUSAGE_SELF, &usage);
	/* A row is a span, except for switches and frames. */
	uint64_t n_rows = has_samples ? (uint64_t)n * 2 + (uint64_t)n / 20 : counter.n_spans;
	if (has_samples)
		printf("%" PRIu64 " switches and frames of samples, ", n_rows);
	else
		printf("%zu ranks, %" PRIu64 " spans", result.n_ranks, counter.n_spans);
	if (has_samples)
		printf("%" PRIu64 " stays, %" PRIu64 " samples", counter.n_stays,
		       counter.n_samples);
	printf(": %.1f M/s  %.0f ns each, %ld MB resident\n", (double)n_rows * 1e3 / (double)cpu_ns,
	       (double)cpu_ns / (double)n_rows, usage.ru_maxrss / 1024);
	tp_import_result_release(&result);
	tp_sink_release(&counter.sink);
	return 0;
}
