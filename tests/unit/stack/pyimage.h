/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a CPython process, built by hand for any minor version, so that tests can create
 * situations that rarely occur in a running one (a stack that changes while it is read, circular
 * pointers). */
#ifndef TRAINPROF_TESTS_UNIT_STACK_PYIMAGE_H
#define TRAINPROF_TESTS_UNIT_STACK_PYIMAGE_H

#include "stack/python/py_layout.h"
#include "stack/python/py_memory.h"
#include "stack/python/py_open.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PYIMAGE_BASE UINT64_C(0x7f0000000000)
enum {
	PYIMAGE_BYTES = 4 << 20,
	PYIMAGE_CHUNK_BYTES = 16 << 10,
	PYIMAGE_WORDS_A_FRAME = 16,
	PYIMAGE_SLICE_BYTES = 64
};

struct pyimage {
	uint8_t *bytes;
	uint64_t used;
	const struct tp_py_layout *layout;
	uint64_t runtime, interp, thread, cframe, gil;
	uint64_t code_type, int_type;
	uint64_t chunk, top; /* of the data stack */
	uint64_t innermost;  /* innermost frame */
	struct tp_py_memory mem;
	/* Called before each slice is read: changes the memory as the running process would. */
	void (*meanwhile)(struct pyimage *image);
	size_t n_slices;  /* slices read so far */
	size_t n_lookups; /* of pages, that the kernel would have made so far */
};

static inline uint8_t *pyimage_at(const struct pyimage *image, uint64_t address)
{
	return image->bytes + (address - PYIMAGE_BASE);
}

static inline void pyimage_put(struct pyimage *image, uint64_t address, uint64_t word)
{
	memcpy(pyimage_at(image, address), &word, sizeof(word));
}

static inline void pyimage_put_u32(struct pyimage *image, uint64_t address, uint32_t word)
{
	memcpy(pyimage_at(image, address), &word, sizeof(word));
}

static inline uint64_t pyimage_get(const struct pyimage *image, uint64_t address)
{
	return tp_py_memory_u64(pyimage_at(image, address));
}

static inline uint64_t pyimage_alloc(struct pyimage *image, size_t size)
{
	uint64_t address = PYIMAGE_BASE + image->used;
	image->used += (size + 15) & ~(uint64_t)15;
	if (image->used > PYIMAGE_BYTES)
		abort();
	return address;
}

/* Consecutive ranges of one page are one, if each begins behind the one before it. */
static inline bool pyimage_is_on_page(const struct tp_process_range *before,
				      const struct tp_process_range *range)
{
	const uint64_t page = TP_PROCESS_MEMORY_PAGE;
	return range->address >= before->address + before->size &&
	       (range->address + range->size - 1) / page == before->address / page;
}

/* Copies slice by slice, like a processor: the memory can change between two slices. */
static inline size_t pyimage_read(struct tp_py_memory *mem, const struct tp_process_range *pieces,
				  size_t n)
{
	struct pyimage *image = mem->image;
	mem->n_calls++;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = pieces[i].address - PYIMAGE_BASE;
		if (at > PYIMAGE_BYTES || pieces[i].size > PYIMAGE_BYTES - at)
			return i;
		image->n_lookups += i == 0 || !pyimage_is_on_page(&pieces[i - 1], &pieces[i]);
		for (size_t done = 0; done < pieces[i].size;) {
			size_t slice = PYIMAGE_SLICE_BYTES - (at + done) % PYIMAGE_SLICE_BYTES;
			if (slice > pieces[i].size - done)
				slice = pieces[i].size - done;
			image->n_slices++;
			if (image->meanwhile)
				image->meanwhile(image);
			memcpy((uint8_t *)pieces[i].out + done, image->bytes + at + done, slice);
			done += slice;
		}
	}
	return n;
}

/* Characters of 1, 2 or 4 bytes; ASCII if `is_ascii`. */
static inline uint64_t pyimage_text_of(struct pyimage *image, const void *data, size_t n,
				       unsigned kind, bool is_ascii)
{
	const struct tp_py_layout *l = image->layout;
	size_t at = is_ascii ? l->text_ascii : l->text_compact;
	uint64_t text = pyimage_alloc(image, at + n * kind + 4);
	pyimage_put(image, text + l->text_length, n);
	pyimage_put_u32(image, text + l->text_state, kind << 2 | 1 << 5 | (is_ascii ? 1 << 6 : 0));
	memcpy(pyimage_at(image, text + at), data, n * kind);
	return text;
}

static inline uint64_t pyimage_text(struct pyimage *image, const char *text)
{
	return pyimage_text_of(image, text, strlen(text), 1, true);
}

static inline uint64_t pyimage_bytes(struct pyimage *image, const void *data, size_t n)
{
	uint64_t bytes = pyimage_alloc(image, image->layout->bytes_data + n + 1);
	pyimage_put(image, bytes + image->layout->object_size, n);
	memcpy(pyimage_at(image, bytes + image->layout->bytes_data), data, n);
	return bytes;
}

/* Line table of a function whose i-th instruction (of two bytes) is on line first + i / 4. */
static inline uint64_t pyimage_lines(struct pyimage *image)
{
	uint8_t table[2 * 32];
	size_t n = 0;
	for (unsigned i = 0; i < 32; i++) {
		if (image->layout->minor < 10) {
			table[n++] = i == 0 ? 0 : 8;
			table[n++] = i == 0 ? 0 : 1;
		} else if (image->layout->minor == 10) {
			table[n++] = 8;
			table[n++] = i == 0 ? 0 : 1;
		} else {
			table[n++] = 0x80 | 13 << 3 | 3; /* four instructions, no columns */
			table[n++] = i == 0 ? 0 : 2;     /* + 1 */
		}
	}
	return pyimage_bytes(image, table, n);
}

static inline uint64_t pyimage_code(struct pyimage *image, const char *file, const char *name,
				    uint32_t first_line)
{
	const struct tp_py_layout *l = image->layout;
	uint64_t code = pyimage_alloc(image, TP_PY_LAYOUT_MAX_CODE_BYTES + 512);
	uint64_t text = pyimage_text(image, name);
	pyimage_put(image, code + l->object_type, image->code_type);
	pyimage_put(image, code + l->code_file, pyimage_text(image, file));
	pyimage_put(image, code + l->code_name, text);
	if (l->code_qualname) {
		pyimage_put(image, code + l->code_qualname, text);
		pyimage_put_u32(image, code + l->code_first_traceable, 1);
		pyimage_put(image, code + l->object_size, 128);
	}
	pyimage_put(image, code + l->code_lines, pyimage_lines(image));
	pyimage_put_u32(image, code + l->code_first_line, first_line);
	/* CO_OPTIMIZED and CO_NEWLOCALS; module and class bodies have neither. */
	pyimage_put_u32(image, code + l->code_flags, name[0] == '<' ? 0 : 3);
	return code;
}

static inline uint64_t pyimage_entry_at(const struct pyimage *image)
{
	const struct tp_py_layout *l = image->layout;
	return l->thread_cframe ? image->cframe + l->cframe_frame : image->thread + l->thread_frame;
}

static inline void pyimage_set_innermost(struct pyimage *image, uint64_t frame)
{
	image->innermost = frame;
	pyimage_put(image, pyimage_entry_at(image), frame);
}

static inline void pyimage_add_chunk(struct pyimage *image)
{
	const struct tp_py_layout *l = image->layout;
	uint64_t chunk = pyimage_alloc(image, PYIMAGE_CHUNK_BYTES);
	memset(pyimage_at(image, chunk), 0, PYIMAGE_CHUNK_BYTES);
	if (image->chunk)
		pyimage_put(image, image->chunk + l->chunk_top,
			    (image->top - image->chunk - l->chunk_data) / 8);
	pyimage_put(image, chunk + l->chunk_previous, image->chunk);
	pyimage_put(image, chunk + l->chunk_size, PYIMAGE_CHUNK_BYTES);
	/* The first word of the first chunk is unused. */
	image->top = chunk + l->chunk_data + (image->chunk ? 0 : 8);
	image->chunk = chunk;
	pyimage_put(image, image->thread + l->thread_chunk, chunk);
	pyimage_put(image, image->thread + l->thread_top, image->top);
}

/* Address for a mark of C, or before 3.11 for a frame. */
static inline uint64_t pyimage_loose(struct pyimage *image)
{
	size_t size = 16 + TP_PY_LAYOUT_MAX_FRAME_BYTES + 8 * PYIMAGE_WORDS_A_FRAME;
	uint64_t frame = pyimage_alloc(image, size);
	memset(pyimage_at(image, frame), 0, size);
	return frame + 16;
}

static inline uint64_t pyimage_in_chunk(struct pyimage *image)
{
	const struct tp_py_layout *l = image->layout;
	size_t size = l->frame_size + 8 * PYIMAGE_WORDS_A_FRAME;
	if (!image->chunk || image->top + size > image->chunk + PYIMAGE_CHUNK_BYTES)
		pyimage_add_chunk(image);
	uint64_t frame = image->top;
	image->top += size;
	pyimage_put(image, image->thread + l->thread_top, image->top);
	return frame;
}

/* The frame of a generator is inside its object. */
enum pyimage_owner { PYIMAGE_THREAD = 0, PYIMAGE_GENERATOR = 1, PYIMAGE_MARK = 3 };

/* Sets the state in the frame itself. */
static inline void pyimage_set_running(struct pyimage *image, uint64_t frame, bool is_running)
{
	const struct tp_py_layout *l = image->layout;
	if (l->frame_executing)
		*pyimage_at(image, frame + l->frame_executing) = is_running;
	else if (l->frame_state)
		*pyimage_at(image, frame + l->frame_state) = is_running ? 0 : 0xff;
	else if (*pyimage_at(image, frame + l->frame_owner) == PYIMAGE_GENERATOR)
		*pyimage_at(image, frame - l->generator_state) = is_running ? 0 : 0xff;
}

static inline uint64_t pyimage_call_as(struct pyimage *image, uint64_t code, uint32_t instruction,
				       bool from_c, enum pyimage_owner owner)
{
	const struct tp_py_layout *l = image->layout;
	if (from_c && l->minor >= 12) {
		uint64_t mark = pyimage_loose(image);
		pyimage_put(image, mark + l->frame_back, image->innermost);
		*pyimage_at(image, mark + l->frame_owner) = PYIMAGE_MARK;
		image->innermost = mark;
	}
	bool is_loose = l->minor < 11 || owner != PYIMAGE_THREAD;
	uint64_t frame = is_loose ? pyimage_loose(image) : pyimage_in_chunk(image);
	pyimage_put(image, frame + l->frame_back, image->innermost);
	pyimage_put(image, frame + l->frame_code, code | (l->minor >= 14 ? 1 : 0));
	if (l->minor < 11) {
		pyimage_put_u32(image, frame + l->frame_instr,
				l->minor == 10 ? instruction : 2 * instruction);
	} else {
		pyimage_put(image, frame + l->frame_instr, code + l->code_bytes + 2 * instruction);
		*pyimage_at(image, frame + l->frame_owner) = (uint8_t)owner;
	}
	pyimage_set_running(image, frame, true);
	if (l->frame_is_entry)
		*pyimage_at(image, frame + l->frame_is_entry) = from_c;
	pyimage_set_innermost(image, frame);
	return frame;
}

static inline uint64_t pyimage_call(struct pyimage *image, uint64_t code, uint32_t instruction,
				    bool from_c)
{
	return pyimage_call_as(image, code, instruction, from_c, PYIMAGE_THREAD);
}

static inline uint64_t pyimage_object(struct pyimage *image, uint64_t type)
{
	uint64_t object = pyimage_alloc(image, 32);
	pyimage_put(image, object + image->layout->object_type, type);
	return object;
}

/* A whole number below 2^60. */
static inline uint64_t pyimage_int(struct pyimage *image, uint64_t value)
{
	const struct tp_py_layout *l = image->layout;
	uint64_t object = pyimage_object(image, image->int_type);
	uint64_t n_digits = value >> 30 ? 2 : value ? 1 : 0;
	uint64_t size = l->minor >= 12 ? n_digits << 3 | !n_digits : n_digits;
	pyimage_put(image, object + l->object_size, size);
	pyimage_put_u32(image, object + l->object_size + 8, (uint32_t)(value & 0x3fffffff));
	pyimage_put_u32(image, object + l->object_size + 12, (uint32_t)(value >> 30));
	return object;
}

/* 0 = not set. */
static inline void pyimage_set_local(struct pyimage *image, uint64_t frame, unsigned local,
				     uint64_t object)
{
	bool is_tagged = image->layout->minor >= 14 && object;
	pyimage_put(image, frame + image->layout->frame_size + 8 * (uint64_t)local,
		    object | (is_tagged ? 1 : 0));
}

/* Room for names in a dictionary; the indices precede the entries. */
enum { PYIMAGE_INDICES = 512, PYIMAGE_NAMES = 320 };

/* A separate table, as a dictionary has after it grew; keys that are not strings make it
 * general. */
static inline uint64_t pyimage_table(struct pyimage *image, bool is_general)
{
	const struct tp_py_layout *l = image->layout;
	size_t size = l->keys_indices + 2 * PYIMAGE_INDICES + (size_t)PYIMAGE_NAMES * 24;
	uint64_t table = pyimage_alloc(image, size);
	memset(pyimage_at(image, table), 0, size);
	if (l->keys_log_bytes) {
		*pyimage_at(image, table + l->keys_log_bytes) = 10; /* 512 indices of two bytes */
		*pyimage_at(image, table + l->keys_kind) = !is_general;
	} else {
		pyimage_put(image, table + l->keys_size, PYIMAGE_INDICES);
	}
	return table;
}

static inline void pyimage_set_globals(struct pyimage *image, uint64_t frame, uint64_t globals,
				       uint64_t locals)
{
	pyimage_put(image, frame + image->layout->frame_globals, globals);
	pyimage_put(image, frame + image->layout->frame_locals, locals);
}

static inline uint64_t pyimage_dict(struct pyimage *image, uint64_t table)
{
	uint64_t dict = pyimage_alloc(image, 64);
	memset(pyimage_at(image, dict), 0, 64);
	pyimage_put(image, dict + image->layout->dict_keys, table);
	return dict;
}

/* Entries from 0 on; value 0 = deleted. */
static inline void pyimage_set_entry(struct pyimage *image, uint64_t table, uint64_t index,
				     uint64_t name, uint64_t object)
{
	const struct tp_py_layout *l = image->layout;
	bool is_general = l->minor < 11 || *pyimage_at(image, table + l->keys_kind) == 0;
	uint64_t n_entries = pyimage_get(image, table + l->keys_n_entries);
	uint64_t entry = table + l->keys_indices + 2 * PYIMAGE_INDICES +
			 index * (is_general ? 24 : 16) + (is_general ? 8 : 0);
	pyimage_put(image, entry, name);
	pyimage_put(image, entry + 8, object);
	if (index >= n_entries)
		pyimage_put(image, table + l->keys_n_entries, index + 1);
}

/* Another thread state of the same interpreter, inserted at the head of its list. */
static inline uint64_t pyimage_add_thread(struct pyimage *image, uint32_t tid)
{
	const struct tp_py_layout *l = image->layout;
	uint64_t first = pyimage_get(image, image->interp + l->interp_threads);
	uint64_t thread = pyimage_alloc(image, TP_PY_LAYOUT_MAX_THREAD_BYTES);
	uint64_t pthread = pyimage_alloc(image, 4096);
	pyimage_put(image, thread + l->thread_next, first);
	if (first)
		pyimage_put(image, first + l->thread_prev, thread);
	pyimage_put(image, thread + l->thread_interp, image->interp);
	pyimage_put(image, thread + l->thread_pthread, pthread);
	pyimage_put_u32(image, pthread + 720, tid);
	if (l->thread_tid)
		pyimage_put(image, thread + l->thread_tid, tid);
	pyimage_put(image, image->interp + l->interp_threads, thread);
	pyimage_put(image, image->interp + l->interp_n_threads,
		    pyimage_get(image, image->interp + l->interp_n_threads) + 1);
	image->thread = thread;
	image->chunk = 0;
	image->innermost = 0;
	if (l->thread_cframe) {
		image->cframe = pyimage_alloc(image, 64);
		pyimage_put(image, thread + l->thread_cframe, image->cframe);
	}
	return thread;
}

static inline void pyimage_write_offset(struct pyimage *image, uint32_t at, uint64_t value)
{
	if (at)
		pyimage_put(image, image->runtime + at, value);
}

/* Writes the offsets that 3.13 and later publish. */
static inline void pyimage_write_offsets(struct pyimage *image)
{
	const struct tp_py_layout *l = image->layout;
	const struct tp_py_layout_offsets *t = &l->published;
	memcpy(pyimage_at(image, image->runtime), "xdebugpy", 8);
	pyimage_put(image, image->runtime + 8,
		    UINT64_C(3) << 24 | (uint64_t)l->minor << 16 | 0x5f0);
	const uint32_t offsets[][2] = {
		{t->runtime_interps, l->runtime_interps},
		{t->interp_next, l->interp_next},
		{t->interp_threads, l->interp_threads},
		{t->interp_gil, l->interp_gil},
		{t->thread_prev, l->thread_prev},
		{t->thread_next, l->thread_next},
		{t->thread_interp, l->thread_interp},
		{t->thread_frame, l->thread_frame},
		{t->thread_pthread, l->thread_pthread},
		{t->thread_tid, l->thread_tid},
		{t->thread_chunk, l->thread_chunk},
		{t->frame_size, l->frame_size},
		{t->frame_back, l->frame_back},
		{t->frame_code, l->frame_code},
		{t->frame_instr, l->frame_instr},
		{t->frame_owner, l->frame_owner},
		{t->code_file, l->code_file},
		{t->code_name, l->code_name},
		{t->code_qualname, l->code_qualname},
		{t->code_lines, l->code_lines},
		{t->code_first_line, l->code_first_line},
		{t->code_bytes, l->code_bytes},
		{t->object_type, l->object_type},
		{t->bytes_data, l->bytes_data},
		{t->text_state, l->text_state},
		{t->text_length, l->text_length},
		{t->text_ascii, l->text_ascii},
	};
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		pyimage_write_offset(image, offsets[i][0], offsets[i][1]);
}

/* One interpreter, one thread (this process's main one), no frames. */
static inline void pyimage_init(struct pyimage *image, unsigned minor)
{
	*image = (struct pyimage){.layout = tp_py_layout_find(minor)};
	if (!image->layout)
		abort();
	const struct tp_py_layout *l = image->layout;
	/* Zeroed, and only touched pages use memory. */
	image->bytes = mmap(NULL, PYIMAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image->bytes == MAP_FAILED)
		abort();
	image->mem = (struct tp_py_memory){.read = pyimage_read, .pid = getpid(), .image = image};
	image->used = 64;
	image->runtime = pyimage_alloc(image, 8192);
	image->interp = pyimage_alloc(image, 16384);
	image->code_type = pyimage_alloc(image, 512);
	image->int_type = pyimage_alloc(image, 512);
	if (minor >= 13)
		pyimage_write_offsets(image);
	pyimage_put(image, image->runtime + l->runtime_interps, image->interp);
	image->gil = image->runtime + l->runtime_gil;
	if (l->interp_gil) {
		image->gil = pyimage_alloc(image, 256);
		pyimage_put(image, image->interp + l->interp_gil, image->gil);
	}
	pyimage_add_thread(image, (uint32_t)getpid());
}

static inline void pyimage_release(struct pyimage *image)
{
	munmap(image->bytes, PYIMAGE_BYTES);
}

static inline enum tp_status pyimage_open(struct pyimage *image, struct tp_python **out,
					  struct tp_error *err)
{
	static char path[] = "/usr/bin/python";
	struct tp_py_find_result found = {
		.runtime = image->runtime,
		.int_type = image->int_type,
		.minor = image->layout->minor,
		.path = path,
	};
	return tp_python_open_memory(out, &image->mem, &found, "/proc", err);
}

#endif
