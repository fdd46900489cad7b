/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte offsets of the members that the reader needs, for each minor version of CPython. The rows
 * are generated from CPython's own headers (tests/python/layouts.sh) and are valid for every
 * release of a minor version and for both x86-64 and aarch64. From 3.13 on the program itself
 * publishes most of them at the beginning of _PyRuntime (struct _Py_DebugOffsets), in an order that
 * depends on the minor version.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_LAYOUT_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_LAYOUT_H

#include "trainprof/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
	TP_PY_LAYOUT_MINOR_MIN = 8,
	TP_PY_LAYOUT_MINOR_MAX = 14,
	/* Number of bytes of _PyRuntime that tp_py_layout_parse() reads. */
	TP_PY_LAYOUT_OFFSETS_BYTES = 1024,
	/* No layout needs more of a structure, independent of the offsets that a program
	 * publishes. */
	TP_PY_LAYOUT_MAX_THREAD_BYTES = 512,
	TP_PY_LAYOUT_MAX_FRAME_BYTES = 384,
	TP_PY_LAYOUT_MAX_CODE_BYTES = 256,
};

/* Offsets from _PyRuntime at which 3.13 and later publish the offset of that name. */
struct tp_py_layout_offsets {
	uint32_t free_threaded; /* not an offset: 1 = built without a GIL */
	uint32_t runtime_interps;
	uint32_t interp_next, interp_threads, interp_gil;
	uint32_t thread_prev, thread_next, thread_interp, thread_frame, thread_pthread, thread_tid,
		thread_chunk;
	uint32_t frame_size, frame_back, frame_code, frame_instr, frame_owner;
	uint32_t code_file, code_name, code_qualname, code_lines, code_first_line, code_bytes;
	uint32_t object_type, bytes_data;
	uint32_t text_state, text_length, text_ascii;
};

/* 0 in a member that cannot be at offset 0 means: this version does not have it. */
struct tp_py_layout {
	uint32_t minor;
	/* _PyRuntimeState, PyInterpreterState */
	uint32_t runtime_interps;  /* first interpreter */
	uint32_t runtime_gil;      /* the GIL itself; before 3.12 */
	uint32_t interp_gil;       /* pointer to the GIL; from 3.12 on */
	uint32_t interp_next;      /* next interpreter */
	uint32_t interp_threads;   /* first thread state */
	uint32_t interp_n_threads; /* u64, counts thread states ever made */
	/* struct _gil_runtime_state; from the condition variable to the end are futexes */
	uint32_t gil_holder, gil_locked, gil_cond;
	/* PyThreadState */
	uint32_t thread_prev, thread_next, thread_interp;
	uint32_t thread_pthread; /* pthread_self() of the thread */
	uint32_t thread_tid;     /* kernel's tid; from 3.11 on */
	uint32_t thread_frame;   /* innermost frame; not in 3.11 and 3.12 */
	uint32_t thread_cframe;  /* the structure that has it in 3.11 and 3.12 */
	uint32_t cframe_frame;
	uint32_t thread_chunk, thread_top; /* the chunk of the data stack in use; from 3.11 on */
	uint32_t chunk_previous, chunk_size, chunk_top, chunk_data;
	/* PyFrameObject, from 3.11 on _PyInterpreterFrame */
	uint32_t frame_size; /* up to the local variables */
	uint32_t frame_back, frame_code;
	uint32_t frame_globals, frame_locals; /* dictionaries */
	uint32_t frame_instr;                 /* int index before 3.11, then a pointer */
	uint32_t frame_executing; /* one byte, not 0 while the frame runs or calls; 3.8 and 3.9 */
	uint32_t frame_state;     /* one byte, enum _framestate; only 3.10 */
	uint32_t generator_state; /* one byte, at this distance before a generator's frame;
				     from 3.11 on */
	uint32_t frame_owner;     /* one byte; from 3.11 on */
	uint32_t frame_is_entry;  /* one byte; only 3.11 */
	/* PyCodeObject */
	uint32_t code_flags, code_consts, code_names;
	uint32_t code_file, code_name, code_qualname;
	uint32_t code_first_line;
	uint32_t code_stack_size; /* int: words of the value stack, which follows the locals */
	uint32_t code_n_locals; /* int: local variables, from 3.11 on including cells and free ones
				 */
	uint32_t code_local_names;      /* tuple: their names */
	uint32_t code_cells, code_free; /* tuples; before 3.11 */
	uint32_t code_lines;            /* bytes object: the line table */
	uint32_t code_first_traceable;  /* int: earlier instructions are not shown; from 3.11 on */
	uint32_t code_bytes;            /* bytes object before 3.11, then the bytecode itself */
	/* PyDictObject, PyDictKeysObject */
	uint32_t dict_keys, dict_values;
	uint32_t keys_size;                 /* number of indices; before 3.11 */
	uint32_t keys_log_bytes, keys_kind; /* one byte each; from 3.11 on */
	uint32_t keys_n_entries, keys_indices;
	/* PyObject, PyVarObject, str, bytes */
	uint32_t object_type, object_size;
	uint32_t text_length, text_state;
	uint32_t text_ascii, text_compact; /* offset of the characters */
	uint32_t bytes_data;
	uint32_t type_keys;       /* for a class: the names of the attributes of its instances */
	uint32_t generator_frame; /* a pointer to the frame, from 3.11 on the frame itself */
	struct tp_py_layout_offsets published;
};

/* Returns the row of 3.minor, from its headers; NULL if there is none. */
const struct tp_py_layout *tp_py_layout_find(unsigned minor);

/* Returns how many bytes of a thread state, a frame and a code object have to be read. */
size_t tp_py_layout_thread_bytes(const struct tp_py_layout *layout);
size_t tp_py_layout_frame_bytes(const struct tp_py_layout *layout);
size_t tp_py_layout_code_bytes(const struct tp_py_layout *layout);

/*
 * From 3.13 on: replaces the row's offsets by those published at the beginning of _PyRuntime.
 * `published` has TP_PY_LAYOUT_OFFSETS_BYTES; *version gets PY_VERSION_HEX.
 *   Errors  TP_ABSENT   nothing is published: older, or no CPython, or not initialised yet;
 *           TP_VERSION  a minor version without a row, a free-threaded build, or invalid offsets.
 */
TP_MUST_CHECK enum tp_status tp_py_layout_parse(struct tp_py_layout *out, uint64_t *version,
						const uint8_t *published, struct tp_error *err);

#endif
