#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the rows of matrix.txt: check_faults.py BUILD [--quick | --proofs] [--only=NAME].

A line for each case, then "check-faults: N passed, N failed, N skipped". --quick leaves full rows
out, --proofs adds those that depend on time.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 120
NOT_POSSIBLE = 77


class Skip(Exception):
    """Raised if the case cannot run on this machine."""


def split(line, most):
    """Splits a line into at most so many columns, at each "| " outside of quotes and parentheses."""
    columns, quote, depth, start = [], "", 0, 0
    for i, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and line[i + 1:i + 2].isspace() and not depth and len(columns) < most - 1:
            columns.append(line[start:i].strip())
            start = i + 1
    return columns + [line[start:].strip()]


def rows(only):
    with open(os.path.join(HERE, "matrix.txt"), encoding="utf-8") as table:
        for line in table:
            if line.startswith("#") or not line.strip():
                continue
            name, how, values, around, command = split(line, 5)
            if only and only not in name:
                continue
            for value in re.findall(r'"[^"]*"|\'[^\']*\'|\S+', values):
                yield name, how, value.strip('"'), around, command


def fill(text, value):
    """Replaces each % that is no format by the value."""
    return re.sub(r"(?<![\w])%(?![sn(.])|(?<=[=:-])%(?![sn])", lambda _: value, text)


class Case:
    def __init__(self, build, value, around, command):
        self.build = build
        # In the shell a brace is followed by a blank.
        self.words = dict.fromkeys(re.findall(r"\{([a-z]+)[:}]", around))
        for word, setting in re.findall(r"\{([a-z]+):([^}]*)\}", around):
            self.words[word] = fill(setting, value)
        self.around = fill(re.sub(r"\{[a-z]+(:[^}]*)?\}\s*", "", around), value)
        self.command = fill(command, value)
        self.top = tempfile.mkdtemp(prefix="trainprof-faults-")
        self.mounted = []
        os.chmod(self.top, 0o755)

    def close(self):
        for path in self.mounted:
            subprocess.run(["umount", "-l", path], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.top, ignore_errors=True)

    def folder(self, name):
        path = os.path.join(self.top, name)
        os.mkdir(path, 0o777)
        os.chmod(path, 0o777)
        if "disk" in self.words:
            mount = ["mount", "-t", "tmpfs", "-o", f"size={self.words['disk']},mode=1777", "none", path]
            if subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode:
                raise Skip("no disk can be mounted")
            self.mounted.append(path)
        if "readonly" in self.words:
            os.chmod(path, 0o555)
        return path

    def run(self, name, measured):
        """Returns (status, output, messages) of the command, run in a folder of its own."""
        folder = self.folder(name)
        script = os.path.join(self.top, "command.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.command + "\n")
        prefix = ""
        if measured and "attach" not in self.words:
            recording = "-o " + (os.path.join(self.top, "r") if self.words.keys() & {"removed", "readonly", "elsewhere"} else "r")
            prefix = f"{self.build}/trainprof run -q --summary=none {recording} -- "
        around = self.around if "attach" not in self.words else ""
        line = f"{around} {prefix}sh {script}"
        if "user" in self.words:
            os.chmod(self.top, 0o777)
            line = f"setpriv --reuid=65534 --regid=65534 --clear-groups {line}"
        if "removed" in self.words:
            line = f"rmdir {folder}; {line}"
        environment = dict(os.environ, PATH=f"{self.build}/programs:{self.build}:{os.environ['PATH']}", LC_ALL="C")
        if "tty" in self.words:
            return self.in_terminal(line, folder, environment)
        if "attach" in self.words:
            return self.attached(line, folder, environment, measured)
        done = subprocess.run(["sh", "-c", f"{line}"], cwd=folder, env=environment, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def in_terminal(self, line, folder, environment):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(folder)
            # With job control a shell takes the terminal back when its job stops, and continues it.
            whole = f"set -m; {line}; while [ $? -gt 128 ]; do echo stopped; fg >/dev/null; done" \
                if "job" in self.words else "exec " + line
            os.execvpe("bash", ["bash", "-c", whole], environment)
        output = b""
        keys = self.words["tty"]
        pressed = [bytes([ord(key) & 0x1f]) for key in re.findall(r"\^(.)", keys)]
        until = time.monotonic() + 30
        while time.monotonic() < until:
            ready, _, _ = select.select([fd], [], [], 0.1)
            try:
                if ready:
                    got = os.read(fd, 4096)
                    if not got:
                        break
                    output += got
            except OSError:
                break
            if pressed and output.count(b"ready") and (len(pressed) == keys.count("^") or b"got" in output):
                time.sleep(0.2)
                os.write(fd, pressed.pop(0))
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        if "probe" in self.words:
            output = output.replace(b"\r", b"").replace(b"leader 1", b"leader 0")
            return os.waitstatus_to_exitcode(status), output, b""
        return os.waitstatus_to_exitcode(status), re.sub(
            rb" ?trainprof: .*", b" ", re.sub(rb"\[1\].*\n|\^.|\s+", b" ", output)), b""

    def attached(self, line, folder, environment, measured):
        """Runs the command, which creates "ready", is measured for a while, and ends after "go"."""
        with subprocess.Popen(["sh", "-c", f"exec {line}"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            until = time.monotonic() + 30
            while not os.path.exists(os.path.join(folder, "ready")):
                if time.monotonic() > until:
                    program.kill()
                    raise Skip("the program does not begin")
                time.sleep(0.01)
            said = b""
            if measured:
                attach = f"{self.around} {self.build}/trainprof attach -q --summary=none -d 1s -o r {program.pid}"
                said = subprocess.run(["sh", "-c", attach], cwd=folder, env=environment, timeout=LIMIT_S, check=False,
                                      stdin=subprocess.DEVNULL, capture_output=True).stderr
            with open(os.path.join(folder, "go"), "w", encoding="ascii"):
                pass
            output, errors = program.communicate(timeout=LIMIT_S)
        return program.returncode, output, said or errors

    def check(self):
        """Returns None, or the fault."""
        if "paranoid" in self.words:
            self.set_paranoid()
        if self.words.keys() & {"disk", "readonly", "removed", "user", "paranoid"} and os.geteuid() != 0:
            raise Skip("only root can")
        first = self.around.split(" ")[0] or "sh"
        if not shutil.which(first, path=f"{self.build}/programs:{self.build}:{os.environ['PATH']}"):
            raise Skip(f"no {first} here")
        alone = self.run("alone", False)
        if b"Operation not permitted" in alone[2] or alone[0] == NOT_POSSIBLE or b"not found" in alone[2] \
                and "nosuch" not in self.command:
            raise Skip("not possible here: " + alone[2].decode(errors="replace").strip()[:60])
        if b"yntax" in alone[2] and b"rror" in alone[2]:
            return f"the row is no program: {alone[2][-200:]!r}"
        measured = self.run("measured", True)
        refused = measured[0] == 125 and measured[2].startswith(b"trainprof: ")
        if refused and ("disk" in self.words or re.search("fsize|nofile|inodes", self.around)):
            return None  # it printed the reason before anything started
        if alone[0] != measured[0] and "status" not in self.words:
            return f"status {measured[0]}, alone {alone[0]}: {measured[2][-200:]!r}"
        if "probe" in self.words:
            wrong = probe_differences(*(said[1].decode().replace(os.path.join(self.top, name), "FOLDER")
                                        for said, name in ((alone, "alone"), (measured, "measured"))))
            return wrong or self.check_recording(measured)
        if alone[1] != measured[1]:
            return f"output {measured[1][-200:]!r}, alone {alone[1][-200:]!r}"
        return self.check_recording(measured)

    def check_recording(self, measured):
        recording = os.path.join(self.top, "measured", "r")
        if not os.path.isdir(recording):
            recording = os.path.join(self.top, "r")
        if not os.path.isdir(recording):
            return None if measured[2] or b"trainprof" in measured[1] or "tty" in self.words else "no recording, and no word about it"
        if "cut" in self.words:
            path = os.path.join(recording, "records.tpr")
            os.truncate(path, min(int(self.words["cut"]), os.path.getsize(path)))
        for reader in (["report"], ["report", "--json"], ["explain", "--all"], ["guide", "--plan"]):
            done = subprocess.run([f"{self.build}/trainprof", *reader, recording], capture_output=True,
                                  timeout=LIMIT_S, check=False)
            if not 0 <= done.returncode <= 5:
                return f"{' '.join(reader)}: status {done.returncode}: {done.stderr[-200:]!r}"
        return None

    def set_paranoid(self):
        path = "/proc/sys/kernel/perf_event_paranoid"
        try:
            with open(path, encoding="ascii") as file:
                self.before = file.read()
            with open(path, "w", encoding="ascii") as file:
                file.write(self.words["paranoid"])
        except OSError as error:
            raise Skip(f"perf_event_paranoid: {error.strerror}") from error

    def restore(self):
        if hasattr(self, "before"):
            with open("/proc/sys/kernel/perf_event_paranoid", "w", encoding="ascii") as file:
                file.write(self.before)


# Listed in docs/limits.md; _ and OLDPWD are a shell's.
ALLOWED = re.compile(r"env (TRAINPROF_MARKS|_|OLDPWD)=|env PYTHONPATH=$|parent|orphan's parent ")
# The module's folder is appended to the old value of PYTHONPATH.
APPENDED = re.compile(r"(?<=^env PYTHONPATH=)(.*?):?[^:\n]*/python$", re.MULTILINE)


def probe_differences(alone, measured):
    """Compares a program's view of its environment, alone and measured."""
    said = [[line for line in text.splitlines() if not ALLOWED.match(line)]
            for text in (alone, APPENDED.sub(r"\1", measured))]
    differences = [line for line in said[1] if line not in said[0]] + \
                  [f"missing: {line}" for line in said[0] if line not in said[1]]
    return "; ".join(differences) or (None if "argument 0" in alone else "the probe said nothing")


def main():
    build = os.path.abspath(sys.argv[1])
    wanted = ["quick"] if "--quick" in sys.argv else ["quick", "full"] + ["proof"] * ("--proofs" in sys.argv)
    only = next((word[7:] for word in sys.argv if word.startswith("--only=")), None)
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}

    def tell(mark, name, why=""):
        counts[mark] += 1
        print(f"{mark:8}{name}{': ' if why else ''}{why}", flush=True)

    for name, how, value, around, command in rows(only):
        if how not in wanted:
            continue
        case = Case(build, value, around, command)
        try:
            wrong = case.check()
            tell("FAILED" if wrong else "ok", f"{name} {value}", wrong or "")
        except Skip as why:
            tell("skipped", f"{name} {value}", str(why))
        except subprocess.TimeoutExpired:
            tell("FAILED", f"{name} {value}", "hangs")
        finally:
            case.restore()
            case.close()
    print(f"check-faults: {counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    return counts["FAILED"] != 0


if __name__ == "__main__":
    sys.exit(main())
