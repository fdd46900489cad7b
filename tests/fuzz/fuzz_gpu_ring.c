/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes GPU rings: for any contents reading ends, stays inside its own memory, and yields valid
 * records. The input is the file after its header: clock pairs, places, names and events. Its first
 * byte selects other errors: sizes in the header, counts, the length of the file. */
#include "scratch.h"

#include "collect/gpu/trace/gpu_event_name.h"
#include "collect/gpu/trace/gpu_ring_decode.h"
#include "collect/gpu/trace/gpu_ring_reader.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum {
	CLOCKS = 4,
	PLACES = 4,
	NAME_BYTES = 256,
	EVENTS = 64,
	CLOCKS_AT = TP_GPU_RING_HEADER_BYTES,
	PLACES_AT = CLOCKS_AT + CLOCKS * (int)sizeof(struct tp_gpu_clock),
	NAMES_AT = PLACES_AT + PLACES * (int)sizeof(struct tp_gpu_place),
	EVENTS_AT = NAMES_AT + NAME_BYTES,
	FILE_BYTES = EVENTS_AT + EVENTS * (int)sizeof(struct tp_gpu_event),
	/* Errors selected by the first byte of the input. */
	WRONG_SIZES = 1,
	WRONG_COUNTS = 2,
	CUT = 4,
	SANE_CLOCKS = 8,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool claim)
{
	if (!claim)
		abort();
}

/* Overwrites some words that a correct writer never changes with bytes of the input. */
static void head_make(struct tp_gpu_ring_header *head, const uint8_t *data, size_t size,
		      uint64_t now_ns)
{
	*head = (struct tp_gpu_ring_header){
		.magic = TP_GPU_RING_MAGIC,
		.major = TP_GPU_RING_MAJOR,
		.header_bytes = TP_GPU_RING_HEADER_BYTES,
		.event_bytes = sizeof(struct tp_gpu_event),
		.n_events = EVENTS,
		.events_at = EVENTS_AT,
		.names_at = NAMES_AT,
		.names_bytes = NAME_BYTES,
		.places_at = PLACES_AT,
		.n_places_most = PLACES,
		.clocks_at = CLOCKS_AT,
		.n_clocks = CLOCKS,
		.pid = 1,
		.heartbeat_ns = now_ns,
		.n_name_bytes = NAME_BYTES,
		.n_places = PLACES,
		.n_clock_pairs = CLOCKS - 1,
		.head = EVENTS,
	};
	size_t n = size > 64 ? 64 : size;
	if (data[0] & WRONG_SIZES)
		memcpy(&head->minor, data, n < 46 ? n : 46);
	if (data[0] & WRONG_COUNTS) {
		head->head = size > 8 ? data[8] * UINT64_C(3) : 0;
		head->n_places = size > 9 ? data[9] : 0;
		head->n_name_bytes = size > 10 ? data[10] * 2U : 0;
		head->n_clock_pairs = size > 11 ? data[11] : 0;
	}
}

static void file_write(const char *path, const uint8_t *data, size_t size, uint64_t now_ns)
{
	static uint8_t file[FILE_BYTES];
	struct tp_gpu_ring_header head;
	head_make(&head, data, size, now_ns);
	memset(file, 0, sizeof(file));
	memcpy(file, &head, sizeof(head));
	size_t n = size - 1 < FILE_BYTES - CLOCKS_AT ? size - 1 : FILE_BYTES - CLOCKS_AT;
	memcpy(file + CLOCKS_AT, data + 1, n);
	struct tp_gpu_clock pair = {.host_ns = now_ns, .cupti_ns = 1000};
	for (size_t i = 0; data[0] & SANE_CLOCKS && i < CLOCKS; i++)
		memcpy(file + CLOCKS_AT + i * sizeof(pair), &pair, sizeof(pair));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t length = data[0] & CUT ? size * 16 % FILE_BYTES : FILE_BYTES;
	demand(fd >= 0 && write(fd, file, length) == (ssize_t)length);
	close(fd);
}

static void trace_check(struct tp_trace_builder *builder, uint64_t now_ns)
{
	struct tp_trace trace;
	const struct tp_run_info run = {.started_ns = 1, .ended_ns = now_ns + 2 * TP_NS_PER_S};
	tp_trace_build(&trace, builder, &run);
	demand(trace.n_dropped == 0);
	for (size_t i = 0; i < trace.n_tracks; i++) {
		for (size_t k = 0; k < trace.spans[i].n; k++) {
			const struct tp_span *span = &trace.spans[i].items[k];
			demand(span->start_ns <= span->end_ns && span->kind < TP_N_SPAN_KINDS);
			demand(span->name < trace.n_strings && span->detail < trace.n_details);
			demand(tp_span_kind_is_device(span->kind) ==
			       (trace.tracks[i].device != TP_TRACK_THREAD));
		}
	}
	tp_trace_release(&trace);
}

static void read_file(struct tp_gpu_ring_reader *file, struct tp_sink *sink, uint64_t now_ns)
{
	static const struct tp_host host = {.root = "/nonexistent"};
	const struct tp_gpu_demangler no_demangler = {0};
	struct tp_task_tree *tree = tp_task_tree_new(&host, sink);
	const struct tp_gpu_decoder_config config = {.sink = sink,
						     .tree = tree,
						     .demangler = &no_demangler,
						     .file = file,
						     .source = "cupti",
						     .pid = 1};
	struct tp_gpu_decoder *decoder = tp_gpu_decoder_new(&config);
	for (int round = 0; round < 3; round++) {
		size_t left = 1000;
		tp_gpu_decoder_begin(decoder, now_ns);
		if (tp_gpu_ring_reader_refresh(file))
			left = tp_gpu_ring_reader_drain(file, 40, tp_gpu_decoder_event, decoder);
		tp_gpu_decoder_end(decoder);
		demand(left <= 40 || left == 1000);
		demand(tp_gpu_ring_reader_n_left(file) <= file->header.n_events);
	}
	tp_gpu_decoder_flush(decoder);
	tp_gpu_decoder_free(decoder);
	tp_task_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128];
	struct tp_gpu_ring_reader file;
	struct tp_error err;
	const uint64_t now_ns = UINT64_C(1000000000000);
	if (size < 2)
		return 0;
	snprintf(path, sizeof(path), "%s/gpu-1-1-0.ring", scratch_directory());
	file_write(path, data, size, now_ns);
	enum tp_status status = tp_gpu_ring_reader_open(&file, path, &err);
	demand(status == TP_OK || status == TP_ABSENT || status == TP_VERSION ||
	       status == TP_PARSE);
	if (status)
		return 0;
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	read_file(&file, &builder.sink, now_ns);
	trace_check(&builder, now_ns);
	tp_trace_builder_release(&builder);
	tp_gpu_ring_reader_close(&file);
	return 0;
}
