/* SPDX-License-Identifier: Apache-2.0 */
/* Lets an importer read any bytes: it must end, and no span may end before it begins. */
#ifndef TRAINPROF_TESTS_FUZZ_IMPORTER_H
#define TRAINPROF_TESTS_FUZZ_IMPORTER_H

#include "../unit/giver.h"
#include "import/json/trace_maker.h"
#include "import/reader/import_session.h"
#include "import/reader/importer.h"

#include "trainprof/base/stream.h"

#include <stdlib.h>

static void check_record(struct tp_sink *self, const struct tp_record *record)
{
	(void)self;
	if (record->kind == TP_RECORD_SPAN && record->of.span.start_ns > record->of.span.end_ns)
		abort();
}

static void fuzz_importer(const struct tp_importer *importer, const uint8_t *data, size_t size)
{
	static const struct tp_sink_type checking = {.name = "checking", .put = check_record};
	static const struct tp_import_options options = {.device_lane = "*"};
	struct giver giver = {data, size};
	struct tp_arena arena = {0};
	struct tp_sink sink;
	struct tp_error err = {0};
	tp_sink_init(&sink, &checking);
	struct tp_import_session session = {.sink = &sink,
					    .arena = &arena,
					    .options = &options,
					    .first_ns = UINT64_MAX};
	struct tp_import_source source = {.path = "fuzz", .sha256 = ""};
	struct tp_import_reader import = {.session = &session,
					  .source = &source,
					  .format = importer->info.name};
	pthread_mutex_init(&session.lock, NULL);
	source.stream = tp_stream_from_source(give, &giver);
	const unsigned char *head;
	size_t n = tp_stream_peek(source.stream, &head);
	/* The bytes are read even if they are not recognised: a recognised file may also be useless
	 * after its head. */
	if (importer->recognises)
		(void)importer->recognises(head, n);
	else
		(void)tp_trace_maker_reader(head, n);
	if (importer->read(&import, &source, &err) && !err.text[0])
		abort();
	tp_stream_close(source.stream);
	pthread_mutex_destroy(&session.lock);
	free(session.tracks);
	free(session.ranks);
	tp_sink_release(&sink);
	tp_arena_release(&arena);
}

#endif
