# SPDX-License-Identifier: Apache-2.0
"""Batches that lie compressed in memory, so that loading one takes as much CPU time as asked for."""
import zlib

import numpy as np

WIDTH = 384
BATCH = 192
N_BATCHES = 4


def _pack(generator):
    numbers = generator.integers(-8, 8, (BATCH, WIDTH)).astype(np.float32) / 8
    return zlib.compress(numbers.tobytes(), 6)


_generator = np.random.default_rng(0)
_packed = [_pack(_generator) for _ in range(N_BATCHES)]
_plain = [np.frombuffer(zlib.decompress(p), np.float32).reshape(BATCH, WIDTH) for p in _packed]


def load(i, passes):
    """Returns batch i, unpacked that many times; 0 = it is kept unpacked."""
    batch = _plain[i % N_BATCHES]
    for _ in range(passes):
        unpacked = zlib.decompress(_packed[i % N_BATCHES])
        batch = np.frombuffer(unpacked, np.float32).reshape(BATCH, WIDTH)
    return batch
