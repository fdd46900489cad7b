# SPDX-License-Identifier: Apache-2.0
"""Does a program's own profiler still see its kernels next to trainprof, and does ncu work around it
(V7)?"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys

from gpu_phase import (HERE, Line, TRAINPROF, WORK, bench_command, measured, report_of, torch_missing, training_command)

STEPS = 30
NAMES = {"windows": "windows", "continuous": "continuous tracing"}
MOST_S = 15  # per program: one that hangs is a result
JAX = """
import glob, gzip, json, sys
import jax
import jax.numpy as jnp
product = jax.jit(lambda x: jnp.tanh(x @ x))
x = product(jnp.ones((2048, 2048)))
with jax.profiler.trace(sys.argv[1]):
    for _ in range(30):
        x = product(x)
    x.block_until_ready()
path = glob.glob(sys.argv[1] + "/**/*.trace.json.gz", recursive=True)[0]
with gzip.open(path) as file:
    events = json.load(file)["traceEvents"]
gpus = {e["pid"] for e in events if e.get("name") == "process_name" and "GPU" in e["args"]["name"]}
print(json.dumps({"kernels": sum(e.get("ph") == "X" and e.get("pid") in gpus for e in events)}))
"""


def states_of(recording):
    """Returns the report's text about the source of GPU events."""
    sources = report_of(recording)["collection"].get("sources", [])
    return next((json.dumps(source)[:600] for source in sources if source.get("id") == "cupti"), "nothing")


def kernels_seen(line, name, command, options):
    """Returns the number of kernels that the program's own profiler reports; None = it failed or timed out."""
    recording = "peer-" + name
    whole = command if options is None else measured(recording, options, command)
    try:
        done = subprocess.run(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=MOST_S,
                              check=False)
    except subprocess.TimeoutExpired:
        line.note(f"{name}: not done after {MOST_S} s")
        return None
    said = [row for row in done.stdout.splitlines() if row.startswith("{")]
    if done.returncode or not said:
        line.note(f"{name}: status {done.returncode}: {done.stderr[-300:]}")
        return None
    if options is not None:
        line.note(f"{name}: trainprof says {states_of(recording)}")
    return json.loads(said[-1])["kernels"]


def own_profiler(line, what, command):
    alone = kernels_seen(line, f"{what}-alone", command, None)
    line.figure(f"kernels.{what}.alone", alone, "1")
    for how in ("windows", "continuous"):
        seen = kernels_seen(line, f"{what}-{how}", command, [f"--gpu-trace={how}"])
        line.figure(f"kernels.{what}.{how}", seen, "1")
        # A window may be open when the profiler starts, and with continuous tracing one always is.
        # JAX looks up CUPTI's functions by name, which trainprof does not notice.
        if how == "windows" or what == "torch":
            line.claim(f"a trace of {what} beside {NAMES[how]} has its kernels",
                       None if not alone else (seen or 0) >= 0.99 * alone,
                       f"{seen} of {alone}")
        line.tell()


def with_ncu(line):
    if not shutil.which("ncu"):
        line.claim("ncu tells of its kernel inside and around trainprof", None, "ncu is not here")
        return
    ncu = ["ncu", "--clock-control", "none", "--kernel-name", "regex:bench_fma", "--launch-count", "1"]
    around = [TRAINPROF, "run", "-q", "--summary=none", "--force", "-o", os.path.join(WORK, "peer-ncu"),
              "--gpu-trace=continuous", "--", *ncu, *bench_command()]
    inside = [*ncu, *measured("peer-in-ncu", ["--gpu-trace=continuous"], bench_command())]
    for name, command in (("trainprof around ncu", around), ("ncu around trainprof", inside)):
        try:
            done = subprocess.run(command, input="durations 1\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=MOST_S, check=False)
        except subprocess.TimeoutExpired:
            line.claim(f"{name}: the program ends well and ncu tells of its kernel", False, f"not done after {MOST_S} s")
            continue
        line.claim(f"{name}: the program ends well and ncu tells of its kernel",
                   done.returncode == 0 and "Duration" in done.stdout,
                   f"status {done.returncode}: {done.stdout[-200:]}")


def main():
    line = Line()
    missing = torch_missing()
    if missing:
        line.skip(missing)
    own_profiler(line, "torch", training_command("profiled", "--steps", str(STEPS), "--out", f"{WORK}/own.trace"))
    with_ncu(line)
    line.tell()
    if not importlib.util.find_spec("jax"):
        line.claim("a trace of jax beside windows has its kernels", None, "jax is not installed")
        line.tell()
        return
    own_profiler(line, "jax", [sys.executable, "-c", JAX, os.path.join(WORK, "jax-trace")])


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    main()
