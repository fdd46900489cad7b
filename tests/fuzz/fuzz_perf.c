/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of perf rings: rings with the input's bytes are merged, decoded and fed. The
 * input is a sequence of records: the first byte of each selects ring, type and length. */
#include "collect/perf/perf_dispatch.h"
#include "collect/perf/perf_ring.h"

#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { N_RINGS = 3, RING_BYTES = 4096, MAX_WORDS = 64 };

struct fake {
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[RING_BYTES];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(struct fake *fake, const void *bytes, size_t size)
{
	if (fake->page.data_head + size - fake->page.data_tail > RING_BYTES)
		return;
	for (size_t i = 0; i < size; i++)
		fake->data[(fake->page.data_head + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
	fake->page.data_head += size;
}

/* Writes a record from the input: mostly with the correct length, sometimes with any. Returns the
 * number of bytes used. */
static size_t put_record(struct fake *fakes, const uint8_t *data, size_t size)
{
	uint64_t words[MAX_WORDS + 1] = {0};
	struct perf_event_header header = {.type = data[0] % 24};
	size_t n_bytes = data[1] % MAX_WORDS * sizeof(uint64_t);
	if (n_bytes > size - 4)
		n_bytes = (size - 4) / sizeof(uint64_t) * sizeof(uint64_t);
	header.misc = (uint16_t)(data[2] | data[3] << 8);
	header.size = (uint16_t)(n_bytes + sizeof(header));
	if (data[1] > 250)
		header.size = (uint16_t)(data[2] * 7);
	memcpy(words, &header, sizeof(header));
	memcpy(words + 1, data + 4, n_bytes);
	put(&fakes[data[3] % N_RINGS], words, n_bytes + sizeof(header));
	return 4 + n_bytes;
}

static void drain(struct tp_perf_ring_merge *merge, struct tp_perf_dispatch *feed)
{
	size_t size;
	size_t ring;
	const void *record;
	tp_perf_ring_merge_refresh(merge);
	while ((record = tp_perf_ring_merge_next(merge, UINT64_MAX, &size, &ring)))
		tp_perf_dispatch_record(feed, record, size);
	tp_perf_ring_merge_consume(merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fake *fakes = calloc(N_RINGS, sizeof(*fakes));
	struct tp_host host = {.root = "/nonexistent"};
	struct tp_perf_layout layout = {.has_chain = size & 1,
					.has_stack = size & 2,
					.has_event = size & 4};
	struct tp_map listeners = {0};
	struct tp_perf_ring rings[N_RINGS];
	struct tp_perf_ring_merge merge;
	struct tp_perf_dispatch feed;
	struct tp_trace_builder sink;
	tp_trace_builder_init(&sink);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &sink.sink);
	for (size_t i = 0; i < N_RINGS; i++)
		tp_perf_ring_init(&rings[i], &fakes[i].page, fakes[i].data, RING_BYTES);
	for (size_t i = 0; i < N_RINGS; i++)
		rings[i].has_events = layout.has_event;
	tp_perf_ring_merge_init(&merge, rings, N_RINGS);
	tp_perf_dispatch_init(&feed, &host, tree, &sink.sink, &layout, 2);
	for (uint64_t id = 0; id < 4; id++)
		tp_map_set(&listeners, id, id);
	if (layout.has_event)
		feed.listeners = &listeners;
	feed.is_joining = size & 8;
	tp_perf_oncpu_enable(&feed.runs, 1);
	for (unsigned n = 1; size > 4; n++) {
		size_t used = put_record(fakes, data, size);
		data += used;
		size -= used;
		if (n % 8 == 0)
			drain(&merge, &feed);
	}
	drain(&merge, &feed);
	tp_perf_oncpu_disable(&feed.runs, 1000);
	tp_perf_dispatch_flush(&feed, 1000, true);
	tp_perf_dispatch_release(&feed);
	tp_map_release(&listeners);
	tp_perf_ring_merge_release(&merge);
	for (size_t i = 0; i < N_RINGS; i++)
		tp_perf_ring_unmap(&rings[i]);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
	free(fakes);
	return 0;
}
