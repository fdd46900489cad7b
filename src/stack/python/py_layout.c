/* SPDX-License-Identifier: Apache-2.0 */
/* The table of layouts, and the parser for the offsets that newer versions publish. */
#include "py_layout.h"

#include "py_memory.h"

#include "trainprof/base/memory.h"

#include <string.h>

static const struct tp_py_layout rows[] = {
#include "py_layouts.inc"
};

/* Real structures are far smaller; wrong offsets in a hostile program must not make us read
 * more. */
enum { MAX_OFFSET = 4096, MAX_FAR_OFFSET = 1 << 20 };

const struct tp_py_layout *tp_py_layout_find(unsigned minor)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		if (rows[i].minor == minor)
			return &rows[i];
	}
	return NULL;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

size_t tp_py_layout_thread_bytes(const struct tp_py_layout *layout)
{
	size_t last = larger(layout->thread_top, layout->thread_chunk);
	last = larger(last, larger(layout->thread_frame, layout->thread_cframe));
	last = larger(last, larger(layout->thread_tid, layout->thread_pthread));
	last = larger(last, larger(layout->thread_interp, layout->thread_next));
	return larger(last, layout->thread_prev) + 8;
}

size_t tp_py_layout_frame_bytes(const struct tp_py_layout *layout)
{
	/* From 3.11 on the whole frame head is compared; in older versions it ends in room for
	 * twenty blocks, which are not read. */
	if (layout->minor >= 11)
		return layout->frame_size;
	size_t last = larger(layout->frame_code, larger(layout->frame_back, layout->frame_instr));
	return larger(last, larger(layout->frame_executing, layout->frame_state)) + 8;
}

size_t tp_py_layout_code_bytes(const struct tp_py_layout *layout)
{
	size_t last = larger(layout->code_file, layout->code_name);
	last = larger(last, larger(layout->code_qualname, layout->code_lines));
	last = larger(last, larger(layout->code_consts, layout->code_names));
	last = larger(last, larger(layout->code_first_line, layout->code_first_traceable));
	last = larger(last, larger(layout->code_n_locals, layout->code_local_names));
	last = larger(last, larger(layout->code_cells, layout->code_stack_size));
	return larger(last, layout->object_type) + 8;
}

struct layout_reading {
	const uint8_t *published;
	bool is_sane;
};

static void parse_offset(struct layout_reading *reading, uint32_t *offset, uint32_t at,
			 uint64_t max)
{
	uint64_t value = tp_py_memory_u64(reading->published + at);
	if (value >= max)
		reading->is_sane = false;
	else
		*offset = (uint32_t)value;
}

static void parse_runtime(struct layout_reading *r, struct tp_py_layout *out)
{
	const struct tp_py_layout_offsets *at = &out->published;
	uint32_t before_threads = out->interp_threads - out->interp_n_threads;
	parse_offset(r, &out->runtime_interps, at->runtime_interps, MAX_FAR_OFFSET);
	parse_offset(r, &out->interp_next, at->interp_next, MAX_FAR_OFFSET);
	parse_offset(r, &out->interp_threads, at->interp_threads, MAX_FAR_OFFSET);
	parse_offset(r, &out->interp_gil, at->interp_gil, MAX_FAR_OFFSET);
	/* Not published, but next to published members. */
	out->interp_n_threads = out->interp_threads - before_threads;
	r->is_sane &= out->interp_threads >= before_threads;
}

static void parse_thread(struct layout_reading *r, struct tp_py_layout *out)
{
	const struct tp_py_layout_offsets *at = &out->published;
	uint32_t after_chunk = out->thread_top - out->thread_chunk;
	parse_offset(r, &out->thread_prev, at->thread_prev, MAX_OFFSET);
	parse_offset(r, &out->thread_next, at->thread_next, MAX_OFFSET);
	parse_offset(r, &out->thread_interp, at->thread_interp, MAX_OFFSET);
	parse_offset(r, &out->thread_frame, at->thread_frame, MAX_OFFSET);
	parse_offset(r, &out->thread_pthread, at->thread_pthread, MAX_OFFSET);
	parse_offset(r, &out->thread_tid, at->thread_tid, MAX_OFFSET);
	parse_offset(r, &out->thread_chunk, at->thread_chunk, MAX_OFFSET);
	out->thread_top = out->thread_chunk + after_chunk;
}

static void parse_frame(struct layout_reading *r, struct tp_py_layout *out)
{
	const struct tp_py_layout_offsets *at = &out->published;
	parse_offset(r, &out->frame_size, at->frame_size, MAX_OFFSET);
	parse_offset(r, &out->frame_back, at->frame_back, MAX_OFFSET);
	parse_offset(r, &out->frame_code, at->frame_code, MAX_OFFSET);
	parse_offset(r, &out->frame_instr, at->frame_instr, MAX_OFFSET);
	parse_offset(r, &out->frame_owner, at->frame_owner, MAX_OFFSET);
	uint32_t size = out->frame_size;
	r->is_sane &= size <= TP_PY_LAYOUT_MAX_FRAME_BYTES && out->frame_back + 8 <= size &&
		      out->frame_code + 8 <= size && out->frame_instr + 8 <= size &&
		      out->frame_owner < size;
}

static void parse_objects(struct layout_reading *r, struct tp_py_layout *out)
{
	const struct tp_py_layout_offsets *at = &out->published;
	uint32_t compact = out->text_compact - out->text_ascii;
	uint32_t before_bytes = out->code_bytes - out->code_first_traceable;
	parse_offset(r, &out->code_file, at->code_file, MAX_OFFSET);
	parse_offset(r, &out->code_name, at->code_name, MAX_OFFSET);
	parse_offset(r, &out->code_qualname, at->code_qualname, MAX_OFFSET);
	parse_offset(r, &out->code_lines, at->code_lines, MAX_OFFSET);
	parse_offset(r, &out->code_first_line, at->code_first_line, MAX_OFFSET);
	parse_offset(r, &out->code_bytes, at->code_bytes, MAX_OFFSET);
	parse_offset(r, &out->object_type, at->object_type, MAX_OFFSET);
	parse_offset(r, &out->bytes_data, at->bytes_data, MAX_OFFSET);
	parse_offset(r, &out->text_state, at->text_state, MAX_OFFSET);
	parse_offset(r, &out->text_length, at->text_length, MAX_OFFSET);
	parse_offset(r, &out->text_ascii, at->text_ascii, MAX_OFFSET);
	out->text_compact = out->text_ascii + compact;
	out->code_first_traceable = out->code_bytes - before_bytes;
	r->is_sane &= out->code_bytes >= before_bytes;
}

enum tp_status tp_py_layout_parse(struct tp_py_layout *out, uint64_t *version,
				  const uint8_t *published, struct tp_error *err)
{
	if (memcmp(published, "xdebugpy", 8) != 0)
		return tp_fail(err, TP_ABSENT, "no offsets at the begin of _PyRuntime");
	*version = tp_py_memory_u64(published + 8);
	unsigned major = (unsigned)(*version >> 24 & 255);
	unsigned minor = (unsigned)(*version >> 16 & 255);
	const struct tp_py_layout *row = tp_py_layout_find(minor);
	if (major != 3 || !row || row->published.free_threaded == 0)
		return tp_fail(err, TP_VERSION, "CPython %u.%u is not known to this version", major,
			       minor);
	if (tp_py_memory_u64(published + row->published.free_threaded) != 0)
		return tp_fail(err, TP_VERSION,
			       "CPython %u.%u without a GIL (free-threaded) is not supported",
			       major, minor);
	struct tp_py_layout layout = *row;
	struct layout_reading reading = {.published = published, .is_sane = true};
	parse_runtime(&reading, &layout);
	parse_thread(&reading, &layout);
	parse_frame(&reading, &layout);
	parse_objects(&reading, &layout);
	reading.is_sane &= tp_py_layout_thread_bytes(&layout) <= TP_PY_LAYOUT_MAX_THREAD_BYTES &&
			   tp_py_layout_code_bytes(&layout) <= TP_PY_LAYOUT_MAX_CODE_BYTES;
	if (!reading.is_sane)
		return tp_fail(err, TP_VERSION, "CPython %u.%u publishes invalid offsets of itself",
			       major, minor);
	*out = layout;
	return TP_OK;
}
