/* SPDX-License-Identifier: Apache-2.0 */
/* An embedding table: rows are picked by hash, one cache line each, so that memory is the limit. */
#ifndef TRAINER_EMBEDDING_H
#define TRAINER_EMBEDDING_H

struct embedding;

/* Returns NULL if the size or the number of lookups is 0. */
struct embedding *embedding_open(int megabytes, int n_lookups);
void embedding_close(struct embedding *embedding);

/* Adds the mean of the rows that belong to `input` to its logits. */
void embedding_lookup(const struct embedding *embedding, const float *input, float *logits);
void embedding_update(struct embedding *embedding, const float *input, const float *d_logits);

#endif
