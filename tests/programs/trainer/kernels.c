/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the network: matrix products, one number or four numbers at a time. */
#include "kernels.h"

#include <stddef.h>
#include <string.h>

/* Keeps the scalar kernels scalar: the compiler must not vectorise them. */
#ifdef __clang__
#define SCALAR_FUNCTION
#define SCALAR_LOOP _Pragma("clang loop vectorize(disable) interleave(disable)")
#else
#define SCALAR_FUNCTION __attribute__((optimize("no-tree-vectorize")))
#define SCALAR_LOOP
#endif

typedef float quad __attribute__((vector_size(16)));

static quad load(const float *p)
{
	quad q;
	memcpy(&q, p, sizeof(q));
	return q;
}

SCALAR_FUNCTION static void nn_scalar(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int i = 0; i < m; i++) {
		for (int p = 0; p < k; p++) {
			float x = a[(ptrdiff_t)i * k + p];
			const float *row = b + (ptrdiff_t)p * n;
			float *out = c + (ptrdiff_t)i * n;
			SCALAR_LOOP
			for (int j = 0; j < n; j++)
				out[j] += x * row[j];
		}
	}
}

SCALAR_FUNCTION static void nt_scalar(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < n; j++) {
			const float *left = a + (ptrdiff_t)i * k;
			const float *right = b + (ptrdiff_t)j * k;
			float sum = 0;
			SCALAR_LOOP
			for (int p = 0; p < k; p++)
				sum += left[p] * right[p];
			c[(ptrdiff_t)i * n + j] += sum;
		}
	}
}

SCALAR_FUNCTION static void tn_scalar(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int p = 0; p < k; p++) {
		for (int i = 0; i < m; i++) {
			float x = a[(ptrdiff_t)p * m + i];
			const float *row = b + (ptrdiff_t)p * n;
			float *out = c + (ptrdiff_t)i * n;
			SCALAR_LOOP
			for (int j = 0; j < n; j++)
				out[j] += x * row[j];
		}
	}
}

static void add_row(float *out, float x, const float *row, int n)
{
	int j = 0;
	for (; j + 4 <= n; j += 4) {
		quad sum = load(out + j) + x * load(row + j);
		memcpy(out + j, &sum, sizeof(sum));
	}
	for (; j < n; j++)
		out[j] += x * row[j];
}

static void nn_vector(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int i = 0; i < m; i++) {
		for (int p = 0; p < k; p++)
			add_row(c + (ptrdiff_t)i * n, a[(ptrdiff_t)i * k + p], b + (ptrdiff_t)p * n,
				n);
	}
}

static void tn_vector(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int p = 0; p < k; p++) {
		for (int i = 0; i < m; i++)
			add_row(c + (ptrdiff_t)i * n, a[(ptrdiff_t)p * m + i], b + (ptrdiff_t)p * n,
				n);
	}
}

static void nt_vector(int m, int n, int k, const float *a, const float *b, float *c)
{
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < n; j++) {
			const float *left = a + (ptrdiff_t)i * k;
			const float *right = b + (ptrdiff_t)j * k;
			quad four = {0, 0, 0, 0};
			float sum = 0;
			int p = 0;
			for (; p + 4 <= k; p += 4)
				four += load(left + p) * load(right + p);
			for (; p < k; p++)
				sum += left[p] * right[p];
			c[(ptrdiff_t)i * n + j] += sum + four[0] + four[1] + four[2] + four[3];
		}
	}
}

const struct kernels kernels_scalar = {nn_scalar, nt_scalar, tn_scalar};
const struct kernels kernels_vector = {nn_vector, nt_vector, tn_vector};

void fill(float *out, float value, int n)
{
	/* The compiler must not know that it is zero. */
	volatile float hidden = value;
	float x = hidden;
	quad four = {x, x, x, x};
	int i = 0;
	for (; i + 4 <= n; i += 4)
		memcpy(out + i, &four, sizeof(four));
	for (; i < n; i++)
		out[i] = x;
}

void im2col(float *columns, const float *planes, int n_planes, int side)
{
	for (int row = 0; row < n_planes * 9; row++) {
		const float *plane = planes + (ptrdiff_t)(row / 9) * side * side;
		int dy = row % 9 / 3 - 1;
		int dx = row % 3 - 1;
		float *out = columns + (ptrdiff_t)row * side * side;
		for (int y = 0; y < side; y++) {
			int is_inside = y + dy >= 0 && y + dy < side;
			for (int x = 0; x < side; x++) {
				int from = x + dx;
				out[y * side + x] = is_inside && from >= 0 && from < side
							    ? plane[(y + dy) * side + from]
							    : 0;
			}
		}
	}
}

void col2im(float *planes, const float *columns, int n_planes, int side)
{
	fill(planes, 0, n_planes * side * side);
	for (int row = 0; row < n_planes * 9; row++) {
		float *plane = planes + (ptrdiff_t)(row / 9) * side * side;
		int dy = row % 9 / 3 - 1;
		int dx = row % 3 - 1;
		const float *in = columns + (ptrdiff_t)row * side * side;
		for (int y = 0; y < side; y++) {
			if (y + dy < 0 || y + dy >= side)
				continue;
			for (int x = 0; x < side; x++) {
				int to = x + dx;
				if (to >= 0 && to < side)
					plane[(y + dy) * side + to] += in[y * side + x];
			}
		}
	}
}
