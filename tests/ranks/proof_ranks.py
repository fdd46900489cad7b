# SPDX-License-Identifier: Apache-2.0
"""Plants late ranks in real jobs and counts how many are found.

proof_ranks.py TRAINPROF [--steps=N] [--ranks=N,...] [--ways=inside,outside] [--list] [--skip=N]
    [--take=N] [--keep=FOLDER] [--again=FOLDER] [CASE...]
Without --ranks and CASE, these are 60 jobs of 2 to 8 ranks; --skip and --take choose some of them.
The expected answer is not what was planted but the ranks' own clocks in the steps that the report
judged (clock_truth.py): who entered exchanges last, by how much. Where these clocks do not show one
late rank, another one may not be called late for sure. The expected step without the late rank is
another run of the job, not measured and with nothing planted. Where ranks compete for CPUs, or only
a bound is promised, it must lie in the interval, which may not be wider than INTERVAL_MAX; the last
line says how many were judged in this way. Jobs with more ranks than CPUs compete for them, and so
does whatever else runs: figures are of a machine that does nothing else.

--keep keeps recordings and clocks, --again judges those once more.
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

import late_rank
import slow_link
from clock_truth import ClockTruth

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
RIGHT_MIN = {"wait": 0.75, "prediction": 0.75, "place": 0.9, "kind": 0.9}  # of the jobs judged
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
def control_group(cpus):
    """A control group with less than one CPU; yields its folder."""
    is_v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    folder = "/sys/fs/cgroup%s/late-rank" % ("" if is_v2 else "/cpu")
    os.makedirs(folder, exist_ok=True)
    limits = ({"cpu.max": "%d 10000" % (10000 * cpus)} if is_v2 else
              {"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "%d" % (10000 * cpus)})
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
            with control_group(0.5):
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
                              env=dict(os.environ, STEPS=folder, MASTER_PORT=free_port(),
                                       **variables))
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
        with control_group(late_rank.cpu_share(ranks)) as group:
            return run_line(line, THROTTLE=group)
    return run_line(line)


def program_of(late, how, steps):
    return [sys.executable, os.path.join(HERE, "late_rank.py"), str(late), how, str(steps)]


def run_job(trainprof, way, ranks, late, how, steps, folder):
    """Records a job with a late rank; returns its clocks."""
    measure = [trainprof, "run", "-q", "--summary=none", "-o", os.path.join(folder, "prof"), "--"]
    launch = MPIRUN + [str(ranks)]
    if how == "link":
        launch = [sys.executable, os.path.join(HERE, "launch.py"), str(ranks)]
    program = program_of(late, how, steps)
    line = launch + measure + program if way == "inside" else measure + launch + program
    said = run_planted(line, how, ranks, late)
    if len(said) != ranks:
        sys.exit("%s: %d of %d ranks have ended well" % (" ".join(line), len(said), ranks))
    return said


def step_without(ranks, how, steps, n_judged, known={}):  # pylint: disable=dangerous-default-value
    """Returns the mean step of the job with nothing planted, in ms: the median of three runs, which
    serve all cases with the same work."""
    work = (ranks, how if how == "slower" else "none")
    if work not in known:
        line = MPIRUN + [str(ranks)] + program_of(-1, work[1], steps)
        known[work] = [run_line(line) for _ in range(3)]
    return sorted(ClockTruth(said, n_last_steps=n_judged).step for said in known[work])[1]


def is_kind_right(found, how, ranks):
    """Where the common work is short, larger batches are nearly all of the work: other work."""
    is_short = how == "uneven" and ranks > os.cpu_count()
    return found.get("kind") in [KINDS[how]] + ["other_work"] * is_short


def has_interval_only(found):
    return found["speedup"]["kind"] != "estimate" or found.get("ranks_lack_cpus")


def is_prediction_wrong(found, step, without):
    """A step without the late rank within 5 %; where ranks compete for CPUs, in the interval."""
    speedup = found["speedup"]
    low, high = speedup["ci95"]
    if not has_interval_only(found):
        return abs(step / speedup["value"] - without) > 0.05 * without
    return high > INTERVAL_MAX * low or not low <= max(1, step / without) <= high


def judge_late(found, how, ranks, truth, without):
    """Returns the faults of a report that names the right rank."""
    wrong = []
    after_ms = found["after_next_ns"] / 1e6
    if abs(after_ms - truth.gap) > max(1, 0.03 * truth.gap):
        wrong.append("wait")
    if is_prediction_wrong(found, truth.step, without):
        wrong.append("prediction %.2f (%.2f-%.2f)%s" % (
            found["speedup"]["value"], *found["speedup"]["ci95"],
            " lacks CPUs" if found.get("ranks_lack_cpus") else ""))
    if found.get("place", {}).get("function") not in PLACES[how]:
        wrong.append("place %s" % found.get("place", {}).get("function"))
    if not is_kind_right(found, how, ranks):
        wrong.append("kind %s" % found.get("kind"))
    return wrong


def is_wrong_rank(report, found, truth):
    """Whether a rank is called late for sure that by the clocks is not."""
    if not found or not report["is_sure"]:
        return False
    most = max(truth.gap, truth.after) + 0.1 * truth.step
    return found["rank"] != truth.late or found["after_next_ns"] / 1e6 > most


def judge(truth, report, late, how, without):
    """Returns whether the rank is right, the other faults (None where only the rank can be judged:
    by the clocks no rank is late, or another one than the planted), and the figures for the reader."""
    found = report.get("late", {})
    if report["joined_by"] == "shares":  # then times are per second
        found = dict(found, after_next_ns=found.get("after_next_ns", 0) * truth.step / 1e3)
    figures = ("%3d steps, rank %d last in %3d, %5.1f ms after the next, works %5.1f longer, "
               "said %5.1f; step %5.1f ms%s" % (
                   len(truth.steps), truth.late, truth.n_last, truth.after, truth.gap,
                   found.get("after_next_ns", 0) / 1e6, truth.step,
                   "" if how in NOBODY else ", without %5.1f" % without))
    said = "%s of rank %s%s" % (report["verdict"], found.get("rank"),
                                "" if report["is_sure"] else ", not sure")
    if not truth.steps:
        return False, ["no step was judged"], figures
    if how in NOBODY or not truth.is_clear():
        wrong = is_wrong_rank(report, found, truth)
        return not wrong, [said] if wrong else None, figures + "; nobody is clearly late"
    if found.get("rank") != truth.late:
        return False, [said], figures
    if truth.late != late:
        return True, None, figures + " not the planted one"
    return True, judge_late(found, how, len(report["ranks"]), truth, without), figures


def save(folder, said, without):
    with open(os.path.join(folder, "truth.json"), "w", encoding="ascii") as file:
        json.dump({"said": said, "without": without}, file)


def load(folder):
    with open(os.path.join(folder, "truth.json"), encoding="ascii") as file:
        kept = json.load(file)
    return {int(rank): steps for rank, steps in kept["said"].items()}, kept["without"]


def report_of(trainprof, folder):
    report = subprocess.run([trainprof, "report", "--json", os.path.join(folder, "prof")],
                            stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(report.stdout)


class Counts:
    """Judges jobs and counts the answers."""

    def __init__(self):
        self.n_all = self.n_named = self.n_judged = self.n_by_interval = 0
        self.n_faults = {"wait": 0, "prediction": 0, "place": 0, "kind": 0}

    def add(self, asked, number, job, lacks):
        way, ranks, how = job
        late = -1 if how == "none" else number % ranks
        folder = asked.again or asked.keep or tempfile.mkdtemp(prefix="ranks-")
        work = os.path.join(folder, "%02d-%s-%d-%s" % (number, *job))
        if lacks.get(how) or asked.again and not os.path.isdir(work):
            print("%-8s %d ranks          %-8s not run: %s" % (*job, lacks.get(how, "not kept")))
            return
        trainprof = os.path.abspath(asked.trainprof)
        if asked.again:
            said, without = load(work)
            report = report_of(trainprof, work)
        else:
            os.makedirs(work)
            said = run_job(trainprof, way, ranks, late, how, asked.steps, work)
            report = report_of(trainprof, work)
            without = 0 if how in NOBODY else step_without(
                ranks, how, asked.steps, report["steps"] or asked.steps // 2)
            save(work, said, without)
        if not asked.keep and not asked.again:
            shutil.rmtree(folder)
        spans = report.get("judged_spans_ns")
        truth = ClockTruth(said, spans, asked.steps // 2)
        is_right, wrong, figures = judge(truth, report, late, how, without)
        self.count(is_right, wrong, report.get("late"))
        print("%-8s %d ranks, rank %2d %-8s %s: %s%s" % (
            way, ranks, late, how, figures, "" if is_right else "WRONG: ",
            "; ".join(wrong or []) or "right"), flush=True)

    def count(self, is_right, wrong, found):
        self.n_all += 1
        self.n_named += is_right
        if not is_right or wrong is None:
            return
        self.n_judged += 1
        self.n_by_interval += bool(has_interval_only(found))
        for fault in wrong:
            self.n_faults[fault.split()[0]] += 1

    def end(self):
        print("ranks: late rank right, or rightly none, in %d of %d; %d jobs had the planted late rank "
              "and were judged further, of these wrong: %s; of %d only the interval was judged" % (
                  self.n_named, self.n_all, self.n_judged,
                  ", ".join("%s %d" % row for row in self.n_faults.items()), self.n_by_interval))
        is_good = all(self.n_judged - n >= RIGHT_MIN[fault] * self.n_judged
                      for fault, n in self.n_faults.items())
        sys.exit(self.n_all == 0 or self.n_named < 0.95 * self.n_all or not is_good)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainprof")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", default="")
    parser.add_argument("--ways", default="inside,outside")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--take", type=int, default=1000)
    parser.add_argument("--keep")
    parser.add_argument("--again")
    parser.add_argument("cases", nargs="*")
    asked = parser.parse_intermixed_args()
    jobs = jobs_of(asked)
    if asked.list:
        print("\n".join("%s %d %s" % job for job in jobs))
        return
    lacks = {} if asked.again else {how: why_not(how) for how in {job[2] for job in jobs}}
    counts = Counts()
    for number, job in list(enumerate(jobs))[asked.skip:asked.skip + asked.take]:
        counts.add(asked, number, job, lacks)
    counts.end()


main()
