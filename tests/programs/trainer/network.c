/* SPDX-License-Identifier: Apache-2.0 */
/* The network: buffers, forward, backward and update, divided among the team by picture. */
#include "network.h"

#include "embedding.h"
#include "kernels.h"
#include "knobs.h"
#include "pictures.h"
#include "resident.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIDE1 = INPUT_SIDE,
	SIDE2 = SIDE1 / 2,
	SIDE3 = SIDE2 / 2,
	AREA1 = SIDE1 * SIDE1,
	AREA2 = SIDE2 * SIDE2,
	AREA3 = SIDE3 * SIDE3,
};

/* Parameters, or gradients: one block, six parts. */
struct weights {
	float *all;
	float *conv1;
	float *bias1;
	float *conv2;
	float *bias2;
	float *full;
	float *bias3;
};

/* Results of forward for one picture, needed by backward. */
struct trail {
	float *columns1;
	float *act1;
	float *pool1;
	float *columns2;
	float *act2;
	float *pool2;
	float logits[N_CLASSES]; /* after forward: probabilities */
};

/* Working memory of one team member in backward. */
struct bench {
	struct weights gradients;
	float *d_pool1;
	float *d_act1;
	float *d_columns2;
	float *d_act2;
	float *d_pool2;
};

struct network {
	const struct knobs *knobs;
	const struct kernels *kernels;
	struct team *team;
	int planes1;
	int planes2;
	size_t n_weights;
	struct weights weights;
	float *speed; /* momentum */
	struct trail *trails;
	float *trail_memory;
	size_t trail_floats;
	struct bench *benches;
	struct embedding *embedding;
	const float *inputs;
	const int *classes;
};

static float *take(size_t n)
{
	return resident_alloc(n * sizeof(float));
}

static void weights_place(const struct network *net, struct weights *w)
{
	size_t p1 = (size_t)net->planes1;
	size_t p2 = (size_t)net->planes2;
	w->all = take(net->n_weights);
	w->conv1 = w->all;
	w->bias1 = w->conv1 + p1 * INPUT_PLANES * 9;
	w->conv2 = w->bias1 + p1;
	w->bias2 = w->conv2 + p2 * p1 * 9;
	w->full = w->bias2 + p2;
	w->bias3 = w->full + N_CLASSES * p2 * AREA3;
}

static float *cut(float **memory, size_t n)
{
	float *piece = *memory;
	*memory += n;
	return piece;
}

static void trails_place(struct network *net)
{
	size_t p1 = (size_t)net->planes1;
	size_t p2 = (size_t)net->planes2;
	size_t n = (size_t)net->knobs->batch;
	net->trail_floats =
		((size_t)INPUT_PLANES * 9 + p1) * AREA1 + (p1 + p1 * 9 + p2) * AREA2 + p2 * AREA3;
	net->trail_memory = take(n * net->trail_floats);
	net->trails = resident_alloc(n * sizeof(*net->trails));
	float *memory = net->trail_memory;
	for (size_t i = 0; i < n; i++) {
		struct trail *t = &net->trails[i];
		t->columns1 = cut(&memory, (size_t)INPUT_PLANES * 9 * AREA1);
		t->act1 = cut(&memory, p1 * AREA1);
		t->pool1 = cut(&memory, p1 * AREA2);
		t->columns2 = cut(&memory, p1 * 9 * AREA2);
		t->act2 = cut(&memory, p2 * AREA2);
		t->pool2 = cut(&memory, p2 * AREA3);
	}
}

static void benches_place(struct network *net)
{
	size_t p1 = (size_t)net->planes1;
	size_t p2 = (size_t)net->planes2;
	int n = team_size(net->team);
	net->benches = resident_alloc((size_t)n * sizeof(*net->benches));
	for (int i = 0; i < n; i++) {
		struct bench *b = &net->benches[i];
		weights_place(net, &b->gradients);
		b->d_pool1 = take(p1 * AREA2);
		b->d_act1 = take(p1 * AREA1);
		b->d_columns2 = take(p1 * 9 * AREA2);
		b->d_act2 = take(p2 * AREA2);
		b->d_pool2 = take(p2 * AREA3);
	}
}

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void randomise(float *out, size_t n, float range, unsigned *state)
{
	for (size_t i = 0; i < n; i++)
		out[i] = range * ((float)next_random(state) / 8388608.0F - 1.0F);
}

struct network *network_open(const struct knobs *knobs)
{
	struct network *net = resident_alloc(sizeof(*net));
	unsigned state = (unsigned)knobs->seed * 7919u + 1u;
	net->knobs = knobs;
	net->kernels = strcmp(knobs->kernel, "scalar") == 0 ? &kernels_scalar : &kernels_vector;
	net->team = team_open(knobs->threads, strcmp(knobs->barrier, "spin") == 0, knobs->lock);
	net->planes1 = 8 * knobs->width;
	net->planes2 = 16 * knobs->width;
	size_t p1 = (size_t)net->planes1;
	size_t p2 = (size_t)net->planes2;
	net->n_weights =
		p1 * INPUT_PLANES * 9 + p1 + p2 * p1 * 9 + p2 + N_CLASSES * p2 * AREA3 + N_CLASSES;
	weights_place(net, &net->weights);
	/* He initialisation: uniform with variance 2 / inputs. */
	randomise(net->weights.conv1, p1 * INPUT_PLANES * 9, sqrtf(6.0F / 27.0F), &state);
	randomise(net->weights.conv2, p2 * p1 * 9, sqrtf(6.0F / (float)(p1 * 9)), &state);
	randomise(net->weights.full, N_CLASSES * p2 * AREA3, sqrtf(1.0F / (float)(p2 * AREA3)),
		  &state);
	net->speed = take(net->n_weights);
	trails_place(net);
	benches_place(net);
	net->embedding = embedding_open(knobs->embedding_mb, knobs->lookups);
	return net;
}

void network_close(struct network *net)
{
	for (int i = 0; i < team_size(net->team); i++) {
		struct bench *b = &net->benches[i];
		free(b->gradients.all);
		free(b->d_pool1);
		free(b->d_act1);
		free(b->d_columns2);
		free(b->d_act2);
		free(b->d_pool2);
	}
	team_close(net->team);
	free(net->benches);
	free(net->trail_memory);
	free(net->trails);
	free(net->weights.all);
	free(net->speed);
	embedding_close(net->embedding);
	free(net);
}

static void bias_start(float *planes, const float *bias, int n_planes, int area)
{
	for (int p = 0; p < n_planes; p++)
		fill(planes + (ptrdiff_t)p * area, bias[p], area);
}

static void relu(float *planes, int n)
{
	for (int i = 0; i < n; i++)
		planes[i] = planes[i] > 0 ? planes[i] : 0;
}

static void average_pool(float *out, const float *in, int n_planes, int side)
{
	int half = side / 2;
	for (int p = 0; p < n_planes; p++) {
		for (int y = 0; y < half; y++) {
			const float *a = in + (ptrdiff_t)(p * side + 2 * y) * side;
			const float *b = a + side;
			for (int x = 0; x < half; x++, a += 2, b += 2)
				out[(p * half + y) * half + x] =
					0.25F * (a[0] + a[1] + b[0] + b[1]);
		}
	}
}

static void average_unpool(float *out, const float *in, const float *act, int n_planes, int side)
{
	int half = side / 2;
	for (int p = 0; p < n_planes; p++) {
		for (int y = 0; y < side; y++) {
			for (int x = 0; x < side; x++) {
				ptrdiff_t at = (ptrdiff_t)(p * side + y) * side + x;
				float d = 0.25F * in[(p * half + y / 2) * half + x / 2];
				out[at] = act[at] > 0 ? d : 0;
			}
		}
	}
}

static void softmax(float *logits)
{
	float largest = logits[0];
	float sum = 0;
	for (int c = 1; c < N_CLASSES; c++)
		largest = fmaxf(largest, logits[c]);
	for (int c = 0; c < N_CLASSES; c++)
		sum += logits[c] = expf(logits[c] - largest);
	for (int c = 0; c < N_CLASSES; c++)
		logits[c] /= sum;
}

static void forward_picture(void *context, int item, int member)
{
	struct network *net = context;
	struct trail *t = &net->trails[item];
	const struct weights *w = &net->weights;
	int p1 = net->planes1;
	int p2 = net->planes2;
	(void)member;
	im2col(t->columns1, net->inputs + (size_t)item * INPUT_FLOATS, INPUT_PLANES, SIDE1);
	bias_start(t->act1, w->bias1, p1, AREA1);
	net->kernels->gemm_nn(p1, AREA1, INPUT_PLANES * 9, w->conv1, t->columns1, t->act1);
	relu(t->act1, p1 * AREA1);
	average_pool(t->pool1, t->act1, p1, SIDE1);
	im2col(t->columns2, t->pool1, p1, SIDE2);
	bias_start(t->act2, w->bias2, p2, AREA2);
	net->kernels->gemm_nn(p2, AREA2, p1 * 9, w->conv2, t->columns2, t->act2);
	relu(t->act2, p2 * AREA2);
	average_pool(t->pool2, t->act2, p2, SIDE2);
	memcpy(t->logits, w->bias3, sizeof(t->logits));
	net->kernels->gemm_nt(1, N_CLASSES, p2 * AREA3, t->pool2, w->full, t->logits);
	if (net->embedding)
		embedding_lookup(net->embedding, net->inputs + (size_t)item * INPUT_FLOATS,
				 t->logits);
	softmax(t->logits);
}

double network_forward(struct network *net, const float *inputs, const int *classes)
{
	double loss = 0;
	net->inputs = inputs;
	team_run(net->team, forward_picture, net, net->knobs->batch);
	for (int i = 0; i < net->knobs->batch; i++)
		loss -= log(fmax((double)net->trails[i].logits[classes[i]], 1e-9));
	return loss / net->knobs->batch;
}

static void sum_planes(float *out, const float *planes, int n_planes, int area)
{
	for (int p = 0; p < n_planes; p++) {
		float sum = 0;
		for (int i = 0; i < area; i++)
			sum += planes[p * area + i];
		out[p] += sum;
	}
}

static void backward_picture(void *context, int item, int member)
{
	struct network *net = context;
	struct trail *t = &net->trails[item];
	struct bench *b = &net->benches[member];
	const struct weights *w = &net->weights;
	struct weights *g = &b->gradients;
	int p1 = net->planes1;
	int p2 = net->planes2;
	float d_logits[N_CLASSES];
	for (int c = 0; c < N_CLASSES; c++) {
		d_logits[c] = (t->logits[c] - (c == net->classes[item] ? 1.0F : 0.0F)) /
			      (float)net->knobs->batch;
		g->bias3[c] += d_logits[c];
	}
	if (net->embedding)
		embedding_update(net->embedding, net->inputs + (size_t)item * INPUT_FLOATS,
				 d_logits);
	net->kernels->gemm_tn(N_CLASSES, p2 * AREA3, 1, d_logits, t->pool2, g->full);
	fill(b->d_pool2, 0, p2 * AREA3);
	net->kernels->gemm_nn(1, p2 * AREA3, N_CLASSES, d_logits, w->full, b->d_pool2);
	average_unpool(b->d_act2, b->d_pool2, t->act2, p2, SIDE2);
	sum_planes(g->bias2, b->d_act2, p2, AREA2);
	net->kernels->gemm_nt(p2, p1 * 9, AREA2, b->d_act2, t->columns2, g->conv2);
	fill(b->d_columns2, 0, p1 * 9 * AREA2);
	net->kernels->gemm_tn(p1 * 9, AREA2, p2, w->conv2, b->d_act2, b->d_columns2);
	col2im(b->d_pool1, b->d_columns2, p1, SIDE2);
	average_unpool(b->d_act1, b->d_pool1, t->act1, p1, SIDE1);
	sum_planes(g->bias1, b->d_act1, p1, AREA1);
	net->kernels->gemm_nt(p1, INPUT_PLANES * 9, AREA1, b->d_act1, t->columns1, g->conv1);
}

void network_backward(struct network *net, const int *classes)
{
	net->classes = classes;
	team_run(net->team, backward_picture, net, net->knobs->batch);
	float *sum = net->benches[0].gradients.all;
	for (int m = 1; m < team_size(net->team); m++) {
		float *part = net->benches[m].gradients.all;
		for (size_t i = 0; i < net->n_weights; i++)
			sum[i] += part[i];
		fill(part, 0, (int)net->n_weights);
	}
}

void network_update(struct network *net, float rate)
{
	float *gradient = net->benches[0].gradients.all;
	for (size_t i = 0; i < net->n_weights; i++) {
		net->speed[i] = 0.9F * net->speed[i] - rate * gradient[i];
		net->weights.all[i] += net->speed[i];
	}
	fill(gradient, 0, (int)net->n_weights);
}

float *network_gradients(struct network *net, size_t *n)
{
	*n = net->n_weights;
	return net->benches[0].gradients.all;
}

const float *network_parameters(const struct network *net, size_t *n)
{
	*n = net->n_weights;
	return net->weights.all;
}

const float *network_activations(const struct network *net, size_t *n)
{
	*n = net->trail_floats * (size_t)net->knobs->batch;
	return net->trail_memory;
}
