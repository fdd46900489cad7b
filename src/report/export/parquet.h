/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a table as Apache Parquet: plain encoding, not compressed, one page for each column and
 * row group (https://parquet.apache.org/docs/file-format/, read 2026-11-26). */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_PARQUET_H
#define TRAINPROF_SRC_REPORT_EXPORT_PARQUET_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tp_parquet_type {
	TP_PARQUET_INT,    /* int64_t */
	TP_PARQUET_DOUBLE, /* double */
	TP_PARQUET_TEXT,   /* const char * */
	TP_PARQUET_FLAG,   /* bool */
};

/* A column, and the offset of its value in the struct of a row. */
struct tp_parquet_column {
	const char *name;
	enum tp_parquet_type type;
	size_t offset;
	bool is_optional; /* null is TP_PARQUET_NULL, or NULL; doubles are never null */
};

#define TP_PARQUET_NULL INT64_MIN

struct tp_parquet;

/* `columns` and the stream are borrowed until the table is closed. */
struct tp_parquet *tp_parquet_open(FILE *out, const struct tp_parquet_column *columns, size_t n);
void tp_parquet_add(struct tp_parquet *table, const void *row);
/* Write the rest and free the table. Errors: TP_IO. */
TP_MUST_CHECK enum tp_status tp_parquet_close(struct tp_parquet *table, struct tp_error *err);

#endif
