/* SPDX-License-Identifier: Apache-2.0 */
/* Converts CUPTI's records to events of the ring. */
#include "cupti_decode.h"

#include <stddef.h>

void tp_cupti_decoder_init(struct tp_cupti_decoder *decoder, struct tp_ring_writer *ring)
{
	decoder->ring = ring;
	decoder->names.ring = ring;
	decoder->places.ring = ring;
}

/* The record's own fields, whatever type it was declared with. */
static const void *as_record(const struct cupti_record *record)
{
	return record;
}

static uint64_t limit_to(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* Converts times from CUPTI's clock. Returns false, and counts the record, if it has no times. */
static bool set_times(struct tp_cupti_decoder *decoder, struct tp_gpu_event *event, uint64_t start,
		      uint64_t end)
{
	if (start == 0 || end < start) {
		decoder->ring->header->n_untimed++;
		return false;
	}
	event->t0 = start;
	uint64_t took = end - start;
	if (took > UINT32_MAX) {
		took = limit_to(took / 1000, UINT32_MAX);
		event->flags |= TP_GPU_FLAG_LONG;
	}
	event->dur = (uint32_t)took;
	return true;
}

static void set_node(struct tp_gpu_event *out, const struct tp_gpu_event *of, uint64_t node,
		     uint32_t graph)
{
	*out = (struct tp_gpu_event){
		.type = TP_GPU_EVENT_NODE,
		.id = graph,
		.t0 = of->t0,
		.link = of->link,
		.x = node,
	};
}

/* Appends the event, and a second one with its node if it belongs to a graph. Only few events do,
 * so the others carry no field for it. */
static void append_event(struct tp_cupti_decoder *decoder, const struct tp_gpu_event *event,
			 uint64_t node, uint32_t graph)
{
	if (!node) {
		tp_ring_writer_append(decoder->ring, event, 1);
		return;
	}
	struct tp_gpu_event events[2] = {*event};
	set_node(&events[1], event, node, graph);
	tp_ring_writer_append(decoder->ring, events, 2);
}

static uint64_t size_of_launch(const struct cupti_kernel *kernel)
{
	uint64_t blocks = 1;
	uint64_t threads = 1;
	for (int i = 0; i < 3; i++) {
		/* Each factor is at most 2^31, so the product of a limited value and a factor fits
		 * into 64 bits. */
		blocks = limit_to(blocks * (uint32_t)kernel->grid[i], UINT32_MAX);
		threads = limit_to(threads * (uint32_t)kernel->block[i], UINT16_MAX);
	}
	return blocks | threads << 32 | (uint64_t)kernel->registers << 48;
}

static void decode_kernel(struct tp_cupti_decoder *decoder, const struct cupti_kernel *kernel)
{
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_KERNEL, .link = kernel->correlation};
	if (!set_times(decoder, &event, kernel->start, kernel->end))
		return;
	event.place = tp_place_table_number(&decoder->places, kernel->device, kernel->context,
					    kernel->stream);
	event.id = tp_name_table_id(&decoder->names, kernel->name);
	event.x = size_of_launch(kernel);
	append_event(decoder, &event, kernel->graph_node, kernel->graph);
}

static uint32_t copy_id(uint8_t kind, uint8_t from, uint8_t to)
{
	return kind | (uint32_t)from << 8 | (uint32_t)to << 16;
}

/*
 * Records of copies between two GPUs start with the fields of all copies. False: it has no times.
 */
static bool set_copy(struct tp_cupti_decoder *decoder, struct tp_gpu_event *event,
		     const struct cupti_memcpy *copy)
{
	if (!set_times(decoder, event, copy->start, copy->end))
		return false;
	event->type = TP_GPU_EVENT_COPY;
	event->place =
		tp_place_table_number(&decoder->places, copy->device, copy->context, copy->stream);
	event->flags |= copy->flags & CUPTI_COPY_ASYNC ? TP_GPU_FLAG_ASYNC : 0;
	event->id = copy_id(copy->copy_kind, copy->from, copy->to);
	event->x = copy->bytes;
	return true;
}
_Static_assert(offsetof(struct cupti_memcpy2, bytes) == offsetof(struct cupti_memcpy, bytes) &&
		       offsetof(struct cupti_memcpy2, stream) ==
			       offsetof(struct cupti_memcpy, stream),
	       "how copies begin");

static void decode_memcpy(struct tp_cupti_decoder *decoder, const struct cupti_memcpy *copy)
{
	struct tp_gpu_event event = {.link = copy->correlation};
	if (set_copy(decoder, &event, copy))
		append_event(decoder, &event, copy->graph_node, copy->graph);
}

static void decode_memcpy2(struct tp_cupti_decoder *decoder, const struct cupti_record *record)
{
	const struct cupti_memcpy2 *copy = as_record(record);
	struct tp_gpu_event events[3] = {{.link = copy->correlation}};
	if (!set_copy(decoder, &events[0], as_record(record)))
		return;
	events[1] = (struct tp_gpu_event){
		.type = TP_GPU_EVENT_PEER,
		.id = copy->from_device,
		.t0 = events[0].t0,
		.link = copy->correlation,
		.x = copy->to_device,
	};
	set_node(&events[2], &events[0], copy->graph_node, copy->graph);
	tp_ring_writer_append(decoder->ring, events, copy->graph_node ? 3 : 2);
}

static void decode_memset(struct tp_cupti_decoder *decoder, const struct cupti_memset *set)
{
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_SET, .link = set->correlation};
	if (!set_times(decoder, &event, set->start, set->end))
		return;
	event.place =
		tp_place_table_number(&decoder->places, set->device, set->context, set->stream);
	event.flags |= set->flags & CUPTI_COPY_ASYNC ? TP_GPU_FLAG_ASYNC : 0;
	event.id = copy_id(0, 0, (uint8_t)set->memory);
	event.x = set->bytes;
	append_event(decoder, &event, set->graph_node, set->graph);
}

static void decode_call(struct tp_cupti_decoder *decoder, const struct cupti_call *call, int domain)
{
	uint8_t class =
		call->cbid < TP_CALL_NAMES_MAX ? decoder->calls.does[domain][call->cbid] : 0;
	if (!tp_call_names_is_recorded(class)) {
		decoder->ring->header->n_ignored++;
		return;
	}
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_CALL,
		.flags = decoder->thread_flag,
		.place = class,
		.id = decoder->calls.name[domain][call->cbid],
		.link = call->correlation,
		.x = call->thread | (uint64_t)call->returned << 32,
	};
	if (domain == CUPTI_DOMAIN_DRIVER)
		event.flags |= TP_GPU_FLAG_DRIVER;
	if (set_times(decoder, &event, call->start, call->end))
		tp_ring_writer_append(decoder->ring, &event, 1);
}

static void decode_sync(struct tp_cupti_decoder *decoder, const struct cupti_sync *sync)
{
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_SYNC,
		.id = sync->type,
		.link = sync->correlation,
		.x = sync->event == UINT32_MAX ? 0 : sync->event,
	};
	if (!set_times(decoder, &event, sync->start, sync->end))
		return;
	/* The record has no device number; the context determines it. */
	event.place =
		tp_place_table_number(&decoder->places, UINT32_MAX, sync->context, sync->stream);
	tp_ring_writer_append(decoder->ring, &event, 1);
}

static uint32_t overhead_kind(uint32_t kind)
{
	static const uint8_t kinds[] = {
		TP_GPU_OVERHEAD_OTHER,        TP_GPU_OVERHEAD_FLUSH,
		TP_GPU_OVERHEAD_INSTRUMENT,   TP_GPU_OVERHEAD_RESOURCE,
		TP_GPU_OVERHEAD_MODULE_LOAD,  TP_GPU_OVERHEAD_LAZY_LOAD,
		TP_GPU_OVERHEAD_QUEUE_FULL,   TP_GPU_OVERHEAD_BUFFER,
		TP_GPU_OVERHEAD_MANAGED_INIT,
	};
	if (kind == 1)
		return TP_GPU_OVERHEAD_COMPILER;
	return kind % 65536 == 0 && kind >> 16 < sizeof(kinds) ? kinds[kind >> 16] : 0;
}

static void decode_overhead(struct tp_cupti_decoder *decoder, const struct cupti_overhead *overhead)
{
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_OVERHEAD,
		.flags = decoder->thread_flag,
		.id = overhead_kind(overhead->overhead),
		.x = overhead->object == CUPTI_OBJECT_THREAD ? overhead->object_thread : 0,
	};
	if (set_times(decoder, &event, overhead->start, overhead->end))
		tp_ring_writer_append(decoder->ring, &event, 1);
}

void tp_cupti_decode_begin(struct tp_cupti_decoder *decoder)
{
	tp_name_table_mark_stale(&decoder->names);
}

void tp_cupti_decode(struct tp_cupti_decoder *decoder, const struct cupti_record *record)
{
	decoder->ring->header->n_records++;
	switch (record->kind) {
	case CUPTI_KERNEL:
	case CUPTI_CONCURRENT_KERNEL:
		decode_kernel(decoder, as_record(record));
		break;
	case CUPTI_MEMCPY:
		decode_memcpy(decoder, as_record(record));
		break;
	case CUPTI_MEMCPY2:
		decode_memcpy2(decoder, record);
		break;
	case CUPTI_MEMSET:
		decode_memset(decoder, as_record(record));
		break;
	case CUPTI_DRIVER:
		decode_call(decoder, as_record(record), CUPTI_DOMAIN_DRIVER);
		break;
	case CUPTI_RUNTIME:
		decode_call(decoder, as_record(record), CUPTI_DOMAIN_RUNTIME);
		break;
	case CUPTI_SYNCHRONIZATION:
		decode_sync(decoder, as_record(record));
		break;
	case CUPTI_OVERHEAD:
		decode_overhead(decoder, as_record(record));
		break;
	default:
		decoder->ring->header->n_unknown++;
	}
}
