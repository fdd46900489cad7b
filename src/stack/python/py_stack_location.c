/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps, for each thread, the addresses of its stack. */
#include "py_stack_location.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_CHUNKS = 4096,         /* 64 MiB of frames */
	MAX_CHUNK_BYTES = 1 << 20, /* a chunk is larger than 16 KiB only if a single frame is */
	SLACK_BYTES = 1024,        /* the stack may have grown since */
	PEAK_READINGS = 128,       /* before less is read: loops come back to their depths */
	CHUNK_HEAD_BYTES = 64,
};

void tp_py_stack_location_clear(struct tp_py_stack_location *plan)
{
	plan->cframe = 0;
	plan->n_chunks = 0;
	plan->peak_bytes = plan->n_peaks = 0;
	plan->n_loose = 0;
	plan->n_outer = 0;
}

void tp_py_stack_location_release(struct tp_py_stack_location *plan)
{
	free(plan->chunks);
	*plan = (struct tp_py_stack_location){0};
}

bool tp_py_stack_location_is_partial(const struct tp_py_stack_location *plan)
{
	return plan->n_chunks > TP_PY_STACK_LOCATION_CHUNKS;
}

size_t tp_py_stack_location_n_read(const struct tp_py_stack_location *plan)
{
	return tp_py_stack_location_is_partial(plan) ? TP_PY_STACK_LOCATION_CHUNKS : plan->n_chunks;
}

const struct tp_py_stack_location_chunk *
tp_py_stack_location_read(const struct tp_py_stack_location *plan, size_t i)
{
	if (tp_py_stack_location_is_partial(plan) && i >= TP_PY_STACK_LOCATION_INNER_CHUNKS)
		i += plan->n_chunks - TP_PY_STACK_LOCATION_CHUNKS;
	return &plan->chunks[i];
}

static uint64_t limited(uint64_t size, uint64_t limit)
{
	return size < limit ? size : limit;
}

static uint64_t top_chunk_size(uint64_t address, const struct tp_py_layout *layout, uint64_t size,
			       uint64_t top)
{
	uint64_t used = top > address && top - address < size ? top - address : 0;
	return limited(limited(layout->chunk_data + used + SLACK_BYTES, size), MAX_CHUNK_BYTES);
}

bool tp_py_stack_location_fit_top(struct tp_py_stack_location *plan,
				  const struct tp_py_layout *layout, uint64_t size, uint64_t top)
{
	struct tp_py_stack_location_chunk *newest = &plan->chunks[0];
	uint64_t needed = top_chunk_size(newest->address, layout, size, top);
	if (needed > newest->size && top > newest->address + newest->size) {
		newest->size = needed;
		return false;
	}
	plan->peak_bytes = needed > plan->peak_bytes ? needed : plan->peak_bytes;
	plan->n_peaks++;
	return true;
}

void tp_py_stack_location_shrink(struct tp_py_stack_location *plan)
{
	if (plan->n_peaks < PEAK_READINGS || plan->n_chunks == 0)
		return;
	/* The rest of the last page costs little, and the stack may grow into it. */
	struct tp_py_stack_location_chunk *newest = &plan->chunks[0];
	uint64_t last = newest->address + plan->peak_bytes + SLACK_BYTES;
	uint64_t page_end =
		last / TP_PROCESS_MEMORY_PAGE * TP_PROCESS_MEMORY_PAGE + TP_PROCESS_MEMORY_PAGE;
	newest->size = limited(newest->size, page_end - newest->address);
	plan->peak_bytes = plan->n_peaks = 0;
}

struct chunk_head {
	uint64_t previous;
	struct tp_py_stack_location_chunk chunk;
};

/* `top` is the thread's top for the newest chunk, else 0: a full chunk has its own top. */
static bool read_head(struct chunk_head *out, struct tp_py_memory *mem,
		      const struct tp_py_layout *layout, uint64_t address, uint64_t top)
{
	uint8_t head[CHUNK_HEAD_BYTES];
	if (layout->chunk_data > sizeof(head) ||
	    !tp_py_memory_get(mem, address, head, layout->chunk_data))
		return false;
	uint64_t size = tp_py_memory_u64(head + layout->chunk_size);
	uint64_t n_used = limited(tp_py_memory_u64(head + layout->chunk_top), MAX_CHUNK_BYTES);
	if (size < layout->chunk_data)
		return false;
	out->previous = tp_py_memory_u64(head + layout->chunk_previous);
	out->chunk.address = address;
	out->chunk.size =
		top ? top_chunk_size(address, layout, size, top)
		    : limited(limited(layout->chunk_data + 8 * n_used, size), MAX_CHUNK_BYTES);
	return true;
}

static size_t find_chunk(const struct tp_py_stack_location *plan, uint64_t address)
{
	size_t i = 0;
	while (i < plan->n_chunks && plan->chunks[i].address != address)
		i++;
	return i;
}

/* The chunk that was the newest one has been filled since: its head says up to where. */
bool tp_py_stack_location_follow_chunks(struct tp_py_stack_location *plan, struct tp_py_memory *mem,
					const struct tp_py_layout *layout, uint64_t address,
					uint64_t top)
{
	struct tp_py_stack_location_chunk *fresh = NULL;
	size_t n = 0;
	size_t capacity = 0;
	struct chunk_head head = {.previous = address};
	size_t known = plan->n_chunks;
	bool is_sane = true;
	do {
		is_sane = n < MAX_CHUNKS && read_head(&head, mem, layout, head.previous, top);
		if (!is_sane)
			break;
		TP_ARRAY_PUSH(fresh, n, capacity) = head.chunk;
		top = 0;
		known = find_chunk(plan, head.previous);
	} while (head.previous != 0 && (known == plan->n_chunks || known == 0));
	for (; is_sane && known < plan->n_chunks; known++)
		TP_ARRAY_PUSH(fresh, n, capacity) = plan->chunks[known];
	if (!is_sane)
		n = 0;
	free(plan->chunks);
	plan->chunks = fresh;
	plan->n_chunks = n;
	plan->peak_bytes = plan->n_peaks = 0;
	plan->chunks_capacity = capacity;
	return is_sane;
}
