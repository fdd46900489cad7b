/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of Python stacks with wrong memory: an interpreter built by hand, then changed
 * word by word, before and while it is read. Any result is correct that takes bounded work and
 * contains valid UTF-8.
 *
 * Input: one byte version; then records of four bytes: where (16 bits, in words), how, value.
 */
#include "../unit/stack/pyimage.h"

#include "trainprof/base/text.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD_BYTES = 4, MAX_PLACES = 64, N_READS = 3, MAX_CALLS = 200000, N_OBJECTS = 16 };

enum change { PUT_BYTE, PUT_POINTER, PUT_SMALL, PUT_HUGE, PUT_NEAR, WAIT, N_CHANGES };

static uint64_t objects[N_OBJECTS];
static size_t n_objects;

static const uint8_t *records;
static size_t n_records;
static size_t wait_until; /* slices */

static void add_object(uint64_t address)
{
	if (n_objects < N_OBJECTS)
		objects[n_objects++] = address;
}

static void build(struct pyimage *image, unsigned minor)
{
	pyimage_init(image, minor);
	n_objects = 0;
	add_object(image->interp);
	add_object(image->thread);
	uint64_t root = pyimage_code(image, "train.py", "<module>", 1);
	uint64_t leaf = pyimage_code(image, "n\xc3\xa4me", "Net.forward", 7);
	add_object(root);
	add_object(leaf);
	add_object(pyimage_call(image, root, 3, true));
	add_object(pyimage_call_as(image, leaf, 5, minor < 12, PYIMAGE_GENERATOR));
	add_object(pyimage_call(image, leaf, 5, true));
	for (unsigned i = 0; i < 5; i++) {
		uint64_t frame = pyimage_call(image, leaf, 6, false);
		pyimage_set_local(image, frame, i, pyimage_int(image, i));
		add_object(frame);
	}
	add_object(image->chunk);
	add_object(pyimage_add_thread(image, 4242));
	pyimage_call(image, leaf, 1, true);
}

static void change_word(struct pyimage *image, const uint8_t *record)
{
	uint64_t word = (uint64_t)record[0] | (uint64_t)record[1] << 8;
	uint64_t at = PYIMAGE_BASE + 8 * (word % (image->used / 8));
	switch (record[2] % N_CHANGES) {
	case PUT_BYTE:
		*pyimage_at(image, at + record[2] / N_CHANGES % 8) = record[3];
		break;
	case PUT_POINTER:
		pyimage_put(image, at, objects[record[3] % n_objects]);
		break;
	case PUT_SMALL:
		pyimage_put(image, at, record[3]);
		break;
	case PUT_HUGE:
		pyimage_put(image, at, UINT64_MAX >> record[3] % 64);
		break;
	case PUT_NEAR:
		pyimage_put(image, at, pyimage_get(image, at) + 8 * (uint64_t)record[3]);
		break;
	default:
		wait_until = image->n_slices + record[3];
		break;
	}
}

static void go_on(struct pyimage *image)
{
	while (n_records > 0 && image->n_slices >= wait_until) {
		change_word(image, records);
		records += RECORD_BYTES;
		n_records--;
	}
}

static void check_text(const char *text)
{
	while (*text) {
		size_t length = tp_text_utf8_length(text);
		if (length == 0 || (unsigned char)*text < 0x20)
			abort();
		text += length;
	}
}

static void read_one(struct tp_python *python, pid_t tid)
{
	struct tp_python_place places[MAX_PLACES];
	size_t n = SIZE_MAX;
	size_t cut = SIZE_MAX;
	enum tp_python_outcome outcome = tp_python_read(python, tid, places, MAX_PLACES, &n, &cut);
	if (n > MAX_PLACES || cut > n ||
	    (n > 0) != (outcome == TP_PYTHON_READ || outcome == TP_PYTHON_PARTIAL))
		abort();
	for (size_t i = 0; i < n; i++) {
		check_text(places[i].file);
		check_text(places[i].name);
	}
	struct tp_python_counter counters[MAX_PLACES];
	size_t n_counters = tp_python_count(python, counters, MAX_PLACES);
	if (n_counters > MAX_PLACES)
		abort();
	for (size_t i = 0; i < n_counters; i++)
		check_text(counters[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pyimage image;
	struct tp_python *python;
	if (size < 1)
		return 0;
	build(&image, TP_PY_LAYOUT_MINOR_MIN +
			      data[0] % (TP_PY_LAYOUT_MINOR_MAX - TP_PY_LAYOUT_MINOR_MIN + 1));
	records = data + 1;
	n_records = (size - 1) / RECORD_BYTES;
	wait_until = 0;
	image.meanwhile = go_on;
	if (pyimage_open(&image, &python, NULL) == TP_OK) {
		for (int i = 0; i < N_READS; i++) {
			read_one(python, getpid());
			read_one(python, 4242);
			tp_python_gil_holder(python);
			tp_python_is_gil_wait(python, image.gil + 48);
		}
		if (tp_python_counts(python)->n_syscalls > MAX_CALLS)
			abort();
		tp_python_close(python);
	}
	pyimage_release(&image);
	return 0;
}
