/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the iterators of PyTorch's DataLoader, from 1.7 to 2.9, by their attributes. */
#include "py_loader.h"

#include "py_number.h"

#include "trainprof/base/memory.h"
#include "trainprof/stack/python.h"

#include <string.h>

/* A batch sampler has the batch size; a loader that makes no batches has none. */
static const char *const attribute_names[] = {
	[TP_PY_LOADER_WORKERS] = "_num_workers",
	[TP_PY_LOADER_PREFETCH] = "_prefetch_factor",
	[TP_PY_LOADER_PERSISTENT] = "_persistent_workers",
	[TP_PY_LOADER_PIN] = "_pin_memory",
	[TP_PY_LOADER_BATCH] = "_index_sampler",
};
static const char *const batch_size_name = "batch_size";

const char *tp_py_loader_setting_name(enum tp_py_loader_setting setting)
{
	static const char *const names[] = {
		[TP_PY_LOADER_WORKERS] = "loader.workers",
		[TP_PY_LOADER_PREFETCH] = "loader.prefetch_factor",
		[TP_PY_LOADER_PERSISTENT] = "loader.persistent_workers",
		[TP_PY_LOADER_PIN] = "loader.pin_memory",
		[TP_PY_LOADER_BATCH] = "loader.batch_size",
	};
	return names[setting];
}

bool tp_py_loader_is_likely(const struct tp_py_attribute *attributes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(attributes[i].name, attribute_names[TP_PY_LOADER_WORKERS]) == 0)
			return true;
	return false;
}

/* Returns the value of an int or a bool; None or any other object is unknown. */
static uint64_t setting_of(struct tp_py_attributes *attributes, const uint8_t *object)
{
	uint64_t value;
	const struct tp_py_type *type = tp_py_attributes_known_type(
		attributes, tp_py_memory_u64(object + attributes->layout->object_type));
	if (!type || (strcmp(type->name, "int") != 0 && strcmp(type->name, "bool") != 0) ||
	    !tp_py_number_parse(attributes->layout, object, &value))
		return TP_PYTHON_UNKNOWN_SETTING;
	return value;
}

/* Reads the objects of settings by one call; 0 = there is none. */
static void read_settings(struct tp_py_attributes *attributes,
			  const uint64_t objects[TP_PY_LOADER_N_SETTINGS], struct tp_py_loader *out)
{
	uint8_t bytes[TP_PY_LOADER_N_SETTINGS][TP_PY_NUMBER_BYTES];
	struct tp_process_range pieces[TP_PY_LOADER_N_SETTINGS];
	bool is_read[TP_PY_LOADER_N_SETTINGS];
	size_t of_piece[TP_PY_LOADER_N_SETTINGS];
	size_t n = 0;
	for (size_t i = 0; i < TP_PY_LOADER_N_SETTINGS; i++) {
		out->values[i] = TP_PYTHON_UNKNOWN_SETTING;
		if (objects[i] == 0)
			continue;
		of_piece[n] = i;
		pieces[n] = (struct tp_process_range){objects[i], bytes[n], sizeof(bytes[n])};
		n++;
	}
	tp_py_memory_read_each(attributes->mem, pieces, n, is_read);
	for (size_t i = 0; i < n; i++)
		if (is_read[i])
			out->values[of_piece[i]] = setting_of(attributes, bytes[i]);
}

bool tp_py_loader_read(struct tp_py_attributes *attributes, uint64_t object,
		       struct tp_py_loader *out)
{
	uint64_t words[TP_PY_LOADER_N_SETTINGS];
	uint64_t size;
	if (!tp_py_attributes_get(attributes, object, attribute_names, TP_PY_LOADER_N_SETTINGS,
				  words) ||
	    words[TP_PY_LOADER_WORKERS] == 0 || words[TP_PY_LOADER_BATCH] == 0)
		return false;
	if (!tp_py_attributes_get(attributes, words[TP_PY_LOADER_BATCH], &batch_size_name, 1,
				  &size))
		size = 0;
	words[TP_PY_LOADER_BATCH] = size;
	read_settings(attributes, words, out);
	return out->values[TP_PY_LOADER_WORKERS] != TP_PYTHON_UNKNOWN_SETTING;
}
