# SPDX-License-Identifier: Apache-2.0
"""Programs that end at random moments after cuInit, with the machine's CUPTI and with bundled ones:
exit status and exit handlers are as without trainprof."""
import concurrent.futures
import glob
import os
import random
import signal
import time

from gpu_phase import HERE, Line, SMALL, measured, run_for

PROGRAM = os.environ.get("VERIFY_ENDS", os.path.join(HERE, "cuda_ends"))
LAST_MS = 60 if SMALL else 3000
AT_ONCE = 2 if SMALL else 8
SECONDS = 2 if SMALL else 24  # for each copy of CUPTI
CASE_S = 30
HOWS = ("return", "exit", "thread", "_exit", "abort", "kill", "exec")
STATUS = {"abort": -signal.SIGABRT, "kill": -signal.SIGKILL}
OWN_STATUS = 7


def copies():
    """The machine's own, as the agent finds it, and those that were passed to bundle.sh."""
    yield "own", {}
    for path in sorted(glob.glob(os.path.join(HERE, "cupti", "*", "libcupti.so*")))[:2]:
        yield os.path.basename(os.path.dirname(path)), {"TRAINPROF_CUPTI": path}


def said(command, env):
    done = run_for(command, CASE_S, env)
    return done.returncode, done.stdout


def try_one(number, how, after_ms, env):
    """Returns None, or how its end differs from its end alone."""
    command = [PROGRAM, how, str(after_ms)]
    status, output = said(measured(f"exit-{number}", ["--gpu-trace=continuous"], command), env)
    alone_status, alone = said(command, {})
    if (status, output) == (alone_status, alone) and status == STATUS.get(how, OWN_STATUS):
        return None
    return f"{how} after {after_ms} ms: {status} {output!r}, alone {alone_status} {alone!r}"


def try_copy(line, name, env, draw):
    until = time.monotonic() + SECONDS
    wrong = []
    n = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        while time.monotonic() < until:
            cases = [(n + i, draw.choice(HOWS), draw.randrange(LAST_MS), env) for i in range(AT_ONCE)]
            wrong += [text for text in pool.map(lambda case: try_one(*case), cases) if text]
            n += len(cases)
    line.figure(f"programs_ended.{name}", n, "1")
    line.claim(f"programs that end at random moments end as without trainprof, CUPTI {name}", not wrong,
               "; ".join(wrong)[:400] or f"{n} programs")
    line.tell()


def main():
    line = Line()
    draw = random.Random(1)
    for name, env in copies():
        try_copy(line, name, env, draw)


main()
