/* SPDX-License-Identifier: Apache-2.0 */
/* Reads variables that hold whole numbers, and learns which of them are counters. */
#include "py_counter.h"

#include "py_number.h"
#include "py_text.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Training loops are near the outermost frame: frames of the model's layers are not
	 * examined. */
	MAX_FRAMES = 16,
	MAX_LOCALS = 64, /* per frame: trainers have many */
	MIN_LOCALS = 16, /* at least this many words are read; words after the last variable are
			    soon given up */
	MAX_READ = TP_PY_COUNTERS_MAX_READ,
	LOCALS_BYTES = MAX_LOCALS * 8,
	MAX_BYTES = MAX_FRAMES * LOCALS_BYTES + TP_PY_COUNTERS_MAX_BODIES * TP_PY_GLOBALS_MAX_BYTES,
	MAX_SLOTS = 1 << 16,
	MAX_FAILED = 4,        /* number of times that a variable was no number */
	MAX_BAD = 4,           /* number of changes that do not fit a counter */
	MAX_GROWTH = 16,       /* between two readings: faster counters do not count steps */
	MAX_LOOP_GROWTH = 256, /* the same for for loops, which advance one by one */
	TAGS = 7,              /* 3.14: low bits of _PyStackRef */
	WORD = 8,
	MAX_LOOP_FRAMES = 40, /* frames whose for loops are examined: notebooks have deep stacks */
	MAX_OBJECT_LOCALS = 12, /* local variables per frame that may be instances of classes */
	MAX_OBJECTS = 16,       /* instances per call */
	N_OBJECTS = 256,        /* instances that are cached */
	MAX_SEARCHES = 4,       /* searches of new instances per call, ten system calls each */
	OBJECT_USES = 64,      /* uses before an instance is searched again: attributes are added */
	MAX_INNER = 6,         /* objects in attributes of the object whose method runs */
	OBJECT_USES_MAX = 512, /* upper limit of OBJECT_USES: grows while nothing is found */
	IDLE_LOOKS = 64, /* readings without a change; after them only each IDLE_FACTOR-th one reads
			    them */
	IDLE_FACTOR = 8,
	N_TYPED = 1024,   /* objects whose types are cached */
	LIVE_CHANGES = 4, /* changes that a loop needs before its end is emitted */
	TYPED_LOOKS = 16, /* readings before the type is read again: memory is reused */
};

#define NO_SLOT UINT64_MAX

static const uint64_t highest_address = UINT64_C(1) << 56;

struct tp_py_counter_slot {
	uint64_t value;
	const char *name; /* NULL until read */
	bool has_value;
	uint8_t n_misses;
	uint32_t n_counted; /* changes that fit a counter */
	uint32_t n_odd;
	uint64_t highest; /* start value, of a falling counter */
	uint64_t object;  /* the object that has it */
	uint64_t total;
};

/* The attributes that were found in an instance. */
struct tp_py_object_cache {
	uint64_t object;
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

/* The variables of one frame as bytes of its memory, read before the objects in them and again
 * after. */
struct variables {
	const struct tp_py_code *code;
	const struct tp_py_globals *globals; /* NULL = local variables */
	uint64_t address;
	size_t stride;   /* bytes from one variable to the next */
	size_t value_at; /* byte offset of the value in an entry */
	size_t n;
	const uint8_t *bytes;
	uint8_t *again;
	uint64_t table_again; /* table of the globals, read again */
};

/* Variables of all frames that are examined in this reading. */
struct snapshot {
	struct variables of[MAX_FRAMES];
	size_t n;
	size_t n_bodies;
	size_t used;
	uint8_t bytes[MAX_BYTES];
	uint8_t again[MAX_BYTES];
};

/* A variable that is examined in this reading. */
struct pending {
	const struct variables *variables;
	size_t index;
	uint64_t slot;
	uint8_t object[TP_PY_NUMBER_BYTES];
};

void tp_py_counters_init(struct tp_py_counters *self, struct tp_py_memory *mem,
			 const struct tp_py_layout *layout, uint64_t int_type)
{
	*self = (struct tp_py_counters){.mem = mem, .layout = layout, .int_type = int_type};
	tp_strtab_init(&self->names);
	tp_py_attributes_init(&self->attributes, mem, layout, int_type);
	tp_py_bytecodes_init(&self->bytecodes, mem, layout);
	self->objects = tp_alloc(N_OBJECTS * sizeof(*self->objects));
	self->typed = tp_alloc(N_TYPED * sizeof(*self->typed));
}

void tp_py_counters_release(struct tp_py_counters *self)
{
	free(self->slots);
	free(self->objects);
	free(self->typed);
	tp_py_attributes_release(&self->attributes);
	tp_py_bytecodes_release(&self->bytecodes);
	tp_strtab_release(&self->names);
	tp_buf_release(&self->scratch);
	tp_map_release(&self->by_key);
	tp_map_release(&self->local_names);
}

/* Returns the slot of a variable, identified by its index if local and by the address of its name
 * if global; NO_SLOT if there are too many. */
static uint64_t slot_of(struct tp_py_counters *self, const struct tp_py_code *code,
			uint64_t variable)
{
	uint64_t key = tp_hash_mix(code->address, variable);
	uint64_t index;
	if (tp_map_get(&self->by_key, key, &index))
		return index;
	if (self->n_slots == MAX_SLOTS)
		return NO_SLOT;
	tp_map_set(&self->by_key, key, self->n_slots);
	TP_ARRAY_PUSH(self->slots, self->n_slots, self->capacity) = (struct tp_py_counter_slot){0};
	return self->n_slots - 1;
}

static bool is_given_up(const struct tp_py_counters *self, uint64_t index)
{
	if (index == NO_SLOT)
		return true;
	const struct tp_py_counter_slot *slot = &self->slots[index];
	return slot->n_misses >= MAX_FAILED ||
	       (slot->n_odd > MAX_BAD && slot->n_odd > slot->n_counted);
}

/* Returns how many words of a frame are read. */
static uint32_t n_words(struct tp_py_counters *self, const struct tp_py_code *code)
{
	uint32_t n = tp_py_bytecodes_get(&self->bytecodes, code)->n_locals;
	return n < MIN_LOCALS ? MIN_LOCALS : n < MAX_LOCALS ? n : MAX_LOCALS;
}

static bool has_candidates(struct tp_py_counters *self, const struct tp_py_code *code, uint32_t n)
{
	for (uint32_t local = 0; local < n; local++)
		if (!is_given_up(self, slot_of(self, code, local)))
			return true;
	return false;
}

/* ---- numbers ---- */

static bool read_number(const struct tp_py_counters *self, const uint8_t *object, uint64_t *value)
{
	return tp_py_memory_u64(object + self->layout->object_type) == self->int_type &&
	       tp_py_number_parse(self->layout, object, value);
}

/* Returns true if it is a value of a counter that was not emitted yet. */
static bool update_slot(struct tp_py_counters *self, uint64_t index, uint64_t value,
			uint64_t max_growth)
{
	struct tp_py_counter_slot *slot = &self->slots[index];
	bool is_new = !slot->has_value || value != slot->value;
	if (slot->has_value && is_new) {
		bool is_counted = value > slot->value && value - slot->value <= max_growth;
		bool is_begun_anew = value <= 1;
		slot->n_counted += is_counted;
		slot->n_odd += !is_counted && !is_begun_anew;
	}
	slot->has_value = true;
	slot->value = value;
	return is_new && !is_given_up(self, index);
}

static bool update_value(struct tp_py_counters *self, const struct pending *pending,
			 uint64_t *value)
{
	struct tp_py_counter_slot *slot = &self->slots[pending->slot];
	if (!read_number(self, pending->object, value)) {
		slot->n_misses += !slot->has_value;
		return false;
	}
	return update_slot(self, pending->slot, *value, MAX_GROWTH);
}

/* ---- reading ---- */

static bool is_address(uint64_t word)
{
	return word % WORD == 0 && word >= UINT64_C(4096) && word < highest_address;
}

/* Frames in chunks are contiguous: the variables of one end where the next begins. */
static size_t locals_size(const struct tp_py_stack *stack, size_t at, uint64_t address, uint32_t n)
{
	uint64_t size = (uint64_t)WORD * n;
	for (size_t i = 0; i < at; i++) {
		uint64_t next = stack->frames[i].address;
		if (next >= address && next - address < size)
			size = next - address;
	}
	return (size_t)size;
}

static void add(struct snapshot *snapshot, struct variables variables)
{
	variables.bytes = snapshot->bytes + snapshot->used;
	variables.again = snapshot->again + snapshot->used;
	snapshot->used += variables.n * variables.stride;
	snapshot->of[snapshot->n++] = variables;
}

/* Only the outermost bodies are read: a module that is imported runs no training loop. */
static void add_body(struct tp_py_counters *self, const struct tp_py_stack_frame *frame,
		     const struct tp_py_code *code, struct snapshot *snapshot)
{
	if (snapshot->n_bodies == TP_PY_COUNTERS_MAX_BODIES)
		return;
	struct tp_py_globals *globals = &self->bodies[snapshot->n_bodies++];
	if (tp_py_globals_read(globals, self->mem, self->layout, frame->address,
			       snapshot->bytes + snapshot->used))
		add(snapshot, (struct variables){.code = code,
						 .globals = globals,
						 .address = globals->address,
						 .stride = globals->entry_bytes,
						 .value_at = globals->key_at + WORD,
						 .n = globals->n});
}

/* Reads the variables of the outermost frames that have candidates; the local ones by one call. */
static bool read_variables(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   const struct tp_py_code_cache *codes, struct snapshot *out)
{
	struct tp_process_range pieces[MAX_FRAMES];
	size_t n = 0;
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_FRAMES; i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		const struct tp_py_code *code = tp_py_code_get(codes, frame->code);
		if (code && code->is_body)
			add_body(self, frame, code, out);
		uint32_t n_read = code ? n_words(self, code) : 0;
		if (!code || code->is_body || !has_candidates(self, code, n_read))
			continue;
		uint64_t address = frame->address + self->layout->frame_size;
		size_t size = locals_size(stack, i - 1, address, n_read);
		if (size == 0)
			continue;
		pieces[n++] = (struct tp_process_range){address, out->bytes + out->used, size};
		add(out, (struct variables){.code = code,
					    .address = address,
					    .stride = WORD,
					    .n = size / WORD});
	}
	return n == 0 || self->mem->read(self->mem, pieces, n) == n;
}

/* Returns the identity of the variable for slot_of(). */
static uint64_t name_of(const struct variables *variables, size_t index)
{
	const uint8_t *entry = variables->bytes + index * variables->stride;
	return variables->globals ? tp_py_memory_u64(entry + variables->globals->key_at) : index;
}

static uint64_t word_of(const struct variables *variables, size_t index)
{
	return tp_py_memory_u64(variables->bytes + index * variables->stride + variables->value_at);
}

/* Returns the address of the object if it may hold a number; 0 if the variable is skipped. */
static uint64_t object_of(struct tp_py_counters *self, const struct variables *variables,
			  size_t index, uint64_t *slot)
{
	uint64_t word = word_of(variables, index);
	if (self->layout->minor >= 14 && !variables->globals)
		word &= ~(uint64_t)TAGS;
	*slot = slot_of(self, variables->code, name_of(variables, index));
	if (word == 0 || is_given_up(self, *slot))
		return 0;
	if (is_address(word))
		return word;
	self->slots[*slot].n_misses = MAX_FAILED;
	return 0;
}

static size_t collect_of(struct tp_py_counters *self, const struct variables *variables,
			 struct pending *pending, struct tp_process_range *pieces, size_t max)
{
	size_t n = 0;
	size_t from = variables->globals && variables->n ? self->turn % variables->n : 0;
	for (size_t i = 0; i < variables->n; i++) {
		uint64_t slot;
		size_t index = (from + i) % variables->n;
		uint64_t object = object_of(self, variables, index, &slot);
		if (object == 0)
			continue;
		if (n == max) {
			self->turn = variables->globals ? index : 0;
			break;
		}
		pending[n].variables = variables;
		pending[n].index = index;
		pending[n].slot = slot;
		pieces[n] =
			(struct tp_process_range){object, pending[n].object, TP_PY_NUMBER_BYTES};
		n++;
	}
	return n;
}

/* Local variables first: they are few. */
static size_t collect(struct tp_py_counters *self, const struct snapshot *snapshot,
		      struct pending *pending, struct tp_process_range *pieces)
{
	size_t n = 0;
	for (int globals = 0; globals <= 1; globals++)
		for (size_t i = 0; i < snapshot->n; i++)
			if ((snapshot->of[i].globals != NULL) == globals)
				n += collect_of(self, &snapshot->of[i], pending + n, pieces + n,
						MAX_READ - n);
	return n;
}

/* If a variable still has the same object, it was not set meanwhile: so the object was alive. */
static bool held(const struct pending *pending)
{
	const struct variables *v = pending->variables;
	size_t at = pending->index * v->stride;
	return memcmp(v->bytes + at, v->again + at, v->stride) == 0 &&
	       (!v->globals || v->table_again == v->globals->table);
}

/* Reads, by one call, the objects and then the variables again. */
static bool read_objects(struct tp_py_counters *self, struct snapshot *snapshot,
			 const struct pending *pending, struct tp_process_range *pieces,
			 size_t n_objects)
{
	size_t n = n_objects;
	for (size_t i = 0; i < snapshot->n; i++) {
		struct variables *v = &snapshot->of[i];
		pieces[n++] = (struct tp_process_range){v->address, v->again, v->n * v->stride};
		if (v->globals)
			pieces[n++] = (struct tp_process_range){v->globals->dictionary +
									self->layout->dict_keys,
								&v->table_again, WORD};
	}
	size_t n_read = self->mem->read(self->mem, pieces, n);
	/* An address that cannot be read is no object; the others are read the next time. */
	if (n_read < n_objects)
		self->slots[pending[n_read].slot].n_misses = MAX_FAILED;
	return n_read == n;
}

/* Returns the text at an address; NULL = it cannot be read. */
static const char *text_at(struct tp_py_counters *self, uint64_t address)
{
	if (!tp_py_text_read(&self->scratch, self->mem, self->layout, address))
		return NULL;
	return tp_strtab_text(&self->names,
			      tp_strtab_intern_len(&self->names, tp_buf_text(&self->scratch),
						   self->scratch.len));
}

/* Returns the text in a tuple of names; NULL = it cannot be read. */
static const char *name_in(struct tp_py_counters *self, uint64_t tuple, uint32_t number)
{
	uint64_t n;
	uint64_t text;
	uint64_t at = tuple + self->layout->object_size;
	if (tuple == 0 || !tp_py_memory_get_u64(self->mem, at, &n) || number >= n ||
	    !tp_py_memory_get_u64(self->mem, at + WORD + (uint64_t)WORD * number, &text))
		return NULL;
	return text_at(self, text);
}

/* Returns the name of a variable, which is read once; NULL = it cannot be read. */
static const char *text_of(struct tp_py_counters *self, const struct pending *pending)
{
	const struct variables *variables = pending->variables;
	struct tp_py_counter_slot *slot = &self->slots[pending->slot];
	if (slot->name)
		return slot->name;
	if (variables->globals)
		slot->name = text_at(self, name_of(variables, pending->index));
	else
		slot->name =
			name_in(self,
				tp_py_bytecodes_get(&self->bytecodes, variables->code)->local_names,
				(uint32_t)pending->index);
	return slot->name;
}

/* Returns the address of the pointer to the variable's number. */
static uint64_t address_of(const struct pending *pending)
{
	const struct variables *v = pending->variables;
	return v->address + pending->index * v->stride + v->value_at;
}

static void note_address(struct tp_py_counters *self, uint64_t address)
{
	if (self->n_read < TP_PY_COUNTERS_MAX_ADDRESSES)
		self->read_at[self->n_read++] = address;
}

bool tp_py_counters_is_at(const struct tp_py_counters *self, uint64_t address)
{
	for (size_t i = 0; i < self->n_read; i++)
		if (self->read_at[i] == address)
			return true;
	return false;
}

static struct tp_python_counter counter_of(struct tp_py_counters *self,
					   const struct pending *pending, uint64_t value)
{
	const struct variables *variables = pending->variables;
	return (struct tp_python_counter){
		.file = variables->code->file,
		.name = variables->code->name,
		.first_line = variables->code->first_line,
		.variable = text_of(self, pending),
		.local = (uint32_t)(variables->globals ? pending->slot : pending->index),
		.kind = TP_PYTHON_COUNTER_VARIABLE,
		.value = value,
		.address = address_of(pending),
		.width = WORD,
		.is_object = true,
	};
}

static size_t read_all_variables(struct tp_py_counters *self, const struct tp_py_stack *stack,
				 const struct tp_py_code_cache *codes,
				 struct tp_python_counter *out, size_t max)
{
	struct snapshot snapshot;
	struct pending pending[MAX_READ];
	struct tp_process_range pieces[MAX_READ + MAX_FRAMES + TP_PY_COUNTERS_MAX_BODIES];
	size_t n_told = 0;
	snapshot.n = snapshot.n_bodies = snapshot.used = 0;
	if (!read_variables(self, stack, codes, &snapshot))
		return 0;
	size_t n_objects = collect(self, &snapshot, pending, pieces);
	if (n_objects == 0 || !read_objects(self, &snapshot, pending, pieces, n_objects))
		return 0;
	for (size_t i = 0; i < n_objects && n_told < max; i++) {
		uint64_t value;
		if (!held(&pending[i]))
			continue;
		note_address(self, address_of(&pending[i]));
		if (update_value(self, &pending[i], &value))
			out[n_told++] = counter_of(self, &pending[i], value);
	}
	return n_told;
}

/* ---- loops and objects ---- */

/* Output list for the counters of one call. */
struct counter_list {
	struct tp_python_counter *out;
	size_t n;
	size_t max;
	size_t n_searches;
	size_t n_objects;
	bool has_loader;
};

/* A word of a frame, and the object it points to. */
struct root {
	const struct tp_py_code *code;
	uint64_t address;
	uint64_t word;
	uint64_t object;
	uint32_t line;    /* line of the loop; 0 = a local variable */
	bool is_range;    /* the loop goes over a range */
	bool is_number;   /* the iterator has the number itself, not its position */
	bool is_down;     /* the iterator has the number of iterations left, not done */
	uint32_t number;  /* index of the loop or the variable */
	const char *name; /* name of the variable or of the loop's variable; NULL = unknown */
};

/* Returns a permanent label; `attribute` is NULL for an iterator's own position. */
static const char *label_of(struct tp_py_counters *self, const struct root *root,
			    const char *attribute)
{
	struct tp_buf *text = &self->scratch;
	tp_buf_clear(text);
	if (root->line && attribute)
		tp_buf_printf(text, "%s of the for loop at line %u", attribute, root->line);
	else if (root->line)
		tp_buf_printf(text, "for loop %s%sat line %u%s%s", root->is_down ? "down " : "",
			      root->is_number  ? "over a range of numbers "
			      : root->is_range ? "over a range "
					       : "",
			      root->line, root->name ? ", variable " : "",
			      root->name ? root->name : "");
	else if (root->name)
		tp_buf_printf(text, "%s.%s", root->name, attribute);
	else
		tp_buf_printf(text, "#%u.%s", root->number, attribute);
	return tp_strtab_text(&self->names,
			      tp_strtab_intern_len(&self->names, tp_buf_text(text), text->len));
}

static uint64_t slot_of_label(struct tp_py_counters *self, const struct root *root,
			      const char *label)
{
	return slot_of(self, root->code, tp_hash_mix((uint64_t)(uintptr_t)label, root->number));
}

static void emit_counter(struct tp_py_counters *self, struct counter_list *list,
			 const struct root *root, struct tp_python_counter counter, uint64_t slot)
{
	note_address(self, counter.address);
	bool is_loop = counter.kind == TP_PYTHON_COUNTER_ITERATOR;
	if (list->n == list->max)
		return;
	bool is_new =
		update_slot(self, slot, counter.value, is_loop ? MAX_LOOP_GROWTH : MAX_GROWTH);
	bool is_live =
		is_loop && self->slots[slot].n_counted >= LIVE_CHANGES && !is_given_up(self, slot);
	counter.file = root->code->file;
	counter.name = root->code->name;
	counter.first_line = root->code->first_line;
	counter.local = root->number;
	counter.width = WORD;
	if (is_live)
		tp_py_live_loops_saw_counter(&self->loops, slot, root->code->address, root->number,
					     &counter);
	/* A loop is emitted each time it is seen, so its last iteration is known. */
	if (is_new || is_live)
		list->out[list->n++] = counter;
}

/* A falling counter is counted from its first seen value. */
static uint64_t count_up(struct tp_py_counter_slot *slot, const struct tp_py_position *position,
			 uint64_t value)
{
	if (!position->is_relative)
		return value;
	if (slot->object != position->object || value > slot->highest) {
		slot->object = position->object;
		slot->highest = value + 1;
	}
	return slot->highest - value;
}

/* If the frame still has the iterator after its position was read, the iterator was alive. */
static void read_position(struct tp_py_counters *self, struct counter_list *list,
			  const struct root *root, const struct tp_py_position *position)
{
	uint64_t word = 0;
	struct root loop = *root;
	loop.is_range = position->is_range;
	loop.is_number = position->is_range && position->is_number;
	loop.is_down = position->is_relative;
	const char *label = label_of(self, &loop, NULL);
	uint64_t slot = slot_of_label(self, root, label);
	if (slot == NO_SLOT || !tp_py_memory_get_u64(self->mem, root->address, &word) ||
	    word != root->word)
		return;
	uint64_t value = count_up(&self->slots[slot], position, position->value);
	uint64_t total = position->is_relative ? self->slots[slot].highest : position->total;
	struct tp_python_counter counter = {
		.variable = label,
		.kind = TP_PYTHON_COUNTER_ITERATOR,
		.value = value,
		.total = total == self->slots[slot].total ? 0 : total,
		.address = position->address,
		.is_falling = position->is_falling,
	};
	size_t n = list->n;
	emit_counter(self, list, root, counter, slot);
	if (list->n > n)
		self->slots[slot].total = total;
}

static struct tp_py_object_cache *object_cache_of(struct tp_py_counters *self,
						  struct counter_list *list, uint64_t object)
{
	struct tp_py_object_cache *cache =
		&self->objects[tp_hash_mix(object, 0) % (uint64_t)N_OBJECTS];
	bool is_known = cache->object == object;
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
static void emit_loader(struct tp_py_counters *self, struct counter_list *list,
			const struct root *root, const struct tp_py_loader *loader)
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

/* Reads, by one call, the pointers to numbers, the guard words and the root; returns true if guards
 * and root are unchanged. */
static bool read_pointers(struct tp_py_counters *self, const struct root *root,
			  const struct tp_py_object_cache *cache,
			  uint64_t pointers[TP_PY_ATTRIBUTE_MAX])
{
	struct tp_process_range pieces[TP_PY_ATTRIBUTE_MAX + 3];
	uint64_t guards[2];
	uint64_t word = 0;
	size_t n = 0;
	const struct tp_py_attribute *first = &cache->attributes[0];
	memcpy(guards, first->guard_words, sizeof(guards));
	for (size_t i = 0; i < cache->n; i++)
		pieces[n++] =
			(struct tp_process_range){cache->attributes[i].address, &pointers[i], WORD};
	for (size_t i = 0; i < 2; i++)
		if (first->guards[i])
			pieces[n++] = (struct tp_process_range){first->guards[i], &guards[i], WORD};
	pieces[n++] = (struct tp_process_range){root->address, &word, WORD};
	return self->mem->read(self->mem, pieces, n) == n && word == root->word &&
	       memcmp(guards, first->guard_words, sizeof(guards)) == 0;
}

static void emit_attribute(struct tp_py_counters *self, struct counter_list *list,
			   const struct root *root, const struct tp_py_attribute *attribute,
			   const uint8_t *number)
{
	uint64_t value;
	const char *label = label_of(self, root, attribute->name);
	uint64_t slot = slot_of_label(self, root, label);
	if (is_given_up(self, slot) || !read_number(self, number, &value))
		return;
	struct tp_python_counter counter = {
		.variable = label,
		.kind = root->line ? TP_PYTHON_COUNTER_ITERATOR : TP_PYTHON_COUNTER_ATTRIBUTE,
		.value = value,
		.address = attribute->address,
		.is_object = true,
	};
	emit_counter(self, list, root, counter, slot);
}

/* Most numbers in objects are settings, which never change: after some readings without a change
 * most readings assume that they are unchanged. */
static bool is_left_out(struct tp_py_counters *self, struct tp_py_object_cache *cache)
{
	if (cache->n_idle++ < IDLE_LOOKS || cache->n_idle % IDLE_FACTOR == 0)
		return false;
	for (size_t i = 0; i < cache->n; i++)
		note_address(self, cache->attributes[i].address);
	return true;
}

static void read_attributes(struct tp_py_counters *self, struct counter_list *list,
			    const struct root *root, uint64_t object)
{
	uint64_t before[TP_PY_ATTRIBUTE_MAX] = {0};
	uint64_t after[TP_PY_ATTRIBUTE_MAX] = {0};
	uint8_t numbers[TP_PY_ATTRIBUTE_MAX][TP_PY_NUMBER_BYTES];
	bool is_read[TP_PY_ATTRIBUTE_MAX];
	struct tp_py_object_cache *cache = object_cache_of(self, list, object);
	if (!cache || cache->n == 0 || is_left_out(self, cache))
		return;
	if (!read_pointers(self, root, cache, before)) {
		cache->object = 0;
		return;
	}
	if (cache->is_loader)
		emit_loader(self, list, root, &cache->loader);
	size_t n_before = list->n;
	for (size_t i = 0; i < cache->n; i++)
		is_read[i] = is_address(before[i]) &&
			     tp_py_memory_get(self->mem, before[i], numbers[i], TP_PY_NUMBER_BYTES);
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

static void find_inner(struct tp_py_counters *self, struct counter_list *list,
		       const struct root *root, struct tp_py_object_cache *cache)
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
static void read_inner(struct tp_py_counters *self, struct counter_list *list,
		       const struct root *root, uint64_t object)
{
	struct tp_py_object_cache *cache = object_cache_of(self, list, object);
	if (!cache || !root->name)
		return;
	find_inner(self, list, root, cache);
	for (size_t i = 0; i < cache->n_inner; i++) {
		struct root below = *root;
		below.name = cache->inner[i].name;
		below.address = cache->inner[i].address;
		below.word = cache->inner[i].object;
		read_attributes(self, list, &below, below.word);
	}
}

static void read_loop(struct tp_py_counters *self, struct counter_list *list,
		      const struct root *root, struct tp_py_iterators *iterators)
{
	struct tp_py_position position;
	if (!tp_py_iterators_position(iterators, root->object, &position))
		return;
	if (position.address)
		read_position(self, list, root, &position);
	else
		read_attributes(self, list, root, position.object);
	/* PyTorch's loader counts the batches that it returned, which shows that it yields
	 * batches. */
	if (position.inner)
		read_attributes(self, list, root, position.inner);
}

/* The name is kept with its slot, so that it is read once; "" if there is none. */
static const char *target_name(struct tp_py_counters *self, const struct root *root,
			       const struct tp_py_bytecode *bytecode,
			       const struct tp_py_for_loop *loop)
{
	uint64_t slot = slot_of(self, root->code, tp_hash_mix(root->number, loop->end));
	if (loop->target_kind == TP_PY_TARGET_UNKNOWN || slot == NO_SLOT)
		return NULL;
	if (!self->slots[slot].name) {
		bool is_local = loop->target_kind == TP_PY_TARGET_LOCAL;
		const char *name = name_in(self, is_local ? bytecode->local_names : bytecode->names,
					   loop->target);
		self->slots[slot].name = name ? name : "";
	}
	return self->slots[slot].name[0] ? self->slots[slot].name : NULL;
}

static uint32_t number_of_loop(const struct tp_py_for_loop *loop)
{
	return (1U << 16) + loop->start;
}

/* The instruction alone shows which loops run; their counters are not needed. */
static void note_running(struct tp_py_counters *self, const struct root *root,
			 const struct tp_py_bytecode *bytecode, uint64_t offset)
{
	if (offset > INT32_MAX) {
		tp_py_live_loops_saw_unknown(&self->loops);
		return;
	}
	tp_py_live_loops_saw_function(&self->loops, root->code->address);
	for (size_t i = 0; i < bytecode->n_loops; i++)
		if (offset >= bytecode->loops[i].start && offset < bytecode->loops[i].end)
			tp_py_live_loops_saw_loop(&self->loops, root->code->address,
						  number_of_loop(&bytecode->loops[i]));
}

static void read_loops_of(struct tp_py_counters *self, struct counter_list *list, struct root *root,
			  const struct tp_py_stack_frame *frame, struct tp_py_iterators *iterators)
{
	struct tp_py_live_loop live[TP_PY_ITERATOR_MAX_LIVE];
	uint64_t words[TP_PY_ITERATOR_MAX_STACK];
	const struct tp_py_bytecode *bytecode = tp_py_bytecodes_get(&self->bytecodes, root->code);
	uint64_t offset = frame->instr - root->code->bytecode;
	size_t n_words = bytecode->n_stack < TP_PY_ITERATOR_MAX_STACK ? bytecode->n_stack
								      : TP_PY_ITERATOR_MAX_STACK;
	uint64_t address =
		frame->address + self->layout->frame_size + (uint64_t)WORD * bytecode->n_locals;
	note_running(self, root, bytecode, offset);
	if (bytecode->n_loops == 0 || n_words == 0 || offset > INT32_MAX ||
	    !tp_py_memory_get(self->mem, address, words, n_words * WORD))
		return;
	size_t n =
		tp_py_iterators_live(iterators, bytecode, (uint32_t)offset, words, n_words, live);
	for (size_t i = 0; i < n; i++) {
		root->address = address + live[i].word * WORD;
		root->word = words[live[i].word];
		root->object = live[i].object;
		root->line = live[i].loop.line ? live[i].loop.line : 1;
		root->number = number_of_loop(&live[i].loop);
		root->name = target_name(self, root, bytecode, &live[i].loop);
		read_loop(self, list, root, iterators);
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
	const char *name = name_in(self, bytecode->local_names, number);
	if (name)
		tp_map_set(&self->local_names, key, (uint64_t)(uintptr_t)name);
	return name;
}

/* Skips ranges that cannot be read; is_read shows which were read. */
static void read_each(struct tp_py_counters *self, const struct tp_process_range *ranges, size_t n,
		      bool *is_read)
{
	for (size_t at = 0; at < n;) {
		size_t n_read = self->mem->read(self->mem, ranges + at, n - at);
		for (size_t i = 0; i < n_read; i++)
			is_read[at++] = true;
		if (at < n)
			is_read[at++] = false;
	}
}

/* The first local variables of a frame. */
struct frame_locals {
	const struct tp_py_stack_frame *frame;
	const struct tp_py_code *code;
	size_t n;
	uint64_t words[MAX_OBJECT_LOCALS];
};

enum { MAX_INSTANCES = MAX_FRAMES * MAX_OBJECT_LOCALS };

/* Reads those of the outermost functions by one call; returns how many have been read. */
static size_t read_frame_locals(struct tp_py_counters *self, const struct tp_py_stack *stack,
				const struct tp_py_code_cache *codes, struct frame_locals *out)
{
	struct tp_process_range pieces[MAX_FRAMES];
	bool is_read[MAX_FRAMES];
	size_t n = 0;
	size_t n_kept = 0;
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_FRAMES; i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		const struct tp_py_code *code = tp_py_code_get(codes, frame->code);
		if (!code || code->is_body)
			continue;
		size_t n_locals = tp_py_bytecodes_get(&self->bytecodes, code)->n_locals;
		out[n].frame = frame;
		out[n].code = code;
		out[n].n = n_locals < MAX_OBJECT_LOCALS ? n_locals : MAX_OBJECT_LOCALS;
		pieces[n] = (struct tp_process_range){frame->address + self->layout->frame_size,
						      out[n].words, out[n].n * WORD};
		n += out[n].n > 0;
	}
	if (n > 0)
		read_each(self, pieces, n, is_read);
	for (size_t i = 0; i < n; i++)
		if (is_read[i])
			out[n_kept++] = out[i];
	return n_kept;
}

static uint64_t object_in(const struct tp_py_counters *self, uint64_t word)
{
	return self->layout->minor >= 14 ? word & ~(uint64_t)TAGS : word;
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
	if (n_pieces > 0)
		read_each(self, pieces, n_pieces, is_read);
	for (size_t i = 0; i < n_pieces; i++)
		if (!is_read[i])
			memset(pieces[i].out, 0, WORD);
}

static void read_types_of_locals(struct tp_py_counters *self, const struct frame_locals *frames,
				 size_t n_frames)
{
	uint64_t objects[MAX_INSTANCES];
	size_t n = 0;
	for (size_t i = 0; i < n_frames; i++)
		for (size_t k = 0; k < frames[i].n; k++)
			if (is_address(object_in(self, frames[i].words[k])))
				objects[n++] = object_in(self, frames[i].words[k]);
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

/* Reads counters in instances that local variables hold, such as `self`. */
static void read_objects_of(struct tp_py_counters *self, struct counter_list *list,
			    const struct frame_locals *locals)
{
	const struct tp_py_bytecode *bytecode = tp_py_bytecodes_get(&self->bytecodes, locals->code);
	for (uint32_t i = 0; i < locals->n && list->n_objects < MAX_OBJECTS; i++) {
		uint64_t object = object_in(self, locals->words[i]);
		if (!is_address(object) || !is_of_class(self, object))
			continue;
		list->n_objects++;
		const struct root root = {
			.code = locals->code,
			.address = locals->frame->address + self->layout->frame_size +
				   (uint64_t)i * WORD,
			.word = locals->words[i],
			.number = i,
			.name = local_name(self, bytecode, i),
		};
		read_attributes(self, list, &root, object);
		if (i == 0)
			read_inner(self, list, &root, object);
	}
}

static void read_objects_of_frames(struct tp_py_counters *self, struct counter_list *list,
				   const struct tp_py_stack *stack,
				   const struct tp_py_code_cache *codes)
{
	struct frame_locals frames[MAX_FRAMES];
	size_t n = read_frame_locals(self, stack, codes, frames);
	read_types_of_locals(self, frames, n);
	for (size_t i = 0; i < n; i++)
		read_objects_of(self, list, &frames[i]);
}

static void read_loops(struct tp_py_counters *self, struct counter_list *list,
		       const struct tp_py_stack *stack, struct tp_py_code_cache *codes)
{
	struct tp_py_iterators iterators = {self->mem, self->layout, &self->attributes,
					    &self->bytecodes, codes};
	tp_py_live_loops_begin(&self->loops, stack->is_whole);
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_LOOP_FRAMES; i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		struct root root = {.code = tp_py_code_get(codes, frame->code)};
		if (root.code)
			read_loops_of(self, list, &root, frame, &iterators);
		else
			tp_py_live_loops_saw_unknown(&self->loops);
	}
}

size_t tp_py_counters_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   struct tp_py_code_cache *codes, struct tp_python_counter *out,
			   size_t max)
{
	self->n_read = 0;
	if (self->int_type == 0)
		return 0;
	self->n_looks++;
	struct counter_list list = {.out = out, .max = max};
	read_loops(self, &list, stack, codes);
	list.n += tp_py_live_loops_ends(&self->loops, out + list.n, max - list.n);
	list.n += read_all_variables(self, stack, codes, out + list.n, max - list.n);
	read_objects_of_frames(self, &list, stack, codes);
	return list.n;
}
