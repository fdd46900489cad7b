/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes records.tpr: a recording loads whatever it contains, and its trace keeps the guarantees of
 * a trace. The input is the part after the file's header. Tags, numbers and checksums of blocks are
 * corrected first: a fuzzer cannot guess a checksum, and the code after the check is the target. */
#include "scratch.h"
#include "store/checksum.h"
#include "store/layout.h"
#include "store/wire_num.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Creates a recording, and the header of its records.tpr. */
static const char *scene_make(struct tp_buf *header)
{
	static char path[96];
	char name[128];
	struct tp_store *store;
	struct tp_run_info run = {.id = "r-1", .started_ns = 1000};
	if (path[0])
		return path;
	snprintf(path, sizeof(path), "%s/prof", scratch_directory());
	snprintf(name, sizeof(name), "%s/records.tpr", path);
	if (tp_store_create(&store, path, &run, 1 << 20, NULL) ||
	    tp_store_finish(store, &run, NULL) || tp_file_read(header, name, HEADER_BYTES, NULL))
		abort();
	return path;
}

static void blocks_mend(unsigned char *at, size_t size)
{
	struct tp_checksum checksum;
	tp_checksum_init(&checksum);
	for (uint32_t number = 0; size >= BLOCK_HEADER_BYTES; number++) {
		size_t room = size - BLOCK_HEADER_BYTES;
		size_t len = tp_get_u32(at + BLOCK_LENGTH);
		if (len > room)
			return;
		tp_put_u32(at + BLOCK_TAG, LAYOUT_BLOCK_TAG);
		tp_put_u32(at + BLOCK_NUMBER, number);
		uint32_t crc = tp_checksum_add(&checksum, 0, at, BLOCK_CRC);
		crc = tp_checksum_add(&checksum, crc, at + BLOCK_HEADER_BYTES, len);
		tp_put_u32(at + BLOCK_CRC, crc);
		at += BLOCK_HEADER_BYTES + len;
		size -= BLOCK_HEADER_BYTES + len;
	}
}

static void demand(bool claim)
{
	if (!claim)
		abort();
}

/* Checks the guarantees of trainprof/model/trace.h. */
static void trace_check(const struct tp_trace *t)
{
	for (size_t i = 0; i < t->n_tasks; i++) {
		uint32_t parent = t->tasks[i].parent;
		demand(t->tasks[i].id == i && t->tasks[i].comm < t->n_strings);
		demand(parent < t->n_tasks || parent == TP_NO_TASK);
	}
	for (size_t i = 0; i < t->n_runs; i++) {
		const struct tp_run *run = &t->runs[i];
		demand(run->task < t->n_tasks && run->how < TP_N_RUN_ENDS);
		demand(run->start_ns < run->end_ns ||
		       (run->start_ns == run->end_ns && run->how == TP_RUN_OPEN));
		demand(!i || run[-1].task < run->task ||
		       (run[-1].task == run->task && run[-1].end_ns <= run->start_ns));
	}
	for (size_t i = 0; i < t->n_samples; i++) {
		const struct tp_sample *sample = &t->samples[i];
		demand(sample->task < t->n_tasks && sample->stack < t->n_stacks);
		demand(sample->state < TP_N_STATES && sample->cause < TP_N_CAUSES);
		demand(sample->target < t->n_strings);
	}
	for (size_t i = 1; i < t->n_stacks; i++)
		for (uint32_t j = 0; j < t->stacks[i].n_frames; j++)
			demand(t->stacks[i].frames[j] < t->n_frames);
	for (size_t i = 1; i < t->n_frames; i++)
		demand(t->frames[i].module < t->n_strings && t->frames[i].symbol < t->n_strings);
	for (size_t i = 0; i < t->n_gaps; i++)
		demand(t->gaps[i].start_ns <= t->gaps[i].end_ns);
	for (size_t i = 0; i < t->n_gauges; i++)
		demand(t->gauges[i].metric < TP_N_METRICS &&
		       t->gauges[i].value - t->gauges[i].value == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tp_buf header; /* as written by trainprof itself */
	const char *directory = scene_make(&header);
	char path[128];
	snprintf(path, sizeof(path), "%s/records.tpr", directory);
	unsigned char *blocks = tp_alloc(size);
	memcpy(blocks, data, size);
	blocks_mend(blocks, size);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fwrite(header.data, 1, header.len, file);
	fwrite(blocks, 1, size, file);
	fclose(file);
	free(blocks);
	struct tp_trace trace;
	demand(tp_store_load(&trace, directory, NULL) == TP_OK);
	trace_check(&trace);
	tp_trace_release(&trace);
	return 0;
}
