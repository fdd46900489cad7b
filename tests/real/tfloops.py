#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training loops in TensorFlow with a known limit: tfloops.py KIND TRUTH [options].

  tape   a hand-written loop with GradientTape in a tf.function: compute; after two thirds the shape
         of a batch changes, and TensorFlow traces again in the middle of the loop
  pipe   a small network behind tf.data that decodes and enlarges JPEG pictures on one thread: data
  fit    the same pictures through Keras' fit(), whose graph requests the next batch itself: data

Tracing runs this file's function once more: `compiled_s` in TRUTH has the times.
"""
import argparse
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy
import tensorflow as tf
from selftimed import Clock


traced = []


def network(widths):
    keras = tf.keras
    layers = [keras.layers.Dense(width, "relu") for width in widths[:-1]]
    return keras.Sequential([*layers, keras.layers.Dense(widths[-1])])


def trainer(model):
    optimizer = tf.keras.optimizers.SGD(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def update(pictures, labels):
        traced.append(time.monotonic())
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(pictures, training=True))
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables))
        return loss

    return update


def pictures(side, copies):
    """A batch of JPEG pictures is read, decoded and enlarged `copies` times for each step."""
    random = numpy.random.default_rng(1)
    ramp = numpy.linspace(0, 200, side)[None, :, None]
    files = []
    for i in range(16):
        noise = random.integers(0, 55, (side, side, 3))
        files.append(tf.io.encode_jpeg((noise + (ramp if i % 2 else 0)).astype(numpy.uint8)).numpy())

    def decode(file, label):
        picture = tf.io.decode_jpeg(file, channels=3)
        return tf.reshape(tf.image.resize(picture, (32, 32)) / 255, (32 * 32 * 3,)), label

    data = tf.data.Dataset.from_tensor_slices((files, [i % 2 for i in range(16)]))
    return data.repeat().map(decode).batch(copies)


def tape(args):
    update = trainer(network((3072, 2048, 2)))
    random = numpy.random.default_rng(1)
    batch = random.normal(size=(256, 512)).astype(numpy.float32)
    labels = random.integers(0, 2, 256)
    full = tf.data.Dataset.from_tensors((batch, labels)).repeat(2 * args.steps // 3)
    smaller = tf.data.Dataset.from_tensors((batch[8:], labels[8:])).repeat()
    clock = Clock(args.steps)
    clock.step()
    for step, (batch, labels) in enumerate(full.concatenate(smaller)):
        clock.part("data")
        loss = update(batch, labels)  # line: tape
        loss.numpy()
        clock.part("train")
        if step + 1 == args.steps:
            clock.end()
            break
        clock.step()
    clock.write(args.truth, __file__, compiled_s=traced)


def pipe(args):
    update = trainer(network((2048, 2)))
    source = iter(pictures(512, 96))
    clock = Clock(args.steps)
    for _ in range(args.steps):
        clock.step()
        batch, labels = next(source)  # line: pipe
        clock.part("data")
        update(batch, labels).numpy()  # line: update
        clock.part("train")
    clock.write(args.truth, __file__, compiled_s=traced)


class Times(tf.keras.callbacks.Callback):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def on_train_batch_begin(self, batch, logs=None):
        self.clock.step()


def fit(args):
    model = network((2048, 2))
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    clock = Clock(args.steps)
    model.fit(pictures(512, 96), steps_per_epoch=args.steps, verbose=0, callbacks=[Times(clock)])  # line: fit
    clock.write(args.truth, __file__, compiled_s=traced)


def main():
    kinds = {f.__name__: f for f in (tape, pipe, fit)}
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("truth")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    kinds[args.kind](args)


if __name__ == "__main__":
    sys.exit(main())
