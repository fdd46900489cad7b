# SPDX-License-Identifier: Apache-2.0
"""Plants late ranks in real MPI jobs and counts how many are found.

proof_ranks.py TRAINPROF [--steps=N] [--ranks=N] [--ways=inside,outside] [CASE...]
The expected answer is the ranks' own measurement (late_rank.py).
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ["sleep", "decode", "read", "uneven", "slower", "stage", "none"]
PLACES = {"sleep": ["wait_for_service"], "decode": ["decode_images"], "read": ["read_file"],
          "uneven": ["compute"], "slower": ["compute", "prepare_batch"],
          "stage": ["project_vocabulary"]}
KINDS = {"sleep": "other_work", "decode": "other_work", "read": "other_work",
         "uneven": "more_work", "slower": "slower_cpu", "stage": "other_stage"}
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-np"]


def run_job(trainprof, way, ranks, late, how, steps, folder):
    program = [sys.executable, os.path.join(HERE, "late_rank.py"), str(late), how, str(steps)]
    measure = [trainprof, "run", "-q", "--summary=none", "-o", folder, "--"]
    launch = MPIRUN + [str(ranks)]
    line = launch + measure + program if way == "inside" else measure + launch + program
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=300, check=False)
    said = {int(r): (float(work), float(step)) for r, work, step in
            re.findall(r"RANK (\d+) WORK ([\d.]+) STEP ([\d.]+)", done.stdout)}
    if done.returncode or len(said) != ranks:
        sys.exit("%s: status %d\n%s" % (" ".join(line), done.returncode, done.stderr))
    report = subprocess.run([trainprof, "report", "--json", folder], stdout=subprocess.PIPE,
                            text=True, check=True)
    return said, json.loads(report.stdout)


def judge(said, report, late, how):
    """Returns the fault, and the figures for the reader."""
    work = sorted((w for w, _ in said.values()), reverse=True)
    gap = work[0] - work[1]
    step = max(s for _, s in said.values())
    found = report.get("late", {})
    if report["joined_by"] == "shares":  # then times are per second
        found = dict(found, after_next_ns=found.get("after_next_ns", 0) * step / 1e3)
    figures = "gap %5.1f ms, said %5.1f; step %5.1f ms" % (
        gap, found.get("after_next_ns", 0) / 1e6, step)
    wrong = []
    if how == "none":
        if found and report["is_sure"] and found["after_next_ns"] / 1e6 > gap + 0.1 * step:
            wrong.append("rank %s is called late" % found.get("rank"))
        return wrong, figures
    if found.get("rank") != late:
        wrong.append("said %s of rank %s%s" % (report["verdict"], found.get("rank"),
                                               "" if report["is_sure"] else ", not sure"))
        return wrong, figures
    if found.get("place", {}).get("function") not in PLACES[how]:
        wrong.append("place %s" % found.get("place", {}).get("function"))
    if found.get("kind") != KINDS[how]:
        wrong.append("kind %s" % found.get("kind"))
    if abs(found["after_next_ns"] / 1e6 - gap) > max(1, 0.1 * step):
        wrong.append("gap")
    return wrong, figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainprof")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--ways", default="inside,outside")
    parser.add_argument("cases", nargs="*")
    asked = parser.parse_intermixed_args()
    n_right = n_all = n_named = 0
    for way in asked.ways.split(","):
        for ranks in (int(n) for n in asked.ranks.split(",")):
            for number, how in enumerate(asked.cases or CASES):
                late = number % ranks if how != "none" else -1
                work = tempfile.mkdtemp(prefix="ranks-")
                said, report = run_job(os.path.abspath(asked.trainprof), way, ranks, late, how,
                                       asked.steps, os.path.join(work, "prof"))
                wrong, figures = judge(said, report, late, how)
                shutil.rmtree(work)
                n_all += 1
                n_right += not wrong
                n_named += not any(w.startswith(("said", "rank")) for w in wrong)
                print("%-8s %d ranks, rank %2d %-7s %-44s %s" % (
                    way, ranks, late, how, figures, "; ".join(wrong) or "right"), flush=True)
    print("ranks: late rank right in %d of %d, place and wait too in %d" % (
        n_named, n_all, n_right))
    sys.exit(n_named < 0.95 * n_all)


main()
