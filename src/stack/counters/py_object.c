/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counters in attributes. Most numbers in objects are settings, which never change, so
 * objects are searched once and then read seldom. */
#include "py_object.h"

#include "py_counter_slot.h"
#include "py_number.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum {
	WORD = 8,
	/* Local variables per frame that may be instances of classes. */
	MAX_OBJECT_LOCALS = TP_PY_COUNTERS_BODY_LAST,
	MAX_OBJECTS = 16,      /* instances per call */
	N_OBJECTS = 256,       /* instances that are cached */
	N_WAYS = 4,            /* places in the cache that an instance may have */
	MAX_SEARCHES = 4,      /* searches of new instances per call, seven system calls each */
	OBJECT_USES = 64,      /* uses before an instance is searched again: attributes are added */
	MAX_INNER = 6,         /* objects in attributes of the object whose method runs */
	OBJECT_USES_MAX = 512, /* upper limit of OBJECT_USES: grows while nothing is found */
	IDLE_LOOKS = 64, /* readings without a change; after them only each IDLE_FACTOR-th one reads
			    them */
	IDLE_FACTOR = 8,
	N_TYPED = 1024,   /* objects whose types are cached */
	TYPED_LOOKS = 16, /* readings before the type is read again: memory is reused */
	/* A variable whose last objects had no numbers, such as one for tensors, is examined only
	 * at each PLAIN_FACTOR-th reading. */
	PLAIN_OBJECTS = 32,
	PLAIN_FACTOR = 16,
};

/* The attributes that were found in an instance. */
struct tp_py_object_cache {
	uint64_t object;
	uint64_t look; /* number of the reading that last asked for it */
	uint32_t n_uses;
	uint32_t max_uses;
	uint32_t n_idle; /* readings since one of them has changed */
	size_t n;
	struct tp_py_attribute attributes[TP_PY_ATTRIBUTE_MAX];
	bool is_loader;
	struct tp_py_loader loader;
	bool has_inner;
	size_t n_inner;
	struct tp_py_inner_object inner[MAX_INNER];
};

/* The last known type of an object. */
struct tp_py_typed_object {
	uint64_t object;
	uint64_t type; /* 0 = it was no object */
	uint64_t look; /* number of the reading in which its type was read */
};

void tp_py_objects_init(struct tp_py_counters *self)
{
	self->objects = tp_alloc(N_OBJECTS * sizeof(*self->objects));
	self->typed = tp_alloc(N_TYPED * sizeof(*self->typed));
}

/* Returns the place of an instance, or the one whose instance was not asked for longest: with one
 * place for each, two that are read at each look would drive each other out, and a search takes
 * many calls. */
static struct tp_py_object_cache *place_of(struct tp_py_counters *self, uint64_t object)
{
	uint64_t first = tp_hash_mix(object, 0) % (uint64_t)(N_OBJECTS / N_WAYS) * N_WAYS;
	struct tp_py_object_cache *oldest = &self->objects[first];
	for (size_t i = 0; i < N_WAYS; i++) {
		struct tp_py_object_cache *cache = &self->objects[first + i];
		if (cache->object == object)
			return cache;
		if (cache->look < oldest->look)
			oldest = cache;
	}
	return oldest;
}

static struct tp_py_object_cache *object_cache_of(struct tp_py_counters *self,
						  struct tp_py_counter_list *list, uint64_t object)
{
	struct tp_py_object_cache *cache = place_of(self, object);
	bool is_known = cache->object == object;
	if (is_known)
		cache->look = self->n_looks;
	if (is_known && cache->n_uses++ < cache->max_uses)
		return cache;
	if (list->n_searches++ >= MAX_SEARCHES)
		return is_known ? cache : NULL;
	if (!is_known)
		cache->max_uses = OBJECT_USES / 2;
	if (cache->max_uses < OBJECT_USES_MAX)
		cache->max_uses *= 2;
	cache->n_idle = is_known ? cache->n_idle : 0;
	cache->object = object;
	cache->look = self->n_looks;
	cache->n_uses = 0;
	cache->n_inner = 0;
	cache->has_inner = false;
	cache->n = tp_py_attributes_find(&self->attributes, object, cache->attributes);
	cache->is_loader = tp_py_loader_is_likely(cache->attributes, cache->n) &&
			   tp_py_loader_read(&self->attributes, object, &cache->loader);
	return cache;
}

/* The outermost loader of a stack is the one that feeds training; its settings are emitted when
 * they differ from the last ones. */
static void emit_loader(struct tp_py_counters *self, struct tp_py_counter_list *list,
			const struct tp_py_counter_root *root, const struct tp_py_loader *loader)
{
	if (list->has_loader)
		return;
	list->has_loader = true;
	if (memcmp(loader, &self->loader, sizeof(*loader)) == 0 ||
	    list->max - list->n < TP_PY_LOADER_N_SETTINGS)
		return;
	self->loader = *loader;
	for (unsigned i = 0; i < TP_PY_LOADER_N_SETTINGS; i++)
		list->out[list->n++] = (struct tp_python_counter){
			.file = root->code->file,
			.name = root->code->name,
			.first_line = root->code->first_line,
			.variable = tp_py_loader_setting_name(i),
			.kind = TP_PYTHON_COUNTER_SETTING,
			.value = loader->values[i],
		};
}

/* Reads, by one call, the pointers to numbers, the guard words, the root, the table that has it if
 * it is global, and the code of its frame; returns true if all but the pointers are unchanged. */
static bool read_pointers(struct tp_py_counters *self, const struct tp_py_counter_root *root,
			  const struct tp_py_object_cache *cache,
			  /* NOLINTNEXTLINE(readability-non-const-parameter): they are read into */
			  uint64_t pointers[TP_PY_ATTRIBUTE_MAX])
{
	struct tp_process_range pieces[TP_PY_ATTRIBUTE_MAX + 5];
	uint64_t guards[2];
	uint64_t word = 0;
	uint64_t code = 0;
	uint64_t table = 0;
	size_t n = 0;
	const struct tp_py_attribute *first = &cache->attributes[0];
	memcpy(guards, first->guard_words, sizeof(guards));
	for (size_t i = 0; i < cache->n; i++)
		pieces[n++] =
			(struct tp_process_range){cache->attributes[i].address, &pointers[i], WORD};
	for (size_t i = 0; i < 2; i++)
		if (first->guards[i])
			pieces[n++] = (struct tp_process_range){first->guards[i], &guards[i], WORD};
	/* In this order both are read as one range, where they are on one page of the stack. */
	pieces[n++] =
		(struct tp_process_range){root->frame + self->layout->frame_code, &code, WORD};
	pieces[n++] = (struct tp_process_range){root->address, &word, WORD};
	if (root->globals)
		pieces[n++] = (struct tp_process_range){root->globals->dictionary +
								self->layout->dict_keys,
							&table, WORD};
	return self->mem->read(self->mem, pieces, n) == n && word == root->word &&
	       (!root->globals || table == root->globals->table) &&
	       tp_py_counter_is_code(self, code, root->code) &&
	       memcmp(guards, first->guard_words, sizeof(guards)) == 0;
}

static void emit_attribute(struct tp_py_counters *self, struct tp_py_counter_list *list,
			   const struct tp_py_counter_root *root,
			   const struct tp_py_attribute *attribute, const uint8_t *number)
{
	uint64_t value;
	const char *label = tp_py_counter_label(self, root, attribute->name);
	uint64_t slot = tp_py_counter_slot_of_label(self, root, label);
	if (tp_py_counter_is_given_up(self, slot) || !tp_py_counter_number(self, number, &value))
		return;
	struct tp_python_counter counter = {
		.variable = label,
		.kind = root->line ? TP_PYTHON_COUNTER_ITERATOR : TP_PYTHON_COUNTER_ATTRIBUTE,
		.value = value,
		.address = attribute->address,
		.is_object = true,
	};
	tp_py_counter_emit(self, list, root, counter, slot);
}

/* Most numbers in objects are settings, which never change: after some readings without a change
 * most readings assume that they are unchanged. */
static bool is_left_out(struct tp_py_counters *self, struct tp_py_object_cache *cache)
{
	if (cache->n_idle++ < IDLE_LOOKS || cache->n_idle % IDLE_FACTOR == 0)
		return false;
	for (size_t i = 0; i < cache->n; i++)
		tp_py_counter_note_address(self, cache->attributes[i].address);
	return true;
}

/* By address: small numbers, as most settings are, lie next to each other in the interpreter. */
static void read_numbers(struct tp_py_counters *self, const struct tp_py_object_cache *cache,
			 const uint64_t *pointers, uint8_t (*numbers)[TP_PY_NUMBER_BYTES],
			 bool *is_read)
{
	struct tp_process_range pieces[TP_PY_ATTRIBUTE_MAX];
	bool is_piece_read[TP_PY_ATTRIBUTE_MAX];
	size_t n = 0;
	for (size_t i = 0; i < cache->n; i++)
		if (tp_py_counter_is_address(pointers[i]))
			pieces[n++] = (struct tp_process_range){pointers[i], numbers[i],
								TP_PY_NUMBER_BYTES};
	tp_py_memory_sort(pieces, n);
	tp_py_memory_read_each(self->mem, pieces, n, is_piece_read);
	for (size_t i = 0; i < n; i++)
		is_read[(uint8_t(*)[TP_PY_NUMBER_BYTES])pieces[i].out - numbers] = is_piece_read[i];
}

void tp_py_objects_read_attributes(struct tp_py_counters *self, struct tp_py_counter_list *list,
				   const struct tp_py_counter_root *root, uint64_t object)
{
	uint64_t before[TP_PY_ATTRIBUTE_MAX] = {0};
	uint64_t after[TP_PY_ATTRIBUTE_MAX] = {0};
	uint8_t numbers[TP_PY_ATTRIBUTE_MAX][TP_PY_NUMBER_BYTES];
	bool is_read[TP_PY_ATTRIBUTE_MAX] = {false};
	struct tp_py_object_cache *cache = object_cache_of(self, list, object);
	if (!cache || cache->n == 0 || is_left_out(self, cache))
		return;
	if (!read_pointers(self, root, cache, before)) {
		cache->object = 0;
		cache->look = 0;
		return;
	}
	if (cache->is_loader)
		emit_loader(self, list, root, &cache->loader);
	size_t n_before = list->n;
	read_numbers(self, cache, before, numbers, is_read);
	if (!read_pointers(self, root, cache, after))
		return;
	for (size_t i = 0; i < cache->n; i++)
		if (is_read[i] && before[i] == after[i])
			emit_attribute(self, list, root, &cache->attributes[i], numbers[i]);
	if (list->n > n_before)
		cache->n_idle = 0;
}

/* "self.state" */
static const char *path_of(struct tp_py_counters *self, const char *outer, const char *name)
{
	struct tp_buf *text = &self->scratch;
	tp_buf_clear(text);
	tp_buf_printf(text, "%s.%s", outer, name);
	return tp_strtab_text(&self->names,
			      tp_strtab_intern_len(&self->names, tp_buf_text(text), text->len));
}

static void find_inner(struct tp_py_counters *self, struct tp_py_counter_list *list,
		       const struct tp_py_counter_root *root, struct tp_py_object_cache *cache)
{
	if (cache->has_inner || list->n_searches >= MAX_SEARCHES)
		return;
	list->n_searches++;
	cache->has_inner = true;
	cache->n_inner = tp_py_attributes_find_objects(&self->attributes, cache->object,
						       cache->inner, MAX_INNER);
	for (size_t i = 0; i < cache->n_inner; i++)
		cache->inner[i].name = path_of(self, root->name, cache->inner[i].name);
}

/* Also reads the objects in attributes of the object whose method runs:
 * `self.state.global_step`. */
static void read_inner(struct tp_py_counters *self, struct tp_py_counter_list *list,
		       const struct tp_py_counter_root *root, uint64_t object)
{
	struct tp_py_object_cache *cache = object_cache_of(self, list, object);
	if (!cache || !root->name)
		return;
	find_inner(self, list, root, cache);
	for (size_t i = 0; i < cache->n_inner; i++) {
		struct tp_py_counter_root below = *root;
		below.name = cache->inner[i].name;
		below.address = cache->inner[i].address;
		below.word = cache->inner[i].object;
		tp_py_objects_read_attributes(self, list, &below, below.word);
	}
}

/* The name is read once: that takes four system calls. */
static const char *local_name(struct tp_py_counters *self, const struct tp_py_bytecode *bytecode,
			      uint32_t number)
{
	uint64_t key = tp_hash_mix(bytecode->identity, number);
	uint64_t kept;
	if (tp_map_get(&self->local_names, key, &kept))
		return (const char *)(uintptr_t)kept; /* NOLINT(performance-no-int-to-ptr) */
	const char *name = tp_py_counter_name_in(self, bytecode->local_names, number);
	if (name)
		tp_map_set(&self->local_names, key, (uint64_t)(uintptr_t)name);
	return name;
}

/* The first local variables of a frame, or the last global ones of a module body. */
struct frame_locals {
	const struct tp_py_stack_frame *frame;
	const struct tp_py_code *code;
	const struct tp_py_globals *globals; /* NULL = local variables */
	size_t n;
	size_t stride;    /* bytes from one variable to the next */
	uint64_t address; /* of the first word */
	uint64_t slots[MAX_OBJECT_LOCALS];
	uint64_t words[MAX_OBJECT_LOCALS];
	uint64_t names[MAX_OBJECT_LOCALS]; /* addresses of the names of global ones */
	uint8_t bytes[MAX_OBJECT_LOCALS * TP_PY_GLOBALS_ENTRY_BYTES];
};

enum { MAX_INSTANCES = TP_PY_COUNTER_MAX_FRAMES * MAX_OBJECT_LOCALS };

static bool begin_locals(struct tp_py_counters *self, struct frame_locals *out)
{
	uint32_t n_slots;
	size_t n_locals = tp_py_bytecodes_get(&self->bytecodes, out->code)->n_locals;
	uint64_t first = tp_py_counter_slots_of_locals(self, out->code, &n_slots);
	out->n = n_locals < MAX_OBJECT_LOCALS ? n_locals : MAX_OBJECT_LOCALS;
	out->stride = WORD;
	out->address = out->frame->address + self->layout->frame_size;
	for (size_t i = 0; i < out->n; i++)
		out->slots[i] = first + i;
	return first != TP_PY_COUNTER_NO_SLOT && out->n > 0;
}

static bool begin_globals(struct tp_py_counters *self, struct frame_locals *out)
{
	const struct tp_py_counter_body *body = NULL;
	for (size_t i = 0; i < TP_PY_COUNTERS_MAX_BODIES && !body; i++)
		if (self->bodies[i].look == self->n_looks &&
		    self->bodies[i].globals.frame == out->frame->address)
			body = &self->bodies[i];
	if (!body)
		return false;
	out->globals = &body->globals;
	out->n = body->n_last;
	out->stride = body->globals.entry_bytes;
	out->address = body->globals.address + (body->globals.n - out->n) * out->stride;
	memcpy(out->bytes, body->last, out->n * out->stride);
	return out->n > 0;
}

/* Finds the words of the variables in the bytes that were read. */
static void find_words(struct tp_py_counters *self, struct frame_locals *locals)
{
	const struct tp_py_globals *globals = locals->globals;
	size_t value_at = globals ? globals->key_at + WORD : 0;
	for (size_t i = 0; i < locals->n; i++) {
		const uint8_t *bytes = locals->bytes + i * locals->stride;
		locals->words[i] = tp_py_memory_u64(bytes + value_at);
		if (!globals)
			continue;
		locals->names[i] = tp_py_memory_u64(bytes + globals->key_at);
		locals->slots[i] = tp_py_counter_slot_of(self, locals->code, locals->names[i]);
		if (locals->names[i] == 0 || locals->slots[i] == TP_PY_COUNTER_NO_SLOT)
			locals->words[i] = 0;
	}
	locals->address += value_at;
}

/* Sets the bytes of local variables: from the copy of the stack, or by one call what is not in it.
 * Those that cannot be read become none. */
static void read_bytes(struct tp_py_counters *self, const struct tp_py_stack *stack,
		       struct frame_locals *frames, size_t n)
{
	struct tp_process_range pieces[TP_PY_COUNTER_MAX_FRAMES];
	struct frame_locals *of_piece[TP_PY_COUNTER_MAX_FRAMES];
	bool is_read[TP_PY_COUNTER_MAX_FRAMES];
	size_t n_pieces = 0;
	for (size_t i = 0; i < n; i++) {
		size_t size = frames[i].n * frames[i].stride;
		if (frames[i].globals)
			continue;
		const uint8_t *kept = tp_py_copy_latest(&stack->copy, frames[i].address, size);
		if (kept) {
			memcpy(frames[i].bytes, kept, size);
			continue;
		}
		pieces[n_pieces] =
			(struct tp_process_range){frames[i].address, frames[i].bytes, size};
		of_piece[n_pieces++] = &frames[i];
	}
	if (n_pieces > 0)
		tp_py_memory_read_each(self->mem, pieces, n_pieces, is_read);
	for (size_t i = 0; i < n_pieces; i++)
		if (!is_read[i])
			of_piece[i]->n = 0;
}

/* Reads those of the outermost functions and module bodies; returns how many these are, functions
 * first. */
static size_t read_frame_locals(struct tp_py_counters *self, const struct tp_py_stack *stack,
				const struct tp_py_code_cache *codes, struct frame_locals *out)
{
	size_t n = 0;
	for (int body = 0; body <= 1; body++)
		for (size_t i = stack->n_frames, met = 0; i > 0 && met < TP_PY_COUNTER_MAX_FRAMES;
		     i--, met++) {
			const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
			const struct tp_py_code *code = tp_py_code_get(codes, frame->code);
			if (!code || code->is_body != body)
				continue;
			out[n] = (struct frame_locals){.frame = frame, .code = code};
			n += body ? begin_globals(self, &out[n]) : begin_locals(self, &out[n]);
		}
	read_bytes(self, stack, out, n);
	for (size_t i = 0; i < n; i++)
		find_words(self, &out[i]);
	return n;
}

static uint64_t object_in(const struct tp_py_counters *self, const struct frame_locals *locals,
			  size_t i)
{
	return locals->globals ? locals->words[i] : tp_py_counter_object(self, locals->words[i]);
}

static struct tp_py_typed_object *typed_object(struct tp_py_counters *self, uint64_t object)
{
	return &self->typed[tp_hash_mix(object, 0) % (uint64_t)N_TYPED];
}

/* Reads, by one call, the types of objects that were not seen recently. */
static void read_types(struct tp_py_counters *self, const uint64_t *objects, size_t n)
{
	struct tp_process_range pieces[MAX_INSTANCES];
	bool is_read[MAX_INSTANCES];
	size_t n_pieces = 0;
	for (size_t i = 0; i < n; i++) {
		struct tp_py_typed_object *typed = typed_object(self, objects[i]);
		if (typed->object == objects[i] && self->n_looks - typed->look < TYPED_LOOKS)
			continue;
		*typed = (struct tp_py_typed_object){.object = objects[i], .look = self->n_looks};
		pieces[n_pieces++] =
			(struct tp_process_range){objects[i] + self->layout->object_type,
						  &typed->type, WORD};
	}
	tp_py_memory_sort(pieces, n_pieces);
	if (n_pieces > 0)
		tp_py_memory_read_each(self->mem, pieces, n_pieces, is_read);
	for (size_t i = 0; i < n_pieces; i++)
		if (!is_read[i])
			memset(pieces[i].out, 0, WORD);
}

static bool is_due(const struct tp_py_counters *self, const struct frame_locals *locals, size_t i)
{
	uint64_t slot = locals->slots[i];
	return tp_py_counter_is_address(object_in(self, locals, i)) &&
	       (self->slots[slot].n_plain < PLAIN_OBJECTS ||
		(self->n_looks + slot) % PLAIN_FACTOR == 0);
}

static void read_types_of_locals(struct tp_py_counters *self, const struct frame_locals *frames,
				 size_t n_frames)
{
	uint64_t objects[MAX_INSTANCES];
	size_t n = 0;
	for (size_t i = 0; i < n_frames; i++)
		for (size_t k = 0; k < frames[i].n; k++)
			if (is_due(self, &frames[i], k))
				objects[n++] = object_in(self, &frames[i], k);
	read_types(self, objects, n);
}

static bool is_of_class(struct tp_py_counters *self, uint64_t object)
{
	const struct tp_py_typed_object *typed = typed_object(self, object);
	const struct tp_py_type *type =
		typed->object == object
			? tp_py_attributes_known_type(&self->attributes, typed->type)
			: NULL;
	return type && type->is_class;
}

static void note_object(struct tp_py_counters *self, uint64_t slot, bool has_numbers)
{
	uint8_t *n_plain = &self->slots[slot].n_plain;
	*n_plain = has_numbers ? 0 : *n_plain < PLAIN_OBJECTS ? *n_plain + 1 : PLAIN_OBJECTS;
}

/* One that was not searched yet says nothing about its variable. */
static void note_class_object(struct tp_py_counters *self, uint64_t slot, uint64_t object)
{
	const struct tp_py_object_cache *cache = place_of(self, object);
	if (cache->object == object)
		note_object(self, slot, cache->n > 0 || cache->n_inner > 0);
}

static const char *variable_name(struct tp_py_counters *self, const struct frame_locals *locals,
				 uint32_t i)
{
	struct tp_py_counter_slot *slot = &self->slots[locals->slots[i]];
	if (!locals->globals)
		return local_name(self, tp_py_bytecodes_get(&self->bytecodes, locals->code), i);
	if (!slot->name)
		slot->name = tp_py_counter_text(self, locals->names[i]);
	return slot->name;
}

/* Reads counters in instances that variables hold, such as `self`. */
static void read_objects_of(struct tp_py_counters *self, struct tp_py_counter_list *list,
			    const struct frame_locals *locals)
{
	for (uint32_t i = 0; i < locals->n && list->n_objects < MAX_OBJECTS; i++) {
		uint64_t object = object_in(self, locals, i);
		if (!is_due(self, locals, i))
			continue;
		if (!is_of_class(self, object)) {
			note_object(self, locals->slots[i], false);
			continue;
		}
		list->n_objects++;
		const struct tp_py_counter_root root = {
			.code = locals->code,
			.frame = locals->frame->address,
			.globals = locals->globals,
			.address = locals->address + i * locals->stride,
			.word = locals->words[i],
			.number = locals->globals ? (uint32_t)locals->slots[i] : i,
			.name = variable_name(self, locals, i),
		};
		tp_py_objects_read_attributes(self, list, &root, object);
		if (i == 0 && !locals->globals)
			read_inner(self, list, &root, object);
		note_class_object(self, locals->slots[i], object);
	}
}

void tp_py_objects_read(struct tp_py_counters *self, struct tp_py_counter_list *list,
			const struct tp_py_stack *stack, const struct tp_py_code_cache *codes)
{
	struct frame_locals frames[TP_PY_COUNTER_MAX_FRAMES];
	size_t n = read_frame_locals(self, stack, codes, frames);
	read_types_of_locals(self, frames, n);
	for (size_t i = 0; i < n; i++)
		read_objects_of(self, list, &frames[i]);
}
