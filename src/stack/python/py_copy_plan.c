/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out the reads of a stack so that the parts that change most are read at the shortest
 * interval. */
#include "py_copy_plan.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORD = 8,
	/* A piece takes 0.4 us, the first ones up to 20 us more when caches are cold. */
	MAX_NS = 50000,
	MAX_NS_PER_CHUNK = 2000,
};

/* Single words, stored after the thread state. */
enum copy_part { PART_LINK, PART_TID, PART_CFRAME_SECOND, PART_ENTRIES };

enum { N_PARTS = PART_ENTRIES + TP_PY_COPY_MAX_SNAPSHOTS };

void tp_py_copy_init(struct tp_py_copy *self, struct tp_py_memory *mem,
		     const struct tp_py_layout *layout)
{
	*self = (struct tp_py_copy){
		.mem = mem,
		.layout = layout,
		.thread_bytes = tp_py_layout_thread_bytes(layout),
		.frame_bytes = tp_py_layout_frame_bytes(layout),
		.loose_bytes = TP_PY_COPY_PREFIX_BYTES + tp_py_layout_frame_bytes(layout),
	};
}

void tp_py_copy_release(struct tp_py_copy *self)
{
	free(self->bytes);
	free(self->pieces);
}

/* ---- pieces to read, in order ------------------------------------------------------------- */

static size_t copy_size(const struct tp_py_copy *self, const struct tp_py_stack_location *plan)
{
	size_t size = plan->n_loose * self->loose_bytes;
	for (size_t i = 0; i < tp_py_stack_location_n_read(plan); i++)
		size += (size_t)tp_py_stack_location_read(plan, i)->size;
	return size;
}

/* A part without address is zero. */
static void add_read(struct tp_py_copy *self, uint64_t address, size_t at, size_t size)
{
	if (address == 0)
		memset(self->bytes + at, 0, size);
	else
		TP_ARRAY_PUSH(self->pieces, self->n_pieces, self->pieces_capacity) =
			(struct tp_process_range){address, self->bytes + at, size};
}

static void add_loose(struct tp_py_copy *self, const struct tp_py_stack_location *plan,
		      size_t copy_at, size_t i)
{
	add_read(self, plan->loose[i] - TP_PY_COPY_PREFIX_BYTES, copy_at + i * self->loose_bytes,
		 self->loose_bytes);
}

/* The outermost part first: it changes least. */
static void add_first_copy(struct tp_py_copy *self, const struct tp_py_stack_location *plan)
{
	size_t at = self->copy_bytes;
	for (size_t i = plan->n_loose; i > 0; i--)
		add_loose(self, plan, 0, i - 1);
	for (size_t i = tp_py_stack_location_n_read(plan); i > 0; i--) {
		const struct tp_py_stack_location_chunk *chunk =
			tp_py_stack_location_read(plan, i - 1);
		at -= (size_t)chunk->size;
		add_read(self, chunk->address, at, (size_t)chunk->size);
	}
}

/* In reverse order. */
static void add_second_copy(struct tp_py_copy *self, const struct tp_py_stack_location *plan)
{
	size_t at = self->second_at + plan->n_loose * self->loose_bytes;
	for (size_t i = 0; i < tp_py_stack_location_n_read(plan); i++) {
		const struct tp_py_stack_location_chunk *chunk = tp_py_stack_location_read(plan, i);
		add_read(self, chunk->address, at, (size_t)chunk->size);
		self->chunks[i] =
			(struct tp_py_copy_chunk){chunk->address, (size_t)chunk->size, at};
		at += (size_t)chunk->size;
	}
	for (size_t i = 0; i < plan->n_loose; i++)
		add_loose(self, plan, self->second_at, i);
}

static void add_part(struct tp_py_copy *self, uint64_t address, size_t part, size_t size)
{
	add_read(self, address, self->state_at + self->thread_bytes + WORD * part, size);
}

static void add_state(struct tp_py_copy *self, const struct tp_py_copy_thread *thread)
{
	add_part(self, thread->link, PART_LINK, WORD);
	add_part(self, thread->tid_address, PART_TID, sizeof(uint32_t));
	add_read(self, thread->state, self->state_at, self->thread_bytes);
}

static void add_entry(struct tp_py_copy *self, const struct tp_py_copy_thread *thread, size_t look)
{
	uint64_t cframe = thread->plan.cframe;
	uint64_t address = thread->state + self->layout->thread_frame;
	if (self->layout->thread_cframe)
		address = cframe ? cframe + self->layout->cframe_frame : 0;
	add_part(self, address, PART_ENTRIES + look, WORD);
}

/* Entry, chunk, entry, chunk, …, entry. */
static void add_snapshots(struct tp_py_copy *self, const struct tp_py_copy_thread *thread)
{
	for (size_t look = 0; look < self->n_looks; look++) {
		if (look > 0)
			add_read(self, thread->plan.chunks[0].address,
				 self->looks_at + (look - 1) * self->newest_bytes,
				 self->newest_bytes);
		add_entry(self, thread, look);
	}
}

static void build_plan(struct tp_py_copy *self, const struct tp_py_stack_location *plan,
		       size_t n_looks)
{
	self->n_looks = plan->n_chunks > 0 ? n_looks : 1;
	self->newest_bytes = plan->n_chunks > 0 ? (size_t)plan->chunks[0].size : 0;
	self->copy_bytes = copy_size(self, plan);
	self->state_at = self->copy_bytes;
	self->second_at = self->state_at + self->thread_bytes + (size_t)WORD * N_PARTS;
	self->looks_at = self->second_at + self->copy_bytes;
	size_t size = self->looks_at + (self->n_looks - 1) * self->newest_bytes;
	if (size > self->bytes_capacity) {
		free(self->bytes);
		self->bytes = tp_alloc(2 * size);
		self->bytes_capacity = 2 * size;
	}
	self->n_pieces = 0;
}

enum tp_py_copy_outcome tp_py_copy_read(struct tp_py_copy *self,
					const struct tp_py_copy_thread *thread, size_t n_looks)
{
	build_plan(self, &thread->plan, n_looks);
	add_state(self, thread);
	add_first_copy(self, &thread->plan);
	add_snapshots(self, thread);
	add_second_copy(self, &thread->plan);
	/* From 3.11 to 3.12 the innermost frame is found in two steps, and the first pointer must
	 * not have changed while the second was read. */
	if (self->layout->thread_cframe)
		add_part(self, thread->state + self->layout->thread_cframe, PART_CFRAME_SECOND,
			 WORD);
	self->n_chunks = 0;
	uint64_t begin_ns = tp_py_memory_now_ns(self->mem);
	if (self->mem->read(self->mem, self->pieces, self->n_pieces) != self->n_pieces)
		return TP_PY_COPY_UNREADABLE;
	self->n_chunks = tp_py_stack_location_n_read(&thread->plan);
	/* If the caller loses the CPU in between, the two copies are milliseconds apart, and a loop
	 * may have returned to the same place. */
	uint64_t took_ns = tp_py_memory_now_ns(self->mem) - begin_ns;
	bool is_slow = took_ns > MAX_NS + MAX_NS_PER_CHUNK * (uint64_t)self->n_pieces;
	return is_slow ? TP_PY_COPY_SLOW : TP_PY_COPY_READ;
}

/* ---- results of the read ------------------------------------------------------------------- */

uint64_t tp_py_copy_state_word(const struct tp_py_copy *self, uint32_t offset)
{
	return tp_py_memory_u64(self->bytes + self->state_at + offset);
}

static const uint8_t *part(const struct tp_py_copy *self, size_t part)
{
	return self->bytes + self->state_at + self->thread_bytes + WORD * part;
}

uint64_t tp_py_copy_link(const struct tp_py_copy *self)
{
	return tp_py_memory_u64(part(self, PART_LINK));
}

uint32_t tp_py_copy_tid(const struct tp_py_copy *self)
{
	return tp_py_memory_u32(part(self, PART_TID));
}

uint64_t tp_py_copy_second_frame_ptr(const struct tp_py_copy *self)
{
	return tp_py_memory_u64(part(self, PART_CFRAME_SECOND));
}

uint64_t tp_py_copy_entry(const struct tp_py_copy *self, size_t look)
{
	return tp_py_memory_u64(part(self, PART_ENTRIES + look));
}

const uint8_t *tp_py_copy_chunk(const struct tp_py_copy *self,
				const struct tp_py_stack_location *plan, size_t i)
{
	size_t at = plan->n_loose * self->loose_bytes;
	for (size_t k = 0; k < i; k++)
		at += (size_t)tp_py_stack_location_read(plan, k)->size;
	return self->bytes + at;
}

static void find_in_top(const struct tp_py_copy *self, size_t look, struct tp_py_copy_pair *out)
{
	if (look > 0)
		out->before = self->bytes + self->looks_at + (look - 1) * self->newest_bytes;
	if (look + 1 < self->n_looks)
		out->after = self->bytes + self->looks_at + look * self->newest_bytes;
}

bool tp_py_copy_find(const struct tp_py_copy *self, const struct tp_py_stack_location *plan,
		     size_t look, uint64_t address, struct tp_py_copy_pair *out)
{
	for (size_t i = 0; i < tp_py_stack_location_n_read(plan); i++) {
		const struct tp_py_stack_location_chunk *chunk = tp_py_stack_location_read(plan, i);
		uint64_t inside = address - chunk->address;
		if (address < chunk->address || inside < self->layout->chunk_data ||
		    inside >= chunk->size || self->frame_bytes > chunk->size - inside)
			continue;
		out->before = tp_py_copy_chunk(self, plan, i);
		out->after = out->before + self->second_at;
		if (i == 0)
			find_in_top(self, look, out);
		out->rank = (uint64_t)(tp_py_stack_location_n_read(plan) - i) << 32 | inside;
		out->before += inside;
		out->after += inside;
		return true;
	}
	return false;
}

const uint8_t *tp_py_copy_latest(const struct tp_py_copy *self, uint64_t address, size_t size)
{
	for (size_t i = 0; i < self->n_chunks; i++) {
		const struct tp_py_copy_chunk *chunk = &self->chunks[i];
		uint64_t inside = address - chunk->address;
		if (address >= chunk->address && inside <= chunk->size &&
		    size <= chunk->size - inside)
			return self->bytes + chunk->at + inside;
	}
	return NULL;
}

void tp_py_copy_loose(const struct tp_py_copy *self, size_t k, struct tp_py_copy_pair *out)
{
	out->before = self->bytes + k * self->loose_bytes + TP_PY_COPY_PREFIX_BYTES;
	out->after = out->before + self->second_at;
}
