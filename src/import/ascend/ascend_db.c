/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the databases of Ascend's profiler (ascend_pytorch_profiler_RANK.db, msprof_N.db).
 * COMPUTE_TASK_INFO, and not the type of a task, determines which tasks compute: tasks with the
 * types of computing also carry collectives.
 *
 * Columns: databases of schema 1.0.0 of torch_npu and msprof, read 2026-11-22 and 2026-11-26.
 */
#include "ascend_folder.h"
#include "hccl_name.h"

#include "import/sqlite/sqlite_db.h"
#include "import/tables/tables.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum { FIRST_GROUP = 1 << 20 };

static const struct tp_table_ref string_ids = {"STRING_IDS", "id", "value", NULL, NULL};
static const struct tp_table_ref compute_tasks = {"COMPUTE_TASK_INFO", "globalTaskId", "name", NULL,
						  NULL};
static const struct tp_table_ref communication_tasks = {"COMMUNICATION_TASK_INFO", "globalTaskId",
							"globalTaskId", NULL, NULL};
static const struct tp_table_ref task_devices = {"TASK", "connectionId", "deviceId", NULL, NULL};
static const struct tp_table_ref data_types = {"ENUM_HCCL_DATA_TYPE", "id", "name", NULL, NULL};
static const struct tp_table_ref api_types = {"ENUM_API_TYPE", "id", "name", NULL, NULL};

static const struct tp_table_type task_types[] = {
	{"MEMCPY_ASYNC", TP_SPAN_COPY, NULL, false},
	{"PCIE_DMA_SQE", TP_SPAN_COPY, NULL, false},
	{"*", TP_TABLE_LEFT_OUT, NULL, false},
};
static const struct tp_table_type torch_types[] = {
	{"op", TP_SPAN_OPERATOR, NULL, false},
	{"trace", TP_SPAN_PYTHON, NULL, false},
	{"*", TP_SPAN_ANNOTATION, NULL, false},
};
static const struct tp_table_type step_names[] = {
	{"ProfilerStep#*", TP_SPAN_ANNOTATION, NULL, false},
};

static uint64_t element_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = {{"INT8", 1},   {"UINT8", 1}, {"INT16", 2},  {"UINT16", 2}, {"FP16", 2},
		     {"BFP16", 2},  {"INT32", 4}, {"UINT32", 4}, {"FP32", 4},   {"INT64", 8},
		     {"UINT64", 8}, {"FP64", 8},  {"INT128", 16}};
	for (size_t i = 0; i < TP_ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, type) == 0)
			return types[i].bytes;
	return 0;
}

static uint32_t collective_detail(struct tp_rank_writer *writer, const char *name, const char *type,
				  uint64_t count)
{
	struct tp_detail detail = {0};
	if (!tp_hccl_name_read(writer, name, strlen(name), &detail))
		return 0;
	if (__builtin_mul_overflow(count, element_bytes(type), &detail.bytes))
		detail.bytes = 0;
	detail.type = tp_rank_writer_string(writer, type, strlen(type));
	return tp_rank_writer_detail(writer, &detail);
}

static const struct tp_table tables[] = {
	{
		.name = "PYTORCH_API",
		.kind = TP_SPAN_OPERATOR,
		.columns = {[TP_TABLE_START] = {.names = "startNs"},
			    [TP_TABLE_END] = {.names = "endNs"},
			    [TP_TABLE_THREAD] = {.names = "globalTid"},
			    [TP_TABLE_NAME] = {.names = "name", .refs = {&string_ids}},
			    [TP_TABLE_TYPE] = {.names = "type", .refs = {&api_types}}},
		.types = torch_types,
		.n_types = TP_ARRAY_LEN(torch_types),
		.named = step_names,
		.n_named = TP_ARRAY_LEN(step_names),
	},
	{
		.name = "CANN_API",
		.kind = TP_SPAN_CALL,
		.columns = {[TP_TABLE_START] = {.names = "startNs"},
			    [TP_TABLE_END] = {.names = "endNs"},
			    [TP_TABLE_THREAD] = {.names = "globalTid"},
			    [TP_TABLE_LINK] = {.names = "connectionId"},
			    [TP_TABLE_NAME] = {.names = "name", .refs = {&string_ids}}},
	},
	{
		.name = "MSTX_EVENTS",
		.kind = TP_SPAN_ANNOTATION,
		.columns = {[TP_TABLE_START] = {.names = "startNs"},
			    [TP_TABLE_END] = {.names = "endNs"},
			    [TP_TABLE_THREAD] = {.names = "globalTid"},
			    [TP_TABLE_NAME] = {.names = "message", .refs = {&string_ids}}},
	},
	{
		.name = "STEP_TIME",
		.kind = TP_SPAN_ANNOTATION,
		.unless = "PYTORCH_API",
		.counted_as = "ProfilerStep#",
		.columns = {[TP_TABLE_START] = {.names = "startNs"},
			    [TP_TABLE_END] = {.names = "endNs"},
			    [TP_TABLE_NAME] = {.names = "id"}},
	},
	{
		.name = "TASK",
		.kind = TP_SPAN_KERNEL,
		.is_device = true,
		.name_decides = true,
		.sum = TP_MAKER_COMPUTING,
		.absent_from = &communication_tasks,
		.columns = {[TP_TABLE_START] = {.names = "startNs"},
			    [TP_TABLE_END] = {.names = "endNs"},
			    [TP_TABLE_LINK] = {.names = "connectionId"},
			    [TP_TABLE_NAME] = {.names = "globalTaskId",
					       .refs = {&compute_tasks, &string_ids}},
			    [TP_TABLE_DEVICE] = {.names = "deviceId"},
			    [TP_TABLE_STREAM] = {.names = "streamId"},
			    [TP_TABLE_TYPE] = {.names = "taskType", .refs = {&string_ids}},
			    [TP_TABLE_MEMBER] = {.names = "globalTaskId"}},
		.types = task_types,
		.n_types = TP_ARRAY_LEN(task_types),
	},
	{
		.name = "COMMUNICATION_OP",
		.kind = TP_SPAN_KERNEL,
		.is_device = true,
		.sum = TP_MAKER_COMMUNICATION,
		.first_stream = FIRST_GROUP,
		.columns = {[TP_TABLE_START] = {.names = "startNs"},
			    [TP_TABLE_END] = {.names = "endNs"},
			    [TP_TABLE_LINK] = {.names = "connectionId"},
			    [TP_TABLE_NAME] = {.names = "opName", .refs = {&string_ids}},
			    [TP_TABLE_DEVICE] = {.names = "connectionId",
						 .refs = {&task_devices},
						 .may_lack = true},
			    [TP_TABLE_STREAM] = {.names = "groupName"},
			    [TP_TABLE_TYPE] = {.names = "dataType", .refs = {&data_types}},
			    [TP_TABLE_BYTES] = {.names = "count"}},
		.detail = collective_detail,
	},
};

/* MindStudio Insight adds it when it opens the file. Type 3 is free time. */
static const struct tp_table_sums sums = {
	"OVERLAP_ANALYSIS",
	"startNs",
	"endNs",
	"type",
	{TP_MAKER_COMPUTING, TP_MAKER_COMMUNICATION, TP_MAKER_EXPOSED, TP_MAKER_NONE},
};

static const struct tp_table_dialect dialect = {
	.tables = tables,
	.n_tables = TP_ARRAY_LEN(tables),
	.remedy = "torch_npu.profiler: tensorboard_trace_handler(DIR), then trainprof import "
		  "DIR/*_ascend_pt",
	.version = {"META_DATA", "name", "value", "SCHEMA_VERSION"},
	.sums = &sums,
	.rank = {"RANK_DEVICE_MAP", "rankId"},
	.host = {"HOST_INFO", "hostName"},
	.devices = "NPU_INFO",
	.device_number = "id",
	.device_name = "name",
	.complete = tp_ascend_folder_rank,
};

static enum tp_status db_read(struct tp_import_reader *import,
			      const struct tp_import_source *source, struct tp_error *err)
{
	return tp_tables_read(&dialect, import, source, err);
}

static bool db_matches(const char *path)
{
	static const char *const names[] = {"COMPUTE_TASK_INFO", "COMMUNICATION_OP", "NPU_INFO",
					    "PYTORCH_API"};
	return tp_tables_probe(path, names, TP_ARRAY_LEN(names));
}

const struct tp_importer tp_importer_ascend_db = {
	.info =
		{
			.name = "ascend-db",
			.summary = "Ascend's profiler, ascend_pytorch_profiler_RANK.db and "
				   "msprof_N.db",
			.keeps = "computing, copies, collectives, operators, calls of CANN, named "
				 "ranges, steps, outermost Python functions",
			.loses = "waits of streams, the pieces of collectives, counters, memory "
				 "events; msprof's file has no operators and no steps",
		},
	.wants_file = true,
	.recognises = tp_sqlite_head,
	.matches = db_matches,
	.read = db_read,
};
