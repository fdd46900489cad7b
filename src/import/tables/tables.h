/* SPDX-License-Identifier: Apache-2.0 */
/* Reads databases of profilers, driven by tables that define the meaning of their columns, and the
 * other tables that resolve their numbers. Rows are read one table after the other; no statement of
 * the file itself is run (import/sqlite). Spans are kept until it is known which processes have
 * work on a device: these are the ranks. */
#ifndef TRAINPROF_SRC_IMPORT_TABLES_TABLES_H
#define TRAINPROF_SRC_IMPORT_TABLES_TABLES_H

#include "import/reader/importer.h"
#include "import/reader/maker_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_table_role {
	TP_TABLE_START,
	TP_TABLE_END,
	TP_TABLE_PROCESS,
	TP_TABLE_THREAD, /* its lower 32 bits; without it the main thread */
	TP_TABLE_LINK,
	TP_TABLE_NAME,
	TP_TABLE_DEVICE,
	TP_TABLE_STREAM,
	TP_TABLE_TYPE,
	TP_TABLE_BYTES,
	TP_TABLE_TEXT,   /* a name for the types that use it */
	TP_TABLE_MEMBER, /* see `absent_from` */
	TP_TABLE_TRACK,  /* see `by_track` */
	TP_TABLE_ROLES
};

/* Resolves a number: the value in the row of `table` that has it as key. Rows with another text in
 * `only_column` do not count. */
struct tp_table_ref {
	const char *table;
	const char *key;
	const char *value;
	const char *only_column; /* NULL = all rows */
	const char *only_text;
};

enum { TP_TABLE_REFS = 2 };

struct tp_table_column {
	const char *names; /* names it has had, the best first: "a|b"; NULL = missing */
	const struct tp_table_ref *refs[TP_TABLE_REFS]; /* applied one after the other */
	const char *other; /* used if this one resolves to nothing, with the same refs; NULL */
	const struct tp_table_ref *by_track; /* for tables without the column: by TP_TABLE_TRACK */
	bool may_lack; /* a device that does not resolve is that of the row before */
};

/* Values besides kinds of spans: rows that are not spans, and rows that have the table's kind. */
enum { TP_TABLE_LEFT_OUT = TP_N_SPAN_KINDS, TP_TABLE_DEFAULT };

/* The kind of rows whose type or name matches that text (text_pattern.h): the first match
 * counts. */
struct tp_table_type {
	const char *text;
	uint8_t kind;
	const char *name; /* of such spans; NULL = their own */
	bool takes_text;  /* their name is in TP_TABLE_TEXT */
};

struct tp_table {
	const char *name;
	uint8_t kind;
	bool is_device;
	bool is_refined;   /* a range that names an operator of PyTorch is an operator */
	bool name_decides; /* a row whose name is resolved is of `kind`, and only others have types
			    */
	enum tp_maker_sum sum;  /* of the maker's sums: that in which its kernels count */
	int64_t first_stream;   /* added to the number of a stream */
	const char *counted_as; /* for names that are numbers: "ProfilerStep#"; NULL */
	const char *unless; /* skip this table if that one exists, which contains the same; NULL */
	const struct tp_table_ref *absent_from; /* rows that it contains by TP_TABLE_MEMBER are left
						   out, unless their name decides; NULL */
	struct tp_table_column columns[TP_TABLE_ROLES];
	const struct tp_table_type *types; /* by TP_TABLE_TYPE; no match: left out and counted */
	size_t n_types;
	const struct tp_table_type *named; /* by TP_TABLE_NAME; no match: the kind stays */
	size_t n_named;
	/* Returns the detail for a name, a type and a number; 0 = none. NULL = the number is
	 * bytes. */
	uint32_t (*detail)(struct tp_rank_writer *writer, const char *name, const char *type,
			   uint64_t number);
};

/* One column of one table that contains a fact about a rank besides its spans. */
struct tp_table_fact {
	const char *table;
	const char *column;
};

/* A table in which the maker has summed up its work. */
struct tp_table_sums {
	const char *table;
	const char *start;
	const char *end;
	const char *type;
	enum tp_maker_sum by_type[TP_MAKER_SUMS]; /* the type's number -> the sum */
};

/* Where a database says which schema it has: the row of `table` with `wanted` in column `tag`. */
struct tp_table_version {
	const char *table; /* NULL = nowhere */
	const char *tag;
	const char *value;
	const char *wanted;
};

struct tp_table_dialect {
	const struct tp_table *tables;
	size_t n_tables;
	const char *suffixed; /* tables have a suffix after their name, one for each set: those of
				 this table define the sets; NULL = no suffixes */
	const char *remedy;   /* command to type if nothing can be read */
	struct tp_table_version version;
	const struct tp_table_sums *sums; /* NULL = none */
	struct tp_table_fact rank;
	struct tp_table_fact host;
	/* Maps a process's number to a text with its environment, in which launchers set the
	 * rank. */
	const struct tp_table_ref *environment; /* NULL = none */
	const char *devices;                    /* table of devices; NULL */
	const char *device_number;
	const char *device_name;
	const char *device_only; /* value of column "type" of the wanted ones; NULL = all */
	void (*complete)(struct tp_rank_writer *writer, const struct tp_import_source *source);
};

/* Returns true if the file is a database with a table that has one of these names
 * (text_pattern.h). */
bool tp_tables_probe(const char *path, const char *const *names, size_t n_names);

/* Errors  as tp_sqlite_db_open(); TP_PARSE: more ranks than can be imported, no useful event. */
TP_MUST_CHECK enum tp_status tp_tables_read(const struct tp_table_dialect *dialect,
					    struct tp_import_reader *import,
					    const struct tp_import_source *source,
					    struct tp_error *err);

#endif
