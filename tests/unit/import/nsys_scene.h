/* SPDX-License-Identifier: Apache-2.0 */
/* Creates exports of nsys for tests, and imports them. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_NSYS_SCENE_H
#define TRAINPROF_TESTS_UNIT_IMPORT_NSYS_SCENE_H

#include "trainprof/import/import.h"
#include "trainprof/model/trace.h"

/* globalTid of a thread; with tid 0 the globalPid. */
#define GLOBAL(pid, tid) (INT64_C(1) << 48 | (int64_t)(pid) << 24 | (tid))

/* Tables as in exports of 2026, without the unused columns. */
#define SCHEMA_STRINGS                                                                             \
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
#define SCHEMA_KERNEL                                                                              \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "  \
	"deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "       \
	"correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName "     \
	"INTEGER NOT NULL, mangledName INTEGER, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, "  \
	"gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ "        \
	"INTEGER NOT NULL, graphNodeId INTEGER);"
#define SCHEMA_COPY                                                                                \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, "  \
	"deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "       \
	"correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT "  \
	"NULL, srcKind INTEGER, dstKind INTEGER);"
#define SCHEMA_SET                                                                                 \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, "  \
	"deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "       \
	"correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT "     \
	"NULL, graphNodeId INTEGER, memKind INTEGER);"
#define SCHEMA_GRAPH                                                                               \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT "   \
	"NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, " \
	"correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"
#define SCHEMA_CALLS                                                                               \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, " \
	"eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER "   \
	"NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
#define SCHEMA_RANGES                                                                              \
	"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT "    \
	"NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "   \
	"endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);"
#define SCHEMA_OS_CALLS                                                                            \
	"CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER " \
	"NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);"
#define SCHEMA_ALL                                                                                 \
	SCHEMA_STRINGS SCHEMA_KERNEL SCHEMA_COPY SCHEMA_SET SCHEMA_CALLS SCHEMA_RANGES             \
		SCHEMA_OS_CALLS

struct nsys_scene {
	enum tp_status status;
	struct tp_error err;
	struct tp_import_result result; /* valid with status TP_OK */
	struct tp_trace trace;
};

/* Returns true if exports can be read; otherwise the test is skipped. */
bool nsys_can_read(void);

/* A file in the directory of this test; recreated with SQL (formatted first). Static storage, the
 * same for each call. */
const char *nsys_file_path(void);
const char *nsys_file_make(const char *sql, ...) __attribute__((format(printf, 1, 2)));
/* Runs further statements on it. */
void nsys_file_change(const char *sql, ...) __attribute__((format(printf, 1, 2)));

void nsys_scene_import(struct nsys_scene *scene, const char *path);
void nsys_scene_release(struct nsys_scene *scene);

/* Returns the n-th span of that kind in time, over all tracks; NULL if there are fewer. */
const struct tp_span *nsys_scene_span(const struct nsys_scene *scene, enum tp_span_kind kind,
				      size_t n);
const char *nsys_scene_name(const struct nsys_scene *scene, const struct tp_span *span);
const struct tp_track *nsys_scene_track(const struct nsys_scene *scene, const struct tp_span *span);
size_t nsys_scene_count(const struct nsys_scene *scene, enum tp_span_kind kind);

#endif
