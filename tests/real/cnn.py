#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a small CNN on JPEG files with PyTorch on the CPU; log the time of each part of the loop.

The loop times itself: TRUTH contains the reference for the report, as JSON.
"""
import argparse
import glob
import json
import time

import numpy
import torch
from PIL import Image
from selftimed import lines, mark


class Pictures(torch.utils.data.Dataset):
    def __init__(self, directory, side, repeat):
        self.paths = sorted(glob.glob(directory + "/*.jpg"))
        self.side = side
        self.repeat = repeat

    def __len__(self):
        return len(self.paths) * 1000

    def __getitem__(self, index):
        path = self.paths[index % len(self.paths)]
        for _ in range(self.repeat):
            picture = Image.open(path).convert("RGB").resize((self.side, self.side))
        data = torch.from_numpy(numpy.asarray(picture).copy()).permute(2, 0, 1).float() / 255
        return data, int("dog" in path)


def network(width):
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, width, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2),
        layers.Conv2d(width, 2 * width, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2),
        layers.Flatten(), layers.LazyLinear(2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("pictures")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(Pictures(args.pictures, args.side, args.repeat),
                                         batch_size=args.batch, num_workers=args.workers)
    model = network(args.width)
    model(torch.zeros(1, 3, args.side, args.side))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(loader)
    losses, starts, data_s, train_s = [], [], 0.0, 0.0
    for step in range(args.steps):
        mark()
        begin = time.monotonic()
        data, label = next(batches)  # line: data
        fetched = time.monotonic()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), label)
        loss.backward()  # line: backward
        optimizer.step()
        losses.append(loss.item())
        end = time.monotonic()
        starts.append(begin)
        if step >= args.steps // 10:
            data_s += fetched - begin
            train_s += end - fetched
    starts.append(end)
    with open(args.truth, "w") as out:
        json.dump({"steps": args.steps, "data_ratio": data_s / (data_s + train_s),
                   "step_s": (data_s + train_s) / (args.steps - args.steps // 10),
                   "starts_s": starts, "lines": lines(__file__), "first_loss": sum(losses[:5]) / 5,
                   "last_loss": sum(losses[-5:]) / 5}, out)


main()
