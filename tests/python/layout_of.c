/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one row of src/stack/python/py_layouts.inc: the offsets in CPython that the reader needs,
 * according to the headers it is compiled with. Never run: layouts.sh reads the lines that begin
 * with "->" in the assembler output, so a cross compiler works for another machine. */
#define Py_BUILD_CORE 1
#include <Python.h>

#include <stddef.h>

#if PY_VERSION_HEX < 0x030b0000
#include <frameobject.h>
#endif
#include <internal/pycore_pystate.h>
#if PY_VERSION_HEX >= 0x03090000
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_genobject.h>
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_debug_offsets.h>
#include <internal/pycore_interpframe_structs.h>
#include <internal/pycore_runtime_structs.h>
#endif
#if PY_VERSION_HEX >= 0x03090000
#include <internal/pycore_gil.h>
#endif

#define SAY(name, value)        __asm__ volatile("\n->" #name " = %c0" : : "i"(value))
#define PLACE(name, of, member) SAY(name, offsetof(of, member))

#if PY_VERSION_HEX < 0x030b0000
/* Objects/dict-common.h, which is not installed. */
struct _dictkeysobject {
	Py_ssize_t dk_refcnt;
	Py_ssize_t dk_size;
	void *dk_lookup;
	Py_ssize_t dk_usable;
	Py_ssize_t dk_nentries;
	char dk_indices[];
};
#endif

#if PY_VERSION_HEX < 0x030b0000
typedef PyFrameObject tp_frame;
#elif PY_VERSION_HEX < 0x030e0000
typedef _PyInterpreterFrame tp_frame;
#else
typedef struct _PyInterpreterFrame tp_frame;
#endif

#if PY_VERSION_HEX < 0x030c0000
typedef _PyRuntimeState tp_gil_home;
#define GIL_HOME runtime_gil
#define GIL      ceval.gil
#else
typedef PyInterpreterState tp_gil_home;
#define GIL_HOME interp_gil
#define GIL      ceval.gil
#endif

static void say_runtime(void)
{
	SAY(minor, PY_MINOR_VERSION);
	PLACE(runtime_interps, _PyRuntimeState, interpreters.head);
	PLACE(GIL_HOME, tp_gil_home, GIL);
	PLACE(gil_holder, struct _gil_runtime_state, last_holder);
	PLACE(gil_locked, struct _gil_runtime_state, locked);
	PLACE(gil_cond, struct _gil_runtime_state, cond);
	PLACE(interp_next, PyInterpreterState, next);
#if PY_VERSION_HEX < 0x030b0000
	PLACE(interp_threads, PyInterpreterState, tstate_head);
	PLACE(interp_n_threads, PyInterpreterState, tstate_next_unique_id);
#else
	PLACE(interp_threads, PyInterpreterState, threads.head);
	PLACE(interp_n_threads, PyInterpreterState, threads.next_unique_id);
#endif
}

static void say_thread(void)
{
	PLACE(thread_prev, PyThreadState, prev);
	PLACE(thread_next, PyThreadState, next);
	PLACE(thread_interp, PyThreadState, interp);
	PLACE(thread_pthread, PyThreadState, thread_id);
#if PY_VERSION_HEX < 0x030b0000
	PLACE(thread_frame, PyThreadState, frame);
#else
	PLACE(thread_tid, PyThreadState, native_thread_id);
	PLACE(thread_chunk, PyThreadState, datastack_chunk);
	PLACE(thread_top, PyThreadState, datastack_top);
	PLACE(chunk_previous, _PyStackChunk, previous);
	PLACE(chunk_size, _PyStackChunk, size);
	PLACE(chunk_top, _PyStackChunk, top);
	PLACE(chunk_data, _PyStackChunk, data);
#if PY_VERSION_HEX < 0x030d0000
	PLACE(thread_cframe, PyThreadState, cframe);
	PLACE(cframe_frame, _PyCFrame, current_frame);
#else
	PLACE(thread_frame, PyThreadState, current_frame);
#endif
#endif
}

#if PY_VERSION_HEX < 0x030b0000
static void say_frame(void)
{
	PLACE(frame_size, tp_frame, f_localsplus);
	PLACE(frame_back, tp_frame, f_back);
	PLACE(frame_code, tp_frame, f_code);
	PLACE(frame_globals, tp_frame, f_globals);
	PLACE(frame_locals, tp_frame, f_locals);
	PLACE(frame_instr, tp_frame, f_lasti);
#if PY_VERSION_HEX < 0x030a0000
	PLACE(frame_executing, tp_frame, f_executing);
#else
	PLACE(frame_state, tp_frame, f_state);
#endif
}
#else
static void say_frame(void)
{
	PLACE(frame_size, tp_frame, localsplus);
	PLACE(frame_back, tp_frame, previous);
	PLACE(frame_owner, tp_frame, owner);
	PLACE(frame_globals, tp_frame, f_globals);
	PLACE(frame_locals, tp_frame, f_locals);
	SAY(generator_state,
	    offsetof(PyGenObject, gi_iframe) - offsetof(PyGenObject, gi_frame_state));
#if PY_VERSION_HEX < 0x030d0000
	PLACE(frame_code, tp_frame, f_code);
	PLACE(frame_instr, tp_frame, prev_instr);
#else
	PLACE(frame_code, tp_frame, f_executable);
	PLACE(frame_instr, tp_frame, instr_ptr);
#endif
#if PY_VERSION_HEX < 0x030c0000
	PLACE(frame_is_entry, tp_frame, is_entry);
#endif
}
#endif

static void say_code(void)
{
	PLACE(code_flags, PyCodeObject, co_flags);
	PLACE(code_consts, PyCodeObject, co_consts);
	PLACE(code_names, PyCodeObject, co_names);
	PLACE(code_file, PyCodeObject, co_filename);
	PLACE(code_name, PyCodeObject, co_name);
	PLACE(code_first_line, PyCodeObject, co_firstlineno);
	PLACE(code_stack_size, PyCodeObject, co_stacksize);
#if PY_VERSION_HEX < 0x030b0000
	PLACE(code_n_locals, PyCodeObject, co_nlocals);
	PLACE(code_local_names, PyCodeObject, co_varnames);
	PLACE(code_cells, PyCodeObject, co_cellvars);
	PLACE(code_free, PyCodeObject, co_freevars);
#else
	PLACE(code_n_locals, PyCodeObject, co_nlocalsplus);
	PLACE(code_local_names, PyCodeObject, co_localsplusnames);
#endif
#if PY_VERSION_HEX < 0x030a0000
	PLACE(code_lines, PyCodeObject, co_lnotab);
#else
	PLACE(code_lines, PyCodeObject, co_linetable);
#endif
#if PY_VERSION_HEX < 0x030b0000
	PLACE(code_bytes, PyCodeObject, co_code);
#else
	PLACE(code_qualname, PyCodeObject, co_qualname);
	PLACE(code_first_traceable, PyCodeObject, _co_firsttraceable);
	PLACE(code_bytes, PyCodeObject, co_code_adaptive);
#endif
}

static void say_dict(void)
{
	PLACE(dict_keys, PyDictObject, ma_keys);
	PLACE(dict_values, PyDictObject, ma_values);
#if PY_VERSION_HEX < 0x030b0000
	PLACE(keys_size, struct _dictkeysobject, dk_size);
#else
	PLACE(keys_log_bytes, struct _dictkeysobject, dk_log2_index_bytes);
	PLACE(keys_kind, struct _dictkeysobject, dk_kind);
#endif
	PLACE(keys_n_entries, struct _dictkeysobject, dk_nentries);
	PLACE(keys_indices, struct _dictkeysobject, dk_indices);
}

static void say_objects(void)
{
	PLACE(object_type, PyObject, ob_type);
	PLACE(object_size, PyVarObject, ob_size);
	PLACE(text_length, PyASCIIObject, length);
	PLACE(text_state, PyASCIIObject, state);
	SAY(text_ascii, sizeof(PyASCIIObject));
	SAY(text_compact, sizeof(PyCompactUnicodeObject));
	PLACE(bytes_data, PyBytesObject, ob_sval);
	PLACE(type_keys, PyHeapTypeObject, ht_cached_keys);
#if PY_VERSION_HEX < 0x030b0000
	PLACE(generator_frame, PyGenObject, gi_frame);
#else
	PLACE(generator_frame, PyGenObject, gi_iframe);
#endif
}

#if PY_VERSION_HEX >= 0x030d0000
#define PUBLISHED(name, member) SAY(published.name, offsetof(_Py_DebugOffsets, member))

static void say_published(void)
{
	PUBLISHED(free_threaded, free_threaded);
	PUBLISHED(runtime_interps, runtime_state.interpreters_head);
	PUBLISHED(interp_next, interpreter_state.next);
	PUBLISHED(interp_threads, interpreter_state.threads_head);
	PUBLISHED(interp_gil, interpreter_state.ceval_gil);
	PUBLISHED(thread_prev, thread_state.prev);
	PUBLISHED(thread_next, thread_state.next);
	PUBLISHED(thread_interp, thread_state.interp);
	PUBLISHED(thread_frame, thread_state.current_frame);
	PUBLISHED(thread_pthread, thread_state.thread_id);
	PUBLISHED(thread_tid, thread_state.native_thread_id);
	PUBLISHED(thread_chunk, thread_state.datastack_chunk);
	PUBLISHED(frame_size, interpreter_frame.localsplus);
	PUBLISHED(frame_back, interpreter_frame.previous);
	PUBLISHED(frame_code, interpreter_frame.executable);
	PUBLISHED(frame_instr, interpreter_frame.instr_ptr);
	PUBLISHED(frame_owner, interpreter_frame.owner);
	PUBLISHED(code_file, code_object.filename);
	PUBLISHED(code_name, code_object.name);
	PUBLISHED(code_qualname, code_object.qualname);
	PUBLISHED(code_lines, code_object.linetable);
	PUBLISHED(code_first_line, code_object.firstlineno);
	PUBLISHED(code_bytes, code_object.co_code_adaptive);
	PUBLISHED(object_type, pyobject.ob_type);
	PUBLISHED(bytes_data, bytes_object.ob_sval);
	PUBLISHED(text_state, unicode_object.state);
	PUBLISHED(text_length, unicode_object.length);
	PUBLISHED(text_ascii, unicode_object.asciiobject_size);
}
#else
static void say_published(void)
{
}
#endif

int main(void)
{
	say_runtime();
	say_thread();
	say_frame();
	say_code();
	say_dict();
	say_objects();
	say_published();
	return 0;
}
