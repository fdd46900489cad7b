/* SPDX-License-Identifier: Apache-2.0 */
/* Tests imports of whole exports: public ones with known answers, schemas of six years. */
#include "import/reader/importer.h"

#include "import/nsys_scene.h"
#include "skip.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACES "../shared/traces/"

/* ---- public exports ------------------------------------------------------------------------ */

/* From expected.json there; -1 ends the devices. */
static const struct known {
	const char *file;
	uint64_t n_events;
	size_t n_ranks;
	size_t n_unlinked; /* device work whose call was cut off: counted with SQL */
	struct {
		int32_t device;
		size_t n_compute, n_copy;
		uint64_t window_ns, compute_ns, copy_ns, busy_ns;
	} devices[3];
} known[] = {
	{"nsys-mock.sqlite", 12, 1, 0, {{0, 2, 1, 22453059, 4129, 1632, 5761}, {.device = -1}}},
	{"nsys-healthy-1pct.sqlite",
	 800,
	 1,
	 0,
	 {{0, 400, 0, 403990000, 400000000, 0, 400000000}, {.device = -1}}},
	{"nsys-h100-2gpu-fsdp.sqlite",
	 26946,
	 2,
	 1810 + 466,
	 {{0, 1721, 463, 969447605, 22385163, 940505084, 962890247},
	  {1, 1721, 463, 969258578, 22444359, 940366346, 962810705},
	  {.device = -1}}},
};

static int by_start(const void *a, const void *b)
{
	const struct tp_span *x = a;
	const struct tp_span *y = b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

struct lane {
	struct tp_span *spans;
	size_t n;
	size_t capacity;
};

/* Collects the spans of a device whose kinds are in the mask. */
static struct lane lane_of(const struct tp_trace *trace, int32_t device, unsigned kinds)
{
	struct lane lane = {0};
	for (size_t i = 0; i < trace->n_tracks; i++)
		for (size_t j = 0; j < trace->spans[i].n && trace->tracks[i].device == device; j++)
			if (kinds >> trace->spans[i].items[j].kind & 1)
				TP_ARRAY_PUSH(lane.spans, lane.n, lane.capacity) =
					trace->spans[i].items[j];
	if (lane.n)
		qsort(lane.spans, lane.n, sizeof(*lane.spans), by_start);
	return lane;
}

/* Returns the length of the union; writes that of the whole window to *window_ns. */
static uint64_t union_ns(const struct lane *lane, uint64_t *window_ns)
{
	uint64_t sum = 0;
	uint64_t end = 0;
	for (size_t i = 0; i < lane->n; i++) {
		const struct tp_span *span = &lane->spans[i];
		uint64_t from = span->start_ns > end ? span->start_ns : end;
		if (span->end_ns > from)
			sum += span->end_ns - from;
		if (span->end_ns > end)
			end = span->end_ns;
	}
	*window_ns = lane->n ? end - lane->spans[0].start_ns : 0;
	return sum;
}

static void assert_device(const struct tp_trace *trace, const struct known *case_, int i)
{
	enum { COMPUTE = 1 << TP_SPAN_KERNEL, COPY = 1 << TP_SPAN_COPY | 1 << TP_SPAN_SET };
	uint64_t window_ns;
	struct lane compute = lane_of(trace, case_->devices[i].device, COMPUTE);
	struct lane copy = lane_of(trace, case_->devices[i].device, COPY);
	struct lane all = lane_of(trace, case_->devices[i].device, COMPUTE | COPY);
	ck_assert_uint_eq(compute.n, case_->devices[i].n_compute);
	ck_assert_uint_eq(copy.n, case_->devices[i].n_copy);
	ck_assert_uint_eq(union_ns(&compute, &window_ns), case_->devices[i].compute_ns);
	ck_assert_uint_eq(union_ns(&copy, &window_ns), case_->devices[i].copy_ns);
	ck_assert_uint_eq(union_ns(&all, &window_ns), case_->devices[i].busy_ns);
	ck_assert_uint_eq(window_ns, case_->devices[i].window_ns);
	free(compute.spans);
	free(copy.spans);
	free(all.spans);
}

/* Maps rank and link to calls. */
static struct tp_map calls_of(const struct tp_trace *trace)
{
	struct tp_map calls = {0};
	for (size_t i = 0; i < trace->n_tracks; i++) {
		for (size_t j = 0; j < trace->spans[i].n; j++) {
			const struct tp_span *span = &trace->spans[i].items[j];
			uint64_t key = (uint64_t)trace->tracks[i].rank << 32 | span->link;
			if (span->kind == TP_SPAN_CALL && span->link)
				tp_map_set(&calls, key, span->start_ns);
		}
	}
	return calls;
}

/* Counts spans of devices whose rank has no call with their link; the calls of all others began
 * earlier. */
static size_t count_unlinked(const struct tp_trace *trace)
{
	size_t n = 0;
	struct tp_map calls = calls_of(trace);
	for (size_t i = 0; i < trace->n_tracks; i++) {
		for (size_t j = 0; j < trace->spans[i].n; j++) {
			const struct tp_span *span = &trace->spans[i].items[j];
			uint64_t key = (uint64_t)trace->tracks[i].rank << 32 | span->link;
			uint64_t start_ns;
			if (!tp_span_kind_is_device(span->kind))
				continue;
			if (tp_map_get(&calls, key, &start_ns))
				ck_assert_uint_le(start_ns, span->start_ns);
			else
				n++;
		}
	}
	tp_map_release(&calls);
	return n;
}

START_TEST(public_exports_give_their_known_answers)
{
	char path[128];
	snprintf(path, sizeof(path), TRACES "%s", known[_i].file);
	if (!nsys_can_read())
		return;
	if (access(path, R_OK)) {
		test_skip("no public traces in " TRACES);
		return;
	}
	struct nsys_scene scene;
	nsys_scene_import(&scene, path);
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.result.n_ranks, known[_i].n_ranks);
	uint64_t n_events = 0;
	for (size_t i = 0; i < scene.result.n_ranks; i++) {
		const struct tp_rank_info *rank = &scene.result.ranks[i];
		ck_assert_uint_eq(rank->n_events, rank->n_kept);
		ck_assert_uint_eq(rank->n_skipped, 0);
		ck_assert(!rank->is_cut);
		n_events += rank->n_events;
	}
	ck_assert_uint_eq(n_events, known[_i].n_events);
	for (int i = 0; known[_i].devices[i].device >= 0; i++)
		assert_device(&scene.trace, &known[_i], i);
	ck_assert_uint_eq(count_unlinked(&scene.trace), known[_i].n_unlinked);
	nsys_scene_release(&scene);
}
END_TEST

static const char *text_of_span(const struct nsys_scene *scene, enum tp_span_kind kind, size_t n)
{
	const struct tp_span *span = nsys_scene_span(scene, kind, n);
	return span ? nsys_scene_name(scene, span) : "none";
}

START_TEST(a_public_export_is_told_in_the_words_of_others)
{
	const char *path = TRACES "nsys-h100-2gpu-fsdp.sqlite";
	if (!nsys_can_read())
		return;
	if (access(path, R_OK)) {
		test_skip("no public traces in " TRACES);
		return;
	}
	struct nsys_scene scene;
	nsys_scene_import(&scene, path);
	const struct tp_rank_info *rank = &scene.result.ranks[1];
	ck_assert_int_eq(scene.result.ranks[0].pid, 111);
	ck_assert_int_eq(rank->pid, 112);
	ck_assert_str_eq(rank->host, "modal");
	ck_assert_int_eq(rank->number, -1);
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_int_eq(rank->devices[0].number, 1);
	ck_assert_str_eq(text_of_span(&scene, TP_SPAN_CALL, 0), "cudaLaunchKernel");
	ck_assert_str_eq(text_of_span(&scene, TP_SPAN_OPERATOR, 0), "aten::view");
	ck_assert_str_eq(text_of_span(&scene, TP_SPAN_COPY, 0), "Memcpy DtoD (Device -> Device)");
	const struct tp_span *copy = nsys_scene_span(&scene, TP_SPAN_COPY, 0);
	ck_assert_uint_gt(scene.trace.details[copy->detail].bytes, 0);
	const struct tp_track *thread =
		nsys_scene_track(&scene, nsys_scene_span(&scene, TP_SPAN_CALL, 0));
	ck_assert_int_eq(thread->device, TP_TRACK_THREAD);
	ck_assert_str_eq(tp_trace_string(&scene.trace, thread->name), "python3");
	/* Operators have no numbers in their names, so there are few names. */
	ck_assert_uint_lt(scene.trace.n_strings, 400);
	nsys_scene_release(&scene);
}
END_TEST

/* ---- schemas ------------------------------------------------------------------------------- */

/* The same export as written by several versions of nsys. */
static const struct {
	const char *age;
	const char *sql;
} schemas[] = {
	{"2020: nothing may be NULL, no metadata, GPUs by another name",
	 "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, "
	 "eventClass "
	 "INT NOT NULL, globalTid INT NOT NULL, correlationId INT NOT NULL, nameId INT NOT NULL, "
	 "returnValue INT NOT NULL);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId "
	 "INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, "
	 "globalPid INT NOT NULL, demangledName INT NOT NULL, shortName INT NOT NULL, gridX INT "
	 "NOT "
	 "NULL, gridY INT NOT NULL, gridZ INT NOT NULL, blockX INT NOT NULL, blockY INT NOT NULL, "
	 "blockZ INT NOT NULL);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL, deviceId "
	 "INT "
	 "NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, "
	 "globalPid INT NOT NULL, bytes INT NOT NULL, copyKind INT NOT NULL, srcKind INT NOT NULL, "
	 "dstKind INT NOT NULL);"
	 "CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, "
	 "text TEXT NOT NULL, globalTid INT NOT NULL, textId INT NOT NULL);"
	 "CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INT NOT NULL, name TEXT NOT NULL, "
	 "numMultiprocessors INT, computeCapabilityMajor INT, computeCapabilityMinor INT);"
	 "INSERT INTO StringIds VALUES "
	 "(0,''),(1,'gemm<float>'),(2,'gemm'),(3,'cudaLaunchKernel_v7000'),"
	 "(4,'cudaMemcpyAsync_v3020'),(5,'forward');"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100,110,0,281476268556366,7,3,0),"
	 "(120,130,0,281476268556366,8,4,0);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
	 "(200,300,0,1,7,7,281476268556288,1,2,4,2,1,32,"
	 "2,1);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
	 "(310,320,0,1,7,8,281476268556288,4096,1,1,2);"
	 "INSERT INTO NVTX_EVENTS VALUES (90,140,59,'',281476268556366,5),"
	 "(95,0,34,'a mark',281476268556366,0);"
	 "INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0,'GPU',80,7,0);"},
	{"by hand: texts instead of numbers, columns without types, no process",
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, correlationId, name, globalTid);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, "
	 "name TEXT, gridX, gridY, gridZ, blockX, blockY, blockZ);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, "
	 "bytes, copyKind, srcKind, dstKind);"
	 "CREATE TABLE NVTX_EVENTS (start, end, text, globalTid);"
	 "CREATE TABLE TARGET_INFO_GPU (id, name, smCount, computeMajor, computeMinor);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
	 "(100,110,7,'cudaLaunchKernel_v7000',1291845710),"
	 "(120,130,8,'cudaMemcpyAsync',1291845710);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200,300,0,7,7,'gemm<float>',4,2,1,32,2,1);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (310,320,0,7,8,4096,1,1,2);"
	 "INSERT INTO NVTX_EVENTS VALUES (90,140,'forward',1291845710);"
	 "INSERT INTO TARGET_INFO_GPU VALUES (0,'GPU',80,7,0);"},
	{"2021 to 2024: NULLs, a device for each process",
	 SCHEMA_STRINGS SCHEMA_KERNEL SCHEMA_COPY SCHEMA_CALLS SCHEMA_RANGES
	 "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER NOT NULL, name TEXT, smCount "
	 "INTEGER,"
	 "cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER);"
	 "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid "
	 "INTEGER "
	 "NOT NULL, uuid TEXT, numMultiprocessors INTEGER);"
	 "INSERT INTO StringIds VALUES (1,'gemm<float>'),(2,'gemm'),(3,'cudaLaunchKernel_v7000'),"
	 "(4,'cudaMemcpyAsync_v3020'),(5,'forward');"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
	 "(100,110,0,281476268556366,7,3,0,NULL),(120,130,0,281476268556366,8,4,0,NULL);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
	 "(200,300,0,1,7,7,281476268556288,1,2,NULL,4,2,1,32,2,1,NULL);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
	 "(310,320,0,1,7,8,281476268556288,4096,1,1,2);"
	 "INSERT INTO NVTX_EVENTS VALUES "
	 "(90,140,59,NULL,NULL,NULL,'forward',281476268556366,NULL,NULL,0),"
	 "(95,NULL,34,NULL,NULL,NULL,'a mark',281476268556366,NULL,NULL,0);"
	 "INSERT INTO TARGET_INFO_GPU VALUES (1,3,'another',1,3,9,9),(1,5,'GPU',80,5,7,0);"
	 "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3,0,66,NULL,1),(5,0,77,NULL,80);"},
	{"2025 and later: tables with versions, columns in another order, indices", SCHEMA_STRINGS
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME_V3 (nameId INTEGER, correlationId INTEGER, "
	 "globalTid INTEGER, end INTEGER, start INTEGER);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME_V2 (start INTEGER);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V10 (blockX INTEGER, blockY INTEGER, blockZ "
	 "INTEGER,"
	 "gridX INTEGER, gridY INTEGER, gridZ INTEGER, shortName INTEGER, demangledName INTEGER, "
	 "globalPid INTEGER, correlationId INTEGER, streamId INTEGER, deviceId INTEGER, end "
	 "INTEGER, "
	 "start INTEGER);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V9 (start INTEGER, end INTEGER);"
	 "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY_V2 (start INTEGER, end INTEGER, deviceId "
	 "INTEGER, "
	 "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind "
	 "INTEGER,"
	 "srcKind INTEGER, dstKind INTEGER);"
	 "CREATE TABLE NVTX_EVENTS_V2 (start INTEGER, end INTEGER, eventType INTEGER, textId "
	 "INTEGER, "
	 "globalTid INTEGER);"
	 "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, computeMajor "
	 "INTEGER, "
	 "computeMinor INTEGER);"
	 "CREATE INDEX a ON CUPTI_ACTIVITY_KIND_KERNEL_V10(start);"
	 "INSERT INTO StringIds VALUES (1,'gemm<float>'),(2,'gemm'),(3,'cudaLaunchKernel_v7000'),"
	 "(4,'cudaMemcpyAsync_v3020'),(5,'forward');"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME_V3 VALUES (3,7,281476268556366,110,100),"
	 "(4,8,281476268556366,130,120);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V10 VALUES "
	 "(32,2,1,4,2,1,2,1,281476268556288,7,7,0,300,200);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY_V2 VALUES "
	 "(310,320,0,7,8,281476268556288,4096,1,1,2);"
	 "INSERT INTO NVTX_EVENTS_V2 VALUES (90,140,60,5,281476268556366);"
	 "INSERT INTO TARGET_INFO_GPU VALUES (0,'GPU',80,7,0);"},
};

static void assert_kernel(const struct nsys_scene *scene)
{
	const struct tp_span *span = nsys_scene_span(scene, TP_SPAN_KERNEL, 0);
	ck_assert_uint_eq(nsys_scene_count(scene, TP_SPAN_KERNEL), 1);
	ck_assert_str_eq(nsys_scene_name(scene, span), "gemm<float>");
	ck_assert_uint_eq(span->start_ns, 200);
	ck_assert_uint_eq(span->end_ns, 300);
	ck_assert_uint_eq(span->link, 7);
	ck_assert_uint_eq(scene->trace.details[span->detail].blocks, 8);
	ck_assert_uint_eq(scene->trace.details[span->detail].threads, 64);
	ck_assert_int_eq(nsys_scene_track(scene, span)->device, 0);
	ck_assert_int_eq(nsys_scene_track(scene, span)->number, 7);
	ck_assert_str_eq(tp_trace_string(&scene->trace, nsys_scene_track(scene, span)->name),
			 "stream 7");
}

static void assert_others(const struct nsys_scene *scene)
{
	const struct tp_span *copy = nsys_scene_span(scene, TP_SPAN_COPY, 0);
	ck_assert_str_eq(nsys_scene_name(scene, copy), "Memcpy HtoD (Pinned -> Device)");
	ck_assert_uint_eq(scene->trace.details[copy->detail].bytes, 4096);
	ck_assert_uint_eq(copy->link, 8);
	ck_assert_uint_eq(nsys_scene_count(scene, TP_SPAN_CALL), 2);
	ck_assert_str_eq(text_of_span(scene, TP_SPAN_CALL, 0), "cudaLaunchKernel");
	ck_assert_str_eq(text_of_span(scene, TP_SPAN_CALL, 1), "cudaMemcpyAsync");
	ck_assert_uint_eq(nsys_scene_span(scene, TP_SPAN_CALL, 0)->link, 7);
	ck_assert_uint_eq(nsys_scene_count(scene, TP_SPAN_ANNOTATION), 1);
	ck_assert_str_eq(text_of_span(scene, TP_SPAN_ANNOTATION, 0), "forward");
	ck_assert_uint_eq(nsys_scene_span(scene, TP_SPAN_ANNOTATION, 0)->link, 0);
}

START_TEST(every_age_of_nsys_says_the_same)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	nsys_scene_import(&scene, nsys_file_make("%s", schemas[_i].sql));
	ck_assert_msg(!scene.status, "%s: %s", schemas[_i].age, scene.err.text);
	ck_assert_uint_eq(scene.result.n_ranks, 1);
	const struct tp_rank_info *rank = &scene.result.ranks[0];
	ck_assert_uint_eq(rank->n_kept, 5);
	ck_assert_uint_eq(rank->n_skipped, 0);
	ck_assert_uint_eq(scene.result.first_ns, 90);
	ck_assert_uint_eq(scene.result.last_ns, 320);
	assert_kernel(&scene);
	assert_others(&scene);
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_str_eq(rank->devices[0].name, "GPU");
	ck_assert_uint_eq(rank->devices[0].n_processors, 80);
	ck_assert_uint_eq(rank->devices[0].capability, 70);
	nsys_scene_release(&scene);
}
END_TEST

/* ---- other databases ----------------------------------------------------------------------- */

static const struct {
	const char *sql;
	enum tp_status status;
	const char *text, *next;
} strangers[] = {
	{"CREATE TABLE t (a); CREATE TABLE u (b);", TP_PARSE, "2 tables, the first is t",
	 "trainprof import --list"},
	{SCHEMA_ALL, TP_ABSENT, "no process has device work", "nsys profile --trace"},
	{SCHEMA_OS_CALLS "INSERT INTO OSRT_API VALUES (1,2,27,281476268556366,1,1);", TP_ABSENT,
	 "no process has device work", "nsys profile --trace"},
	{"CREATE TABLE t (a); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM t;", TP_PARSE,
	 "1 table, the first is t", "trainprof import --list"},
	{"CREATE TABLE StringIds (id, value); CREATE TABLE u (b);", TP_PARSE, "among its 2 tables",
	 "nsys export"},
	/* nvprof's tables are named as nsys's. */
	{"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, name INTEGER);"
	 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 9, 0, 7, 1);",
	 TP_PARSE, "a trace of nvprof", "nsys profile --trace"},
	{"CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end); CREATE TABLE "
	 "CUPTI_ACTIVITY_KIND_RUNTIME (start, end); CREATE TABLE StringTable (_id_, value);",
	 TP_PARSE, "a trace of nvprof", "nsys profile --trace"},
	{"CREATE TABLE dlprof_iterations (id); CREATE TABLE op_node (id);", TP_PARSE,
	 "a database of DLProf", "nsys_profile.sqlite"},
	{"CREATE TABLE StepTraceTime (step); CREATE TABLE CommAnalyzerTime (op);", TP_PARSE,
	 "a summary of Ascend's profiler", "ascend_pytorch_profiler_RANK.db"},
	{"CREATE TABLE rocpd_kernel_dispatch_lz4_00 (id); CREATE TABLE rocpd_metadata_00 (tag);",
	 TP_PARSE, "packed tables", "rocprofv3"},
};

START_TEST(what_is_no_export_is_refused_with_a_reason)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	nsys_scene_import(&scene, nsys_file_make("%s", strangers[_i].sql));
	ck_assert_int_eq(scene.status, strangers[_i].status);
	ck_assert_msg(strstr(scene.err.text, strangers[_i].text), "%s", scene.err.text);
	ck_assert_msg(strstr(scene.err.next, strangers[_i].next), "%s", scene.err.next);
	ck_assert_uint_eq(scene.trace.n_tracks, 0);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(databases_are_recognised_by_their_magic)
{
	static const unsigned char sqlite[] = "SQLite format 3\0and what follows";
	static const unsigned char json[] = "{\"traceEvents\": [";
	ck_assert(tp_importer_nsys.recognises(sqlite, sizeof(sqlite)));
	ck_assert(tp_importer_nsys.recognises(sqlite, 16));
	ck_assert(!tp_importer_nsys.recognises(sqlite, 15));
	ck_assert(!tp_importer_nsys.recognises(json, sizeof(json)));
	ck_assert(tp_importer_nsys.wants_file);
}
END_TEST

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

Suite *suite_import_nsys(void);
Suite *suite_import_nsys(void)
{
	Suite *suite = suite_create("import/nsys");
	TCase *tc = tcase_create("nsys");
	tcase_add_loop_test(tc, public_exports_give_their_known_answers, 0, N(known));
	tcase_add_test(tc, a_public_export_is_told_in_the_words_of_others);
	tcase_add_loop_test(tc, every_age_of_nsys_says_the_same, 0, N(schemas));
	tcase_add_loop_test(tc, what_is_no_export_is_refused_with_a_reason, 0, N(strangers));
	tcase_add_test(tc, databases_are_recognised_by_their_magic);
	suite_add_tcase(suite, tc);
	return suite;
}
