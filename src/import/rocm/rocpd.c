/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads databases of rocprofv3 (rocpd, schemas 3.0.0 to 4.1.0). Tables have a suffix for each
 * process or rank that was merged into the file; views of the same names are not used. From 4.1.0
 * on process, thread, agent, queue and stream are those of a track.
 *
 * Columns: rocprofiler-sdk, the schema files of rocprofiler-sdk-rocpd, read 2026-11-22.
 */
#include "import/sqlite/sqlite_db.h"
#include "import/tables/tables.h"

#include "trainprof/base/memory.h"

static const struct tp_table_ref strings = {"rocpd_string", "id", "string", NULL, NULL};
static const struct tp_table_ref kernels = {"rocpd_info_kernel_symbol", "id",
					    "display_name|kernel_name", NULL, NULL};
static const struct tp_table_ref gpus = {"rocpd_info_agent", "id",
					 "type_index|logical_index|absolute_index", "type", "GPU"};
static const struct tp_table_ref processes = {"rocpd_info_process", "id", "pid", NULL, NULL};
static const struct tp_table_ref threads = {"rocpd_info_thread", "id", "tid", NULL, NULL};
static const struct tp_table_ref environments = {"rocpd_info_process", "pid", "environment|command",
						 NULL, NULL};
static const struct tp_table_ref stacks = {"rocpd_event", "id", "stack_id|correlation_id", NULL,
					   NULL};
static const struct tp_table_ref categories = {"rocpd_event", "id", "category_id", NULL, NULL};
static const struct tp_table_ref track_pids = {"rocpd_track", "id", "pid", NULL, NULL};
static const struct tp_table_ref track_tids = {"rocpd_track", "id", "tid", NULL, NULL};
static const struct tp_table_ref track_agents = {"rocpd_track", "id", "agent_id", NULL, NULL};
static const struct tp_table_ref track_queues = {"rocpd_track", "id", "queue_id|stream_id", NULL,
						 NULL};

/* Copies and fills by kernels of the runtime. */
static const struct tp_table_type kernel_names[] = {
	{"__amd_rocclr_copy*", TP_SPAN_COPY, NULL, false},
	{"__amd_rocclr_fill*", TP_SPAN_SET, NULL, false},
};
static const struct tp_table_type copy_names[] = {
	{"*HOST_TO_DEVICE*", TP_SPAN_COPY, "Memcpy HtoD", false},
	{"*DEVICE_TO_HOST*", TP_SPAN_COPY, "Memcpy DtoH", false},
	{"*DEVICE_TO_DEVICE*", TP_SPAN_COPY, "Memcpy DtoD", false},
	{"*HOST_TO_HOST*", TP_SPAN_COPY, "Memcpy HtoH", false},
};
static const struct tp_table_type region_types[] = {
	{"HIP_*", TP_SPAN_CALL, NULL, false},
	{"HSA_*", TP_SPAN_CALL, NULL, false},
	{"RCCL_*", TP_SPAN_CALL, NULL, false},
	{"*", TP_SPAN_ANNOTATION, NULL, false},
};

#define TIMES [TP_TABLE_START] = {.names = "start"}, [TP_TABLE_END] = {.names = "end"}
#define OWNER                                                                                      \
	[TP_TABLE_PROCESS] = {.names = "pid", .refs = {&processes}, .by_track = &track_pids},      \
	[TP_TABLE_LINK] = {.names = "event_id", .refs = {&stacks}},                                \
	[TP_TABLE_TRACK] = {.names = "track_id"}

static const struct tp_table tables[] = {
	{
		.name = "rocpd_kernel_dispatch",
		.kind = TP_SPAN_KERNEL,
		.is_device = true,
		.columns = {TIMES,
			    OWNER, [TP_TABLE_NAME] = {.names = "kernel_id", .refs = {&kernels}},
			    [TP_TABLE_DEVICE] = {.names = "agent_id",
						 .refs = {&gpus},
						 .by_track = &track_agents},
			    [TP_TABLE_STREAM] = {.names = "queue_id|stream_id",
						 .by_track = &track_queues}},
		.named = kernel_names,
		.n_named = TP_ARRAY_LEN(kernel_names),
	},
	{
		.name = "rocpd_memory_copy",
		.kind = TP_SPAN_COPY,
		.is_device = true,
		.first_stream = 1 << 20, /* queues of copies differ from those of kernels */
		.columns = {TIMES,
			    OWNER, [TP_TABLE_NAME] = {.names = "name_id", .refs = {&strings}},
			    [TP_TABLE_DEVICE] = {.names = "dst_agent_id",
						 .refs = {&gpus},
						 .other = "src_agent_id"},
			    [TP_TABLE_STREAM] = {.names = "stream_id"},
			    [TP_TABLE_BYTES] = {.names = "size"}},
		.named = copy_names,
		.n_named = TP_ARRAY_LEN(copy_names),
	},
	{
		.name = "rocpd_region",
		.kind = TP_SPAN_ANNOTATION,
		.is_refined = true,
		.columns = {TIMES, OWNER,
			    [TP_TABLE_THREAD] = {.names = "tid",
						 .refs = {&threads},
						 .by_track = &track_tids},
			    [TP_TABLE_NAME] = {.names = "name_id", .refs = {&strings}},
			    [TP_TABLE_TYPE] = {.names = "event_id",
					       .refs = {&categories, &strings}}},
		.types = region_types,
		.n_types = TP_ARRAY_LEN(region_types),
	},
};

static const struct tp_table_dialect dialect = {
	.tables = tables,
	.n_tables = TP_ARRAY_LEN(tables),
	.suffixed = "rocpd_kernel_dispatch",
	.remedy = "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace "
		  "--rccl-trace -- CMD",
	.version = {"rocpd_metadata", "tag", "value", "schema_version"},
	.host = {"rocpd_info_node", "hostname"},
	.environment = &environments,
	.devices = "rocpd_info_agent",
	.device_number = "type_index|logical_index|absolute_index",
	.device_name = "product_name|name",
	.device_only = "GPU",
};

static enum tp_status rocpd_read(struct tp_import_reader *import,
				 const struct tp_import_source *source, struct tp_error *err)
{
	return tp_tables_read(&dialect, import, source, err);
}

static bool rocpd_matches(const char *path)
{
	static const char *const names[] = {"rocpd_kernel_dispatch*", "rocpd_info_agent*"};
	static const char *const packed[] = {"rocpd_*_lz4*"};
	return tp_tables_probe(path, names, TP_ARRAY_LEN(names)) &&
	       !tp_tables_probe(path, packed, TP_ARRAY_LEN(packed));
}

const struct tp_importer tp_importer_rocpd = {
	.info =
		{
			.name = "rocpd",
			.summary = "rocprofv3's database (PID_results.db), one or several "
				   "processes",
			.keeps = "kernels, copies, calls of HIP, HSA and RCCL, roctx ranges",
			.loses = "allocations, counters, samples; what was not asked for when it "
				 "was recorded is unknown",
		},
	.wants_file = true,
	.recognises = tp_sqlite_head,
	.matches = rocpd_matches,
	.read = rocpd_read,
};
