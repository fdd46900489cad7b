/* SPDX-License-Identifier: Apache-2.0 */
/* An embedding table: rows picked by hash, one cache line each, so that memory is what limits. */
#ifndef TRAINER_EMBEDDING_H
#define TRAINER_EMBEDDING_H

struct embedding;

/* NULL when there is to be none. */
struct embedding *embedding_open(int megabytes, int n_lookups);
void embedding_close(struct embedding *embedding);

/* Adds the mean of the rows that belong to `input` to its logits. */
void embedding_lookup(const struct embedding *embedding, const float *input, float *logits);
void embedding_update(struct embedding *embedding, const float *input, const float *d_logits);

#endif
