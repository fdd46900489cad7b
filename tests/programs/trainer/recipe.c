/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, decodes and augments the pictures of one batch. */
#include "recipe.h"

#include "knobs.h"
#include "phases.h"
#include "pictures.h"
#include "resident.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 4096 };

void recipe_init(struct recipe *recipe, const struct knobs *knobs, const char *set)
{
	size_t n_pixels = (size_t)knobs->side * (size_t)knobs->side * 3;
	*recipe = (struct recipe){.knobs = knobs, .set = set};
	recipe->room = n_pixels * 2 + (size_t)knobs->padding_kb * 1024 + (size_t)2 * BLOCK_BYTES;
	recipe->room -= recipe->room % BLOCK_BYTES;
	recipe->pixels = resident_alloc(n_pixels);
	recipe->file_memory = resident_alloc(recipe->room + BLOCK_BYTES);
	recipe->file =
		recipe->file_memory + BLOCK_BYTES - (uintptr_t)recipe->file_memory % BLOCK_BYTES;
}

void recipe_release(struct recipe *recipe)
{
	free(recipe->pixels);
	free(recipe->file_memory);
}

/* No read() occurs: pages that are not in the page cache arrive by major faults. */
__attribute__((noinline)) static size_t copy_mapped(struct recipe *recipe, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size <= 0)
		return 0;
	size_t size = (size_t)st.st_size < recipe->room ? (size_t)st.st_size : recipe->room;
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 0;
	memcpy(recipe->file, map, size);
	munmap(map, size);
	return size;
}

__attribute__((noinline)) static size_t read_picture(struct recipe *recipe, int index)
{
	const struct knobs *knobs = recipe->knobs;
	char path[4096];
	picture_path(path, sizeof(path), recipe->set, index);
	int fd = open(path, O_RDONLY | O_CLOEXEC | (knobs->direct ? O_DIRECT : 0));
	if (fd < 0 && knobs->direct)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(path);
		exit(2);
	}
	if (knobs->uncached)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (knobs->map) {
		size_t mapped = copy_mapped(recipe, fd);
		close(fd);
		return mapped;
	}
	size_t size = 0;
	size_t chunk = knobs->direct ? BLOCK_BYTES : recipe->room;
	for (;;) {
		size_t want = chunk < recipe->room - size ? chunk : recipe->room - size;
		ssize_t n = want ? read(fd, recipe->file + size, want) : 0;
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	close(fd);
	return size;
}

__attribute__((noinline)) static int decode_picture(struct recipe *recipe, size_t size)
{
	int class = -1;
	for (int i = 0; i < recipe->knobs->decode; i++)
		class = picture_decode(recipe->pixels, recipe->knobs->side, recipe->file, size);
	return class;
}

static void rest(int microseconds)
{
	struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000L};
	nanosleep(&t, NULL);
}

void recipe_make(struct recipe *recipe, int number, float *inputs, int *classes,
		 struct worker_stat *stat)
{
	const struct knobs *knobs = recipe->knobs;
	uint64_t begin_ns = clock_ns();
	uint64_t before_ns = begin_ns;
	for (int i = 0; i < knobs->batch; i++) {
		unsigned sample = (unsigned)number * (unsigned)knobs->batch + (unsigned)i;
		unsigned random = sample * 2654435761u + (unsigned)knobs->seed;
		/* 7919 is prime: each pass over the set meets every picture, in a mixed order. */
		int index = (int)((uint64_t)sample * 7919 % (unsigned)knobs->pictures);
		size_t size = read_picture(recipe, index);
		uint64_t read_ns = clock_ns();
		classes[i] = decode_picture(recipe, size);
		if (classes[i] < 0) {
			fprintf(stderr, "trainer: bad picture %d in %s\n", index, recipe->set);
			exit(2);
		}
		float *input = inputs + (size_t)i * INPUT_FLOATS;
		picture_resize(input, recipe->pixels, knobs->side);
		picture_augment(input, random >> 7);
		uint64_t decode_ns = clock_ns();
		if (knobs->sample_sleep_us)
			rest(knobs->sample_sleep_us);
		uint64_t end_ns = clock_ns();
		stat->read_ns += read_ns - before_ns;
		stat->decode_ns += decode_ns - read_ns;
		stat->sleep_ns += end_ns - decode_ns;
		before_ns = end_ns;
	}
	stat->busy_ns += before_ns - begin_ns;
	stat->n_batches++;
}
