# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of programs.txt, slow and fixed, and counts for how many trainprof names the remedy.

proof_remedies.py TRAINPROF WORK [NAME...]; PYTHON runs the programs (/usr/bin/python3)
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
FIRST, AMONG, LINE, HELD = 0.75, 0.90, 0.95, 0.90  # the required ratios
WAITING = {"idiom/fsync-in-loop", "idiom/subprocess-in-loop", "idiom/pickled-queue", "idiom/checkpoint-often",
           "idiom/network-per-sample", "idiom/csv-each-step", "idiom/answers-over-sockets", "idiom/polls-by-sleep"}
# Advice that also fits the fixed version: the installed BLAS is not part of the program.
ALSO_RIGHT = {"idiom/reference-blas"}


def read_programs():
    programs = []
    for line in open(os.path.join(HERE, "programs.txt")):
        if line.startswith("==="):
            words = line.split()
            programs.append({"name": words[1], "idiom": "idiom/" + words[2], "needs": words[3:], "lines": []})
        elif programs:
            programs[-1]["lines"].append(line.rstrip("\n"))
    return programs


def version_of(program, version):
    """Returns its lines, and the numbers of the slow ones."""
    other = "fixed" if version == "sick" else "sick"
    lines, guilty = [], []
    for line in program["lines"]:
        mark = re.search(r"  # ((?:sick|fixed|guilty)(?: guilty)?)$", line)
        words = mark.group(1).split() if mark else []
        if other in words:
            continue
        lines.append(line[: mark.start()] if mark else line)
        if "guilty" in words:
            guilty.append(len(lines))
    return "\n".join(lines) + "\n", guilty


def measure(trainprof, work, program, version):
    folder = os.path.join(work, f"{program['name']}.{version}")
    os.makedirs(folder, exist_ok=True)
    text, guilty = version_of(program, version)
    script = os.path.join(folder, "train.py")
    open(script, "w").write(text)
    os.utime(script, (0, os.path.getmtime(script) - 2))
    environment = dict(os.environ, WORK=folder, PYTHONPATH=HERE, PYTHONDONTWRITEBYTECODE="1")
    record = os.path.join(folder, "record")
    run = subprocess.run([trainprof, "run", "-q", "--force", "-o", record, "--", PYTHON, script],
                         env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=300)
    said = re.search(r"STEPS (\d+) SECONDS ([\d.]+) CPU ([\d.]+)", run.stdout)
    report = subprocess.run([trainprof, "report", "--format=json", record], stdout=subprocess.PIPE,
                            text=True)
    if run.returncode or report.returncode:
        raise RuntimeError(run.stderr.strip().splitlines()[-1] if run.stderr else "no report")
    document = json.loads(report.stdout)
    advice = [f for f in document["findings"]
              if f["state"] == "fired" and not f.get("suppressed") and f["level"] != "note"]
    wall, cpu = (float(said.group(2)), float(said.group(3))) if said else (0, 0)
    # Waiting for a disk or another process: then the CPU time of this one means nothing.
    waits = program["idiom"] in WAITING or "num_workers=" in text
    step = (wall if waits else cpu) / int(said.group(1)) if said and int(said.group(1)) else None
    return advice, guilty, step, document


def is_named(advice, guilty, document):
    places = [f["place"]["line"] for f in advice[:3]
              if f.get("place", {}).get("file", "").endswith("train.py")]
    lines = sorted(document["partition"].get("lines", []), key=lambda l: -l["time_ns"])
    places += [l["line"] for l in lines[:3] if l["file"].endswith("train.py")]
    return any(p in guilty for p in places)


def judge(trainprof, work, program):
    sick, guilty, slow, document = measure(trainprof, work, program, "sick")
    fixed, _, fast, _ = measure(trainprof, work, program, "fixed")
    rules = [f["rule"] for f in sick]
    row = {"name": program["name"], "rank": rules.index(program["idiom"]) + 1 if program["idiom"] in rules else 0}
    row["line"] = is_named(sick, guilty, document)
    row["alarm"] = [f["rule"] for f in fixed
                    if f["rule"].startswith("idiom/") and f["rule"] not in ALSO_RIGHT]
    row["ratio"] = slow / fast if slow and fast else None
    gain = sick[row["rank"] - 1].get("gain") if row["rank"] else None
    row["gain"] = [gain["bracket"][0], gain["speedup"]["value"], gain["bracket"][1]] if gain else None
    row["said"] = rules[:3]
    return row


def show(row):
    gain = "{:.2f}-{:.2f}".format(row["gain"][0], row["gain"][2]) if row["gain"] else "-"
    ratio = f"{row['ratio']:.2f}" if row["ratio"] else "-"
    wrong = "" if row["rank"] == 1 else " said: " + " ".join(row["said"])
    alarm = " false alarm: " + " ".join(row["alarm"]) if row["alarm"] else ""
    print(f"{row['name']:22} rank {row['rank'] or '-'}  line {'yes' if row['line'] else 'NO '}  "
          f"measured {ratio:>6}  predicted {gain:>12}{alarm}{wrong}", flush=True)


def count(rows, what, least, name):
    n = sum(1 for row in rows if what(row))
    share = n / len(rows) if rows else 1
    print(f"{name:34} {n} of {len(rows)} ({share:.0%}; goal {least:.0%})")
    return share >= least


def main():
    trainprof, work, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    rows, skipped = [], 0
    for program in read_programs():
        if only and program["name"] not in only:
            continue
        needs = ["torch", "numpy"] + program["needs"]
        if subprocess.run([PYTHON, "-c", "import " + ", ".join(needs)], stderr=subprocess.DEVNULL).returncode:
            skipped += 1
            continue
        try:
            rows.append(judge(trainprof, work, program))
            show(rows[-1])
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
            print(f"{program['name']:22} did not run: {error}")
            skipped += 1
    timed = [r for r in rows if r["gain"] and r["ratio"]]
    good = [
        count(rows, lambda r: 1 <= r["rank"] <= 3, AMONG, "remedy among the first three"),
        count(rows, lambda r: r["rank"] == 1, FIRST, "remedy first"),
        count(rows, lambda r: r["line"], LINE, "guilty line named"),
        count(rows, lambda r: not r["alarm"], 1.0, "no false alarm when fixed"),
    ]
    # An idiom promises "at least" a gain: the fix may remove more than its own frames.
    good.append(count(timed, lambda r: r["gain"][0] <= r["ratio"], HELD, "gained what was promised"))
    print(f"remedies: {sum(good)} passed, {len(good) - sum(good)} failed, {skipped} skipped")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
