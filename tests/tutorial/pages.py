#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of pages in docs/ and compares their output with the page.

pages.py [--live] [--write] BUILD PAGE...

A block that starts with ```console holds commands after "$ " and the output of each. The first
command of a page runs in a copy of the page's folder, the others where `cd FOLDER` has led. A comment
before a block has options:

    <!-- run: exit=1 -->            the status of its last command
    <!-- run: live=before -->       it measures and writes the recording "before"
    <!-- run: live says='REGEX' --> it measures; its output matches the expression
    <!-- run: measures='perf=slow' --> it runs `trainprof run -o perf`; "slow" is that recording
    <!-- file: fix.patch -->        the block below is that file

Commands that measure run with --live only. Otherwise recorded/before in the page's folder is their
result, and the summary on the page is the one that `trainprof report` prints for that recording. A
command with "measures" is run in any case; without --live its `trainprof run` copies a recording. A
line "..." in a block matches any lines. --write writes the output into the page, and with --live
also the recordings. TUTORIAL_PREFIX is prepended to each command. The "python3" of commands that measure is
TUTORIAL_PYTHON, or the first of PATH that has the modules which the programs of the pages import.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

RECORDED = ("manifest.json", "records.tpr")
# Equal commits have equal names.
COMMITTER = {"NAME": "a reader", "EMAIL": "reader@localhost", "DATE": "2026-11-01T12:00:00+0000"}
PROGRAMS = ("patch", "git")  # that commands of the pages use
MODULES = ("numpy", "torch")  # that programs of the pages import
# MEASURES holds words OUTPUT=RECORDING, RECORDINGS the folder of the recordings.
STAND_IN = """#!/bin/sh
# Copies a recording where the program would measure.
[ "$1" = run ] && [ -n "$MEASURES" ] || exec "$TRAINPROF" "$@"
while [ "$1" != -o ]; do shift; done
for word in $MEASURES; do
	case /${word%=*} in */"$2") mkdir -p "$(dirname "$2")" && exec cp -r "$RECORDINGS/${word#*=}" "$2" ;; esac
done
exit 125
"""


def has_modules(python):
    command = [python, "-c", "import " + ", ".join(MODULES)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def find_python():
    """The python3 of commands that measure; None where no python3 has the modules."""
    given = os.environ.get("TUTORIAL_PYTHON")
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [shutil.which(given)] if given else [shutil.which("python3", path=folder) for folder in folders]
    return next((python for python in found if python and has_modules(python)), None)


class Page:
    def __init__(self, build, path, python, is_live, is_written):
        self.build, self.path, self.python = os.path.abspath(build), path, python
        self.is_live, self.is_written = is_live, is_written
        self.folder = os.path.dirname(os.path.abspath(path))
        self.n_passed = self.n_failed = self.n_skipped = 0
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")

    def judge(self, is_good, what):
        if is_good:
            self.n_passed += 1
        else:
            self.n_failed += 1
            print(f"failed: {self.path}: {what}")

    def prepare(self, top):
        """The folder in which commands run, and their environment."""
        self.work = os.path.join(top, "tutorial")
        shutil.copytree(self.folder, self.work, ignore=shutil.ignore_patterns("recorded", "*.md", "__pycache__"))
        os.mkdir(os.path.join(top, "bin"))
        os.symlink(self.python, os.path.join(top, "bin", "python3"))
        if not self.is_live:
            with open(os.path.join(top, "bin", "trainprof"), "w") as file:
                file.write(STAND_IN)
            os.chmod(os.path.join(top, "bin", "trainprof"), 0o755)
        self.environment = {
            "PATH": f"{top}/bin:{self.build}:/usr/local/bin:/usr/bin:/bin",
            "HOME": top,
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "TRAINPROF": os.path.join(self.build, "trainprof"),
            "RECORDINGS": os.path.join(self.folder, "recorded"),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in COMMITTER.items()},
        }

    def execute(self, command, measures=""):
        if re.fullmatch(r"cd \S+", command):
            self.work = os.path.normpath(os.path.join(self.work, command[3:]))
            return [], 0 if os.path.isdir(self.work) else 1
        command = f"{os.environ.get('TUTORIAL_PREFIX', '')} {command}" if self.is_live else command
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.work,
            env={**self.environment, "MEASURES": measures},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
        )
        text = done.stdout.decode("utf-8", "replace")
        text = text.replace(os.path.dirname(os.path.dirname(self.build)) + "/rules", "/usr/local/share/trainprof/rules")
        text = text.replace(self.work, "~/tutorial")
        lines = [line.rstrip() for line in text.split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines, done.returncode

    def walk(self):
        """Goes through the page block by block."""
        out, i, options = [], 0, {}
        while i < len(self.lines):
            line = self.lines[i]
            out.append(line)
            i += 1
            said = re.fullmatch(r"<!-- (run|file): (.*?) -->", line)
            if said:
                words = shlex.split(said.group(2))
                options = {"file": words[0]} if said.group(1) == "file" else dict(word.partition("=")[::2] for word in words)
                continue
            if not line.startswith("```") or line == "```":
                options = {} if line else options
                continue
            end = self.lines.index("```", i)
            block = self.lines[i:end]
            if "file" in options:
                block = self.show_file(options["file"], block)
            elif line == "```console":
                block = self.show_commands(options, block)
            out += block + ["```"]
            i, options = end + 1, {}
        if self.is_written:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("\n".join(out))

    def show_file(self, name, block):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            content = file.read().rstrip("\n").split("\n")
        if not self.is_written:
            self.judge(block == content, f"{name} is not what the page shows of it")
        return content

    def show_commands(self, options, block):
        out, commands = [], []
        for line in block:
            if line.startswith("$ "):
                commands.append([[line], []])
            elif commands and commands[-1][0][-1].endswith("\\"):
                commands[-1][0].append(line)
            else:
                commands[-1][1].append(line)
        for n, (command, shown) in enumerate(commands):
            last = n == len(commands) - 1
            gap = []
            while shown and not shown[-1]:  # an empty line before the next command
                gap.append(shown.pop())
            out += command + self.one_command("\n".join(command)[2:], shown, options if last else {}) + gap
        return out

    def one_command(self, command, shown, options):
        is_measured = "live" in options
        if is_measured and not self.is_live:
            return self.recorded(command, shown, options["live"])
        printed, status = self.execute(command, options.get("measures", ""))
        self.judge(status == int(options.get("exit", 0)), f"{command}: exit status {status}: " + "\n".join(printed[-3:]))
        if "says" in options:
            self.judge(re.search(options["says"], "\n".join(printed)), f"{command}: nothing fits {options['says']}:\n" + "\n".join(printed))
        if self.is_written:
            if is_measured and options["live"]:
                self.keep_recording(options["live"], options["live"])
            for word in options.get("measures", "").split() if self.is_live else ():
                self.keep_recording(*word.split("="))
            return shorten(printed, shown)
        if not self.is_live:
            self.judge(fits(shown, printed), f"{command}\n{differing(shown, printed)}")
        return shown

    def recorded(self, command, shown, name):
        """The result of a command that measured: the recording, and its summary on the page."""
        if not name:
            return shown
        target = os.path.join(self.work, name)
        shutil.copytree(os.path.join(self.folder, "recorded", name), target)
        os.makedirs(os.path.join(self.work, ".trainprof"), exist_ok=True)
        last = os.path.join(self.work, ".trainprof", "last")
        if os.path.lexists(last):
            os.unlink(last)
        os.symlink(f"../{name}", last)
        printed, status = self.execute(f"trainprof report {name}")
        self.judge(status == 0, f"report {name}: exit status {status}")
        if self.is_written:
            first = next((i for i, line in enumerate(shown) if line.startswith("trainprof ")), len(shown))
            end = next((i for i, line in enumerate(shown) if line.startswith(("Saved ", "Next: "))), len(shown))
            return shown[:first] + summary(printed) + shown[end:]
        self.judge(summary(shown) == summary(printed), f"{command}\n{differing(summary(shown), summary(printed))}")
        return shown

    def keep_recording(self, output, name):
        made = os.path.join(self.work, output)
        target = os.path.join(self.folder, "recorded", name)
        shutil.rmtree(target, ignore_errors=True)
        for folder, _, names in os.walk(made):
            for file in names:
                if file in RECORDED:
                    kept = os.path.join(target, os.path.relpath(folder, made))
                    os.makedirs(kept, exist_ok=True)
                    shutil.copyfile(os.path.join(folder, file), os.path.join(kept, file))


def summary(lines):
    first = next((i for i, line in enumerate(lines) if line.startswith("trainprof ")), len(lines))
    end = next((i for i, line in enumerate(lines) if line.startswith(("Saved ", "Next: "))), len(lines))
    return lines[first:end]


def fits(shown, printed):
    pattern = "\n".join(r"(.*\n)*?.*" if line == "..." else re.escape(line) for line in shown)
    return re.fullmatch(pattern, "\n".join(printed)) is not None


def shorten(printed, shown):
    """Returns the output with the same omissions as on the page: as many lines before and after."""
    if "..." not in shown:
        return printed
    before = shown.index("...")
    behind = len(shown) - before - 1
    return printed[:before] + ["..."] + (printed[-behind:] if behind else [])


def differing(shown, printed):
    import difflib

    return "\n".join(difflib.unified_diff(shown, printed, "the page", "printed", lineterm="", n=1))


def main():
    words = sys.argv[1:]
    flags = {word for word in words if word.startswith("--")}
    if flags - {"--live", "--write"} or len(words) - len(flags) < 2:
        sys.exit(__doc__)
    build, *pages = [word for word in words if word not in flags]
    counts = [0, 0, 0]
    is_live = "--live" in flags
    python = find_python() if is_live else sys.executable
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if not python:
        missing.append(f"{os.environ.get('TUTORIAL_PYTHON', 'python3 in PATH')} with {' and '.join(MODULES)}")
    if missing:
        print(f"skipped: no {' and no '.join(missing)}, which the tutorials use\npages: 0 passed, 0 failed, 1 skipped")
        return
    for path in pages:
        page = Page(build, path, python, is_live, "--write" in flags)
        with tempfile.TemporaryDirectory(prefix="pages-") as top:
            page.prepare(top)
            page.walk()
        counts = [a + b for a, b in zip(counts, (page.n_passed, page.n_failed, page.n_skipped))]
    print("pages: {} passed, {} failed, {} skipped".format(*counts))
    sys.exit(counts[1] > 0)


if __name__ == "__main__":
    main()
