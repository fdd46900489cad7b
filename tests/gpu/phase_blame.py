# SPDX-License-Identifier: Apache-2.0
"""Does trainprof name the planted cause? Trainings with a known limit, and their fixed versions (V17).
A share refers to the time that the planted cause can have cost: everything but computing if the
device waits, gaps if the cause ends them, kernels if the cause is in what they do."""
import collections
import importlib.util
import os
import subprocess
import sys

from gpu_phase import HERE, Line, WORK, measured, metric, report_of, run_for, torch_missing, training_command

WANTED = 0.8
N_FIRST = 8  # cases of the first half; the rest is another phase, of another run
MOST_S = 25  # per case

Case = collections.namedtuple("Case", "name command where causes env rule other_rule", defaults=({}, None, None))


def torch_case(name, words, where, causes, *more):
    return Case(name, training_command(*words.split()), where, causes, *more)


# Where the share is measured, and the cause there. A case without causes is the fixed version of
# the previous one: it may lose half as much to that cause. One rule has to fire, another one must
# not.
LOADER = f"--pictures {WORK}/pictures --warmup 2 --batch 64"
CASES = (
    torch_case("loader", f"loader {LOADER} --steps 12", "lost", ("dataloader",)),
    torch_case("loader-fixed", f"loader-fixed {LOADER} --steps 40", "lost", None),
    torch_case("item", "item --steps 200", "gap", ("sync",), {}, "gpu/synchronises"),
    torch_case("pageable", "pageable --steps 40", "lost", ("memory_copy_h2d",), {}, "gpu/pageable-copies"),
    torch_case("tiny", "tiny --count 300 --steps 200", "gap", ("launch", "host", "calls")),
    torch_case("tiny-graph", "tiny-graph --count 300 --steps 400", "gap", None),
    torch_case("gil", "gil --count 300 --steps 60", "lost", ("host_gil",)),
    torch_case("churn", f"churn --steps 60 --size {1 << 26}", "gap", ("alloc",),
               {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, "gpu/allocates-in-step"),
    torch_case("single", "single --size 8192 --steps 12", "families", ("gemm",), {}, "gpu/wide-numbers"),
    torch_case("half", "half --size 8192 --steps 60", "families", ("gemm",), {}, None, "gpu/wide-numbers"),
    torch_case("optimizer", f"optimizer --size {1 << 31} --steps 60", "families", ("optimizer", "elementwise")),
    torch_case("checkpoint", f"checkpoint --steps 12 --out {WORK}/model.pt", "lost",
               ("host_checkpoint", "memory_copy_d2h")),
    Case("jax-input", [sys.executable, f"{HERE}/jaxloops.py", "feed", f"{WORK}/jax.truth", "--steps", "60"], "lost",
         ("dataloader",), {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
    torch_case("recompile", "recompile --steps 6 --warmup 1", "lost", ("host_compile",)),
    torch_case("tiny-compiled", "tiny-compiled --count 300 --steps 400", "gap", None),
)


def of_lost(report, causes):
    """Share of the step's time in which the device did not compute."""
    compute = metric(report, "step.compute_ratio")
    known = [metric(report, f"step.{cause}_ratio") for cause in causes]
    if compute is None or all(value is None for value in known) or compute >= 1:
        return None
    return sum(value or 0 for value in known) / (1 - compute)


def of_gaps(report, causes):
    """Share of the time in which the device had no work."""
    gaps = [device["gap_ns"] for device in report.get("devices", [])]
    total = sum(sum(gap.values()) for gap in gaps)
    return sum(gap[cause] for gap in gaps for cause in causes) / total if total else None


def of_kernels(report, causes):
    """Share of the time of kernels."""
    kernels = [kernel for kernel in report.get("kernels", []) if kernel["class"] != "copy"]
    total = sum(kernel["time_ns"] for kernel in kernels)
    found = sum(kernel["time_ns"] for kernel in kernels if kernel.get("family") in causes)
    return found / total if total else None


SHARES = {"lost": of_lost, "gap": of_gaps, "families": of_kernels}


def measure(name, command, env):
    done = run_for(measured(name, ["--gpu-trace=continuous"], command), MOST_S, env)
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {done.stdout[-300:]}")
    return report_of(name)


def fired(report):
    return [finding["rule"] for finding in report["findings"] if finding["state"] == "fired"]


def note_report(line, name, report):
    """More details, for the case that the share is wrong."""
    parts = {part["id"]: part["share_ratio"]["value"] for part in report["partition"]["parts"]}
    line.note(f"{name}: " + ", ".join(f"{part} {100 * share:.1f} %" for part, share in parts.items() if share))
    gaps = report["devices"][0]["gap_ns"] if report.get("devices") else {}
    line.note(f"{name}: gaps " + ", ".join(f"{cause} {ns / 1e6:.1f} ms" for cause, ns in gaps.items() if ns))
    line.note(f"{name}: fired {', '.join(fired(report)[:6]) or 'nothing'}")


def judge_planted(line, case, share, report):
    line.claim(f"{case.name}: at least 80 % of {case.where} is {' + '.join(case.causes)}",
               None if share is None else share >= WANTED,
               "not told" if share is None else f"{100 * share:.1f} %")
    if case.rule:
        line.claim(f"{case.name}: rule {case.rule} fires", case.rule in fired(report))
    if case.other_rule:
        line.claim(f"{case.name}: rule {case.other_rule} does not fire", case.other_rule not in fired(report))


def judge_mended(line, case, planted, cost):
    known = planted is not None and cost is not None
    line.claim(f"{case.name}: at most half of what was lost before it was mended",
               cost <= 0.5 * planted if known else None, None if known else "not told")


def try_case(line, case, before):
    """Returns the reference for a fixed case: where, causes, and their cost."""
    where, causes, planted = before if case.causes is None else (case.where, case.causes, None)
    try:
        report = measure(case.name, case.command, case.env)
        note_report(line, case.name, report)
        share = SHARES[where](report, causes)
        cost = None if share is None else share * (1 - (metric(report, "step.compute_ratio") or 0))
        line.figure(f"share.{case.name}", share, "ratio")
        line.figure(f"cost.{case.name}", cost, "ratio")
        if case.causes is None:
            judge_mended(line, case, planted, cost)
            return before
        judge_planted(line, case, share, report)
        return where, causes, cost
    except (RuntimeError, subprocess.SubprocessError, KeyError) as error:
        line.claim(f"{case.name}: judged", None, f"not measured: {error}"[:400])
        return where, causes, planted


MODULES = {"jax": ("jax",), "loader": ("torch", "PIL", "numpy")}


def missing_for(case):
    modules = MODULES.get(case.name.split("-")[0], ("torch",))
    lacking = [module for module in modules if not importlib.util.find_spec(module)]
    return f"{' and '.join(lacking)} not installed" if lacking else None


def make_pictures():
    if importlib.util.find_spec("PIL"):
        subprocess.run([sys.executable, os.path.join(HERE, "pictures.py"), os.path.join(WORK, "pictures"), "64", "400"],
                       check=True)


def main():
    line = Line()
    missing = torch_missing()
    if missing:
        line.skip(missing)
    if sys.argv[1:] != ["rest"]:
        make_pictures()
    before = (None, None, None)
    halves = {"first": CASES[:N_FIRST], "rest": CASES[N_FIRST:]}
    for case in halves.get(sys.argv[1] if len(sys.argv) > 1 else "", CASES):
        missing = missing_for(case)
        if missing:
            line.claim(f"{case.name}: judged", None, missing)
        else:
            before = try_case(line, case, before)
        line.tell()


if __name__ == "__main__":
    main()
