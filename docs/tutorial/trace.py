# SPDX-License-Identifier: Apache-2.0
"""Writes trace.pt.trace.json.gz: eight steps of train.py as torch.profiler sees them."""

import os

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader

import train

STEPS = 8
if not os.path.exists(train.WINDOWS):
    train.write_windows()
torch.manual_seed(1)
loader = DataLoader(train.Windows(), batch_size=64, shuffle=True)
model = train.network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * torch.cuda.is_available()
with profile(
    activities=activities,
    schedule=schedule(wait=2, warmup=2, active=STEPS, repeat=1),
    on_trace_ready=lambda done: done.export_chrome_trace("trace.pt.trace.json.gz"),
) as profiler:
    for axes, gestures in loader:
        loss = nn.functional.cross_entropy(model(axes), gestures)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        profiler.step()
