#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training loops in JAX with a known limit: jaxloops.py KIND TRUTH [options].

  mlp    a jitted network on pictures in memory: compute; after two thirds the shape of a batch
         changes, and JAX compiles again in the middle of the loop
  feed   a small network on pictures from this file's generator: data

JAX itself reports its compilations: `compiled_s` in TRUTH.
"""
import argparse
import sys
import time

import jax
import jax.numpy as jnp
import numpy
import optax
from selftimed import Clock

compiled = []  # times at which JAX had compiled something


def listen(event, seconds, **_):
    if event.startswith("/jax/core/compile/backend"):
        compiled.append(time.monotonic())


def network(key, widths):
    keys = jax.random.split(key, len(widths) - 1)
    return [(jax.random.normal(k, (i, o)) * (2 / i) ** 0.5, jnp.zeros(o))
            for k, i, o in zip(keys, widths[:-1], widths[1:])]


def loss_of(layers, pictures, labels):
    x = pictures
    for weight, bias in layers[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = layers[-1]
    return optax.softmax_cross_entropy_with_integer_labels(x @ weight + bias, labels).mean()


def trainer(widths):
    layers = network(jax.random.PRNGKey(1), widths)
    optimizer = optax.adam(1e-3)

    @jax.jit
    def update(layers, state, pictures, labels):
        loss, slope = jax.value_and_grad(loss_of)(layers, pictures, labels)
        change, state = optimizer.update(slope, state, layers)
        return optax.apply_updates(layers, change), state, loss

    return layers, optimizer.init(layers), update


def batches(rows, columns, sort):
    """Generated pictures of two classes: their cost is NumPy's."""
    random = numpy.random.default_rng(1)
    while True:
        labels = random.integers(0, 2, rows)
        pictures = random.normal(size=(rows, columns)) + labels[:, None]
        for _ in range(sort):
            pictures = numpy.sort(pictures + random.normal(size=pictures.shape), axis=-1)
        yield pictures.astype(numpy.float32), labels


def run(args, widths, rows, sort, longer_from):
    layers, state, update = trainer(widths)
    source = batches(rows, widths[0], sort)
    losses = []
    clock = Clock(args.steps)
    for step in range(args.steps):
        clock.step()
        pictures, labels = next(source)  # line: feed
        if step >= longer_from:
            pictures, labels = pictures[8:], labels[8:]
        clock.part("data")
        layers, state, loss = update(layers, state, pictures, labels)  # line: mlp
        losses.append(loss.item())  # line: wait
        clock.part("train")
    clock.write(args.truth, __file__, compiled_s=compiled, first_loss=losses[0],
                last_loss=losses[-1])


def mlp(args):
    run(args, (512, 2048, 2048, 2), 256, 0, 2 * args.steps // 3)


def feed(args):
    run(args, (512, 1024, 2), 2048, 2, args.steps)


def main():
    kinds = {f.__name__: f for f in (mlp, feed)}
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("truth")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    jax.monitoring.register_event_duration_secs_listener(listen)
    kinds[args.kind](args)


if __name__ == "__main__":
    sys.exit(main())
