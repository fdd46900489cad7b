# SPDX-License-Identifier: Apache-2.0
"""Plants late ranks in real jobs and counts how many are found.

proof_ranks.py TRAINPROF [--steps=N] [--ranks=N,...] [--ways=inside,outside] [--list] [CASE...]
Without --ranks and CASE, these are 60 jobs of 2 to 8 ranks. The expected answer is the ranks' own
measurement (late_rank.py); that of the step without the late rank is another run of the job, not
measured and with nothing planted. Where ranks compete for CPUs, or only a bound is promised, it
must lie in the interval, which may not be wider than INTERVAL_MAX; the last line says how many were
judged in this way. Jobs with more ranks than CPUs compete for them, and so does whatever else runs:
figures are of a machine that does nothing else.
"""
import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import slow_link

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ["sleep", "decode", "read", "uneven", "throttle", "stage", "link", "slower", "none"]
PLACES = {"sleep": ["wait_for_service"], "decode": ["decode_images"], "read": ["read_file"],
          "uneven": ["compute"], "slower": ["compute", "prepare_batch"], "throttle": ["compute"],
          "stage": ["project_vocabulary"]}
KINDS = {"sleep": "other_work", "decode": "other_work", "read": "other_work",
         "uneven": "more_work", "slower": "slower_cpu", "throttle": "without_cpu",
         "stage": "other_stage"}
NOBODY = ["link", "none"]  # all wait for the network, or nobody waits long
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "0",
          "-np"]
LINK_DELAY_S = 0.008
CPU_QUOTA = 0.4
INTERVAL_MAX = 3  # the largest speed-up of an interval over the smallest


def jobs_of(asked):
    """Returns (way, ranks, case) of each job."""
    ways = asked.ways.split(",")
    if asked.ranks or asked.cases:
        sizes = [int(n) for n in (asked.ranks or "2,3").split(",")]
        return [(way, n, how) for way in ways for n in sizes for how in asked.cases or CASES]
    jobs = [(way, n, how) for way in ways for n in (2, 4, 8) for how in CASES]
    return jobs + [(way, n, how) for way in ways for n in (3, 6)
                   for how in CASES if (n, how) in ((3, "decode"), (3, "uneven"), (6, "sleep"))]


@contextlib.contextmanager
def control_group():
    """A control group with less than one CPU; yields its folder."""
    is_v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    folder = "/sys/fs/cgroup%s/late-rank" % ("" if is_v2 else "/cpu")
    os.makedirs(folder, exist_ok=True)
    limits = ({"cpu.max": "%d 10000" % (10000 * CPU_QUOTA)} if is_v2 else
              {"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "%d" % (10000 * CPU_QUOTA)})
    for name, value in limits.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(value)
    try:
        yield folder
    finally:
        os.rmdir(folder)


def why_not(how):
    """Returns what this machine lacks for the case, or None."""
    if how == "link":
        try:
            import torch  # noqa: F401
        except ImportError:
            return "python3-torch is missing"
        if not slow_link.can_run():
            return "network namespaces need root, iproute2 and /dev/net/tun"
    if how == "throttle":
        try:
            with control_group():
                return None
        except OSError as error:
            return "no control group: %s" % error
    return None


def free_port():
    """A port at which ranks of gloo can meet."""
    with socket.socket() as at:
        at.bind(("127.0.0.1", 0))
        return str(at.getsockname()[1])


def run_line(line, **variables):
    """Runs a job; returns (begin, work done, end) of each step of each rank, in ms."""
    with tempfile.TemporaryDirectory(prefix="steps-") as folder:
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=500, check=False,
                              env=dict(os.environ, STEPS=folder, MASTER_PORT=free_port(), **variables))
        if done.returncode:
            sys.exit("%s: status %d\n%s" % (" ".join(line), done.returncode, done.stderr))
        said = {}
        for rank in os.listdir(folder):
            with open(os.path.join(folder, rank), encoding="ascii") as file:
                said[int(rank)] = [tuple(map(float, step.split())) for step in file]
    return said


def run_planted(line, how, ranks, late):
    """Runs a job as run_line() does, on a slow link or with less CPU where that is planted."""
    if how == "link":
        with slow_link.SlowLink(ranks, late, LINK_DELAY_S):
            return run_line(line)
    if how == "throttle":
        with control_group() as group:
            return run_line(line, THROTTLE=group)
    return run_line(line)


def program_of(late, how, steps):
    return [sys.executable, os.path.join(HERE, "late_rank.py"), str(late), how, str(steps)]


def run_job(trainprof, way, ranks, late, how, steps, folder):
    """Runs a job with a late rank and reports it."""
    measure = [trainprof, "run", "-q", "--summary=none", "-o", folder, "--"]
    launch = MPIRUN + [str(ranks)]
    if how == "link":
        launch = [sys.executable, os.path.join(HERE, "launch.py"), str(ranks)]
    program = program_of(late, how, steps)
    line = launch + measure + program if way == "inside" else measure + launch + program
    said = run_planted(line, how, ranks, late)
    if len(said) != ranks:
        sys.exit("%s: %d of %d ranks have ended well" % (" ".join(line), len(said), ranks))
    report = subprocess.run([trainprof, "report", "--json", folder], stdout=subprocess.PIPE,
                            text=True, check=True)
    return said, json.loads(report.stdout)


def means(said, n_judged):
    """Returns the mean work and length of each rank's last steps: those that a report leaves out
    are nearly all of the warm-up. The few at borders that were found at the wrong time are not told
    by number, and are counted here."""
    mean = lambda steps, at: sum(step[at] - step[0] for step in steps) / len(steps)
    return [(mean(steps[-n_judged:], 1), mean(steps[-n_judged:], 2)) for steps in said.values()]


def step_without(ranks, how, steps, n_judged):
    """Returns the mean step of the job with nothing planted, in ms."""
    said = run_line(MPIRUN + [str(ranks)] + program_of(-1, how, steps))
    return max(length for _, length in means(said, n_judged))


def has_interval_only(found):
    return found["speedup"]["kind"] != "estimate" or found.get("ranks_lack_cpus")


def is_prediction_wrong(found, step, without):
    """A step without the late rank within 5 %; where ranks compete for CPUs, in the interval."""
    speedup = found["speedup"]
    low, high = speedup["ci95"]
    if not has_interval_only(found):
        return abs(step / speedup["value"] - without) > 0.05 * without
    return high > INTERVAL_MAX * low or not low <= max(1, step / without) <= high


def judge_late(found, how, gap, step, without):
    """Returns the faults of a report that names the right rank."""
    wrong = []
    after_ms = found["after_next_ns"] / 1e6
    if abs(after_ms - gap) > max(1, 0.03 * gap):
        wrong.append("wait")
    if is_prediction_wrong(found, step, without):
        wrong.append("prediction %.2f (%.2f-%.2f)%s" % (
            found["speedup"]["value"], *found["speedup"]["ci95"],
            " lacks CPUs" if found.get("ranks_lack_cpus") else ""))
    if found.get("place", {}).get("function") not in PLACES[how]:
        wrong.append("place %s" % found.get("place", {}).get("function"))
    if found.get("kind") != KINDS[how]:
        wrong.append("kind %s" % found.get("kind"))
    return wrong


def judge(said, report, late, how, without):
    """Returns whether the rank is right, the other faults, and the figures for the reader."""
    of_rank = means(said, report["steps"])
    work = sorted((work for work, _ in of_rank), reverse=True)
    gap = work[0] - work[1]
    step = max(length for _, length in of_rank)
    found = report.get("late", {})
    if report["joined_by"] == "shares":  # then times are per second
        found = dict(found, after_next_ns=found.get("after_next_ns", 0) * step / 1e3)
    figures = "gap %5.1f ms, said %5.1f; step %5.1f ms, without %5.1f" % (
        gap, found.get("after_next_ns", 0) / 1e6, step, without)
    if how in NOBODY:
        is_wrong = found and report["is_sure"] and found["after_next_ns"] / 1e6 > gap + 0.1 * step
        return not is_wrong, ["rank %s is called late" % found.get("rank")] if is_wrong else [
        ], figures
    if found.get("rank") != late:
        return False, ["said %s of rank %s%s" % (
            report["verdict"], found.get("rank"),
            "" if report["is_sure"] else ", not sure")], figures
    return True, judge_late(found, how, gap, step, without), figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainprof")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", default="")
    parser.add_argument("--ways", default="inside,outside")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("cases", nargs="*")
    asked = parser.parse_intermixed_args()
    jobs = jobs_of(asked)
    if asked.list:
        print("\n".join("%s %d %s" % job for job in jobs))
        return
    lacks = {how: why_not(how) for how in {job[2] for job in jobs}}
    n_all = n_named = n_by_interval = 0
    n_faults = {"wait": 0, "prediction": 0, "place": 0, "kind": 0}
    for number, (way, ranks, how) in enumerate(jobs):
        if lacks[how]:
            print("%-8s %d ranks          %-8s not run: %s" % (way, ranks, how, lacks[how]))
            continue
        late = -1 if how == "none" else number % ranks
        work = tempfile.mkdtemp(prefix="ranks-")
        said, report = run_job(os.path.abspath(asked.trainprof), way, ranks, late, how,
                               asked.steps, os.path.join(work, "prof"))
        without = 0 if how in NOBODY else step_without(ranks, how, asked.steps, report["steps"])
        is_right, wrong, figures = judge(said, report, late, how, without)
        shutil.rmtree(work)
        if is_right and how not in NOBODY:
            n_by_interval += bool(has_interval_only(report["late"]))
        n_all += 1
        n_named += is_right
        for fault in wrong if is_right else []:
            n_faults[fault.split()[0]] += 1
        print("%-8s %d ranks, rank %2d %-8s %-58s %s%s" % (
            way, ranks, late, how, figures, "" if is_right else "WRONG: ",
            "; ".join(wrong) or "right"), flush=True)
    print("ranks: late rank right in %d of %d; of these wrong: %s; of %d only the interval was "
          "judged" % (n_named, n_all, ", ".join("%s %d" % row for row in n_faults.items()),
                      n_by_interval))
    sys.exit(n_named < 0.95 * n_all)


main()
