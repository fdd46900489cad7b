/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tables as Parquet. The metadata are structs of Thrift's compact protocol. */
#include "parquet.h"

#include "protobuf.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_ROWS = 1 << 16 };

/* Field types of the compact protocol. */
enum { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_TEXT = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

/* Constants of parquet.thrift. */
enum { PLAIN = 0, RLE = 3, UNCOMPRESSED = 0, REQUIRED = 0, OPTIONAL = 1, UTF8 = 0, DATA_PAGE = 0 };

struct column_data {
	struct tp_buf values;
	struct tp_buf levels; /* a byte for each row: 1 = it has a value */
	unsigned bits;        /* flags that are not yet in values */
	unsigned n_bits;
};

struct tp_parquet {
	FILE *out;
	const struct tp_parquet_column *columns;
	size_t n_columns;
	struct column_data *data;
	size_t n_group_rows;
	uint64_t n_rows;
	uint64_t offset;
	struct tp_buf groups; /* row groups for the footer */
	size_t n_groups;
};

/* ---- Thrift ---------------------------------------------------------------------------------- */

struct thrift {
	struct tp_buf *out;
	int last_field;
};

static uint64_t folded(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

/* Fields are written in the order of their numbers, less than 16 apart. */
static void put_field(struct thrift *t, int field, int type)
{
	tp_buf_putc(t->out, (char)((field - t->last_field) << 4 | type));
	t->last_field = field;
}

static void put_int(struct thrift *t, int field, int type, int64_t value)
{
	put_field(t, field, type);
	tp_proto_add_varint(t->out, folded(value));
}

static void put_bytes(struct tp_buf *out, const char *text)
{
	tp_proto_add_varint(out, strlen(text));
	tp_buf_puts(out, text);
}

static void put_text(struct thrift *t, int field, const char *text)
{
	put_field(t, field, THRIFT_TEXT);
	put_bytes(t->out, text);
}

static void put_list(struct thrift *t, int field, int type, size_t n)
{
	put_field(t, field, THRIFT_LIST);
	if (n < 15) {
		tp_buf_putc(t->out, (char)(n << 4 | (unsigned)type));
	} else {
		tp_buf_putc(t->out, (char)(0xf0 | type));
		tp_proto_add_varint(t->out, n);
	}
}

static void put_stop(struct tp_buf *out)
{
	tp_buf_putc(out, 0);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_fixed(struct tp_buf *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		tp_buf_putc(out, (char)(value >> 8 * i));
}

static bool is_null(const struct tp_parquet_column *column, const void *at)
{
	if (column->type == TP_PARQUET_TEXT)
		return !*(const char *const *)at;
	return column->is_optional && column->type == TP_PARQUET_INT &&
	       *(const int64_t *)at == TP_PARQUET_NULL;
}

static void flush_bits(struct column_data *data)
{
	if (data->n_bits)
		tp_buf_putc(&data->values, (char)data->bits);
	data->bits = data->n_bits = 0;
}

static void put_value(struct column_data *data, const struct tp_parquet_column *column,
		      const void *at)
{
	uint64_t bits;
	switch (column->type) {
	case TP_PARQUET_INT:
		put_fixed(&data->values, (uint64_t) * (const int64_t *)at, 8);
		break;
	case TP_PARQUET_DOUBLE:
		memcpy(&bits, at, sizeof(bits));
		put_fixed(&data->values, bits, 8);
		break;
	case TP_PARQUET_TEXT:
		put_fixed(&data->values, strlen(*(const char *const *)at), 4);
		tp_buf_puts(&data->values, *(const char *const *)at);
		break;
	case TP_PARQUET_FLAG:
		data->bits |= (unsigned)*(const bool *)at << data->n_bits++;
		if (data->n_bits == 8)
			flush_bits(data);
		break;
	}
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Levels as one run of bit-packed groups of eight. */
static void put_levels(struct tp_buf *page, const struct tp_buf *levels)
{
	struct tp_buf run = {0};
	size_t n_groups = (levels->len + 7) / 8;
	tp_proto_add_varint(&run, n_groups << 1 | 1);
	for (size_t group = 0; group < n_groups; group++) {
		unsigned bits = 0;
		for (size_t i = 0; i < 8 && group * 8 + i < levels->len; i++)
			bits |= (unsigned)levels->data[group * 8 + i] << i;
		tp_buf_putc(&run, (char)bits);
	}
	put_fixed(page, run.len, 4);
	tp_buf_add(page, run.data, run.len);
	tp_buf_release(&run);
}

static void put_page_header(struct tp_buf *out, size_t size, size_t n_rows)
{
	struct thrift t = {.out = out};
	put_int(&t, 1, THRIFT_I32, DATA_PAGE);
	put_int(&t, 2, THRIFT_I32, (int64_t)size);
	put_int(&t, 3, THRIFT_I32, (int64_t)size);
	put_field(&t, 5, THRIFT_STRUCT);
	struct thrift page = {.out = out};
	put_int(&page, 1, THRIFT_I32, (int64_t)n_rows);
	put_int(&page, 2, THRIFT_I32, PLAIN);
	put_int(&page, 3, THRIFT_I32, RLE);
	put_int(&page, 4, THRIFT_I32, RLE);
	put_stop(out);
	put_stop(out);
}

static void write_bytes(struct tp_parquet *table, const void *bytes, size_t size)
{
	table->offset += fwrite(bytes, 1, size, table->out);
}

static int type_of(enum tp_parquet_type type)
{
	static const int types[] = {[TP_PARQUET_INT] = 2,
				    [TP_PARQUET_DOUBLE] = 5,
				    [TP_PARQUET_TEXT] = 6,
				    [TP_PARQUET_FLAG] = 0};
	return types[type];
}

/* Writes the column's entry in its row group. */
static void put_chunk(struct tp_buf *out, const struct tp_parquet_column *column, uint64_t offset,
		      uint64_t size, size_t n_rows)
{
	struct thrift chunk = {.out = out};
	put_int(&chunk, 2, THRIFT_I64, (int64_t)offset);
	put_field(&chunk, 3, THRIFT_STRUCT);
	struct thrift t = {.out = out};
	put_int(&t, 1, THRIFT_I32, type_of(column->type));
	put_list(&t, 2, THRIFT_I32, 2);
	tp_proto_add_varint(out, folded(PLAIN));
	tp_proto_add_varint(out, folded(RLE));
	put_list(&t, 3, THRIFT_TEXT, 1);
	put_bytes(out, column->name);
	put_int(&t, 4, THRIFT_I32, UNCOMPRESSED);
	put_int(&t, 5, THRIFT_I64, (int64_t)n_rows);
	put_int(&t, 6, THRIFT_I64, (int64_t)size);
	put_int(&t, 7, THRIFT_I64, (int64_t)size);
	put_int(&t, 9, THRIFT_I64, (int64_t)offset);
	put_stop(out);
	put_stop(out);
}

static uint64_t write_column(struct tp_parquet *table, size_t index)
{
	const struct tp_parquet_column *column = &table->columns[index];
	struct column_data *data = &table->data[index];
	struct tp_buf page = {0};
	struct tp_buf header = {0};
	uint64_t offset = table->offset;
	flush_bits(data);
	if (column->is_optional)
		put_levels(&page, &data->levels);
	tp_buf_add(&page, tp_buf_text(&data->values), data->values.len);
	put_page_header(&header, page.len, table->n_group_rows);
	write_bytes(table, header.data, header.len);
	write_bytes(table, page.data, page.len);
	put_chunk(&table->groups, column, offset, table->offset - offset, table->n_group_rows);
	tp_buf_clear(&data->values);
	tp_buf_clear(&data->levels);
	tp_buf_release(&page);
	tp_buf_release(&header);
	return table->offset - offset;
}

static void write_group(struct tp_parquet *table)
{
	struct thrift t = {.out = &table->groups};
	uint64_t size = 0;
	if (!table->n_group_rows)
		return;
	put_list(&t, 1, THRIFT_STRUCT, table->n_columns);
	for (size_t i = 0; i < table->n_columns; i++)
		size += write_column(table, i);
	put_int(&t, 2, THRIFT_I64, (int64_t)size);
	put_int(&t, 3, THRIFT_I64, (int64_t)table->n_group_rows);
	put_stop(&table->groups);
	table->n_groups++;
	table->n_rows += table->n_group_rows;
	table->n_group_rows = 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct tp_parquet *tp_parquet_open(FILE *out, const struct tp_parquet_column *columns, size_t n)
{
	struct tp_parquet *table = tp_alloc(sizeof(*table));
	*table = (struct tp_parquet){.out = out, .columns = columns, .n_columns = n};
	table->data = tp_alloc(n * sizeof(*table->data));
	write_bytes(table, "PAR1", 4);
	return table;
}

void tp_parquet_add(struct tp_parquet *table, const void *row)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct tp_parquet_column *column = &table->columns[i];
		struct column_data *data = &table->data[i];
		const void *at = (const char *)row + column->offset;
		const char *empty = "";
		bool has_value = !is_null(column, at);
		if (column->is_optional)
			tp_buf_putc(&data->levels, (char)has_value);
		if (has_value)
			put_value(data, column, at);
		else if (!column->is_optional)
			put_value(data, column, (const void *)&empty);
	}
	if (++table->n_group_rows == GROUP_ROWS)
		write_group(table);
}

static void put_schema(struct tp_buf *out, const struct tp_parquet *table)
{
	struct thrift root = {.out = out};
	put_text(&root, 4, "table");
	put_int(&root, 5, THRIFT_I32, (int64_t)table->n_columns);
	put_stop(out);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct tp_parquet_column *column = &table->columns[i];
		struct thrift t = {.out = out};
		put_int(&t, 1, THRIFT_I32, type_of(column->type));
		put_int(&t, 3, THRIFT_I32, column->is_optional ? OPTIONAL : REQUIRED);
		put_text(&t, 4, column->name);
		if (column->type == TP_PARQUET_TEXT)
			put_int(&t, 6, THRIFT_I32, UTF8);
		put_stop(out);
	}
}

enum tp_status tp_parquet_close(struct tp_parquet *table, struct tp_error *err)
{
	struct tp_buf footer = {0};
	struct thrift t = {.out = &footer};
	char by[80];
	write_group(table);
	put_int(&t, 1, THRIFT_I32, 1);
	put_list(&t, 2, THRIFT_STRUCT, table->n_columns + 1);
	put_schema(&footer, table);
	put_int(&t, 3, THRIFT_I64, (int64_t)table->n_rows);
	put_list(&t, 4, THRIFT_STRUCT, table->n_groups);
	tp_buf_add(&footer, tp_buf_text(&table->groups), table->groups.len);
	snprintf(by, sizeof(by), "trainprof version %s", tp_version());
	put_text(&t, 6, by);
	put_stop(&footer);
	size_t size = footer.len;
	put_fixed(&footer, size, 4);
	tp_buf_puts(&footer, "PAR1");
	write_bytes(table, footer.data, footer.len);
	for (size_t i = 0; i < table->n_columns; i++) {
		tp_buf_release(&table->data[i].values);
		tp_buf_release(&table->data[i].levels);
	}
	enum tp_status status = tp_file_check(table->out, "the table", err);
	tp_buf_release(&footer);
	tp_buf_release(&table->groups);
	free(table->data);
	free(table);
	return status;
}
