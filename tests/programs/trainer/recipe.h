/* SPDX-License-Identifier: Apache-2.0 */
/* Produces one batch from files, for any kind of producer. */
#ifndef TRAINER_RECIPE_H
#define TRAINER_RECIPE_H

#include "loader.h"

#include <stddef.h>
#include <stdint.h>

/* Buffers of one producer. */
struct recipe {
	const struct knobs *knobs;
	const char *set;
	uint8_t *file_memory;
	uint8_t *file; /* inside it, aligned for direct reads */
	size_t room;
	uint8_t *pixels;
};

void recipe_init(struct recipe *recipe, const struct knobs *knobs, const char *set);
void recipe_release(struct recipe *recipe);

/* Produces batch `number` and adds to the times in `stat`. */
void recipe_make(struct recipe *recipe, int number, float *inputs, int *classes,
		 struct worker_stat *stat);

#endif
