#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings with PyTorch, each limited by one known cause: gpu_trainings.py KIND.

loader, loader-fixed    a ResNet on JPEG files that the trainer decodes itself, or twelve workers do
pageable                large batches from pageable memory, with a wait for each
tiny, tiny-compiled, tiny-graph   hundreds of small kernels per step; compiled; as a CUDA graph
gil                     the same next to a thread that computes in Python
item                    reads a number from the device after every small layer
single, half            matrix products in fp32 without TF32, in bf16
optimizer               unfused Adam over many parameters, hardly any network
churn                   a step that allocates and frees device memory (set
                        PYTORCH_NO_CUDA_MEMORY_CACHING=1)
recompile               torch.compile gets another shape in every step
checkpoint              every other step writes the model to a file
gpt, resnet             GPT-2 small as written by hand, and a ResNet, on data in memory
ops                     eight products and sums of fixed shapes, repeated
workers                 only a DataLoader's workers
profiled                a small network under torch.profiler, which writes the trace OUT
nvtx                    the same under emit_nvtx, with an all-reduce of one rank

--turns: after warming up, answers lines "steps N" on stdin with {"s": seconds}. Otherwise it does
--steps steps and prints how long they took.
"""
import argparse
import json
import os
import sys
import threading
import time

import torch
from torch import nn
from torch.nn import functional

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


# ---- networks ---------------------------------------------------------------------------------


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.other_norm = nn.BatchNorm2d(after)
        self.short = nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x):
        y = functional.relu(self.norm(self.first(x)))
        return functional.relu(self.other_norm(self.second(y)) + self.short(x))


def resnet(width=64):
    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = width
    for index in range(4):
        after = width << index
        layers += [Residual(before, after, 1 if index == 0 else 2), Residual(after, after, 1)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.projections = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.before_mlp = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.projections(self.before_attention(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.before_mlp(x))


class Gpt(nn.Module):
    """GPT-2 small: 12 layers of width 768."""

    def __init__(self, words=50257, length=1024, width=768, heads=12, layers=12):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        return self.norm(self.blocks(x)) @ self.words.weight.t()


def small_layers(count, width=256):
    return nn.Sequential(*[layer for _ in range(count) for layer in (nn.Linear(width, width), nn.ReLU())])


# ---- steps: each kind returns a function that does one ------------------------------------------


def train_step(model, batch, loss_of):
    more = {"fused": True} if DEVICE == "cuda" else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **more)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(model, batch() if callable(batch) else batch).backward()
        optimizer.step()
    return step


def cross_entropy(model, batch):
    return functional.cross_entropy(model(batch[0]), batch[1])


class Pictures(torch.utils.data.Dataset):
    def __init__(self, folder, side):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.side = side

    def __len__(self):
        return len(self.paths) * 10000

    def __getitem__(self, index):
        import numpy
        from PIL import Image
        picture = Image.open(self.paths[index % len(self.paths)]).convert("RGB").resize((self.side, self.side))
        return torch.from_numpy(numpy.asarray(picture).copy()).permute(2, 0, 1).float() / 255, index % 1000


def loader_kind(args, workers):
    batches = iter(torch.utils.data.DataLoader(Pictures(args.pictures, args.side), batch_size=args.batch,
                                               num_workers=workers, pin_memory=DEVICE == "cuda"))

    def load_batch():
        data, label = next(batches)
        return data.to(DEVICE, non_blocking=True), label.to(DEVICE, non_blocking=True)
    return train_step(resnet(96).to(DEVICE), load_batch, cross_entropy)


def pageable_kind(args):
    host = torch.randn(args.size // 4)
    layer = torch.randn(1024, 1024, device=DEVICE)

    def step():
        there = host.to(DEVICE)
        torch.mm(layer, layer)
        del there
        synchronize()
    return step


def tiny_kind(args):
    state = torch.randn(64, 64, device=DEVICE)

    def chain(x):
        for _ in range(args.count):
            x = torch.tanh(x * 1.01 + 0.01)
        return x

    def step():
        chain(state)
        synchronize()
    if args.kind == "tiny-compiled":
        chain = torch.compile(chain)
    if args.kind == "tiny-graph" and DEVICE == "cuda":
        chain(state)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            chain(state)

        def step():  # noqa: F811
            graph.replay()
            synchronize()
    return step


def gil_kind(args):
    def spin():
        number = 0
        while True:
            number = (number * 3 + 1) % 1000003
    threading.Thread(target=spin, daemon=True).start()
    return tiny_kind(args)


def item_kind(args):
    model = small_layers(args.count).to(DEVICE)
    batch = torch.randn(64, 256, device=DEVICE)

    def step():
        x = batch
        total = 0.0
        for layer in model:
            x = layer(x)
            total += x.sum().item()
        return total
    return step


def product_kind(args):
    torch.backends.cuda.matmul.allow_tf32 = False
    kind = torch.float32 if args.kind == "single" else torch.bfloat16
    side = args.size
    model = nn.Sequential(*[nn.Linear(side, side, bias=False) for _ in range(4)]).to(DEVICE, kind)
    batch = torch.randn(side, side, device=DEVICE, dtype=kind)

    def step():
        model(batch).sum().backward()
        synchronize()
    return step


def optimizer_kind(args):
    model = nn.ParameterList([torch.randn(args.size // 64 // 4, device=DEVICE) for _ in range(64)])
    for parameter in model:
        parameter.grad = torch.ones_like(parameter)
    optimizer = torch.optim.Adam(model, lr=1e-4, foreach=False, fused=False)

    def step():
        optimizer.step()
        synchronize()
    return step


def churn_kind(args):
    def step():
        for _ in range(args.count):
            torch.empty(args.size // 4, device=DEVICE).fill_(1)
        synchronize()
    return step


def recompile_kind(args):
    import torch._dynamo  # pylint: disable=redefined-outer-name
    torch._dynamo.config.recompile_limit = 1000  # pylint: disable=protected-access
    compiled = torch.compile(lambda x: (torch.sin(x) * 2 + x.cos()).sum(), dynamic=False)
    shapes = iter(range(100, 100000, 7))

    def step():
        compiled(torch.randn(next(shapes), 256, device=DEVICE))
        synchronize()
    return step


def checkpoint_kind(args):
    model = small_layers(4, args.width).to(DEVICE)
    inner = train_step(model, torch.randn(64, args.width, device=DEVICE), lambda m, b: m(b).sum())
    count = [0]

    def save_checkpoint():
        torch.save(model.state_dict(), args.out)

    def step():
        inner()
        synchronize()
        count[0] += 1
        if count[0] % 2 == 0:
            save_checkpoint()
    return step


def gpt_kind(args):
    model = Gpt(layers=args.layers).to(DEVICE)
    tokens = torch.randint(0, 50257, (args.batch, args.side), device=DEVICE)

    def loss_of(network, batch):
        with torch.autocast(DEVICE, torch.bfloat16):
            words = network(batch)
        return functional.cross_entropy(words.flatten(0, 1).float(), batch.flatten())
    return train_step(model, tokens, loss_of)


def resnet_kind(args):
    batch = (torch.randn(args.batch, 3, args.side, args.side, device=DEVICE),
             torch.randint(0, 1000, (args.batch,), device=DEVICE))
    return train_step(resnet().to(DEVICE), batch, cross_entropy)


def ops_kind(args):
    sides = [args.size >> shift for shift in range(4)]
    matrices = [torch.randn(side, side, device=DEVICE, dtype=torch.bfloat16) for side in sides]
    vectors = [torch.randn(side * side * 4, device=DEVICE) for side in sides]

    def step():
        for matrix, vector in zip(matrices, vectors):
            torch.mm(matrix, matrix)
            torch.exp(vector)
        synchronize()
    return step


def small_kind():
    return train_step(small_layers(8).to(DEVICE), torch.randn(64, 256, device=DEVICE), lambda m, b: m(b).sum())


KINDS = {
    "loader": lambda args: loader_kind(args, 0), "loader-fixed": lambda args: loader_kind(args, 12),
    "pageable": pageable_kind, "tiny": tiny_kind, "tiny-compiled": tiny_kind, "tiny-graph": tiny_kind,
    "item": item_kind, "gil": gil_kind, "single": product_kind, "half": product_kind, "optimizer": optimizer_kind,
    "churn": churn_kind, "recompile": recompile_kind, "checkpoint": checkpoint_kind, "gpt": gpt_kind,
    "resnet": resnet_kind, "ops": ops_kind,
}


# ---- others ------------------------------------------------------------------------------------


def workers(args):
    batches = torch.utils.data.DataLoader(torch.arange(args.steps * 8), batch_size=8, num_workers=args.workers,
                                          multiprocessing_context=args.start)
    total = sum(batch.to(DEVICE).sum().item() for batch in batches)
    print(json.dumps({"steps": len(batches), "sum": total}))


def profiled(args):
    step = small_kind()
    with torch.profiler.profile() as profile:
        for _ in range(args.steps):
            step()
        synchronize()
    profile.export_chrome_trace(args.out)
    with open(args.out) as file:
        events = json.load(file)["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    print(json.dumps({"kernels": len(kernels)}))


def nvtx(args):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29555")
    torch.distributed.init_process_group("nccl", rank=0, world_size=1)
    step = small_kind()
    numbers = torch.ones(1 << 20, device=DEVICE)
    with torch.autograd.profiler.emit_nvtx():
        for _ in range(args.steps):
            torch.cuda.nvtx.range_push("step")
            step()
            torch.distributed.all_reduce(numbers)
            torch.cuda.nvtx.range_pop()
    synchronize()
    torch.distributed.destroy_process_group()
    print(json.dumps({"steps": args.steps}))


def run_steps(step, count):
    begun = time.monotonic()
    for _ in range(count):
        step()
    synchronize()
    return time.monotonic() - begun


def answer_turns(step):
    print(json.dumps({"did": "begin"}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "end":
            break
        count = int(words[1])
        print(json.dumps({"s": run_steps(step, count), "n": count}), flush=True)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--size", type=int, default=1 << 28)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--start", default="fork")
    parser.add_argument("--pictures", default="pictures")
    parser.add_argument("--out", default="out")
    return parser.parse_args()


def main():
    args = arguments()
    torch.manual_seed(1)
    other = {"workers": workers, "profiled": profiled, "nvtx": nvtx}.get(args.kind)
    if other:
        other(args)
        return
    step = KINDS[args.kind](args)
    run_steps(step, args.warmup)
    if args.turns:
        answer_turns(step)
    else:
        print(json.dumps({"steps": args.steps, "s": run_steps(step, args.steps)}))


if __name__ == "__main__":
    main()
