# SPDX-License-Identifier: Apache-2.0
"""Learns digits with a small network, in the form of the MNIST example of PyTorch.

The digits are made here, so that nothing has to be downloaded. As in many trainings they come from
a store: it answers a request after some milliseconds, and sends pictures of one bit per pixel. Needs
PyTorch 1.13 or newer and NumPy.
"""

import argparse
import time

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 28
ANSWER_S = 0.011  # the store's latency


class Digits(Dataset):
    """Pictures as the store keeps them: the drawing of a digit, shifted, with noise."""

    def __init__(self, count):
        random = numpy.random.default_rng(1)
        drawings = random.random((10, 7, 7)).repeat(4, axis=1).repeat(4, axis=2) > 0.5
        self.labels = random.integers(0, 10, count)
        noise = random.random((count, SIDE, SIDE), dtype=numpy.float32) > 0.9
        self.packed = numpy.packbits((drawings[self.labels] ^ noise).reshape(count, -1), axis=1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return index


class Decode:
    """Makes a batch of the pictures with these indices."""

    def __init__(self, digits):
        self.digits = digits

    def __call__(self, indices):
        time.sleep(ANSWER_S)
        pixels = numpy.unpackbits(self.digits.packed[indices], axis=1)
        pictures = (pixels.astype(numpy.float32) - 0.5) / 0.5
        labels = torch.from_numpy(self.digits.labels[indices])
        return torch.from_numpy(pictures).reshape(-1, 1, SIDE, SIDE), labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(400, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), dim=1)


def save(model, optimizer):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "digits.pt")


def train(args, model, loader, optimizer, epoch):
    model.train()
    for batch, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch % args.log_interval == 0:
            print(f"epoch {epoch}, batch {batch}: loss {loss.item():.4f}", flush=True)
    save(model, optimizer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--log-interval", type=int, default=50)
    args = parser.parse_args()
    torch.manual_seed(1)
    digits = Digits(12800)
    loader = DataLoader(
        digits,
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        collate_fn=Decode(digits),
        persistent_workers=True,
    )
    model = Net()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        train(args, model, loader, optimizer, epoch)


if __name__ == "__main__":
    main()
