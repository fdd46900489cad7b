#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with Keras on the CPU, under TensorFlow's profiler.

usage: keras_training.py FOLDER PASSES STEPS

Python code that tf.data calls on its own thread loads each batch, with that many passes
(packed_batches.py). One epoch, which compiles, comes before the profiler starts.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from packed_batches import BATCH, WIDTH, load

WARMUP = 5
LAYERS = 6


def data_set(passes, n):
    def pair(i):
        batch = tf.numpy_function(lambda k: load(int(k), passes), [i], tf.float32)
        batch.set_shape((BATCH, WIDTH))
        return batch, batch

    return tf.data.Dataset.range(n).map(pair)


def main():
    folder, passes, n_steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    layers = [tf.keras.layers.Dense(WIDTH, activation="tanh") for _ in range(LAYERS)]
    model = tf.keras.Sequential(layers)
    model.compile(optimizer="sgd", loss="mse")
    model.fit(data_set(0, WARMUP), verbose=0)
    tf.profiler.experimental.start(folder)
    model.fit(data_set(passes, n_steps), verbose=0)
    tf.profiler.experimental.stop()


main()
