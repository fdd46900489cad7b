/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each minor version of CPython keeps what the reader needs: byte offsets within its
 * structures. The rows are generated from its own headers (tests/python/layouts.sh) and hold for
 * every release of a minor version and for x86-64 and aarch64 alike. From 3.13 on the program
 * itself tells most of them at the begin of _PyRuntime (struct _Py_DebugOffsets), in an order that
 * changes with the minor version.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_LAYOUT_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_LAYOUT_H

#include "trainprof/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
	TP_PY_LAYOUT_MINOR_MIN = 8,
	TP_PY_LAYOUT_MINOR_MAX = 14,
	/* How many bytes of _PyRuntime tp_py_layout_parse() looks at. */
	TP_PY_LAYOUT_OFFSETS_BYTES = 1024,
	/* No layout needs more of a structure, whatever a program tells of itself. */
	TP_PY_LAYOUT_MAX_THREAD_BYTES = 512,
	TP_PY_LAYOUT_MAX_FRAME_BYTES = 384,
	TP_PY_LAYOUT_MAX_CODE_BYTES = 256,
};

/* Where, from _PyRuntime on, 3.13 and later tell the offset of that name. */
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

/* 0 where 0 cannot be an offset means: this version has none. */
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
	uint32_t thread_tid;     /* kernel's number; from 3.11 on */
	uint32_t thread_frame;   /* innermost frame; not in 3.11 and 3.12 */
	uint32_t thread_cframe;  /* what has it in 3.11 and 3.12 */
	uint32_t cframe_frame;
	uint32_t thread_chunk, thread_top; /* the chunk of the data stack in use; from 3.11 on */
	uint32_t chunk_previous, chunk_size, chunk_top, chunk_data;
	/* PyFrameObject, from 3.11 on _PyInterpreterFrame */
	uint32_t frame_size; /* up to the local variables */
	uint32_t frame_back, frame_code;
	uint32_t frame_globals, frame_locals; /* dictionaries */
	uint32_t frame_instr;                 /* int index before 3.11, then a pointer */
	uint32_t frame_executing; /* one byte, not 0 while it runs or calls; 3.8 and 3.9 */
	uint32_t frame_state;     /* one byte, enum _framestate; only 3.10 */
	uint32_t generator_state; /* one byte, so far before a generator's frame; from 3.11 on */
	uint32_t frame_owner;     /* one byte; from 3.11 on */
	uint32_t frame_is_entry;  /* one byte; only 3.11 */
	/* PyCodeObject */
	uint32_t code_flags, code_consts, code_names;
	uint32_t code_file, code_name, code_qualname;
	uint32_t code_first_line;
	uint32_t code_stack_size;  /* int: words of the value stack, which lies behind the locals */
	uint32_t code_n_locals;    /* int: local variables, from 3.11 on with cells and free ones */
	uint32_t code_local_names; /* tuple: their names */
	uint32_t code_cells, code_free; /* tuples; before 3.11 */
	uint32_t code_lines;            /* bytes object: the line table */
	uint32_t code_first_traceable; /* int: what is before that instruction is not shown; 3.11 on
					*/
	uint32_t code_bytes;           /* before 3.11 a bytes object, then the bytecode itself */
	/* PyDictObject, PyDictKeysObject */
	uint32_t dict_keys, dict_values;
	uint32_t keys_size;                 /* number of indices; before 3.11 */
	uint32_t keys_log_bytes, keys_kind; /* one byte each; from 3.11 on */
	uint32_t keys_n_entries, keys_indices;
	/* PyObject, PyVarObject, str, bytes */
	uint32_t object_type, object_size;
	uint32_t text_length, text_state;
	uint32_t text_ascii, text_compact; /* where the characters are */
	uint32_t bytes_data;
	uint32_t type_keys;       /* of a class: the names of the attributes of its instances */
	uint32_t generator_frame; /* a pointer to it, from 3.11 on the frame itself */
	struct tp_py_layout_offsets told;
};

/* The row of 3.minor as its headers have it; NULL when there is none. */
const struct tp_py_layout *tp_py_layout_find(unsigned minor);

/* How much of a thread state, a frame and a code object has to be read. */
size_t tp_py_layout_thread_bytes(const struct tp_py_layout *layout);
size_t tp_py_layout_frame_bytes(const struct tp_py_layout *layout);
size_t tp_py_layout_code_bytes(const struct tp_py_layout *layout);

/*
 * From 3.13 on: what the begin of _PyRuntime tells, in place of the row's. `told` has
 * TP_PY_LAYOUT_OFFSETS_BYTES; *version gets PY_VERSION_HEX.
 * Errors  TP_ABSENT   it tells nothing: older, or no CPython, or not set up yet;
 *         TP_VERSION  a minor version without a row, a free-threaded build, or offsets that make no
 * sense.
 */
TP_MUST_CHECK enum tp_status tp_py_layout_parse(struct tp_py_layout *out, uint64_t *version,
						const uint8_t *told, struct tp_error *err);

#endif
