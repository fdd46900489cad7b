# SPDX-License-Identifier: Apache-2.0
"""A training of matrix products with NumPy: steady.py [STEPS] [steady|bimodal|epochs].

bimodal: a third of the steps, drawn anew in each run, computes twice as much. epochs: after each 50th step
the program sleeps for as long as five steps.
"""
import sys
import time

import numpy

n_steps = int(sys.argv[1]) if len(sys.argv) > 1 else 400
kind = sys.argv[2] if len(sys.argv) > 2 else "steady"
random = numpy.random.default_rng(1)
weights = random.random((160, 160), dtype=numpy.float32)
batch = random.random((64, 160), dtype=numpy.float32)
is_long = numpy.random.default_rng().random(n_steps) < (1 / 3 if kind == "bimodal" else 0)
for step in range(n_steps):
    start = time.monotonic()
    for layer in range(12 if is_long[step] else 6):
        output = numpy.tanh(batch @ weights)
        weights = weights - 1e-6 * (batch.T @ output)
    if kind == "epochs" and step % 50 == 49:
        time.sleep(5 * (time.monotonic() - start))
