/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line an instruction belongs to: the four forms in which code objects keep that. 3.8 and 3.9
 * co_lnotab, 3.10 co_linetable (PEP 626), 3.11 and later the location table (Objects/locations.md
 * in CPython's sources, read 2025).
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_LINE_TABLE_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* From `start` (bytes into the bytecode) up to the next row's: `line`, 0 = none. */
struct tp_py_line_row {
	uint32_t start;
	uint32_t line;
};

struct tp_py_line_table {
	struct tp_py_line_row *rows; /* by start; heap */
	size_t n_rows;
	size_t rows_capacity;
};

/* Takes a table of 3.minor apart. Any bytes are taken; what makes no sense gives wrong lines only.
 */
void tp_py_line_table_load(struct tp_py_line_table *out, unsigned minor, const uint8_t *bytes,
			   size_t size, uint32_t first_line);
void tp_py_line_table_release(struct tp_py_line_table *table);
/* 0 when the table does not say. */
uint32_t tp_py_line_table_find(const struct tp_py_line_table *table, uint32_t offset);

#endif
