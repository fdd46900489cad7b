/* SPDX-License-Identifier: Apache-2.0 */
/* A small convolutional classifier: conv, pool, conv, pool, fully connected, softmax. */
#ifndef TRAINER_NETWORK_H
#define TRAINER_NETWORK_H

#include <stddef.h>

struct knobs;
struct network;

/* All memory is allocated and touched here, so that steps cause no page faults. */
struct network *network_open(const struct knobs *knobs);
void network_close(struct network *net);

/* Returns the mean loss over the batch. */
double network_forward(struct network *net, const float *inputs, const int *classes);
/* Adds the gradients of the batch of the last forward pass. */
void network_backward(struct network *net, const int *classes);
/* One step of gradient descent with momentum; clears the gradients. */
void network_update(struct network *net, float rate);

/* Returns the gradients, to be summed over ranks, or the parameters, to be saved. */
float *network_gradients(struct network *net, size_t *n);
const float *network_parameters(const struct network *net, size_t *n);

/* Returns the activations of the batch of the last forward pass. */
const float *network_activations(const struct network *net, size_t *n);

#endif
