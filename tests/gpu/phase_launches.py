# SPDX-License-Identifier: Apache-2.0
"""The cost of CUPTI and trainprof in a program that only launches kernels; properties of CUPTI's
records (V1, V5, V8, V9, V20, V21, V22)."""
import json
import os

from gpu_phase import (Line, PROBE, Program, SMALL, WORK, bench_command, measured, report_of, settle, take_turns,
                       tell_costs)

LAUNCHES = 500 if SMALL else 50000
TURNS = 2 if SMALL else 4
FRESH = 1 if SMALL else 3
ROUNDS = 3 if SMALL else 12
THREAD_ROUNDS = 2 if SMALL else 4
STATES = ("load", "subscribe", "kernels", "calls", "all", "disable", "unsubscribe", "finalize")
KERNEL_KINDS = (3, 10)
CALL_KINDS = (4, 5)


def launch(program, threads=1):
    return program.ask(f"launch {LAUNCHES} {threads}")["s"]


def probed(number):
    return {"CUDA_INJECTION64_PATH": PROBE, "PROBE_MODE": "load",
            "PROBE_COUNTS": os.path.join(WORK, f"probe{number}.json")}


def enter(line, program, state, is_first):
    """Sets the state of the probe; reports once how long that takes."""
    free = program.ask("nap 1")["device_free_bytes"]
    answer = program.ask(f"mode {state}")
    if is_first:
        line.figure(f"enter_s.{state}", answer["s"], "s")
        if answer["result"]:
            line.note(f"state {state}: CUPTI says {answer['result']}")
    launch(program)
    if is_first:
        now = program.ask("nap 50")["device_free_bytes"]
        line.figure(f"device_bytes.{state}", free - now, "bytes")
    return answer["result"] == 0


def states_in_turn(line):
    """Every state of CUPTI in one process after the other, next to a process without it."""
    took = {state: {"plain": [], "probe": []} for state in STATES}
    plain = Program(bench_command())
    launch(plain)
    for number in range(FRESH):
        program = Program(bench_command(), probed(number))
        launch(program)
        for state in STATES:
            if not enter(line, program, state, number == 0):
                continue
            for _ in range(TURNS):
                took[state]["plain"].append(launch(plain))
                took[state]["probe"].append(launch(program))
        program.end()
    plain.end()
    for state, pair in took.items():
        if pair["probe"]:
            tell_costs(line, {"plain": pair["plain"], state: pair["probe"]}, "plain", "launches_slower")
    mean = sum(took["load"]["plain"]) / len(took["load"]["plain"])
    line.figure("ns_per_launch.plain", 1e9 * mean / LAUNCHES, "ns")


def records(line):
    """Sizes, links and times of records, from the first probed process."""
    with open(os.path.join(WORK, "probe0.json")) as file:
        told = json.load(file)
    line.note(f"CUPTI {told['cupti_version']} of {told['library']}, driver {told['driver_version']}")
    for kind in told["kinds"]:
        line.note(f"records of kind {kind['kind']}: {kind['records']}, {kind['least_bytes']} to "
                  f"{kind['most_bytes']} bytes apart, {kind['untimed']} without times, "
                  f"{kind['unlinked']} without a link")
    kernels = [kind for kind in told["kinds"] if kind["kind"] in KERNEL_KINDS]
    line.figure("kernels.untimed", sum(kind["untimed"] for kind in kernels), "1")
    line.figure("kernels.unlinked", sum(kind["unlinked"] for kind in kernels), "1")
    line.figure("pairs", told["pairs"], "1")
    line.figure("pairs.early", told["early"], "1")
    line.figure("pairs.most_early_ns", told["most_early_ns"], "ns")
    line.claim("no kernel begins before the call that launched it",
               told["early"] == 0 if told["pairs"] else None, None if told["pairs"] else "no pairs")


def under_trainprof(line):
    programs = {"plain": Program(bench_command())}
    for name, options in (("without_gpu_trace", []), ("windows", ["--gpu-trace=windows"]),
                          ("continuous", ["--gpu-trace=continuous"])):
        programs[name] = Program(measured("launches-" + name, options, bench_command()))
    for program in programs.values():
        program.begin("nap 1")
    for program in programs.values():
        program.read()
        settle(program)
    took = take_turns(programs, ROUNDS, launch)
    tell_costs(line, took, "plain", "trainprof_slower")
    by_threads = take_turns(programs, THREAD_ROUNDS, lambda program: launch(program, 8))
    tell_costs(line, by_threads, "plain", "trainprof_slower_8_threads")
    for name, program in programs.items():
        answer = program.ask("self")
        cpu_s = sum(t["cpu_s"] for t in answer["threads"] if t["name"].startswith("trainprof"))
        line.figure(f"agent_cpu_s.{name}", cpu_s, "s")
        line.figure(f"resident_bytes.{name}", answer["resident_bytes"], "bytes")
        program.end()


def told_launches(line):
    """The share of all launches that is in the report of the continuously traced program."""
    report = report_of("launches-continuous")
    kernels = sum(kernel["count"] for kernel in report.get("kernels", []))
    asked = LAUNCHES * (ROUNDS + THREAD_ROUNDS)
    line.figure("kernels_told_ratio", kernels / asked, "ratio")


def main():
    line = Line()
    states_in_turn(line)
    line.tell()
    records(line)
    line.tell()
    under_trainprof(line)
    line.tell()
    told_launches(line)
    line.tell()


main()
