# SPDX-License-Identifier: Apache-2.0
"""Batches that lie compressed in memory, so that loading one takes as much CPU time as wanted."""
import time
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


def report(with_batch_s, without_batch_s, n_steps):
    """Prints what the program's own clock says of its steps."""
    total_s = with_batch_s + without_batch_s
    print(f"clock: step {1e3 * total_s / n_steps:.3f} ms, "
          f"without a batch {100 * without_batch_s / total_s:.2f} %", flush=True)


class Clock:
    """How long the program has run, and how long of that it fetched batches."""

    def __init__(self):
        self.fetching_s = 0.0
        self.start_s = time.perf_counter()

    def fetch(self, fetch_batch, *arguments):
        begin_s = time.perf_counter()
        batch = fetch_batch(*arguments)
        self.fetching_s += time.perf_counter() - begin_s
        return batch

    def report(self, n_steps):
        total_s = time.perf_counter() - self.start_s
        report(total_s - self.fetching_s, self.fetching_s, n_steps)
