/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of a format reader: a constant row in import.c, in a file of its own. */
#ifndef TRAINPROF_SRC_IMPORT_READER_IMPORTER_H
#define TRAINPROF_SRC_IMPORT_READER_IMPORTER_H

#include "rank_writer.h"

#include "trainprof/import/import.h"

struct tp_stream;

/* One file, or one member of an archive. */
struct tp_import_source {
	const char *path;
	const char *member; /* NULL = the file itself */
	const char *sha256; /* of the file; NULL while a stream is read: ranks get it afterwards */
	struct tp_stream *stream; /* uncompressed bytes from the beginning; NULL if `wants_file` */
};

struct tp_importer {
	struct tp_import_format_info info;
	bool wants_file; /* reads the file by its path: a database */
	/* Recognised by the marks of its maker in JSON (trace_maker.h has its name). If requested
	 * by name it reads any JSON, because such marks may come after the first bytes. */
	bool is_of_json_maker;
	/* Returns true if the first bytes (uncompressed; at least 4 KiB if the source has them)
	 * have this format. NULL if `is_of_json_maker`. */
	bool (*recognises)(const unsigned char *head, size_t size);
	/* Returns true if the tables of a recognised database have this format. NULL = the first
	 * bytes are enough. */
	bool (*matches)(const char *path);
	/* Returns true if the content surely has this format. Only for an importer that takes files
	 * of unknown makers, to say what is wrong with them; NULL = a recognised file has it. */
	bool (*confirms)(const char *path);
	/* Adds the source's ranks. */
	enum tp_status (*read)(struct tp_import_reader *import,
			       const struct tp_import_source *source, struct tp_error *err);
};

extern const struct tp_importer tp_importer_ascend;
extern const struct tp_importer tp_importer_ascend_csv;
extern const struct tp_importer tp_importer_ascend_db;
extern const struct tp_importer tp_importer_horovod;
extern const struct tp_importer tp_importer_kineto;
extern const struct tp_importer tp_importer_named_lanes;
extern const struct tp_importer tp_importer_nsys;
extern const struct tp_importer tp_importer_nsys_report;
extern const struct tp_importer tp_importer_rocpd;
extern const struct tp_importer tp_importer_rocprof;
extern const struct tp_importer tp_importer_rpd;
extern const struct tp_importer tp_importer_straggler;
extern const struct tp_importer tp_importer_timeline;
extern const struct tp_importer tp_importer_xprof;
extern const struct tp_importer tp_importer_xprof_json;

#endif
