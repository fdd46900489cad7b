# SPDX-License-Identifier: Apache-2.0
"""Programs that fork or crash while they are traced: their exit status, and how much of their work is
reported (V15, V16)."""
import signal
import sys

from gpu_phase import (Line, Program, SMALL, bench_command, measured, report_of, run_for, settle, torch_missing,
                       training_command)

LAUNCHES = 1000 if SMALL else 20000
PIECES = 2 if SMALL else 4
WORKERS_S = 15
NAP_MS = 150  # the agent fetches events every 100 ms
# The expected end: the exit status, or the signal.
ENDS = {"return": 0, "_exit": 0, "kill": -signal.SIGKILL, "segv": -signal.SIGSEGV, "exec": 0}


def end_so(line, how, wanted):
    recording = "end-" + how.strip("_")
    program = Program(measured(recording, ["--gpu-trace=continuous"], bench_command()))
    settle(program)
    for _ in range(PIECES):
        program.ask(f"launch {LAUNCHES}")
        program.ask(f"nap {NAP_MS}")
    status = program.end(how)
    line.claim(f"a program that ends by {how} ends as it does without trainprof", status == wanted,
               f"status {status}")
    told = sum(kernel["count"] for kernel in report_of(recording).get("kernels", []))
    line.figure(f"told_ratio.{how}", told / (PIECES * LAUNCHES), "ratio")
    line.claim(f"what it did before it ended by {how} is told", told > 0)
    line.tell()


def workers(line):
    """A DataLoader forks or spawns; torch itself reports whether all batches arrived."""
    missing = torch_missing()
    if missing:
        line.note(f"DataLoader workers: not tried, {missing}")
        return
    for how in ("fork", "spawn"):
        command = training_command("workers", "--workers", "8", "--start", how, "--steps", "20")
        done = run_for(measured("workers-" + how, ["--gpu-trace=continuous"], command), WORKERS_S)
        line.claim(f"eight workers that are started by {how} work beside tracing",
                   done.returncode == 0 and '"steps": 20' in done.stdout, f"status {done.returncode}")
        line.tell()


def main():
    line = Line()
    for how, wanted in ENDS.items():
        end_so(line, how, wanted)
    workers(line)
    line.tell()


if __name__ == "__main__":
    sys.exit(main())
