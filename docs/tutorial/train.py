# SPDX-License-Identifier: Apache-2.0
"""Learns to recognise gestures from motion sensors, on a CPU. It is slow on purpose.

A window is 200 readings of six axes. The windows are in a text file, one JSON document per line;
this script writes the file when it is not there. Needs PyTorch 1.13 or newer and nothing else.
"""

import json
import os
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WINDOWS = "windows.jsonl"
LENGTH = 200
AXES = 6
GESTURES = 8
EPOCHS = 12


def write_windows(count=2048):
    made = random.Random(1)
    with open(WINDOWS + ".new", "w") as file:
        for _ in range(count):
            gesture = made.randrange(GESTURES)
            axes = [[round(made.gauss(gesture, 4.0), 6) for _ in range(LENGTH)] for _ in range(AXES)]
            file.write(json.dumps({"gesture": gesture, "axes": axes}) + "\n")
    os.replace(WINDOWS + ".new", WINDOWS)


class Windows(Dataset):
    def __init__(self):
        with open(WINDOWS) as file:
            self.lines = file.readlines()

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        window = json.loads(self.lines[index])
        axes = torch.tensor(window["axes"])
        return (axes - axes.mean(1, keepdim=True)) / axes.std(), window["gesture"]


def network():
    return nn.Sequential(
        nn.Conv1d(AXES, 32, 7, padding=3),
        nn.BatchNorm1d(32),
        nn.ReLU(),
        nn.Conv1d(32, 32, 7, stride=4),
        nn.BatchNorm1d(32),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(32, GESTURES),
    )


def train_epoch(model, loader, optimizer):
    for axes, gestures in loader:
        loss = nn.functional.cross_entropy(model(axes), gestures)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss)


def main():
    torch.manual_seed(1)
    if not os.path.exists(WINDOWS):
        write_windows()
    loader = DataLoader(Windows(), batch_size=64, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(EPOCHS):
        print(f"epoch {epoch + 1}: loss {train_epoch(model, loader, optimizer):.3f}", flush=True)


if __name__ == "__main__":
    main()
