# SPDX-License-Identifier: Apache-2.0
"""The cost of trainprof in real training: GPT-2 small and a ResNet, step by step with and without it
(V2)."""
import time

from gpu_phase import (Line, Program, SMALL, measured, metric, ratio_with_interval, report_of, take_turns, tell_costs,
                       torch_missing, training_command)

MODELS = {
    "gpt": ["--batch", "1", "--side", "32", "--layers", "1"] if SMALL else ["--batch", "8", "--side", "1024"],
    "resnet": ["--batch", "2", "--side", "32"] if SMALL else ["--batch", "64", "--side", "224"],
}
ROUNDS = 2 if SMALL else 5
PAIRS_S = 1 if SMALL else 70  # of turns of two, in which windows come by themselves
STEPS = 1 if SMALL else 10
MOST_PERCENT = 1


def steps(program):
    return program.ask(f"steps {STEPS}")["s"]


def pairs_for(programs, took, seconds):
    """Turns of these two alone, for that long; adds their times."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, more in take_turns(programs, 2, steps).items():
            took[name] += more


def try_model(line, model):
    command = training_command(model, "--turns", *MODELS[model])
    programs = {"plain": Program(command)}
    for name, options in (("without_gpu_trace", []), ("windows", ["--gpu-trace=windows"]),
                          ("continuous", ["--gpu-trace=continuous"])):
        programs[name] = Program(measured(f"{model}-{name}", options, command))
    took = take_turns(programs, ROUNDS, steps)
    for name in ("without_gpu_trace", "continuous"):
        programs.pop(name).end()
    pairs_for(programs, took, PAIRS_S)
    for program in programs.values():
        program.end()
    line.figure(f"step_s.{model}", sum(took["plain"]) / len(took["plain"]) / STEPS, "s")
    tell_costs(line, took, "plain", f"steps_slower.{model}")
    judge(line, model, took)


def judge(line, model, took):
    """Turns without an open window show nothing about windows."""
    report = report_of(f"{model}-windows")
    n_kernels = sum(kernel["count"] for kernel in report.get("kernels", []))
    cost = metric(report, "windows.cost_ratio")
    line.figure(f"windows.{model}", metric(report, "windows.count"), "1")
    line.figure(f"kernels_in_windows.{model}", n_kernels, "1")
    line.figure(f"own_account.{model}", None if cost is None else 100 * cost, "%")
    ratio, (low, high) = ratio_with_interval(took["plain"], took["windows"])
    text = f"{100 * (ratio - 1):.2f} %, {100 * (low - 1):.2f} to {100 * (high - 1):.2f}, {n_kernels} kernels in windows"
    can_tell = n_kernels > 0 and not SMALL
    line.claim(f"{model}: windows cost at most {MOST_PERCENT} %, the whole interval",
               100 * (high - 1) <= MOST_PERCENT if can_tell else None,
               text if can_tell or SMALL else f"no window met its turns: {text}")


def main():
    line = Line()
    missing = torch_missing()
    if missing:
        line.skip(missing)
    for model in MODELS:
        try_model(line, model)
        line.tell()


main()
