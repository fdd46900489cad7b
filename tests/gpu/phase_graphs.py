# SPDX-License-Identifier: Apache-2.0
"""The cost of CUPTI if a graph of a thousand kernels is launched repeatedly, and whether it then loses
times or device memory (V3, V10)."""
import json
import os

from gpu_phase import Line, PROBE, Program, SMALL, WORK, bench_command, tell_costs

NODES = 10 if SMALL else 1000
LAUNCHES = 10 if SMALL else 150
TURNS = 2 if SMALL else 4
# The double of CUPTI has no whole-graph records.
STATES = ("subscribe", "kernels", *(() if SMALL else ("graphs",)), "calls", "disable")
LONG_LAUNCHES = 20 if SMALL else 1500
# 100,000 records each, by cupti_activity.h of CUDA 13.0: fewer than the kernels that are launched.
DEVICE_BUFFERS = 4


def replay(program, n=LAUNCHES):
    return program.ask(f"graph {n}")["s"]


def start(env=None):
    program = Program(bench_command(), env)
    program.ask(f"nodes {NODES}")
    replay(program)
    return program


def probed(name):
    return {"CUDA_INJECTION64_PATH": PROBE, "PROBE_MODE": "load",
            "PROBE_COUNTS": os.path.join(WORK, name + ".json")}


def costs(line):
    plain = start()
    program = start(probed("graphs"))
    for state in STATES:
        answer = program.ask(f"mode {state}")
        if answer["result"]:
            line.note(f"state {state}: CUPTI says {answer['result']}")
            continue
        replay(program)
        took = {"plain": [], state: []}
        for _ in range(TURNS):
            took["plain"].append(replay(plain))
            took[state].append(replay(program))
        tell_costs(line, took, "plain", "graphs_slower")
    program.end()
    plain.end()


def kernels_alone(line):
    """Only kernels are recorded, and CUPTI has few buffers on the device: is its memory used up, do
    kernels lose their times?"""
    program = start({**probed("alone"), "PROBE_LIMIT": str(DEVICE_BUFFERS)})
    before = program.ask("mode kernels")["device_free_bytes"]
    replay(program, LONG_LAUNCHES)
    after = program.ask("nap 100")["device_free_bytes"]
    program.end()
    with open(os.path.join(WORK, "alone.json")) as file:
        told = json.load(file)
    kernels = [kind for kind in told["kinds"] if kind["kind"] in (3, 10)]
    line.figure("alone.kernels", sum(kind["records"] for kind in kernels), "1")
    line.figure("alone.untimed", sum(kind["untimed"] for kind in kernels), "1")
    line.figure("alone.device_bytes", before - after, "bytes")
    line.figure("alone.lost", told["lost"], "1")
    line.claim("kernels of graphs keep their times where nothing else is told",
               all(kind["untimed"] == 0 for kind in kernels) if kernels else None,
               None if kernels else "no kernel was told")


def main():
    line = Line()
    costs(line)
    line.tell()
    kernels_alone(line)
    line.tell()


main()
