#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with Keras on the CPU, under TensorFlow's profiler.

usage: keras_training.py FOLDER PASSES STEPS [AT_ONCE]

Python code that tf.data calls on its own thread loads each batch, with that many passes
(packed_batches.py). One epoch, which compiles, comes before the profiler starts. A call makes
AT_ONCE steps.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from packed_batches import BATCH, WIDTH, load, report

WARMUP = 5
LAYERS = 6


class Timed(tf.keras.Sequential):
    """Adds up how long steps had their batch, and how long they had none, by the graph's clock."""

    def __init__(self, layers):
        super().__init__(layers)
        self.end, self.with_batch_s, self.without_s = (
            tf.Variable(0.0, dtype=tf.float64, trainable=False) for _ in range(3))

    def train_step(self, data):
        with tf.control_dependencies(tf.nest.flatten(data)):
            begin = tf.timestamp()
        self.without_s.assign_add(tf.where(self.end > 0, begin - self.end, tf.zeros_like(begin)))
        results = super().train_step(data)
        # A read of a weight comes after its update.
        with tf.control_dependencies([w.value.read_value() for w in self.trainable_variables]):
            end = tf.timestamp()
        self.with_batch_s.assign_add(end - begin)
        self.end.assign(end)
        return results


def data_set(passes, n):
    def pair(i):
        batch = tf.numpy_function(lambda k: load(int(k), passes), [i], tf.float32)
        batch.set_shape((BATCH, WIDTH))
        return batch, batch

    return tf.data.Dataset.range(n).map(pair)


def main():
    folder, passes, n_steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    at_once = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    layers = [tf.keras.layers.Dense(WIDTH, activation="tanh") for _ in range(LAYERS)]
    model = Timed(layers)
    model.compile(optimizer="sgd", loss="mse", steps_per_execution=at_once)
    model.fit(data_set(0, WARMUP * at_once), verbose=0)
    for variable in (model.end, model.with_batch_s, model.without_s):
        variable.assign(0)
    tf.profiler.experimental.start(folder)
    model.fit(data_set(passes, n_steps), verbose=0)
    report(float(model.with_batch_s), float(model.without_s), n_steps)
    tf.profiler.experimental.stop()


main()
