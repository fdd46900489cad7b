/* SPDX-License-Identifier: Apache-2.0 */
/* Memory whose pages are all present before it is used. */
#ifndef TRAINER_RESIDENT_H
#define TRAINER_RESIDENT_H

#include <stddef.h>

/* Returns `size` zero bytes, aligned to 64, freed with free(). Never NULL. */
void *resident_alloc(size_t size);

#endif
