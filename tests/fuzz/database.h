/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes databases: each is imported or refused with a reason, in time that grows only with its
 * size. The input is a database; its header is corrected first, because SQLite refuses most others
 * at once. */
#ifndef TRAINPROF_TESTS_FUZZ_DATABASE_H
#define TRAINPROF_TESTS_FUZZ_DATABASE_H

#include "scratch.h"

#include "trainprof/base/memory.h"
#include "trainprof/import/import.h"
#include "trainprof/model/trace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool claim)
{
	if (!claim)
		abort();
}

/* Corrects the header; sqlite.org/fileformat.html, 1.3: magic, versions, fractions of payload, the
 * actual number of pages. The last byte of the input enables this. */
static void header_mend(unsigned char *bytes, size_t size)
{
	size_t page = size > 18 ? (size_t)bytes[16] << 8 | bytes[17] : 0;
	if (size < 100 || bytes[size - 1] & 1)
		return;
	if (page < 512 || page & (page - 1)) {
		page = 512;
		bytes[16] = 2;
		bytes[17] = 0;
	}
	memcpy(bytes, "SQLite format 3", 16);
	memcpy(bytes + 18, "\1\1\0\100\40\40", 6);
	memcpy(bytes + 92, bytes + 24, 4);
	for (size_t i = 0; i < 4; i++)
		bytes[28 + i] = (unsigned char)(size / page >> (24 - 8 * i));
}

static void rank_check(const struct tp_rank_info *rank)
{
	demand(rank->n_kept <= rank->n_events);
	demand(!rank->skipped_because == !rank->n_skipped);
	demand(!rank->is_cut || rank->n_skipped);
	for (size_t i = 0; i < rank->n_devices; i++)
		demand(rank->devices[i].number >= 0);
}

static void trace_check(const struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_tracks; i++) {
		for (size_t j = 0; j < trace->spans[i].n; j++) {
			const struct tp_span *span = &trace->spans[i].items[j];
			demand(span->start_ns <= span->end_ns && span->end_ns >> 63 == 0);
			demand(span->name < trace->n_strings && span->kind < TP_N_SPAN_KINDS);
			demand(tp_span_kind_is_device(span->kind) ==
			       (trace->tracks[i].device != TP_TRACK_THREAD));
		}
	}
	for (size_t i = 0; i < trace->n_tracks; i++)
		demand(trace->tracks[i].task_plus_1 <= trace->n_tasks);
	for (size_t i = 0; i < trace->n_runs; i++)
		demand(trace->runs[i].start_ns < trace->runs[i].end_ns);
	for (size_t i = 0; i < trace->n_samples; i++)
		demand(trace->samples[i].stack < trace->n_stacks);
	demand(trace->n_dropped == 0);
}

/* Imports the bytes, with their header corrected, in that format. */
static void fuzz_database(const char *format, const uint8_t *data, size_t size)
{
	const struct tp_import_options options = {.format = format, .n_threads = 1};
	char path[96];
	const char *paths[] = {path};
	struct tp_import_result result = {0};
	struct tp_error err = {0};
	struct tp_trace_builder builder;
	struct tp_trace trace;
	unsigned char *bytes = tp_alloc(size);
	memcpy(bytes, data, size);
	header_mend(bytes, size);
	snprintf(path, sizeof(path), "%s/export.sqlite", scratch_directory());
	FILE *file = fopen(path, "w");
	demand(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
	free(bytes);
	tp_trace_builder_init(&builder);
	enum tp_status status = tp_import_files(&result, paths, 1, &options, &builder.sink, &err);
	demand(status ? err.text[0] : result.n_ranks > 0);
	for (size_t i = 0; i < result.n_ranks; i++)
		rank_check(&result.ranks[i]);
	tp_trace_build(&trace, &builder, &(struct tp_run_info){.id = "r-1"});
	tp_trace_builder_release(&builder);
	trace_check(&trace);
	tp_trace_release(&trace);
	if (!status)
		tp_import_result_release(&result);
}

#endif
