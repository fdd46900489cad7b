# SPDX-License-Identifier: Apache-2.0
"""The common part of the phases of verify.sh: the result line, programs that take turns, reports.

A phase builds one Line and prints it as often as it likes: the last complete one counts, so a phase
that is cut has reported its results so far. VERIFY_SMALL=1 makes all work small, for machines
without a GPU (VERIFY_WORK is the folder for a phase's files; verify.sh sets both).
"""
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.environ.get("VERIFY_WORK", ".")
SMALL = os.environ.get("VERIFY_SMALL") == "1"
TRAINPROF = os.environ.get("TRAINPROF", os.path.join(HERE, "trainprof"))
BENCH = os.environ.get("VERIFY_BENCH", os.path.join(HERE, "gpu_bench"))
PROBE = os.environ.get("VERIFY_PROBE", os.path.join(HERE, "cupti_probe.so"))
DRAWS = 2000
SETTLE_MS = 300 if SMALL else 1500


class Line:
    """One line of results. Names of figures are "what.of_which"; claims hold, fail, or have a reason
    why they cannot be decided."""

    def __init__(self):
        self.told = {"status": "done", "figures": [], "claims": [], "notes": []}

    def figure(self, name, value, unit, interval=None, n=None):
        row = {"name": name, "value": value, "unit": unit}
        if interval:
            row["low"], row["high"] = interval
        if n is not None:
            row["n"] = n
        self.told["figures"].append(row)

    def claim(self, text, holds, reason=None):
        row = {"text": text, "holds": None if holds is None else bool(holds)}
        if reason:
            row["reason"] = reason
        self.told["claims"].append(row)

    def note(self, text):
        self.told["notes"].append(text)

    def tell(self):
        print(json.dumps(self.told), flush=True)

    def skip(self, reason):
        """Ends the phase: it cannot run here."""
        self.told["status"] = "skipped"
        self.told["reason"] = reason
        self.tell()
        sys.exit(0)


def end_group(process):
    """A program that leads a process group, and all its descendants: the end of trainprof alone would
    leave the training running. They stay in the phase's session, which verify.sh ends."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_for(command, seconds, env=None):
    """Runs a command with a time limit; its output is one text. subprocess.TimeoutExpired: it was killed
    with all its descendants."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(env or {})}, preexec_fn=os.setpgrp) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end_group(process)
            raise
        return subprocess.CompletedProcess(command, process.returncode, output)


class Program:
    """A program that answers lines with lines of JSON; it sends the first one unasked."""

    def __init__(self, command, env=None, log=None):
        with open(log or os.devnull, "w") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=errors, text=True, env={**os.environ, **(env or {})},
                                            preexec_fn=os.setpgrp)
        self.first = None

    def wait(self):
        """Waits until it is ready; returns its first line. Programs started together get ready in parallel."""
        self.first = self.first or self.read()
        return self.first

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                answer = json.loads(line)
                if "error" in answer:
                    raise RuntimeError(f"{self.process.args[0]}: {answer['error']}")
                return answer
        raise RuntimeError(f"{' '.join(self.process.args)[:200]} ended: {self.process.wait()}")

    def begin(self, command):
        """Sends a command; the answer is read later."""
        self.wait()
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command):
        self.begin(command)
        return self.read()

    def end(self, how="return"):
        """Returns its exit status; None = it had to be killed."""
        self.wait()
        try:
            self.process.stdin.write(f"end {how}\n")
            self.process.stdin.close()
            return self.process.wait(30)
        except BrokenPipeError:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            end_group(self.process)
            return None


def settle(program):
    """Waits until tracing of a program has started: CUPTI needs a while for that."""
    program.ask("launch 10")
    program.ask(f"nap {SETTLE_MS}")


def bench_command():
    return [BENCH, "--small"] if SMALL else [BENCH]


def measured(recording, options, command):
    """Returns the command line that measures another one."""
    return [TRAINPROF, "run", "-q", "--summary=none", "--force", "-o", os.path.join(WORK, recording),
            *options, "--", *command]


def report_of(recording):
    """Returns the report of a recording; it stays in the phase's folder as NAME.json."""
    text = subprocess.run([TRAINPROF, "report", "--format=json", os.path.join(WORK, recording)],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    with open(os.path.join(WORK, recording + ".json"), "w") as file:
        file.write(text)
    return json.loads(text)


def metric(report, name):
    """Returns the value of a fact, None if it is missing."""
    return (report["summary"]["metrics"].get(name) or {}).get("value")


def has_option(command, option):
    shown = subprocess.run([TRAINPROF, command, "--help"], stdout=subprocess.PIPE, text=True, check=False)
    return option in shown.stdout


def take_turns(programs, rounds, ask):
    """Lets each program in turn do a piece of work while the others wait; {name: [seconds]}. The order
    is reversed every other time, so that clock drift favours none of them."""
    took = {name: [] for name in programs}
    for index in range(rounds):
        names = list(programs)
        for name in names if index % 2 == 0 else reversed(names):
            took[name].append(ask(programs[name]))
    return took


def ratio_with_interval(base, other):
    """Returns the slowdown of other against base in the same round: mean ratio, and the 95 % interval of
    a bootstrap over rounds."""
    ratios = [b / a for a, b in zip(base, other)]
    draw = random.Random(1)
    means = sorted(sum(draw.choices(ratios, k=len(ratios))) / len(ratios) for _ in range(DRAWS))
    return (sum(ratios) / len(ratios), (means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS)]))


def tell_costs(line, took, base, prefix):
    """Writes the cost of each program against base, in percent."""
    for name, seconds in took.items():
        if name == base:
            continue
        ratio, (low, high) = ratio_with_interval(took[base], seconds)
        line.figure(f"{prefix}.{name}", 100 * (ratio - 1), "%",
                    (100 * (low - 1), 100 * (high - 1)), len(seconds))


def torch_missing():
    """Returns why PyTorch cannot be used; None if it can."""
    if not importlib.util.find_spec("torch"):
        return "PyTorch is not installed"
    if not os.path.exists("/dev/nvidiactl"):
        return "no NVIDIA driver here"
    return None


def training_command(*words):
    return [sys.executable, os.path.join(HERE, "gpu_trainings.py"), *words]
