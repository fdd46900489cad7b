/* SPDX-License-Identifier: Apache-2.0 */
/* Reads code objects and caches them. */
#include "py_code.h"

#include "py_text.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Some programs create functions all the time: above this number the cache is emptied. */
	MAX_ITEMS = 65536,
	MAX_TEXT_BYTES = 64 << 20,
	MAX_LINES_BYTES = 1 << 20,
	/* co_flags: CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR; the same
	 * since 3.6. */
	YIELDS = 0x20 | 0x80 | 0x100 | 0x200,
	/* CO_OPTIMIZED, CO_NEWLOCALS: set for functions. */
	FUNCTION = 0x1 | 0x2,
};

/* Functions of a program stay at their address: one that was unchanged for this time is compared
 * with memory only now and then, the older the rarer. Objects that are created and freed all the
 * time do not get that old. */
#define OLD_NS       TP_NS_PER_S
#define CHECK_MAX_NS TP_NS_PER_S

enum { AGES_PER_CHECK = 10 };

void tp_py_code_cache_init(struct tp_py_code_cache *cache, struct tp_py_memory *mem,
			   const struct tp_py_layout *layout)
{
	*cache = (struct tp_py_code_cache){
		.mem = mem,
		.layout = layout,
		.head_bytes = tp_py_layout_code_bytes(layout),
	};
	tp_strtab_init(&cache->texts);
}

static void clear(struct tp_py_code_cache *cache)
{
	for (size_t i = 0; i < cache->n_items; i++) {
		tp_py_line_table_release(&cache->items[i]->lines);
		free(cache->items[i]);
	}
	cache->n_items = 0;
	tp_map_release(&cache->by_address);
	cache->by_address = (struct tp_map){0};
}

void tp_py_code_cache_release(struct tp_py_code_cache *cache)
{
	clear(cache);
	free(cache->items);
	tp_strtab_release(&cache->texts);
	tp_buf_release(&cache->scratch);
	free(cache->pieces);
	free(cache->heads);
}

/* Reads the fields that stay the same while a code object lives, and differ between most code
 * objects. */
static void read_fields(uint64_t fields[TP_PY_CODE_N_FIELDS], const struct tp_py_layout *layout,
			const uint8_t *head)
{
	const uint32_t at[] = {layout->object_type, layout->code_file,  layout->code_name,
			       layout->code_lines,  layout->code_names, layout->code_consts};
	size_t n = 0;
	for (; n < TP_ARRAY_LEN(at); n++)
		fields[n] = tp_py_memory_u64(head + at[n]);
	fields[n++] = tp_py_memory_u32(head + layout->code_first_line);
	fields[n++] = tp_py_memory_u32(head + layout->code_flags);
	/* The pointer to the bytecode object, or from 3.11 on the number of instructions. */
	uint32_t bytecode = layout->code_qualname ? layout->object_size : layout->code_bytes;
	fields[n++] = tp_py_memory_u64(head + bytecode);
	fields[n] = layout->code_qualname ? tp_py_memory_u64(head + layout->code_qualname) : 0;
}

static struct tp_py_code *find_cached(const struct tp_py_code_cache *cache, uint64_t address)
{
	uint64_t index;
	return tp_map_get(&cache->by_address, address, &index) ? cache->items[index] : NULL;
}

const struct tp_py_code *tp_py_code_get(const struct tp_py_code_cache *cache, uint64_t address)
{
	const struct tp_py_code *code = find_cached(cache, address);
	return code && code->round == cache->round ? code : NULL;
}

/* Returns NULL if the memory is no string. When the cache has too many texts, new ones are not
 * added. CPython's own code objects may have no texts. */
static const char *text_at(struct tp_py_code_cache *cache, uint64_t address)
{
	if (address == 0)
		return "";
	if (!tp_py_text_read(&cache->scratch, cache->mem, cache->layout, address))
		return NULL;
	if (cache->texts.arena.total_bytes > MAX_TEXT_BYTES)
		return "<too many names>";
	return tp_strtab_text(&cache->texts,
			      tp_strtab_intern_len(&cache->texts, tp_buf_text(&cache->scratch),
						   cache->scratch.len));
}

/* A table that cannot be read is empty: then lines are unknown, names are not. */
static void load_lines(struct tp_py_code_cache *cache, struct tp_py_code *code, uint64_t address)
{
	const struct tp_py_layout *layout = cache->layout;
	uint64_t size;
	if (!tp_py_memory_get_u64(cache->mem, address + layout->object_size, &size))
		return;
	if (size > MAX_LINES_BYTES) /* truncated: later instructions have no line or the last one */
		size = MAX_LINES_BYTES;
	uint8_t *bytes = tp_alloc((size_t)size + 1);
	if (tp_py_memory_get(cache->mem, address + layout->bytes_data, bytes, (size_t)size))
		tp_py_line_table_load(&code->lines, layout->minor, bytes, (size_t)size,
				      code->first_line);
	free(bytes);
}

static bool load(struct tp_py_code_cache *cache, struct tp_py_code *code, const uint8_t *head)
{
	const struct tp_py_layout *layout = cache->layout;
	uint32_t name = layout->code_qualname ? layout->code_qualname : layout->code_name;
	code->file = text_at(cache, tp_py_memory_u64(head + layout->code_file));
	if (!code->file)
		return false;
	code->name = text_at(cache, tp_py_memory_u64(head + name));
	if (!code->name)
		return false;
	code->first_line = tp_py_memory_u32(head + layout->code_first_line);
	uint32_t flags = tp_py_memory_u32(head + layout->code_flags);
	code->is_generator = flags & YIELDS;
	code->is_body = !(flags & FUNCTION);
	if (layout->code_first_traceable)
		code->first_traceable = 2 * tp_py_memory_u32(head + layout->code_first_traceable);
	code->bytecode = layout->code_qualname ? code->address + layout->code_bytes : 0;
	load_lines(cache, code, tp_py_memory_u64(head + layout->code_lines));
	return true;
}

static struct tp_py_code *add(struct tp_py_code_cache *cache, uint64_t address)
{
	struct tp_py_code *code = tp_alloc(sizeof(*code));
	code->address = address;
	tp_map_set(&cache->by_address, address, cache->n_items);
	cache->items = tp_array_grow(cache->items, cache->n_items + 1, &cache->items_capacity,
				     sizeof(void *));
	cache->items[cache->n_items++] = code;
	return code;
}

static uint64_t identity_of(const uint64_t fields[TP_PY_CODE_N_FIELDS])
{
	uint64_t hash = 0;
	for (size_t i = 0; i < TP_PY_CODE_N_FIELDS; i++)
		hash = tp_hash_mix(hash, fields[i]);
	return hash;
}

static bool replace(struct tp_py_code_cache *cache, uint64_t address, const uint8_t *head)
{
	struct tp_py_code fresh = {.address = address,
				   .round = cache->round,
				   .loaded_ns = cache->now_ns,
				   .checked_ns = cache->now_ns};
	read_fields(fresh.fields, cache->layout, head);
	fresh.identity = identity_of(fresh.fields);
	if (!load(cache, &fresh, head)) {
		tp_py_line_table_release(&fresh.lines);
		return false;
	}
	struct tp_py_code *code = find_cached(cache, address);
	if (!code)
		code = add(cache, address);
	tp_py_line_table_release(&code->lines);
	*code = fresh;
	return true;
}

void tp_py_code_begin(struct tp_py_code_cache *cache)
{
	if (cache->n_items >= MAX_ITEMS)
		clear(cache);
	cache->round++;
	cache->now_ns = tp_py_memory_now_ns(cache->mem);
	cache->n_wanted = cache->n_due = 0;
}

/* Returns for how long a code object needs no comparison after its last one. */
static uint64_t check_interval_ns(const struct tp_py_code *code)
{
	uint64_t age_ns = code->checked_ns - code->loaded_ns;
	uint64_t interval_ns = age_ns / AGES_PER_CHECK;
	if (age_ns < OLD_NS)
		return 0;
	return interval_ns < CHECK_MAX_NS ? interval_ns : CHECK_MAX_NS;
}

void tp_py_code_request(struct tp_py_code_cache *cache, uint64_t address)
{
	struct tp_py_code *code = find_cached(cache, address);
	if (code && code->round == cache->round)
		return;
	if (code)
		code->round = cache->round;
	uint64_t interval_ns = code ? check_interval_ns(code) : 0;
	uint64_t since_ns = code ? cache->now_ns - code->checked_ns : 0;
	if (since_ns < interval_ns / 2)
		return;
	/* One that will be due soon is compared by the same call as those that are due now. */
	cache->n_due += since_ns >= interval_ns;
	TP_ARRAY_PUSH(cache->pieces, cache->n_wanted, cache->pieces_capacity) =
		(struct tp_process_range){address, NULL, cache->head_bytes};
}

enum tp_py_code_outcome tp_py_code_read(struct tp_py_code_cache *cache)
{
	enum tp_py_code_outcome outcome = TP_PY_CODE_KNOWN;
	size_t n = cache->n_due ? cache->n_wanted : 0;
	if (n == 0)
		return outcome;
	cache->n_wanted = cache->n_due = 0;
	if (n * cache->head_bytes > cache->heads_capacity) {
		cache->heads_capacity = 2 * n * cache->head_bytes;
		cache->heads = tp_realloc(cache->heads, cache->heads_capacity);
	}
	for (size_t i = 0; i < n; i++)
		cache->pieces[i].out = cache->heads + i * cache->head_bytes;
	if (cache->mem->read(cache->mem, cache->pieces, n) != n)
		return TP_PY_CODE_BAD;
	for (size_t i = 0; i < n; i++) {
		uint64_t fields[TP_PY_CODE_N_FIELDS];
		uint64_t address = cache->pieces[i].address;
		const uint8_t *head = cache->pieces[i].out;
		struct tp_py_code *code = find_cached(cache, address);
		read_fields(fields, cache->layout, head);
		if (code && memcmp(fields, code->fields, sizeof(fields)) == 0) {
			code->checked_ns = cache->now_ns;
			continue;
		}
		outcome = TP_PY_CODE_LOADED;
		if (!replace(cache, address, head))
			return TP_PY_CODE_BAD;
	}
	return outcome;
}
