/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes JSON traces: importing ends for any contents, and the result is valid. The first byte of
 * the input selects the options. */
#include "../unit/giver.h"
#include "import/reader/import_session.h"
#include "import/reader/importer.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool claim)
{
	if (!claim)
		abort();
}

/* Checks the guarantees of sink.h and span.h for every record. */
struct witness {
	struct tp_sink sink; /* must be first */
	uint64_t n_spans;
	uint32_t n_tracks;
	int32_t devices[TP_TRACKS_MAX];
};

static void see(struct tp_sink *self, const struct tp_record *record)
{
	struct witness *witness = (struct witness *)(void *)self;
	if (record->kind == TP_RECORD_TRACK) {
		const struct tp_track *track = &record->of.track;
		demand(track->id <= witness->n_tracks && track->id < TP_TRACKS_MAX);
		demand(track->name < self->strings.n && track->rank == 0 && track->device >= -1);
		witness->n_tracks += track->id == witness->n_tracks;
		witness->devices[track->id] = track->device;
	} else if (record->kind == TP_RECORD_SPAN) {
		const struct tp_span *span = &record->of.span;
		demand(span->track < witness->n_tracks && span->name < self->strings.n);
		demand(span->start_ns <= span->end_ns && span->detail < self->details.n);
		demand(span->kind < TP_N_SPAN_KINDS);
		demand(tp_span_kind_is_device(span->kind) ==
		       (witness->devices[span->track] != TP_TRACK_THREAD));
		witness->n_spans++;
	}
}

static const struct tp_sink_type witness_type = {.name = "witness", .put = see};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct giver giver = {data + 1, size - 1};
	struct witness *witness = tp_alloc(sizeof(*witness));
	struct tp_arena arena = {0};
	struct tp_import_options options = {.keeps_python = data[0] & 1};
	struct tp_import_session session = {.sink = &witness->sink,
					    .arena = &arena,
					    .options = &options,
					    .first_ns = UINT64_MAX};
	struct tp_import_source source = {.path = "trace.json"};
	struct tp_import_reader import = {.session = &session,
					  .source = &source,
					  .format = "kineto"};
	struct tp_error err = {0};
	tp_sink_init(&witness->sink, &witness_type);
	pthread_mutex_init(&session.lock, NULL);
	source.stream = tp_stream_from_source(give, &giver);
	enum tp_status status = tp_importer_kineto.read(&import, &source, &err);
	const struct tp_import_session_rank *rank = &session.ranks[0];
	/* Spans before the mark of another tool were emitted when the file was refused. */
	demand(session.n_ranks == 1 && rank->is_absent == (witness->n_spans == 0));
	demand(rank->info.n_kept == witness->n_spans && (status || witness->n_spans));
	demand(rank->info.n_kept <= rank->info.n_events);
	demand((rank->info.n_skipped > 0) == (rank->info.skipped_because != NULL));
	tp_stream_close(source.stream);
	pthread_mutex_destroy(&session.lock);
	free(session.tracks);
	free(session.ranks);
	tp_arena_release(&arena);
	tp_sink_release(&witness->sink);
	free(witness);
	return 0;
}
