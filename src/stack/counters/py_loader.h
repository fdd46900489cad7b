/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of a PyTorch data loader: attributes of the iterator from which its loop takes
 * batches. Classes with the same attributes count as well. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_LOADER_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_LOADER_H

#include "py_attribute.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_py_loader_setting {
	TP_PY_LOADER_WORKERS,
	TP_PY_LOADER_PREFETCH,
	TP_PY_LOADER_PERSISTENT,
	TP_PY_LOADER_PIN,
	TP_PY_LOADER_BATCH,
	TP_PY_LOADER_N_SETTINGS,
};

struct tp_py_loader {
	uint64_t values[TP_PY_LOADER_N_SETTINGS]; /* TP_PYTHON_UNKNOWN_SETTING = unknown, or None */
};

/* Returns the name of the fact for the setting, "loader.batch_size". */
const char *tp_py_loader_setting_name(enum tp_py_loader_setting setting);

/* Returns true if an instance with these whole numbers can be a loader's iterator. */
bool tp_py_loader_is_likely(const struct tp_py_attribute *attributes, size_t n);

/* Returns false if the object is no loader iterator. Makes about thirty system calls. */
bool tp_py_loader_read(struct tp_py_attributes *attributes, uint64_t object,
		       struct tp_py_loader *out);

#endif
