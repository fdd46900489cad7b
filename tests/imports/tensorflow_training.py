#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network in a TensorFlow loop that marks its steps, under TensorFlow's profiler.

usage: tensorflow_training.py FOLDER PASSES STEPS

Python code that tf.data calls on its own thread loads each batch, with that many passes
(packed_batches.py). The first steps, which compile, come before the profiler starts.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from packed_batches import BATCH, WIDTH, Clock, load

WARMUP = 5
LAYERS = 6

weights = [tf.Variable(tf.random.normal((WIDTH, WIDTH)) / WIDTH**0.5) for _ in range(LAYERS)]


def data_set(passes, n):
    def batch_of(i):
        batch = tf.numpy_function(lambda k: load(int(k), passes), [i], tf.float32)
        batch.set_shape((BATCH, WIDTH))
        return batch

    return tf.data.Dataset.range(n).map(batch_of)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        x = batch
        for w in weights:
            x = tf.tanh(x @ w)
        loss = tf.reduce_mean((x - batch) ** 2)
    for w, g in zip(weights, tape.gradient(loss, weights)):
        w.assign_sub(0.05 * g)
    return loss


def main():
    folder, passes, n_steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for batch in data_set(0, WARMUP):
        train_step(batch).numpy()
    source = iter(data_set(passes, n_steps))
    tf.profiler.experimental.start(folder)
    clock = Clock()
    for i in range(n_steps):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            train_step(clock.fetch(next, source)).numpy()
    clock.report(n_steps)
    tf.profiler.experimental.stop()


main()
