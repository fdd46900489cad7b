#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training with NumPy and mpi4py; the last rank is late in each step.

mpirun -n 2 mpiloop.py TRUTH [options]; rank 0 writes TRUTH.
"""
import argparse
import sys
import time

import numpy
from mpi4py import MPI
from selftimed import Clock


def slopes(weights, x, y):
    """Gradient of a network with one hidden layer, written by hand."""
    hidden = numpy.maximum(x @ weights[0], 0)
    error = (hidden @ weights[1] - y) / len(x)
    back = error @ weights[1].T * (hidden > 0)
    return [x.T @ back, hidden.T @ error]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    world = MPI.COMM_WORLD
    random = numpy.random.default_rng(world.rank)
    weights = [random.normal(size=shape).astype(numpy.float32) / 16
               for shape in ((256, 1024), (1024, 64))]
    x = random.normal(size=(256, 256)).astype(numpy.float32)
    y = random.normal(size=(256, 64)).astype(numpy.float32)
    for weight in weights:
        world.Bcast(weight)
    clock = Clock(args.steps)
    for _ in range(args.steps):
        clock.step()
        found = slopes(weights, x, y)
        if world.rank == world.size - 1:
            time.sleep(0.1)
        clock.part("train")
        for slope in found:
            world.Allreduce(MPI.IN_PLACE, slope)  # line: exchange
        clock.part("exchange")
        for weight, slope in zip(weights, found):
            weight -= 0.01 / world.size * slope
        clock.part("update")
    if world.rank == 0:
        clock.write(args.truth, __file__)


if __name__ == "__main__":
    sys.exit(main())
