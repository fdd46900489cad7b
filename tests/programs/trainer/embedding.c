/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up and trains rows of a table that fits into no cache. */
#include "embedding.h"

#include "pictures.h"
#include "resident.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_FLOATS = 16 }; /* one cache line */

struct embedding {
	float *table;
	size_t n_rows;
	int n_lookups;
};

struct embedding *embedding_open(int megabytes, int n_lookups)
{
	if (!megabytes || !n_lookups)
		return NULL;
	struct embedding *e = resident_alloc(sizeof(*e));
	e->n_rows = (size_t)megabytes * (1 << 20) / (ROW_FLOATS * sizeof(float));
	e->table = resident_alloc(e->n_rows * ROW_FLOATS * sizeof(float));
	e->n_lookups = n_lookups;
	return e;
}

void embedding_close(struct embedding *e)
{
	if (e)
		free(e->table);
	free(e);
}

static float *row_of(const struct embedding *e, const float *input, int lookup)
{
	uint32_t bits;
	memcpy(&bits, input + lookup % INPUT_FLOATS, sizeof(bits));
	uint64_t mixed = (bits ^ (uint32_t)lookup * 2654435761u) * UINT64_C(0x9e3779b97f4a7c15);
	return e->table + (mixed >> 20) % e->n_rows * ROW_FLOATS;
}

__attribute__((noinline)) void embedding_lookup(const struct embedding *e, const float *input,
						float *logits)
{
	float sum[N_CLASSES] = {0};
	for (int k = 0; k < e->n_lookups; k++) {
		const float *row = row_of(e, input, k);
		for (int c = 0; c < N_CLASSES; c++)
			sum[c] += row[c];
	}
	for (int c = 0; c < N_CLASSES; c++)
		logits[c] += sum[c] / (float)e->n_lookups;
}

__attribute__((noinline)) void embedding_update(struct embedding *e, const float *input,
						const float *d_logits)
{
	for (int k = 0; k < e->n_lookups; k++) {
		float *row = row_of(e, input, k);
		for (int c = 0; c < N_CLASSES; c++)
			row[c] -= 0.05F * d_logits[c];
	}
}
