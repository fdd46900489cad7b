/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the value of a Python int or bool from the bytes of the object. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_NUMBER_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_NUMBER_H

#include "stack/python/py_layout.h"

#include <stdbool.h>
#include <stdint.h>

/* Number of bytes of the object that have to be read. */
enum { TP_PY_NUMBER_BYTES = 32 };

/* Returns true if the value is from 0 to 2^60 - 1. The caller knows that the object is an int. */
bool tp_py_number_parse(const struct tp_py_layout *layout, const uint8_t *object, uint64_t *value);

#endif
