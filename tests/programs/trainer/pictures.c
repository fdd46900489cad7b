/* SPDX-License-Identifier: Apache-2.0 */
/* Draws, compresses and decodes pictures. The format is a small version of lossless photographs:
 * each byte is predicted from its three neighbours (median edge detector of LOCO-I, Weinberger et
 * al. 2000), the difference is Rice-coded with a parameter per row. */
#include "pictures.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[4] = {'P', 'I', 'C', '1'};

enum { HEADER_BYTES = 8, MAX_UNARY = 24 };

static unsigned hash(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* Draws vertical stripes, horizontal stripes, a disc, or squares, in two colours with noise. */
static void draw(uint8_t *pixels, int side, int class, unsigned seed)
{
	int period = side / (3 + (int)(hash(seed) % 4));
	int shift = (int)(hash(seed + 1) % (unsigned)side);
	double radius = side * (0.2 + 0.15 * (hash(seed + 2) % 100) / 100.0);
	for (int y = 0; y < side; y++) {
		for (int x = 0; x < side; x++) {
			int is_ink = 0;
			int across = (x + shift) / (period / 2 + 1) % 2;
			int down = (y + shift) / (period / 2 + 1) % 2;
			if (class == 0)
				is_ink = across;
			else if (class == 1)
				is_ink = down;
			else if (class == 2)
				is_ink = hypot(x - side / 2.0, y - side / 2.0) < radius;
			else
				is_ink = across ^ down;
			for (int c = 0; c < 3; c++) {
				unsigned noise =
					hash(seed * 31u + (unsigned)((y * side + x) * 3 + c));
				int base = is_ink ? 150 + 20 * c : 60 + 10 * c;
				pixels[(y * side + x) * 3 + c] =
					(uint8_t)(base + (int)(noise % 32));
			}
		}
	}
}

static int predict(const uint8_t *pixels, int side, int at)
{
	int row = side * 3;
	int left = at % row >= 3 ? pixels[at - 3] : 0;
	int above = at >= row ? pixels[at - row] : left;
	int corner = at >= row && at % row >= 3 ? pixels[at - row - 3] : above;
	int low = left < above ? left : above;
	int high = left < above ? above : left;
	if (corner >= high)
		return low;
	if (corner <= low)
		return high;
	return left + above - corner;
}

struct bits {
	uint8_t *out;
	const uint8_t *in;
	size_t n_bits;
	size_t limit; /* end of the input, in bits */
};

static void put_bits(struct bits *b, unsigned value, int n)
{
	for (int i = n - 1; i >= 0; i--, b->n_bits++) {
		if (value >> i & 1)
			b->out[b->n_bits / 8] |= (uint8_t)(128 >> b->n_bits % 8);
	}
}

static unsigned get_bit(struct bits *b)
{
	if (b->n_bits >= b->limit)
		return 1;
	unsigned bit = b->in[b->n_bits / 8] >> (7 - b->n_bits % 8) & 1;
	b->n_bits++;
	return bit;
}

static unsigned rice_decode(struct bits *b, int k)
{
	unsigned n_zeros = 0;
	while (n_zeros < MAX_UNARY && !get_bit(b))
		n_zeros++;
	if (n_zeros == MAX_UNARY)
		k = 8, n_zeros = 0;
	unsigned rest = 0;
	for (int i = 0; i < k; i++)
		rest = rest << 1 | get_bit(b);
	return n_zeros << k | rest;
}

static void rice_encode(struct bits *b, unsigned value, int k)
{
	if (value >> k >= MAX_UNARY) {
		b->n_bits += MAX_UNARY;
		put_bits(b, value, 8);
		return;
	}
	b->n_bits += value >> k;
	put_bits(b, 1, 1);
	put_bits(b, value & ((1u << k) - 1), k);
}

static unsigned fold(int difference)
{
	/* Differences are modulo 256: the shorter way round. */
	int d = (difference + 384) % 256 - 128;
	return (unsigned)(d < 0 ? -2 * d - 1 : 2 * d);
}

static int unfold(unsigned value)
{
	return value & 1 ? -(int)(value / 2) - 1 : (int)(value / 2);
}

/* Returns the size of the encoded file. `file` has room for twice the pixels. */
static size_t encode(uint8_t *file, const uint8_t *pixels, int side, int class)
{
	memset(file, 0, HEADER_BYTES + (size_t)side * (size_t)side * 6);
	memcpy(file, magic, sizeof(magic));
	file[4] = (uint8_t)(side & 255);
	file[5] = (uint8_t)(side >> 8);
	file[6] = (uint8_t) class;
	struct bits b = {.out = file + HEADER_BYTES};
	for (int y = 0; y < side; y++) {
		unsigned sum = 0;
		int from = y * side * 3;
		for (int i = from; i < from + side * 3; i++)
			sum += fold(pixels[i] - predict(pixels, side, i));
		int k = 0;
		while (k < 7 && (unsigned)(side * 3) << k < sum)
			k++;
		put_bits(&b, (unsigned)k, 3);
		for (int i = from; i < from + side * 3; i++)
			rice_encode(&b, fold(pixels[i] - predict(pixels, side, i)), k);
	}
	return HEADER_BYTES + (b.n_bits + 7) / 8;
}

int picture_decode(uint8_t *pixels, int side, const uint8_t *file, size_t size)
{
	if (size < HEADER_BYTES || memcmp(file, magic, sizeof(magic)) != 0 ||
	    (file[4] | file[5] << 8) != side || file[6] >= N_CLASSES)
		return -1;
	struct bits b = {.in = file + HEADER_BYTES, .limit = (size - HEADER_BYTES) * 8};
	for (int y = 0; y < side; y++) {
		int k = (int)(get_bit(&b) << 2 | get_bit(&b) << 1);
		k |= (int)get_bit(&b);
		int from = y * side * 3;
		for (int i = from; i < from + side * 3; i++)
			pixels[i] =
				(uint8_t)(predict(pixels, side, i) + unfold(rice_decode(&b, k)));
	}
	return file[6];
}

static float mix(uint8_t a, uint8_t b, float weight)
{
	return (float)a * (1 - weight) + (float)b * weight;
}

void picture_resize(float *input, const uint8_t *pixels, int side)
{
	double scale = (double)side / INPUT_SIDE;
	for (int y = 0; y < INPUT_SIDE; y++) {
		double fy = fmin((y + 0.5) * scale - 0.5, side - 1);
		int y0 = (int)fmax(fy, 0);
		int y1 = y0 + 1 < side ? y0 + 1 : y0;
		float wy = (float)fmax(fy - y0, 0);
		for (int x = 0; x < INPUT_SIDE; x++) {
			double fx = fmin((x + 0.5) * scale - 0.5, side - 1);
			int x0 = (int)fmax(fx, 0);
			int x1 = x0 + 1 < side ? x0 + 1 : x0;
			float wx = (float)fmax(fx - x0, 0);
			for (int c = 0; c < INPUT_PLANES; c++) {
				float top = mix(pixels[(y0 * side + x0) * 3 + c],
						pixels[(y0 * side + x1) * 3 + c], wx);
				float low = mix(pixels[(y1 * side + x0) * 3 + c],
						pixels[(y1 * side + x1) * 3 + c], wx);
				input[(c * INPUT_SIDE + y) * INPUT_SIDE + x] =
					(top + (low - top) * wy - 118.0F) / 64.0F;
			}
		}
	}
}

void picture_augment(float *input, unsigned random)
{
	float gain = 0.9F + 0.2F * (float)(hash(random) % 1000) / 1000.0F;
	int is_flipped = hash(random + 1) % 2 == 1;
	for (int row = 0; row < INPUT_PLANES * INPUT_SIDE; row++) {
		float *line = input + (ptrdiff_t)row * INPUT_SIDE;
		for (int x = 0; is_flipped && x < INPUT_SIDE / 2; x++) {
			float kept = line[x];
			line[x] = line[INPUT_SIDE - 1 - x];
			line[INPUT_SIDE - 1 - x] = kept;
		}
		for (int x = 0; x < INPUT_SIDE; x++)
			line[x] *= gain;
	}
}

void picture_path(char *out, size_t size, const char *set, int index)
{
	snprintf(out, size, "%s/%05d.pic", set, index % 1000000);
}

static int write_file(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	ssize_t n = write(fd, bytes, size);
	return close(fd) == 0 && n == (ssize_t)size ? 0 : -1;
}

static int draw_set(const char *set, int n, int side, size_t padding_bytes)
{
	size_t n_pixels = (size_t)side * (size_t)side * 3;
	size_t room = HEADER_BYTES + n_pixels * 2 + padding_bytes;
	uint8_t *pixels = malloc(n_pixels);
	uint8_t *file = malloc(room);
	int failure = pixels && file ? 0 : -1;
	for (int i = 0; i < n && !failure; i++) {
		char path[4200];
		draw(pixels, side, i % N_CLASSES, hash((unsigned)i + 17));
		size_t size = encode(file, pixels, side, i % N_CLASSES);
		for (size_t k = 0; k < padding_bytes; k++)
			file[size + k] = (uint8_t)hash((unsigned)(k + (size_t)i));
		picture_path(path, sizeof(path), set, i);
		failure = write_file(path, file, size + padding_bytes);
	}
	free(pixels);
	free(file);
	return failure;
}

static void sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	syncfs(fd);
	close(fd);
}

int pictures_prepare(char *out, size_t size, const char *directory, int n, int side,
		     size_t padding_bytes)
{
	char fresh[4096];
	struct stat st;
	if (mkdir(directory, 0755) != 0 && errno != EEXIST)
		return -1;
	snprintf(out, size, "%s/side%d-n%d-pad%zu", directory, side, n, padding_bytes);
	if (stat(out, &st) == 0)
		return 0;
	snprintf(fresh, sizeof(fresh), "%s/fresh-%d", directory, (int)getpid());
	if (mkdir(fresh, 0755) != 0 || draw_set(fresh, n, side, padding_bytes) != 0)
		return -1;
	/* Pages that are not on the disk yet cannot be dropped from the page cache by
	 * --uncached. */
	sync_directory(fresh);
	/* Another trainer may have been faster: its set is the same. */
	if (rename(fresh, out) != 0 && errno != EEXIST && errno != ENOTEMPTY)
		return -1;
	return 0;
}
