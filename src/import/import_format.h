/* SPDX-License-Identifier: Apache-2.0 */
/* Says which format a file has, without reading it, and which formats are of one maker. */
#ifndef TRAINPROF_SRC_IMPORT_IMPORT_FORMAT_H
#define TRAINPROF_SRC_IMPORT_IMPORT_FORMAT_H

#include <stdbool.h>

/* Returns the name of the format that the first bytes or the tables of the file have, in static
 * storage; NULL if no importer reads it. A JSON file without a mark of its maker is "kineto". */
const char *tp_import_format_of(const char *path);

/* True for "ascend" and "ascend-db", or "rocpd" and "rocprof": files of one maker in two forms. */
bool tp_import_format_is_same_tool(const char *one, const char *other);

#endif
