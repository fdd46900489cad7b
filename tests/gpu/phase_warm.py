# SPDX-License-Identifier: Apache-2.0
"""Starts each framework once before any measurement: the first start reads gigabytes of libraries."""
import importlib.util
import subprocess
import sys
import time

from gpu_phase import Line, run_for

MOST_S = 28
FRAMEWORKS = {
    "torch": "import torch; x = torch.ones(64, 64, device='cuda'); print((x @ x).sum().item())",
    "jax": "import jax.numpy as n; print((n.ones((64, 64)) @ n.ones((64, 64))).sum())",
}


def main():
    line = Line()
    for name, program in FRAMEWORKS.items():
        if not importlib.util.find_spec(name):
            line.note(f"{name} is not installed")
            continue
        begun = time.monotonic()
        try:
            done = run_for([sys.executable, "-c", program], MOST_S)
            line.note(f"{name}: {done.stdout.strip()[-200:]}")
        except subprocess.TimeoutExpired:
            line.note(f"{name}: not ready after {MOST_S} s")
        line.figure(f"first_start_s.{name}", time.monotonic() - begun, "s")
        line.tell()
    line.tell()


main()
