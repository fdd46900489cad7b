#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training loops in PyTorch with a known limit: loops.py KIND TRUTH [options].

  chars        a character model of matrix products: compute
  small        many operations on tiny tensors: the interpreter; --fixed: on one array
  wide         functions of big tensors, which OpenMP's threads share: compute
  checkpoints  the state is saved every other step, or as --every says
  prints       each step reads numbers and prints a table of them, or as --print-every says
  generator    batches come from a generator in this file, with NumPy; --fixed: in a worker process
  epochs       a DataLoader with two workers that are started in each of many epochs
  ranks        two ranks with gloo; the second one is late in each step, by --late seconds

The loop times its parts itself. Lines whose comment begins with "line:" are in TRUTH by that name.
"""
import argparse
import io
import os
import sys
import time

import numpy
import torch
from selftimed import Clock

functional = torch.nn.functional


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.wide = torch.nn.Linear(width, 4 * width)
        self.narrow = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.narrow(functional.gelu(self.wide(self.norm(x))))


def chars_model(width=128, letters=64):
    return torch.nn.Sequential(torch.nn.Embedding(letters, width), Block(width), Block(width),
                               torch.nn.Linear(width, letters))


def train_step(model, optimizer, text):
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    return loss


def chars(args):
    model = chars_model()
    optimizer = torch.optim.Adam(model.parameters())
    corpus = torch.randint(0, 64, (100000,))
    clock = Clock(args.steps)
    for _ in range(args.steps):
        clock.step()
        at = torch.randint(0, 99000, (4,))
        text = torch.stack([corpus[i:i + 65] for i in at])
        clock.part("data")
        train_step(model, optimizer, text)  # line: chars
        clock.part("train")
    clock.write(args.truth, __file__)


def small(args):
    clock = Clock(args.steps)
    weights = [torch.ones(4) for _ in range(64)]
    for _ in range(args.steps):
        clock.step()
        total = 0.0
        if args.fixed:
            k = numpy.arange(5000)[:, None]
            i = numpy.arange(64)[None, :]
            total = float(numpy.where(i % 8, i * k % 7 * 0.5, torch.stack(weights)[:, 0].numpy()).sum())
        for k in range(0 if args.fixed else 5000):
            for i, weight in enumerate(weights):
                total += (i * k) % 7 * 0.5 if i % 8 else weight[0].item()  # line: small
        clock.part("small")
        for weight in weights:
            weight.mul_(0.999)
        clock.part("train")
    clock.write(args.truth, __file__)


def wide(args):
    weight = torch.zeros(1000000, requires_grad=True)
    data = torch.rand(1000000)
    optimizer = torch.optim.SGD([weight], lr=0.01)
    clock = Clock(args.steps)
    for step in range(args.steps):
        clock.step()
        x = data
        for layer in range(8):
            x = torch.sigmoid(torch.erf(x + weight))
        optimizer.zero_grad()
        x.sum().backward()  # line: wide
        optimizer.step()
        clock.part("train")
    clock.write(args.truth, __file__)


def checkpoints(args):
    model = chars_model(width=64)
    table = torch.randn(400000, 64)
    optimizer = torch.optim.Adam(model.parameters())
    text = torch.randint(0, 64, (4, 65))
    clock = Clock(args.steps)
    for step in range(args.steps):
        clock.step()
        train_step(model, optimizer, text)
        clock.part("train")
        if (step + 1) % args.every == 0:
            state = {"model": model.state_dict(), "table": table}
            torch.save(state, args.truth + ".pt")  # line: checkpoints
            clock.part("save")
    clock.write(args.truth, __file__)


def prints(args):
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(64, 64)
    clock = Clock(args.steps)
    log = io.TextIOWrapper(open(args.truth + ".log", "wb"), write_through=True)
    for step in range(args.steps):
        clock.step()
        for _ in range(5):
            optimizer.zero_grad()
            loss = functional.mse_loss(model(data), data)
            loss.backward()
            optimizer.step()
        clock.part("train")
        rows = model.weight.detach().repeat(12, 1) if step % args.print_every == 0 else ()
        for row in rows:
            print(step, *[f"{value.item():.6f}" for value in row], file=log)  # line: prints
        clock.part("print")
    clock.write(args.truth, __file__)


def pieces(shape):
    """Generated pictures: their cost is NumPy's."""
    random = numpy.random.default_rng(1)
    while True:
        noise = random.normal(size=shape)
        noise = numpy.sort(noise, axis=-1)
        yield torch.from_numpy(noise.astype(numpy.float32))


class Pieces(torch.utils.data.IterableDataset):
    def __iter__(self):
        return pieces((2048, 512))


def generator(args):
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 512))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    clock = Clock(args.steps)
    clock.step()
    batches = pieces((2048, 512))
    if args.fixed:
        batches = torch.utils.data.DataLoader(Pieces(), batch_size=None, num_workers=1)
    for step, batch in enumerate(batches):  # line: generator
        clock.part("data")
        batch = batch[:48]
        optimizer.zero_grad()
        loss = functional.mse_loss(model(batch), batch)
        loss.backward()
        optimizer.step()
        clock.part("train")
        if step + 1 == args.steps:
            clock.end()
            break
        clock.step()
    clock.write(args.truth, __file__)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        return torch.sin(torch.arange(256.0) * index)


def epochs(args):
    model = torch.nn.Sequential(torch.nn.Linear(256, 2048), torch.nn.ReLU(),
                                torch.nn.Linear(2048, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=16, num_workers=2)
    clock = Clock(args.steps)
    done = 0
    while done < args.steps:
        clock.step()
        for batch in loader:  # line: epochs
            clock.part("data")
            optimizer.zero_grad()
            functional.mse_loss(model(batch), batch).backward()
            optimizer.step()
            clock.part("train")
            done += 1
            if done < args.steps and done % 10:
                clock.step()
    clock.write(args.truth, __file__)


def rank_main(rank, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    model = chars_model()
    optimizer = torch.optim.Adam(model.parameters())
    text = torch.randint(0, 64, (1, 65))
    clock = Clock(args.steps)
    for _ in range(args.steps):
        clock.step()
        train_step(model, optimizer, text)
        if rank:
            time.sleep(args.late)
        clock.part("train")
        for weight in model.parameters():
            torch.distributed.all_reduce(weight.grad)  # line: ranks
        clock.part("exchange")
    if rank == 0:
        clock.write(args.truth, __file__)


def ranks(args):
    torch.multiprocessing.spawn(rank_main, (args,), nprocs=2)


def main():
    kinds = {f.__name__: f
             for f in (chars, small, wide, checkpoints, prints, generator, epochs, ranks)}
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("truth")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=2)
    parser.add_argument("--print-every", type=int, default=1)
    parser.add_argument("--late", type=float, default=0.1)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--port", type=int, default=29511)
    args = parser.parse_args()
    torch.manual_seed(1)
    kinds[args.kind](args)


if __name__ == "__main__":
    sys.exit(main())
