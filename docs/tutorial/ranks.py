# SPDX-License-Identifier: Apache-2.0
"""train.py on two ranks, with one fault: rank 1 reads its half of the windows from packed text."""

import json
import os
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

import train

EPOCHS = 8


class Half(Dataset):
    def __init__(self, rank):
        self.is_packed = rank == 1
        with open(train.WINDOWS) as file:
            lines = file.readlines()[rank::2]
        if self.is_packed:
            self.windows = [zlib.compress(line.encode()) for line in lines]
        else:
            self.windows = [self.parse(line) for line in lines]

    @staticmethod
    def parse(line):
        window = json.loads(line)
        return torch.tensor(window["axes"]), window["gesture"]

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, index):
        if self.is_packed:
            return self.parse(zlib.decompress(self.windows[index]))
        return self.windows[index]


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0 and not os.path.exists(train.WINDOWS):
        train.write_windows()
    dist.barrier()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    loader = DataLoader(Half(rank), batch_size=32, shuffle=True)
    model = DistributedDataParallel(train.network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(EPOCHS):
        for axes, gestures in loader:
            loss = nn.functional.cross_entropy(model(axes), gestures)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if rank == 0:
        print(f"loss {float(loss):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
