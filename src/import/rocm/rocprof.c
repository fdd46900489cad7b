/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rocprofv3's JSON (PID_results.json): an object for each process, with agents and names
 * first and the records last, so that one pass is enough. Kinds of records that were not enabled
 * during the recording have an empty list.
 *
 * Format: rocprofiler-sdk, source/lib/output/generateJSON.cpp, and files of ROCm 7, read
 * 2026-11-22. Times are ns.
 */
#include "import/json/json_scan.h"
#include "import/reader/importer.h"
#include "import/reader/text_pattern.h"
#include "rocprof_record.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/range_name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { AGENT_GPU = 2, DEVICES_MAX = 256, COPIES_FIRST = 1 << 20 };

struct rocprof_reader {
	struct tp_import_reader *import;
	struct tp_rank_writer *writer; /* of the current process; NULL before the first */
	struct tp_rank_info *info;
	struct tp_map gpus;       /* handle of an agent -> number of the device */
	struct tp_map kernels;    /* id -> string of the writer */
	struct tp_map operations; /* kind and operation -> string of the writer */
	struct tp_map markers;    /* id of a range -> string of the writer */
	struct tp_device_info devices[DEVICES_MAX];
	size_t n_devices;
	struct tp_arena arena;
	struct tp_buf scratch;
	uint64_t n_kept;
	uint64_t n_records;
	const char *skipped_because; /* the first record; NULL = none was */
	int64_t n_kinds;             /* in the list of names */
	struct tp_json_scan scan;
	struct tp_rocprof_records records;
	struct tp_rocprof_record record;               /* that was read last */
	const struct tp_json_scan_enter *last_entered; /* list that `list` is the number of */
	size_t list;
};

/* ---- values ---- */

/* Reads {"handle": 5}, or the number. */
static int64_t handle_of(const struct tp_json_slice *value)
{
	if (value->type != TP_JSON_SLICE_OBJECT)
		return tp_rocprof_integer(value);
	struct tp_json_slice handle = tp_json_slice_find(value, "handle");
	return tp_rocprof_integer(&handle);
}

static uint64_t operation_key(int64_t kind, int64_t operation)
{
	return (uint64_t)kind << 32 | ((uint64_t)operation & UINT32_MAX);
}

/* ---- names and agents ---- */

/* Names and kinds of kernels and copies. */
static const struct {
	const char *pattern;
	uint8_t kind;
	const char *name; /* NULL = its own name */
} works[] = {
	{"__amd_rocclr_copy*", TP_SPAN_COPY, NULL},
	{"__amd_rocclr_fill*", TP_SPAN_SET, NULL},
	{"*HOST_TO_DEVICE", TP_SPAN_COPY, "Memcpy HtoD"},
	{"*DEVICE_TO_HOST", TP_SPAN_COPY, "Memcpy DtoH"},
	{"*DEVICE_TO_DEVICE", TP_SPAN_COPY, "Memcpy DtoD"},
	{"*HOST_TO_HOST", TP_SPAN_COPY, "Memcpy HtoH"},
};

/* Returns the string id and, above it, the kind. */
static uint64_t work_of(struct rocprof_reader *reader, const struct tp_json_slice *name,
			uint8_t otherwise)
{
	size_t len;
	const char *text = tp_json_slice_text(name, &reader->scratch, &len);
	uint8_t kind = otherwise;
	for (size_t i = 0; i < TP_ARRAY_LEN(works); i++) {
		if (!tp_text_pattern_match(works[i].pattern, text, len, NULL))
			continue;
		kind = works[i].kind;
		text = works[i].name ? works[i].name : text;
		len = works[i].name ? strlen(text) : len;
		break;
	}
	return tp_rank_writer_string(reader->writer, text, len) | (uint64_t)kind << 32;
}

/* Keeps the text of a range by its id. A range that names an operator of PyTorch is an operator. */
static void marker_keep(struct rocprof_reader *reader, int64_t id, const struct tp_json_slice *text)
{
	size_t len;
	bool is_operator;
	const char *bytes = tp_json_slice_text(text, &reader->scratch, &len);
	len = tp_range_name_len(bytes, len, &is_operator);
	uint64_t kind = is_operator ? TP_SPAN_OPERATOR : TP_SPAN_ANNOTATION;
	tp_map_set(&reader->markers, (uint64_t)id,
		   tp_rank_writer_string(reader->writer, bytes, len) | kind << 32);
}

static void agent_read(struct rocprof_reader *reader, const struct tp_json_slice *object)
{
	struct tp_json_slice id = tp_json_slice_find(object, "id");
	struct tp_json_slice type = tp_json_slice_find(object, "type");
	struct tp_json_slice number = tp_json_slice_find(object, "logical_node_type_id");
	struct tp_json_slice name = tp_json_slice_find(object, "product_name");
	struct tp_json_slice units = tp_json_slice_find(object, "cu_count");
	if (tp_rocprof_integer(&type) != AGENT_GPU)
		return;
	int64_t gpu = tp_rocprof_integer(&number);
	if (gpu < 0 || gpu > INT32_MAX)
		gpu = (int64_t)reader->gpus.n;
	tp_map_set(&reader->gpus, (uint64_t)handle_of(&id), (uint64_t)gpu);
	if (reader->n_devices == DEVICES_MAX)
		return;
	if (!name.len)
		name = tp_json_slice_find(object, "name");
	size_t len;
	const char *text = tp_json_slice_text(&name, &reader->scratch, &len);
	reader->devices[reader->n_devices++] =
		(struct tp_device_info){.number = (int32_t)gpu,
					.name = tp_arena_strndup(&reader->arena, text, len),
					.n_processors =
						(uint32_t)tp_json_slice_count(&units, UINT32_MAX)};
}

static void kernel_read(struct rocprof_reader *reader, const struct tp_json_slice *object)
{
	/* Names in the order of preference. */
	static const char *const keys[] = {"formatted_kernel_name", "demangled_kernel_name",
					   "kernel_name", "kernel_id"};
	enum { N_NAMES = 3, N_KEYS = 4 };
	struct tp_json_slice found[N_KEYS];
	tp_json_slice_find_each(object, keys, N_KEYS, found);
	struct tp_json_slice id = found[N_NAMES];
	struct tp_json_slice name = {0};
	for (size_t i = 0; i < N_NAMES && !name.len; i++)
		name = found[i];
	tp_map_set(&reader->kernels, (uint64_t)tp_rocprof_integer(&id),
		   work_of(reader, &name, TP_SPAN_KERNEL));
}

/* Reads {"kind": "HIP_RUNTIME_API", "operations": [...]}: the number of a kind is its index in the
 * list. */
static void operations_read(struct rocprof_reader *reader, const struct tp_json_slice *object,
			    int64_t kind)
{
	struct tp_json_slice list = tp_json_slice_find(object, "operations");
	struct tp_json_walk walk = tp_json_walk_init(&list);
	struct tp_json_slice key;
	struct tp_json_slice name;
	for (int64_t i = 0;
	     list.type == TP_JSON_SLICE_LIST && tp_json_walk_next(&walk, &key, &name); i++)
		tp_map_set(&reader->operations, operation_key(kind, i),
			   work_of(reader, &name, TP_SPAN_CALL));
}

/* ---- records ---- */

static const char *times_fill(const struct tp_rocprof_record *record, struct tp_span *span)
{
	if (record->start_ns <= 0 || record->end_ns < record->start_ns)
		return "a record without times that make sense";
	span->start_ns = (uint64_t)record->start_ns;
	span->end_ns = (uint64_t)record->end_ns;
	return NULL;
}

static const char *device_fill(struct rocprof_reader *reader,
			       const struct tp_rocprof_record *record, uint64_t work,
			       int64_t stream, struct tp_span *span)
{
	uint64_t gpu;
	if (!tp_map_get(&reader->gpus, (uint64_t)record->agent, &gpu) &&
	    !tp_map_get(&reader->gpus, (uint64_t)record->target, &gpu) &&
	    !tp_map_get(&reader->gpus, (uint64_t)record->source, &gpu))
		return reader->gpus.n ? "work of a device that is not described"
				      : "the agents are not listed before the records";
	span->track = tp_rank_writer_track(reader->writer, (int32_t)gpu, stream);
	span->name = (uint32_t)work;
	span->kind = (uint8_t)(work >> 32);
	struct tp_detail detail = {
		.bytes = record->bytes > 0 ? (uint64_t)record->bytes : 0,
		.blocks = record->n_threads ? record->n_items / record->n_threads : 0,
		.threads = record->n_threads <= UINT32_MAX ? (uint32_t)record->n_threads : 0};
	span->detail = tp_rank_writer_detail(reader->writer, &detail);
	return NULL;
}

static const char *dispatch_fill(struct rocprof_reader *reader,
				 const struct tp_rocprof_record *record, struct tp_span *span)
{
	uint64_t work = (uint64_t)TP_SPAN_KERNEL << 32;
	(void)tp_map_get(&reader->kernels, (uint64_t)record->kernel, &work);
	return device_fill(reader, record, work, record->queue > 0 ? record->queue : 0, span);
}

static uint64_t operation_of(const struct rocprof_reader *reader,
			     const struct tp_rocprof_record *record)
{
	uint64_t work = 0;
	(void)tp_map_get(&reader->operations, operation_key(record->kind, record->operation),
			 &work);
	return work;
}

static const char *copy_fill(struct rocprof_reader *reader, const struct tp_rocprof_record *record,
			     struct tp_span *span)
{
	uint64_t work = (operation_of(reader, record) & UINT32_MAX) | (uint64_t)TP_SPAN_COPY << 32;
	return device_fill(reader, record, work, COPIES_FIRST, span);
}

static const char *call_fill(struct rocprof_reader *reader, const struct tp_rocprof_record *record,
			     struct tp_span *span)
{
	span->kind = TP_SPAN_CALL;
	span->name = (uint32_t)operation_of(reader, record);
	span->track = tp_rank_writer_track(reader->writer, TP_TRACK_THREAD, record->thread);
	return NULL;
}

/* A mark has no length and is left out. */
static const char *range_fill(struct rocprof_reader *reader, const struct tp_rocprof_record *record,
			      struct tp_span *span)
{
	uint64_t text = operation_of(reader, record);
	(void)tp_map_get(&reader->markers, (uint64_t)record->correlation, &text);
	span->kind =
		(uint8_t)(text >> 32 == TP_SPAN_OPERATOR ? TP_SPAN_OPERATOR : TP_SPAN_ANNOTATION);
	span->name = (uint32_t)text;
	span->track = tp_rank_writer_track(reader->writer, TP_TRACK_THREAD, record->thread);
	return record->start_ns == record->end_ns ? "" : NULL;
}

/* ---- lists ---- */

static const struct {
	const char *key;
	/* Fills in a span. Returns NULL, or the reason why the record is not a span; "" if the
	 * record does not count as skipped. */
	const char *(*fill)(struct rocprof_reader *reader, const struct tp_rocprof_record *record,
			    struct tp_span *span);
} lists[] = {
	{"kernel_dispatch", dispatch_fill},
	{"memory_copy", copy_fill},
	{"hip_api", call_fill},
	{"hsa_api", call_fill},
	{"rccl_api", call_fill},
	{"marker_api", range_fill},
};

static const struct tp_json_scan_enter entered[] = {
	{"rocprofiler-sdk-tool", true},
	{"strings", false},
	{"buffer_records", false},
	{"agents", false},
	{"kernel_symbols", false},
	{"kernel_dispatch", false},
	{"memory_copy", false},
	{"hip_api", false},
	{"hsa_api", false},
	{"rccl_api", false},
	{"marker_api", false},
};

static void record_add(struct rocprof_reader *reader)
{
	const struct tp_rocprof_record *record = &reader->record;
	struct tp_span span = {0};
	reader->info->n_events++;
	if (record->correlation > 0 && record->correlation <= UINT32_MAX)
		span.link = (uint32_t)record->correlation;
	const char *why = times_fill(record, &span);
	if (!why)
		why = lists[reader->list].fill(reader, record, &span);
	if (!why && span.track == TP_NO_TRACK)
		why = "more threads and streams than can be distinguished";
	if (!why)
		tp_rank_writer_span(reader->writer, &span);
	else if (*why)
		tp_rank_writer_skip(reader->writer, why);
}

/* Finds the list of records that the scan is in. Returns false if it is in none. */
static bool list_find(struct rocprof_reader *reader)
{
	const struct tp_json_scan_enter *enter = reader->scan.entered;
	if (enter && enter != reader->last_entered) {
		reader->last_entered = enter;
		for (reader->list = 0; reader->list < TP_ARRAY_LEN(lists); reader->list++)
			if (strcmp(lists[reader->list].key, enter->key) == 0)
				break;
	}
	return enter && reader->list < TP_ARRAY_LEN(lists);
}

static const char *record_read(struct rocprof_reader *reader, const char *at, const char *end)
{
	reader->record = (struct tp_rocprof_record){.agent = -1,
						    .source = -1,
						    .target = -1,
						    .correlation = -1};
	return tp_rocprof_record_read(&reader->records, &reader->record, at, end);
}

static const char *read_scanned(void *self, const char *at, const char *end)
{
	struct rocprof_reader *reader = self;
	return reader->writer && list_find(reader) ? record_read(reader, at, end) : NULL;
}

/* Reads an object that read_scanned() did not. */
static void event_read(struct rocprof_reader *reader, const struct tp_json_slice *list,
		       const struct tp_json_slice *object)
{
	if (TP_JSON_SLICE_IS(list, "agents"))
		agent_read(reader, object);
	else if (TP_JSON_SLICE_IS(list, "kernel_symbols"))
		kernel_read(reader, object);
	else if (TP_JSON_SLICE_IS(list, "buffer_records"))
		operations_read(reader, object, reader->n_kinds++);
	else if (list_find(reader)) {
		(void)record_read(reader, object->text, object->text + object->len);
		record_add(reader);
	}
}

/* ---- processes ---- */

static void process_end(struct rocprof_reader *reader)
{
	if (!reader->writer)
		return;
	tp_rank_writer_devices(reader->writer, reader->devices, reader->n_devices);
	reader->n_kept += reader->info->n_kept;
	reader->n_records += reader->info->n_events;
	if (!reader->skipped_because)
		reader->skipped_because = reader->info->skipped_because;
	tp_rank_writer_end(reader->writer, false);
	tp_map_release(&reader->gpus);
	tp_map_release(&reader->kernels);
	tp_map_release(&reader->operations);
	tp_map_release(&reader->markers);
	reader->gpus = reader->kernels = reader->operations = reader->markers = (struct tp_map){0};
	reader->writer = NULL;
	reader->n_devices = 0;
	reader->n_kinds = 0;
}

static bool process_begin(struct rocprof_reader *reader)
{
	process_end(reader);
	reader->writer = tp_rank_writer_begin(reader->import);
	reader->info = reader->writer ? tp_rank_info(reader->writer) : NULL;
	return reader->writer != NULL;
}

/* Metadata is the first member of a process. */
static void metadata_read(struct rocprof_reader *reader, const struct tp_json_slice *object)
{
	struct tp_json_slice pid = tp_json_slice_find(object, "pid");
	struct tp_json_slice node = tp_json_slice_find(object, "node");
	struct tp_json_slice host = tp_json_slice_find(&node, "hostname");
	size_t len;
	const char *text = tp_json_slice_text(&host, &reader->scratch, &len);
	reader->info->pid = (int64_t)tp_json_slice_count(&pid, INT32_MAX);
	if (len)
		reader->info->host = tp_rank_writer_text(reader->writer, text, len);
}

static void member_read(struct rocprof_reader *reader, const struct tp_json_scan *scan,
			const struct tp_json_slice *key, const struct tp_json_slice *value)
{
	int64_t id;
	struct tp_json_slice number = *key;
	if (TP_JSON_SLICE_IS(key, "metadata") && value->type == TP_JSON_SLICE_OBJECT)
		metadata_read(reader, value);
	else if (scan->entered && strcmp(scan->entered->key, "marker_api") == 0 &&
		 tp_json_slice_integer(&number, &id))
		marker_keep(reader, id, value);
}

static enum tp_status fail_empty(const struct rocprof_reader *reader,
				 const struct tp_import_source *source, struct tp_error *err)
{
	const char *name = source->member ? source->member : source->path;
	if (!reader->skipped_because)
		return tp_fail(err, TP_PARSE, "'%s' holds no kernel, copy or call", name);
	return tp_fail(err, TP_PARSE, "'%s': none of its %llu records is of use: %s", name,
		       (unsigned long long)reader->n_records, reader->skipped_because);
}

static enum tp_status read_all(struct rocprof_reader *reader, struct tp_error *err)
{
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	struct tp_json_scan *scan = &reader->scan;
	while ((item = tp_json_scan_next(scan, &key, &value)) != TP_JSON_SCAN_END) {
		bool begins = item == TP_JSON_SCAN_MEMBER && TP_JSON_SLICE_IS(&key, "metadata");
		if ((begins || !reader->writer) && !process_begin(reader))
			return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
		if (item == TP_JSON_SCAN_READ)
			record_add(reader);
		else if (item == TP_JSON_SCAN_EVENT)
			event_read(reader, &key, &value);
		else if (item == TP_JSON_SCAN_MEMBER)
			member_read(reader, scan, &key, &value);
		else
			tp_rank_writer_skip(reader->writer, "an entry that is no record");
	}
	return TP_OK;
}

static enum tp_status rocprof_read(struct tp_import_reader *import,
				   const struct tp_import_source *source, struct tp_error *err)
{
	struct rocprof_reader *reader = tp_alloc(sizeof(*reader));
	reader->import = import;
	tp_json_scan_init(&reader->scan, source->stream);
	reader->scan.enter = entered;
	reader->scan.n_enter = TP_ARRAY_LEN(entered);
	reader->scan.reader = (struct tp_json_scan_reader){read_scanned, reader};
	enum tp_status status = read_all(reader, err);
	if (reader->writer)
		reader->info->is_cut = reader->scan.is_cut;
	process_end(reader);
	if (!status && !reader->n_kept) {
		status = fail_empty(reader, source, err);
		tp_error_next(err, "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace "
				   "--marker-trace --rccl-trace -- CMD");
	}
	tp_json_scan_release(&reader->scan);
	tp_arena_release(&reader->arena);
	tp_buf_release(&reader->scratch);
	free(reader);
	return status;
}

const struct tp_importer tp_importer_rocprof = {
	.info =
		{
			.name = "rocprof",
			.summary = "rocprofv3's JSON (PID_results.json)",
			.keeps = "kernels, copies, calls of HIP, HSA and RCCL, roctx ranges",
			.loses = "allocations, counters, code objects; what was not asked for when "
				 "it was recorded is unknown",
		},
	.is_of_json_maker = true,
	.read = rocprof_read,
};
