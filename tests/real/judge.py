#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare a report with a real program's own measurement.

judge.py NAME RECORDING TRUTH.json [key=value...]; report.json and plan.json are in the recording
  limiter=a,b        the largest part is one of these
  data_within=P      dataloader share within P points of TRUTH.data_ratio
  steps_within=P     number of steps within P percent of TRUTH.steps
  time_within=P      mean step after the first tenth within P percent of TRUTH.step_s
  top=a,b            the first advice is one of these rules, and the plan begins with one
  plan=a,b           ... with one of these instead: it is in the order of diagnosis
  never=a/,b/        no advice whose rule begins like this
  roles=loader:2,... at least that many processes of a role
  workers=N          the number of loader workers
  line=a,b           most of the time is at a loop's line that TRUTH.lines has under such a name
  apart=N            N steps in which, by TRUTH.compiled_s (times), something was compiled are not steady
  restarts=N         the number of restarts of loader workers, within a tenth
Always: the parts sum to the total, the tier is full, 95 % of the CPU time are accounted for and
95 % of the stacks are complete. TRUTH.starts_s, if given (of each step, and the end of the last),
must agree with TRUTH.step_s.
Prints one line for each claim; exit status 1 if one fails. On a machine on which other programs
take half a CPU or more nothing is claimed: a line "skip" reports that.
"""
import json
import sys


def percent_off(value, wanted):
    return 100 * abs(value / wanted - 1)


def of_the_truth(truth):
    """The program's clock, read in two ways: phases summed, and from step to step."""
    starts = truth.get("starts_s")
    if starts:
        first = (len(starts) - 1) // 10
        mean = (starts[-1] - starts[first]) / (len(starts) - 1 - first)
        yield (percent_off(truth["step_s"], mean) <= 2,
               f"the program's phases sum to {1e3 * truth['step_s']:.1f} ms per step, "
               f"its steps follow each other after {1e3 * mean:.1f} ms")


def of_the_measurement(report):
    metrics = report["summary"]["metrics"]
    yield (sum(p["time_ns"] for p in report["partition"]["parts"])
           == report["partition"]["total_ns"], "parts sum to the total")
    yield report["run"]["tier"] == "full", f"tier {report['run']['tier']}"
    for name, text in (("run.accounted_ratio", "of the CPU time accounted for"),
                       ("run.complete_stacks_ratio", "of the stacks are whole")):
        ratio = metrics.get(name, {}).get("value")
        yield ratio is not None and ratio >= 0.95, f"{100 * (ratio or 0):.1f} % {text}"


def mean_step_s(each):
    """Counts like the programs: complete steps; warm-up is the first tenth, even if other steps are slow."""
    starts = each.get("start_ns", [])
    first = len(starts) // 10
    if len(starts) < 2:
        return 0
    return (starts[-1] - starts[first]) * 1e-9 / (len(starts) - 1 - first)


def of_the_steps(report, truth, wanted):
    steps = report["steps"]
    if "steps_within" in wanted:
        found = steps["total_count"]
        yield (percent_off(found, truth["steps"]) <= float(wanted["steps_within"]),
               f"{found} steps by {steps['found_by']}, the program counts {truth['steps']}"
               + ("" if found else f": {steps['reason']}"))
    if "time_within" in wanted:
        mean = mean_step_s(steps.get("each") or {})
        yield (percent_off(mean, truth["step_s"]) <= float(wanted["time_within"]),
               f"mean step {1e3 * mean:.1f} ms, the program says {1e3 * truth['step_s']:.1f} ms")


def compiled_steps(truth):
    """Returns the length in seconds of each step but the first in which the framework compiled."""
    starts = truth["starts_s"]
    spans = list(zip(starts, starts[1:]))[1:]
    return [end - start for start, end in spans
            if any(start <= at < end for at in truth["compiled_s"])]


def of_the_compilations(report, truth, wanted):
    """The first step is always warm-up; other steps of that length must not be steady."""
    if "apart" not in wanted:
        return
    series = report["steps"].get("each") or {"kinds": [], "duration_ns": []}
    others = [1e-9 * length for kind, length in zip(series["kinds"], series["duration_ns"])
              if kind != "steady"]
    lengths = compiled_steps(truth)
    found = sum(any(abs(other / length - 1) < 0.25 for other in others) for length in lengths)
    yield (found == len(lengths) == int(wanted["apart"]),
           f"{found} of {len(lengths)} steps that compile are told apart")


def of_the_verdict(report, truth, wanted):
    parts = {p["id"]: p["share_ratio"]["value"] for p in report["partition"]["parts"]}
    if "limiter" in wanted:
        largest = max(parts, key=parts.get)
        yield largest in wanted["limiter"].split(","), f"largest part is {largest}: " + ", ".join(
            f"{name} {100 * share:.1f}" for name, share in parts.items() if share >= 0.0005)
    if "data_within" in wanted:
        error = 100 * abs(parts["dataloader"] - truth["data_ratio"])
        yield (error <= float(wanted["data_within"]),
               f"dataloader {100 * parts['dataloader']:.1f} %, the program says "
               f"{100 * truth['data_ratio']:.1f} %")
    advice = [f["rule"] for f in report["findings"] if f["state"] == "fired" and f.get("gain")]
    if "top" in wanted:
        first = advice[0] if advice else "none"
        yield first in wanted["top"].split(","), f"first advice: {first}"
    if "never" in wanted:
        bad = [rule for rule in advice if rule.startswith(tuple(wanted["never"].split(",")))]
        yield not bad, f"advice that does not fit: {', '.join(bad) or 'none'}"


def of_the_plan(plan, wanted):
    if "top" in wanted:
        first = [advice["rule"] for step in plan["steps"][:1] for advice in step["advice"]] or ["none"]
        yield set(first) & set(wanted.get("plan", wanted["top"]).split(",")), f"the plan begins with {', '.join(first)}"


def of_the_processes(report, wanted):
    for role in filter(None, wanted.get("roles", "").split(",")):
        name, least = role.split(":")
        have = sum(p["role"] == name for p in report["processes"])
        yield have >= int(least), f"{have} processes with role {name}"
    if "workers" in wanted:
        workers = report["summary"]["metrics"].get("loader.workers", {}).get("value")
        yield abs(workers - float(wanted["workers"])) < 0.2, f"{workers:.1f} loader workers"


def of_the_lines(report, truth, wanted):
    """Lines of the loop; if a library contains the loop, the program's own line, as in the report."""
    sums = {"loop": {}, "own": {}}
    for line in report["partition"].get("lines", []):
        if line["file"] == truth.get("program", line["file"]):
            of = sums[line["of"]]
            of[line["line"]] = of.get(line["line"], 0) + line["time_ns"]
    sums = sums["loop"] or sums["own"]
    if "line" in wanted:
        numbers = [truth["lines"][name] for name in wanted["line"].split(",")]
        hottest = max(sums, key=sums.get) if sums else None
        yield hottest in numbers, f"hottest line {hottest}, the program's is {numbers}"
    if "restarts" in wanted:
        found = report["summary"]["metrics"].get("loader.restarts", {}).get("value")
        yield (abs(found - float(wanted["restarts"])) <= 0.1 * float(wanted["restarts"]),
               f"workers started {found:.0f} times more, of {wanted['restarts']}")


def main():
    name = sys.argv[1]
    with open(sys.argv[2] + "/report.json") as file:
        report = json.load(file)
    with open(sys.argv[2] + "/plan.json") as file:
        plan = json.load(file)
    with open(sys.argv[3]) as file:
        truth = json.load(file)
    wanted = dict(arg.split("=", 1) for arg in sys.argv[4:])
    others = report["summary"]["metrics"].get("cpu.other_programs_cpus", {}).get("value") or 0
    if others >= 0.5:
        print(f"skip {name}: other programs take {others:.2f} CPUs, run it on a quiet machine")
        return
    failed = 0
    for claims in (of_the_truth(truth), of_the_measurement(report),
                   of_the_steps(report, truth, wanted), of_the_verdict(report, truth, wanted),
                   of_the_plan(plan, wanted), of_the_compilations(report, truth, wanted),
                   of_the_processes(report, wanted), of_the_lines(report, truth, wanted)):
        for holds, text in claims:
            print(f"{'ok  ' if holds else 'FAIL'} {name}: {text}")
            failed += not holds
    sys.exit(1 if failed else 0)


main()
