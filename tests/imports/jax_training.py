#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with JAX on the CPU, under JAX's profiler.

usage: jax_training.py FOLDER PASSES STEPS

The training's own thread loads each batch, with that many passes (packed_batches.py). The first
steps, which compile, come before the profiler starts.
"""
import sys

import jax
import jax.numpy as jnp

from packed_batches import WIDTH, Clock, load

WARMUP = 5
LAYERS = 6


def loss_of(weights, batch):
    x = batch
    for w in weights:
        x = jnp.tanh(x @ w)
    return jnp.mean((x - batch) ** 2)


@jax.jit
def train_step(weights, batch):
    loss, gradients = jax.value_and_grad(loss_of)(weights, batch)
    return [w - 0.05 * g for w, g in zip(weights, gradients)], loss


def main():
    folder, passes, n_steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    keys = jax.random.split(jax.random.PRNGKey(0), LAYERS)
    weights = [jax.random.normal(key, (WIDTH, WIDTH)) / WIDTH**0.5 for key in keys]
    for i in range(WARMUP):
        weights, loss = train_step(weights, load(i, 0))
        loss.block_until_ready()
    jax.profiler.start_trace(folder)
    clock = Clock()
    for i in range(n_steps):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            with jax.profiler.TraceAnnotation("next batch"):
                batch = clock.fetch(load, i, passes)
            weights, loss = train_step(weights, batch)
            loss.block_until_ready()
    clock.report(n_steps)
    jax.profiler.stop_trace()
    print(f"loss {float(loss):.4f}")


main()
