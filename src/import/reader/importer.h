/* SPDX-License-Identifier: Apache-2.0 */
/* What a format gives to be read: a constant row in import.c, one file each. */
#ifndef TRAINPROF_SRC_IMPORT_READER_IMPORTER_H
#define TRAINPROF_SRC_IMPORT_READER_IMPORTER_H

#include "rank_writer.h"

#include "trainprof/import/import.h"

struct tp_stream;

/* One file, or one member of an archive. */
struct tp_import_source {
	const char *path;
	const char *member; /* NULL: the file itself */
	const char *sha256; /* of the file; NULL while a stream is to be read: ranks get it after */
	struct tp_stream *stream; /* unpacked bytes, from the first on; NULL when `wants_file` */
};

struct tp_importer {
	struct tp_import_format_info info;
	bool wants_file; /* reads the file by its path: a database */
	/* Whether the first bytes (unpacked; at least 4 KiB where the source has them) are of this
	 * format. */
	bool (*recognises)(const unsigned char *head, size_t size);
	/* Asked for by name it reads any JSON: its maker's marks may stand behind the first bytes.
	 */
	bool takes_json;
	/* Of a database that is recognised: whether its tables are of this format. NULL: by the
	 * first bytes. */
	bool (*matches)(const char *path);
	/* Add the source's ranks. */
	enum tp_status (*read)(struct tp_import_reader *import,
			       const struct tp_import_source *source, struct tp_error *err);
};

extern const struct tp_importer tp_importer_ascend;
extern const struct tp_importer tp_importer_ascend_csv;
extern const struct tp_importer tp_importer_ascend_db;
extern const struct tp_importer tp_importer_horovod;
extern const struct tp_importer tp_importer_kineto;
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
