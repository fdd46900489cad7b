/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_scene.h"

#include "skip.h"

#include "trainprof/base/buf.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if TP_HAVE_SQLITE
#include <sqlite3.h>
#endif

bool nsys_can_read(void)
{
	if (TP_HAVE_SQLITE)
		return true;
	test_skip("built without SQLite");
	return false;
}

static char directory[64];

static void directory_remove(void)
{
	if (!directory[0])
		return;
	unlink(nsys_file_path());
	rmdir(directory);
}

const char *nsys_file_path(void)
{
	static char path[96];
	if (!directory[0]) {
		/* Characters that have a meaning in a URI. */
		snprintf(directory, sizeof(directory), "/tmp/trainprof nsys%%?#-XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(directory));
		snprintf(path, sizeof(path), "%s/export.sqlite", directory);
		atexit(directory_remove);
	}
	return path;
}

static void run_sql(const char *sql)
{
#if TP_HAVE_SQLITE
	sqlite3 *db;
	char *error = NULL;
	ck_assert_int_eq(sqlite3_open(nsys_file_path(), &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error))
		ck_abort_msg("%s", error);
	sqlite3_close(db);
#else
	(void)sql;
#endif
}

const char *nsys_file_make(const char *sql, ...)
{
	struct tp_buf text = {0};
	va_list args;
	va_start(args, sql);
	tp_buf_vprintf(&text, sql, args);
	va_end(args);
	unlink(nsys_file_path());
	run_sql(text.data);
	tp_buf_release(&text);
	return nsys_file_path();
}

void nsys_file_change(const char *sql, ...)
{
	struct tp_buf text = {0};
	va_list args;
	va_start(args, sql);
	tp_buf_vprintf(&text, sql, args);
	va_end(args);
	run_sql(text.data);
	tp_buf_release(&text);
}

void nsys_scene_import(struct nsys_scene *scene, const char *path)
{
	struct tp_trace_builder builder;
	const struct tp_import_options options = {.format = "nsys", .n_threads = 1};
	*scene = (struct nsys_scene){0};
	tp_trace_builder_init(&builder);
	scene->status =
		tp_import_files(&scene->result, &path, 1, &options, &builder.sink, &scene->err);
	struct tp_run_info run = {.id = "r-1",
				  .ranks = scene->result.ranks,
				  .n_ranks = scene->result.n_ranks};
	tp_trace_build(&scene->trace, &builder, &run);
	tp_trace_builder_release(&builder);
	if (scene->status) {
		ck_assert_int_eq(scene->err.status, scene->status);
		ck_assert_int_ne(scene->err.text[0], '\0');
	}
}

void nsys_scene_release(struct nsys_scene *scene)
{
	tp_trace_release(&scene->trace);
	if (!scene->status)
		tp_import_result_release(&scene->result);
}

const struct tp_span *nsys_scene_span(const struct nsys_scene *scene, enum tp_span_kind kind,
				      size_t n)
{
	const struct tp_trace *trace = &scene->trace;
	const struct tp_span *last = NULL;
	/* Tests have few spans: finds the next one after the last, n times. */
	for (size_t round = 0; round <= n; round++) {
		const struct tp_span *next = NULL;
		for (size_t i = 0; i < trace->n_tracks; i++) {
			for (size_t j = 0; j < trace->spans[i].n; j++) {
				const struct tp_span *span = &trace->spans[i].items[j];
				bool is_after = !last || span->start_ns > last->start_ns;
				if (span->kind == kind && is_after &&
				    (!next || span->start_ns < next->start_ns))
					next = span;
			}
		}
		if (!next)
			return NULL;
		last = next;
	}
	return last;
}

const char *nsys_scene_name(const struct nsys_scene *scene, const struct tp_span *span)
{
	return tp_trace_string(&scene->trace, span->name);
}

const struct tp_track *nsys_scene_track(const struct nsys_scene *scene, const struct tp_span *span)
{
	return &scene->trace.tracks[span->track];
}

size_t nsys_scene_count(const struct nsys_scene *scene, enum tp_span_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < scene->trace.n_tracks; i++)
		for (size_t j = 0; j < scene->trace.spans[i].n; j++)
			n += scene->trace.spans[i].items[j].kind == kind;
	return n;
}
