/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes blocks into a sink. The bytes may come from an untrusted source: every field is checked,
 * ids are translated to those of the sink, and invalid records are refused and counted. */
#ifndef TRAINPROF_SRC_STORE_DECODER_H
#define TRAINPROF_SRC_STORE_DECODER_H

#include "trainprof/base/buf.h"
#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps ids of the file, which begin at 1 and are dense, to ids of the sink. */
struct tp_id_map {
	uint32_t *ids;
	size_t n;
	size_t capacity;
};

enum { DECODER_METRICS_MAX = 4096, DECODER_SOURCES_MAX = 256 };

struct tp_decoder {
	struct tp_sink *sink; /* borrowed */
	struct tp_id_map strings;
	struct tp_id_map frames;
	struct tp_id_map stacks;
	struct tp_id_map details;
	uint16_t metrics[DECODER_METRICS_MAX]; /* number in the file -> enum tp_metric plus one */
	uint32_t n_tasks;
	uint32_t n_tracks;
	struct tp_map source_names; /* at most DECODER_SOURCES_MAX, since a trace walks them */
	uint64_t clock_ns;
	uint64_t address;
	uint64_t link;
	uint64_t n_met;     /* number of records, accepted or not */
	uint64_t n_refused; /* malformed, or with an id that was never defined */
	uint64_t n_skipped; /* of a kind or metric from a newer version */
	struct tp_buf text;
};

void tp_decoder_init(struct tp_decoder *decoder, struct tp_sink *sink);
void tp_decoder_release(struct tp_decoder *decoder);

/* Decodes the records of one payload whose first time is relative to base_ns. Returns false if the
 * records do not fill the payload exactly; the records before the error are kept. */
bool tp_decoder_add(struct tp_decoder *decoder, const unsigned char *payload, size_t len,
		    uint64_t base_ns);

#endif
