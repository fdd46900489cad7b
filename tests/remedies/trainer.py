# SPDX-License-Identifier: Apache-2.0
"""A small trainer for programs.txt: main(make_batch, after) trains for some seconds and prints its
own wall time and CPU time; a busy machine changes the latter less."""
import sys
import time

import numpy as np
import torch

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0  # of CPU time, but three times that at most
WIDTH, CLASSES, BATCH = 64, 10, 32
torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)


def net(depth=1, width=32):
    layers = [torch.nn.Linear(WIDTH, width), torch.nn.ReLU()]
    for _ in range(depth):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, CLASSES))


FIXED = torch.randn(BATCH, WIDTH), torch.randint(0, CLASSES, (BATCH,))


def main(make_batch=None, after=None, model=None, batches=None):
    model = model or net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    start = time.perf_counter()
    step = 0
    source = iter(batches) if batches else None
    began = time.process_time()
    while (time.process_time() - began < SECONDS and
           (time.process_time() - began > SECONDS / 3 or time.perf_counter() - start < 3 * SECONDS)):
        if source:
            x, y = next(source)
        else:
            x, y = make_batch(step) if make_batch else FIXED
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if after:
            after(step, loss, model)
        step += 1
    print(f"STEPS {step} SECONDS {time.perf_counter() - start:.3f} CPU {time.process_time() - began:.3f}")
