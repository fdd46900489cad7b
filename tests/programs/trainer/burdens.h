/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a step that are not training: memory churn, copies, metrics, log, checkpoint. */
#ifndef TRAINER_BURDENS_H
#define TRAINER_BURDENS_H

#include <stddef.h>

struct knobs;
struct network;

struct burdens;
struct burdens *burdens_open(const struct knobs *knobs, int rank);
void burdens_close(struct burdens *burdens);

void allocate_scratch(struct burdens *burdens);
void copy_activations(struct burdens *burdens, const struct network *net);
void update_metrics(struct burdens *burdens, int step, double loss);
void log_step(struct burdens *burdens, int step, double loss);
void save_checkpoint(struct burdens *burdens, const struct network *net);
void pause_for(int microseconds);

#endif
