# SPDX-License-Identifier: Apache-2.0
"""Traces a program that runs already: does it work, how long is the program stopped, does it continue
(V6)?"""
import os
import subprocess
import time

from gpu_phase import Line, Program, SMALL, TRAINPROF, WORK, bench_command, has_option, report_of

TIMES = 2 if SMALL else 10
LAUNCHES = 1000 if SMALL else 20000


def attach(recording, pid):
    command = [TRAINPROF, "attach", "--gpu-trace=continuous", "--force", "-q", "--summary=none", "-d", "1s",
               "-o", os.path.join(WORK, recording), str(pid)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def once(line, program, number):
    """Launches, and replays of an earlier graph, continue while trainprof attaches and detaches;
    returns True if kernels were reported."""
    attaching = attach(f"attached{number}", program.process.pid)
    slowest = 0.0
    while attaching.poll() is None:
        slowest = max(slowest, program.ask(f"launch {LAUNCHES // 20}")["s"])
        program.ask("graph 5")
        time.sleep(0.001)
    line.figure(f"slowest_launches_s.{number}", slowest, "s")
    if attaching.returncode:
        line.note(f"attach {number}: status {attaching.returncode}: {attaching.stdout.read()[-300:]}")
        return False
    return sum(kernel["count"] for kernel in report_of(f"attached{number}").get("kernels", [])) > 0


def main():
    line = Line()
    if not has_option("attach", "--gpu-trace"):
        line.skip("this trainprof has no attach --gpu-trace")
    program = Program(bench_command())
    program.ask(f"launch {LAUNCHES}")
    program.ask("nodes 50")
    told = [once(line, program, number) for number in range(TIMES)]
    line.claim(f"each of {TIMES} attachments tells of kernels", all(told), f"{sum(told)} of {TIMES}")
    line.claim("the program goes on and ends as it does without trainprof", program.end() == 0)
    line.tell()


main()
