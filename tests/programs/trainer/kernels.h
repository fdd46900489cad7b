/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products, scalar and vectorised; all add to c. Row-major, dense. */
#ifndef TRAINER_KERNELS_H
#define TRAINER_KERNELS_H

struct kernels {
	void (*gemm_nn)(int m, int n, int k, const float *a, const float *b, float *c);
	void (*gemm_nt)(int m, int n, int k, const float *a, const float *b, float *c);
	void (*gemm_tn)(int m, int n, int k, const float *a, const float *b, float *c);
};

extern const struct kernels kernels_scalar;
extern const struct kernels kernels_vector;

/* Fills without memset, whose time would count as memory and not as the network's: the computing
 * part of a step must not call it. */
void fill(float *out, float value, int n);

/* 3x3 neighbourhoods of `planes` planes of side x side as the columns of a matrix, and back. */
void im2col(float *columns, const float *planes, int n_planes, int side);
void col2im(float *planes, const float *columns, int n_planes, int side);

#endif
