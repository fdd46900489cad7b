#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write JPEG pictures of two classes: pictures.py DIR COUNT WIDTH."""
import os
import sys

import numpy
from PIL import Image


def main():
    directory, count, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(directory, exist_ok=True)
    random = numpy.random.default_rng(1)
    ramp = numpy.linspace(0, 200, width, dtype=numpy.float32)
    for i in range(count):
        name = ("cat", "dog")[i % 2]
        base = ramp[None, :] if i % 2 else ramp[:, None]
        noise = random.integers(0, 55, (width, width)).astype(numpy.float32)
        grey = numpy.broadcast_to(base, (width, width)) + noise
        picture = numpy.stack([grey, grey[::-1], grey[:, ::-1]], axis=2).astype(numpy.uint8)
        Image.fromarray(picture).save(f"{directory}/{i:04d}_{name}.jpg", quality=90)


main()
