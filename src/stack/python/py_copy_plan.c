/* Lays out what is read of a stack, so that what changes most is read at the shortest interval. */
#include "py_copy_plan.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORD = 8,
	/* A piece takes 0.4 us, the first ones up to 20 us more when caches are cold. */
	MAX_NS = 50000,
	MAX_NS_A_PIECE = 2000,
};

/* Single words, behind the thread state. */
enum part { PART_LINK, PART_TID, PART_CFRAME_AGAIN, PART_ENTRIES };

enum { N_PARTS = PART_ENTRIES + TP_PYCOPY_MAX_LOOKS };

void tp_pycopy_init(struct tp_pycopy *self, struct tp_pymem *mem, const struct tp_pylayout *layout)
{
	*self = (struct tp_pycopy){
		.mem = mem,
		.layout = layout,
		.thread_bytes = tp_pylayout_thread_bytes(layout),
		.frame_bytes = tp_pylayout_frame_bytes(layout),
		.loose_bytes = TP_PYCOPY_LEAD_BYTES + tp_pylayout_frame_bytes(layout),
	};
}

void tp_pycopy_release(struct tp_pycopy *self)
{
	free(self->bytes);
	free(self->pieces);
}

/* ---- what is wanted, in order ---- */

static size_t copy_size(const struct tp_pycopy *self, const struct tp_pyplan *plan)
{
	size_t size = plan->n_loose * self->loose_bytes;
	for (size_t i = 0; i < tp_pyplan_n_read(plan); i++)
		size += (size_t)tp_pyplan_read(plan, i)->size;
	return size;
}

/* What is at no address is zero. */
static void want(struct tp_pycopy *self, uint64_t address, size_t at, size_t size)
{
	if (address == 0)
		memset(self->bytes + at, 0, size);
	else
		TP_ARRAY_PUSH(self->pieces, self->n_pieces, self->pieces_capacity) =
			(struct tp_process_range){address, self->bytes + at, size};
}

static void want_loose(struct tp_pycopy *self, const struct tp_pyplan *plan, size_t copy_at,
		       size_t i)
{
	want(self, plan->loose[i] - TP_PYCOPY_LEAD_BYTES, copy_at + i * self->loose_bytes,
	     self->loose_bytes);
}

/* The outermost first: it changes least. */
static void want_first_copy(struct tp_pycopy *self, const struct tp_pyplan *plan)
{
	size_t at = self->copy_bytes;
	for (size_t i = plan->n_loose; i > 0; i--)
		want_loose(self, plan, 0, i - 1);
	for (size_t i = tp_pyplan_n_read(plan); i > 0; i--) {
		const struct tp_pyplan_chunk *chunk = tp_pyplan_read(plan, i - 1);
		at -= (size_t)chunk->size;
		want(self, chunk->address, at, (size_t)chunk->size);
	}
}

/* The other way round. */
static void want_second_copy(struct tp_pycopy *self, const struct tp_pyplan *plan)
{
	size_t at = self->second_at + plan->n_loose * self->loose_bytes;
	for (size_t i = 0; i < tp_pyplan_n_read(plan); i++) {
		const struct tp_pyplan_chunk *chunk = tp_pyplan_read(plan, i);
		want(self, chunk->address, at, (size_t)chunk->size);
		at += (size_t)chunk->size;
	}
	for (size_t i = 0; i < plan->n_loose; i++)
		want_loose(self, plan, self->second_at, i);
}

static void want_part(struct tp_pycopy *self, uint64_t address, size_t part, size_t size)
{
	want(self, address, self->state_at + self->thread_bytes + WORD * part, size);
}

static void want_state(struct tp_pycopy *self, const struct tp_pycopy_thread *thread)
{
	want_part(self, thread->link, PART_LINK, WORD);
	want_part(self, thread->tid_address, PART_TID, sizeof(uint32_t));
	want(self, thread->state, self->state_at, self->thread_bytes);
}

static void want_entry(struct tp_pycopy *self, const struct tp_pycopy_thread *thread, size_t look)
{
	uint64_t cframe = thread->plan.cframe;
	uint64_t address = thread->state + self->layout->thread_frame;
	if (self->layout->thread_cframe)
		address = cframe ? cframe + self->layout->cframe_frame : 0;
	want_part(self, address, PART_ENTRIES + look, WORD);
}

/* Entry, chunk, entry, chunk, …, entry. */
static void want_looks(struct tp_pycopy *self, const struct tp_pycopy_thread *thread)
{
	for (size_t look = 0; look < self->n_looks; look++) {
		if (look > 0)
			want(self, thread->plan.chunks[0].address,
			     self->looks_at + (look - 1) * self->newest_bytes, self->newest_bytes);
		want_entry(self, thread, look);
	}
}

static void lay_out(struct tp_pycopy *self, const struct tp_pyplan *plan, size_t n_looks)
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

enum tp_pycopy_outcome tp_pycopy_read(struct tp_pycopy *self, const struct tp_pycopy_thread *thread,
				      size_t n_looks)
{
	lay_out(self, &thread->plan, n_looks);
	want_state(self, thread);
	want_first_copy(self, &thread->plan);
	want_looks(self, thread);
	want_second_copy(self, &thread->plan);
	/* From 3.11 to 3.12 it takes two steps to the innermost frame, and the first of them has to
	 * have held while the second was read. */
	if (self->layout->thread_cframe)
		want_part(self, thread->state + self->layout->thread_cframe, PART_CFRAME_AGAIN,
			  WORD);
	uint64_t begin_ns = tp_pymem_now_ns(self->mem);
	if (self->mem->read(self->mem, self->pieces, self->n_pieces) != self->n_pieces)
		return TP_PYCOPY_UNREADABLE;
	/* Whoever loses the CPU in between sees two stacks milliseconds apart, and a loop may have
	 * come round to the same place. */
	uint64_t took_ns = tp_pymem_now_ns(self->mem) - begin_ns;
	bool is_slow = took_ns > MAX_NS + MAX_NS_A_PIECE * (uint64_t)self->n_pieces;
	return is_slow ? TP_PYCOPY_SLOW : TP_PYCOPY_READ;
}

/* ---- what was read ---- */

uint64_t tp_pycopy_state_word(const struct tp_pycopy *self, uint32_t offset)
{
	return tp_pymem_u64(self->bytes + self->state_at + offset);
}

static const uint8_t *part(const struct tp_pycopy *self, size_t part)
{
	return self->bytes + self->state_at + self->thread_bytes + WORD * part;
}

uint64_t tp_pycopy_link(const struct tp_pycopy *self)
{
	return tp_pymem_u64(part(self, PART_LINK));
}

uint32_t tp_pycopy_tid(const struct tp_pycopy *self)
{
	return tp_pymem_u32(part(self, PART_TID));
}

uint64_t tp_pycopy_cframe_again(const struct tp_pycopy *self)
{
	return tp_pymem_u64(part(self, PART_CFRAME_AGAIN));
}

uint64_t tp_pycopy_entry(const struct tp_pycopy *self, size_t look)
{
	return tp_pymem_u64(part(self, PART_ENTRIES + look));
}

const uint8_t *tp_pycopy_chunk(const struct tp_pycopy *self, const struct tp_pyplan *plan, size_t i)
{
	size_t at = plan->n_loose * self->loose_bytes;
	for (size_t k = 0; k < i; k++)
		at += (size_t)tp_pyplan_read(plan, k)->size;
	return self->bytes + at;
}

static void find_newest(const struct tp_pycopy *self, size_t look, struct tp_pycopy_pair *out)
{
	if (look > 0)
		out->before = self->bytes + self->looks_at + (look - 1) * self->newest_bytes;
	if (look + 1 < self->n_looks)
		out->after = self->bytes + self->looks_at + look * self->newest_bytes;
}

bool tp_pycopy_find(const struct tp_pycopy *self, const struct tp_pyplan *plan, size_t look,
		    uint64_t address, struct tp_pycopy_pair *out)
{
	for (size_t i = 0; i < tp_pyplan_n_read(plan); i++) {
		const struct tp_pyplan_chunk *chunk = tp_pyplan_read(plan, i);
		uint64_t inside = address - chunk->address;
		if (address < chunk->address || inside < self->layout->chunk_data ||
		    inside >= chunk->size || self->frame_bytes > chunk->size - inside)
			continue;
		out->before = tp_pycopy_chunk(self, plan, i);
		out->after = out->before + self->second_at;
		if (i == 0)
			find_newest(self, look, out);
		out->rank = (uint64_t)(tp_pyplan_n_read(plan) - i) << 32 | inside;
		out->before += inside;
		out->after += inside;
		return true;
	}
	return false;
}

void tp_pycopy_loose(const struct tp_pycopy *self, size_t k, struct tp_pycopy_pair *out)
{
	out->before = self->bytes + k * self->loose_bytes + TP_PYCOPY_LEAD_BYTES;
	out->after = out->before + self->second_at;
}
