/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads databases of rocmProfileData (*.rpd). An operation has no process: that of the call that
 * launched it applies.
 *
 * Columns: ROCm/rocmProfileData, rocpd_python and its examples, schema 2, read 2026-11-22.
 */
#include "import/sqlite/sqlite_db.h"
#include "import/tables/tables.h"

#include "trainprof/base/memory.h"

static const struct tp_table_ref strings = {"rocpd_string", "id", "string", NULL, NULL};
static const struct tp_table_ref op_apis = {"rocpd_api_ops", "op_id", "api_id", NULL, NULL};
static const struct tp_table_ref api_pids = {"rocpd_api", "id", "pid", NULL, NULL};
static const struct tp_table_ref copy_bytes = {"rocpd_copyapi", "api_ptr_id", "size", NULL, NULL};

static const struct tp_table_type op_types[] = {
	{"KernelExecution", TP_SPAN_KERNEL, NULL, false},
	{"Task", TP_SPAN_KERNEL, NULL, false}, /* part of a graph */
	{"CopyHostToDevice*", TP_SPAN_COPY, "Memcpy HtoD", false},
	{"CopyDeviceToHost*", TP_SPAN_COPY, "Memcpy DtoH", false},
	{"CopyDeviceToDevice*", TP_SPAN_COPY, "Memcpy DtoD", false},
	{"Copy*", TP_SPAN_COPY, NULL, false},
	{"Fill*", TP_SPAN_SET, "Memset", false},
	{"Barrier*", TP_TABLE_LEFT_OUT, NULL, false},
	{"Marker*", TP_TABLE_LEFT_OUT, NULL, false},
};
static const struct tp_table_type op_names[] = {
	{"__amd_rocclr_copy*", TP_SPAN_COPY, NULL, false},
	{"__amd_rocclr_fill*", TP_SPAN_SET, NULL, false},
};
/* Ranges of the program, and the profiler's own activity. */
static const struct tp_table_type api_names[] = {
	{"UserMarker", TP_SPAN_ANNOTATION, NULL, true},
	{"UserPush", TP_SPAN_ANNOTATION, NULL, true},
	{"UserPop", TP_TABLE_LEFT_OUT, NULL, false},
	{"*::writeRows", TP_TABLE_LEFT_OUT, NULL, false},
	{"rpdflush", TP_TABLE_LEFT_OUT, NULL, false},
	{"hcc_activity_callback", TP_TABLE_LEFT_OUT, NULL, false},
};

static const struct tp_table tables[] = {
	{
		.name = "rocpd_api",
		.kind = TP_SPAN_CALL,
		.is_refined = true,
		.columns = {[TP_TABLE_START] = {.names = "start"},
			    [TP_TABLE_END] = {.names = "end"},
			    [TP_TABLE_PROCESS] = {.names = "pid"},
			    [TP_TABLE_THREAD] = {.names = "tid"},
			    [TP_TABLE_LINK] = {.names = "id"},
			    [TP_TABLE_NAME] = {.names = "apiName_id", .refs = {&strings}},
			    [TP_TABLE_TEXT] = {.names = "args_id", .refs = {&strings}}},
		.named = api_names,
		.n_named = TP_ARRAY_LEN(api_names),
	},
	{
		.name = "rocpd_op",
		.kind = TP_SPAN_KERNEL,
		.is_device = true,
		.columns = {[TP_TABLE_START] = {.names = "start"},
			    [TP_TABLE_END] = {.names = "end"},
			    [TP_TABLE_PROCESS] = {.names = "id", .refs = {&op_apis, &api_pids}},
			    [TP_TABLE_LINK] = {.names = "id", .refs = {&op_apis}},
			    [TP_TABLE_NAME] = {.names = "description_id", .refs = {&strings}},
			    [TP_TABLE_DEVICE] = {.names = "gpuId"},
			    [TP_TABLE_STREAM] = {.names = "queueId"},
			    [TP_TABLE_TYPE] = {.names = "opType_id", .refs = {&strings}},
			    [TP_TABLE_BYTES] = {.names = "id", .refs = {&op_apis, &copy_bytes}}},
		.types = op_types,
		.n_types = TP_ARRAY_LEN(op_types),
		.named = op_names,
		.n_named = TP_ARRAY_LEN(op_names),
	},
};

static const struct tp_table_dialect dialect = {
	.tables = tables,
	.n_tables = TP_ARRAY_LEN(tables),
	.remedy = "runTracer.sh -o trace.rpd CMD   (rocmProfileData)",
};

static enum tp_status rpd_read(struct tp_import_reader *import,
			       const struct tp_import_source *source, struct tp_error *err)
{
	return tp_tables_read(&dialect, import, source, err);
}

static bool rpd_matches(const char *path)
{
	static const char *const names[] = {"rocpd_op"};
	return tp_tables_probe(path, names, TP_ARRAY_LEN(names));
}

const struct tp_importer tp_importer_rpd = {
	.info =
		{
			.name = "rpd",
			.summary = "rocmProfileData (*.rpd)",
			.keeps = "kernels, copies, fills, calls of HIP, ranges of the program",
			.loses = "barriers, monitor values, the profiler's own doings",
		},
	.wants_file = true,
	.recognises = tp_sqlite_head,
	.matches = rpd_matches,
	.read = rpd_read,
};
