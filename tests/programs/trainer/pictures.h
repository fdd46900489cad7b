/* SPDX-License-Identifier: Apache-2.0 */
/* The dataset: generated pictures, losslessly compressed, one file each. */
#ifndef TRAINER_PICTURES_H
#define TRAINER_PICTURES_H

#include <stddef.h>
#include <stdint.h>

enum { N_CLASSES = 4, INPUT_SIDE = 32, INPUT_PLANES = 3 };
enum { INPUT_FLOATS = INPUT_PLANES * INPUT_SIDE * INPUT_SIDE };

/* Makes sure that `directory` holds n pictures of side x side pixels; generates them if it does
 * not. `padding_bytes` of noise follow each picture. Writes the path of the set into out. */
int pictures_prepare(char *out, size_t size, const char *directory, int n, int side,
		     size_t padding_bytes);

void picture_path(char *out, size_t size, const char *set, int index);

/* Decodes a file's bytes into side x side x 3 pixels. Returns the class, or -1 if the bytes are
 * invalid. */
int picture_decode(uint8_t *pixels, int side, const uint8_t *file, size_t size);

/* Shrinks to the network's input and centres on 0. */
void picture_resize(float *input, const uint8_t *pixels, int side);
void picture_augment(float *input, unsigned random);

#endif
