/* SPDX-License-Identifier: Apache-2.0 */
/* Follows pointers from a frame to the entries of its globals, and caches the path. */
#include "py_globals.h"

enum {
	WORD = 8,
	HEAD_BYTES = 40,  /* of a table, up to its indices */
	KIND_GENERAL = 0, /* from 3.11 on: entries of hash, key, value */
	KIND_UNICODE = 1, /* entries of key, value; older versions have only general entries */
	MAX_LOG_BYTES = 28,
};

/* The pointers that lead to the entries; reading them again shows whether the entries are still the
 * same. */
struct globals_way {
	uint64_t globals;
	uint64_t locals;
	uint64_t table;
	uint64_t values; /* not 0: the values are stored elsewhere, as for objects */
	uint8_t head[HEAD_BYTES];
};

static size_t chunks_of(struct globals_way *way, const struct tp_py_layout *layout, uint64_t frame,
			uint64_t dictionary, uint64_t table, struct tp_process_range out[5])
{
	out[0] = (struct tp_process_range){frame + layout->frame_globals, &way->globals, WORD};
	out[1] = (struct tp_process_range){frame + layout->frame_locals, &way->locals, WORD};
	out[2] = (struct tp_process_range){dictionary + layout->dict_keys, &way->table, WORD};
	out[3] = (struct tp_process_range){dictionary + layout->dict_values, &way->values, WORD};
	out[4] = (struct tp_process_range){table, way->head, HEAD_BYTES};
	return 5;
}

uint64_t tp_py_globals_index_bytes(const struct tp_py_layout *layout, const uint8_t *head)
{
	if (layout->keys_log_bytes) {
		unsigned log_bytes = head[layout->keys_log_bytes];
		return log_bytes <= MAX_LOG_BYTES ? UINT64_C(1) << log_bytes : 0;
	}
	uint64_t size = tp_py_memory_u64(head + layout->keys_size);
	unsigned width = size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4;
	return size <= UINT64_C(1) << MAX_LOG_BYTES ? size * width : 0;
}

static uint64_t shape_of(const struct tp_py_layout *layout, const uint8_t *head)
{
	unsigned kind = layout->keys_kind ? head[layout->keys_kind] : KIND_GENERAL;
	return tp_py_globals_index_bytes(layout, head) << 8 | kind;
}

static bool read_head(struct tp_py_globals *self, const struct tp_py_layout *layout,
		      const uint8_t *head)
{
	uint64_t n_indices = tp_py_globals_index_bytes(layout, head);
	uint64_t n = tp_py_memory_u64(head + layout->keys_n_entries);
	unsigned kind = layout->keys_kind ? head[layout->keys_kind] : KIND_GENERAL;
	if (n_indices == 0 || n > n_indices || kind > KIND_UNICODE)
		return false;
	uint64_t first = n > TP_PY_GLOBALS_MAX ? n - TP_PY_GLOBALS_MAX : 0;
	self->shape = shape_of(layout, head);
	self->key_at = kind == KIND_UNICODE ? 0 : WORD;
	self->entry_bytes = self->key_at + 2 * (size_t)WORD;
	self->n = (size_t)(n - first);
	self->address = self->table + layout->keys_indices + n_indices + first * self->entry_bytes;
	return true;
}

/* Makes four calls. */
static bool walk(struct tp_py_globals *self, struct tp_py_memory *mem,
		 const struct tp_py_layout *layout, uint64_t frame)
{
	struct globals_way way;
	struct tp_process_range pieces[5];
	*self = (struct tp_py_globals){.frame = frame};
	chunks_of(&way, layout, frame, 0, 0, pieces);
	if (mem->read(mem, pieces, 2) != 2 || way.globals == 0 || way.globals != way.locals)
		return false;
	chunks_of(&way, layout, frame, way.globals, 0, pieces);
	if (mem->read(mem, pieces + 2, 2) != 2 || way.table == 0 || way.values != 0)
		return false;
	chunks_of(&way, layout, frame, way.globals, way.table, pieces);
	self->table = way.table;
	if (mem->read(mem, pieces + 4, 1) != 1 || !read_head(self, layout, way.head))
		return false;
	self->dictionary = way.globals;
	return true;
}

/* Makes one call; returns true if the path is still the cached one. */
static bool read_entries(struct tp_py_globals *self, struct tp_py_memory *mem,
			 const struct tp_py_layout *layout, void *out)
{
	struct globals_way way;
	struct tp_process_range pieces[6];
	size_t n = chunks_of(&way, layout, self->frame, self->dictionary, self->table, pieces);
	pieces[n++] = (struct tp_process_range){self->address, out, self->n * self->entry_bytes};
	if (mem->read(mem, pieces, n) != n)
		return false;
	size_t n_before = self->n;
	uint64_t address = self->address;
	return way.globals == self->dictionary && way.locals == self->dictionary &&
	       way.table == self->table && way.values == 0 &&
	       shape_of(layout, way.head) == self->shape && read_head(self, layout, way.head) &&
	       self->n == n_before && self->address == address;
}

bool tp_py_globals_read(struct tp_py_globals *self, struct tp_py_memory *mem,
			const struct tp_py_layout *layout, uint64_t frame, uint8_t *out)
{
	if (self->frame == frame && self->dictionary && read_entries(self, mem, layout, out))
		return true;
	return walk(self, mem, layout, frame) && read_entries(self, mem, layout, out);
}
