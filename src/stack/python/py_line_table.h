/* SPDX-License-Identifier: Apache-2.0 */
/* Maps an instruction to its line, for the four table formats of code objects: 3.8 and 3.9
 * co_lnotab, 3.10 co_linetable (PEP 626), 3.11 and later the location table (Objects/locations.md
 * in CPython's sources, read 2025). */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_LINE_TABLE_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes from `start` (offset in the bytecode) up to the next row's start belong to `line`, 0 =
 * none. */
struct tp_py_line_row {
	uint32_t start;
	uint32_t line;
};

struct tp_py_line_table {
	struct tp_py_line_row *rows; /* by start; heap */
	size_t n_rows;
	size_t rows_capacity;
};

/* Decodes a table of 3.minor. Accepts any bytes; invalid ones only lead to wrong lines. */
void tp_py_line_table_load(struct tp_py_line_table *out, unsigned minor, const uint8_t *bytes,
			   size_t size, uint32_t first_line);
void tp_py_line_table_release(struct tp_py_line_table *table);
/* Returns 0 if the table has no line for the offset. */
uint32_t tp_py_line_table_find(const struct tp_py_line_table *table, uint32_t offset);

#endif
