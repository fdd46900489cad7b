# SPDX-License-Identifier: Apache-2.0
"""A training of matrix products with NumPy, about a second long: steady.py [STEPS]."""
import sys

import numpy

random = numpy.random.default_rng(1)
weights = random.random((160, 160), dtype=numpy.float32)
batch = random.random((64, 160), dtype=numpy.float32)
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 150):
    for layer in range(6):
        output = numpy.tanh(batch @ weights)
        weights = weights - 1e-6 * (batch.T @ output)
