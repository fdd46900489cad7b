#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parses the files of docs/ci and runs their shell lines on recorded runs. ci_files.py BUILD

`trainprof run` and `trainprof compare` copy recordings of docs/tutorial instead of measuring, pip does
nothing; all else is the real program. Each file must pass when nothing changed and fail with status 1
when training became slower.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    yaml = None

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(TOP, "docs/tutorial/recorded")
STAND_IN = """#!/bin/sh
# Copies recorded runs where the program would measure.
record() { cp -r "$RECORDED/$1" "$2" && another-run "$2"; }
output() { while [ $# -gt 0 ]; do [ "$1" = -o ] && echo "$2" && return; shift; done; }
case $1 in
run) directory=$(output "$@"); [ ! -e "$directory" ] || exit 125; mkdir -p "$(dirname "$directory")"; record "$NOW" "$directory" ;;
compare)
	directory=$(output "$@"); mkdir -p "$directory"
	for i in 1 2 3 4 5; do
		record after "$directory/pair$i-A"; record "$NOW" "$directory/pair$i-B"
	done ;;
*) exec "$REAL" "$@" ;;
esac
"""
# Gives a copy of a recording an identity of its own (docs/format.md): copies of one run are refused.
ANOTHER_RUN = """#!/usr/bin/env python3
import os, re, struct, sys
number = os.urandom(8)
with open(sys.argv[1] + "/manifest.json", "r+") as file:
    text = re.sub('"id": "r-[0-9a-f]*"', f'"id": "r-{struct.unpack("<Q", number)[0]:016x}"', file.read(), count=1)
    file.seek(0)
    file.write(text)
with open(sys.argv[1] + "/records.tpr", "r+b") as file:
    header = bytearray(file.read(60))
    header[24:32] = number
    crc = 0xffffffff
    for byte in header:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    file.seek(0)
    file.write(header + struct.pack("<I", crc ^ 0xffffffff))
"""
counts = {"passed": 0, "failed": 0, "skipped": 0}


def claim(is_good, what):
    counts["passed" if is_good else "failed"] += 1
    if not is_good:
        print(f"failed: {what}")


class Project:
    """A repository with a committed baseline and the budget of docs/ci/README.md."""

    def __init__(self, top, build):
        self.path = os.path.join(top, "project")
        programs = os.path.join(top, "bin")
        os.makedirs(programs)
        os.makedirs(self.path)
        for name, text in (("trainprof", STAND_IN), ("another-run", ANOTHER_RUN), ("pip", "#!/bin/sh\n")):
            with open(os.path.join(programs, name), "w") as file:
                file.write(text)
            os.chmod(os.path.join(programs, name), 0o755)
        self.environment = {
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "HOME": top,
            "RECORDED": RECORDED,
            "REAL": os.path.join(os.path.abspath(build), "trainprof"),
            "GITHUB_STEP_SUMMARY": os.path.join(top, "summary"),
            "GITHUB_OUTPUT": os.path.join(top, "output"),
            "LC_ALL": "C.UTF-8",
        }
        with open(os.path.join(TOP, "docs/ci/README.md"), encoding="utf-8") as file:
            budget = re.search(r"```jsonc\n(.*?)```", file.read(), re.S).group(1)
        with open(os.path.join(self.path, "trainprof.budget.json"), "w") as file:
            file.write(budget)
        self.run("git init -q -b main . && git init -q --bare ../origin && git remote add origin ../origin", "after")
        self.run("for i in 1 2 3; do trainprof run -o perf/run-$i -- true; done", "after")
        self.run("trainprof baseline save --reason=first main perf/run-*", "after")
        self.commit()
        self.run("git push -q -u origin main; rm -rf perf", "after")

    def commit(self):
        self.run("git add . && git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m a", "after")
        self.environment["BASE"] = self.run("git rev-parse HEAD", "after")[1].strip()

    def run(self, script, now, extra=None):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.path,
            env={**self.environment, "NOW": now, **(extra or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    def clean(self):
        self.run("git worktree remove --force ../base 2>/dev/null || :; rm -rf perf .venv; git worktree prune", "after")


def expression(text, inputs):
    """Returns the value of ${{ }}: an input of the action; other contexts are in the environment."""
    return re.sub(r"\$\{\{ *inputs\.(\w+) *\}\}", lambda found: inputs[found.group(1)], text)


def github_scripts(path, inputs):
    """(script, its environment) of each step that has a script; the form is checked as well."""
    with open(path, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    if "runs" in document:
        claim(document["runs"]["using"] == "composite", f"{path}: a composite action")
        steps = document["runs"]["steps"]
        claim(all("shell" in step for step in steps if "run" in step), f"{path}: each script names its shell")
        inputs = {**{name: str(row.get("default", "")) for name, row in document["inputs"].items()}, **inputs}
    else:
        claim(True in document or "on" in document, f"{path}: says when it runs")  # YAML 1.1 reads "on" as true
        (job,) = document["jobs"].values()
        claim("permissions" in document and "timeout-minutes" in job, f"{path}: has permissions and a time limit")
        steps = job["steps"]
    for step in steps:
        claim(("run" in step) != ("uses" in step), f"{path}: a step runs or uses")
        claim("uses" not in step or step["uses"].startswith("./") or re.search(r"@v\d+$", step["uses"]), f"{path}: {step.get('uses')} has a version")
    scripts = []
    for step in steps:
        if "run" in step:
            extra = {name: expression(value, inputs) for name, value in step.get("env", {}).items() if "inputs." in value}
            scripts.append((step["run"], extra))
    return scripts


def gitlab_scripts(path):
    with open(path, encoding="utf-8") as file:
        (job,) = yaml.safe_load(file).values()
    claim({"script", "artifacts", "stage"} <= set(job), f"{path}: script, stage and artifacts")
    return [("\n".join(job["before_script"] + job["script"]), {})]


def jenkins_scripts(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    bare = re.sub(r"'''.*?'''|'[^'\n]*'|//[^\n]*", "", text, flags=re.S)
    for left, right in ("{}", "()"):
        claim(bare.count(left) == bare.count(right), f"{path}: {left} and {right} are alike")
    scripts = re.findall(r"'''(.*?)'''", text, re.S)
    # The Python environment that the file creates contains the stand-ins.
    setup = "mkdir -p .venv/bin && ln -sf $(command -v trainprof) $(command -v pip) .venv/bin/"
    return [(setup, {})] + [(script.replace("python3 -m venv .venv", ":"), {}) for script in scripts]


def status_of(project, scripts, now):
    for script, extra in scripts:
        status, text = project.run(script, now, extra)
        if status:
            return status, text
    return 0, ""


def judge(project, name, scripts, slower):
    for now, expected in (("after", 0), (slower, 1)):
        project.clean()
        status, text = status_of(project, scripts, now)
        claim(status == expected, f"{name} with the run '{now}' ends with {status}: {text[-600:]}")
    claim("step" in text or "slower" in text.lower(), f"{name}: a failure says what became slower: {text[-300:]}")


def judge_nightly(project, scripts):
    """Nine nights, the last three slower; the second of these is found."""
    for night in range(9):
        project.clean()
        project.commit()
        if night == 6:
            culprit = project.environment["BASE"]
        status, text = status_of(project, scripts, "slower" if night >= 6 else "after")
        claim(status == (1 if night >= 7 else 0), f"night {night + 1} ends with {status}: {text[-600:]}")
    claim(culprit[:7] in text, f"nightly names {culprit[:7]}: {text[-600:]}")


def judge_containers(build):
    """Lines of docs/howto/containers.md: shells parse them, pods are such, options of trainprof and kubectl exist."""
    path = os.path.join(TOP, "docs/howto/containers.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        parsed = subprocess.run(["sh", "-n"], input=block, stderr=subprocess.PIPE, text=True)
        claim(parsed.returncode == 0, f"{path}: sh: {parsed.stderr}")
    help_text = ""
    for command in ("run", "attach", "top"):
        done = subprocess.run([os.path.join(build, "trainprof"), "help", command], stdout=subprocess.PIPE, text=True)
        help_text += done.stdout
    for line in re.findall(r"trainprof (?:run|attach|top)([^|`\n]*)", text):
        for option in re.findall(r" (--?[a-z][a-z-]*)", re.split(r" -- |\$\(", line)[0]):
            claim(re.search(rf"(?<![\w-]){option}\b", help_text), f"{path}: trainprof has no {option}")
    for service, variable in re.findall(r"\| (\w+(?: \w+)?) \| `(\w+)`.* \|", text):
        done = subprocess.run([os.path.join(build, "trainprof"), "doctor", "--json"], stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"], variable: "1"})
        name, line = json.loads(done.stdout)["start"].split(": ", 1)
        claim(name == service and f"`{line}`" in text, f"{path}: doctor prints another line than the page for {service}: {name}: {line}")
    judge_kubectl(path, text)
    for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if yaml else ():
        pod = yaml.safe_load(block)
        claim(pod["kind"] == "Pod", f"{path}: a pod")
        volumes = {row["name"] for row in pod["spec"]["volumes"]}
        for container in pod["spec"]["containers"]:
            mounts = {row["name"] for row in container.get("volumeMounts", ())}
            claim(mounts <= volumes, f"{path}: the volumes of {container['name']}")
            words = " ".join(container.get("command", []) + container.get("args", []))
            parsed = subprocess.run(["sh", "-n", "-c", words], stderr=subprocess.PIPE, text=True)
            claim(parsed.returncode == 0, f"{path}: sh: {parsed.stderr}")
            added = container.get("securityContext", {}).get("capabilities", {}).get("add")
            claim("trainprof" not in words or added == ["PERFMON", "SYS_PTRACE"], f"{path}: the capabilities of {container['name']}")


def judge_kubectl(path, text):
    """Options of kubectl's commands on the page exist."""
    if not shutil.which("kubectl"):
        print("skipped: options of kubectl: it is not installed")
        counts["skipped"] += 1
        return
    for command, line in re.findall(r"^kubectl ([a-z]+)(.*(?:\\\n.*)*)", text, re.M):
        help_text = subprocess.run(["kubectl", command, "--help"], stdout=subprocess.PIPE, text=True).stdout
        for option in re.findall(r" (--?[a-z][a-z-]*)", line.split(" -- ")[0]):
            known = rf"^ +-{option[1]}, " if len(option) == 2 else rf"^ +(-\w, )?{option}="
            claim(option == "-it" or re.search(known, help_text, re.M), f"{path}: kubectl {command} has no {option}")


def main():
    if not shutil.which("git"):
        print("skipped: no git, in whose repository the files run\nci: 0 passed, 0 failed, 1 skipped")
        return
    judge_containers(sys.argv[1])
    folder = os.path.join(TOP, "docs/ci")
    with tempfile.TemporaryDirectory(prefix="ci-") as top:
        project = Project(top, sys.argv[1])
        judge(project, "Jenkinsfile", jenkins_scripts(os.path.join(folder, "Jenkinsfile")), "slower")
        if yaml:
            judge(project, "gitlab-ci.yml", gitlab_scripts(os.path.join(folder, "gitlab-ci.yml")), "slower")
            action = github_scripts(os.path.join(folder, "github/action.yml"), {"command": "python3 train.py"})
            judge(project, "action.yml", action, "slower")
            github_scripts(os.path.join(folder, "github/performance.yml"), {})
            judge(project, "paired.yml", github_scripts(os.path.join(folder, "github/paired.yml"), {}), "slower")
            judge_nightly(project, github_scripts(os.path.join(folder, "github/nightly.yml"), {}))
        else:
            print("skipped: files of GitHub and GitLab: no PyYAML (Debian: python3-yaml)")
            counts["skipped"] += 1
    print("ci: {passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
