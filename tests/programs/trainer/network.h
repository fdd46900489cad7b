/* SPDX-License-Identifier: Apache-2.0 */
/* A small convolutional classifier: conv, pool, conv, pool, fully connected, softmax. */
#ifndef TRAINER_NETWORK_H
#define TRAINER_NETWORK_H

#include <stddef.h>

struct knobs;
struct network;

/* All memory is taken and touched here, so that steps fault no pages in. */
struct network *network_open(const struct knobs *knobs);
void network_close(struct network *net);

/* Mean loss over the batch. */
double network_forward(struct network *net, const float *inputs, const int *classes);
/* Adds the gradients of the batch last forwarded. */
void network_backward(struct network *net, const int *classes);
/* One step of gradient descent with momentum; clears the gradients. */
void network_update(struct network *net, float rate);

/* The gradients, to be summed over ranks, and the parameters, to be saved. */
float *network_gradients(struct network *net, size_t *n);
const float *network_parameters(const struct network *net, size_t *n);

/* Activations of the batch last forwarded. */
const float *network_activations(const struct network *net, size_t *n);

#endif
