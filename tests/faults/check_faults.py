#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the rows of matrix.txt: check_faults.py BUILD [--quick] [--only=NAME].

A line for each case, then "check-faults: N passed, N failed, N skipped".
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
    """This machine cannot do it."""


def rows(only):
    with open(os.path.join(HERE, "matrix.txt"), encoding="utf-8") as table:
        for line in table:
            if line.startswith("#") or not line.strip():
                continue
            columns = re.split(r"\s*\|\s", line, maxsplit=4)
            name, how, values, around, command = [column.strip() for column in columns]
            if only and only not in name:
                continue
            for value in re.findall(r"'[^']*'|\S+", values):
                yield name, how, value, around, command


def fill(text, value):
    """The value for %; a dot in an option's value stands for a blank."""
    bare = value.replace(".", " ") if value.startswith(("-i", "--", "su.")) else value
    return re.sub(r"(?<![\w])%(?![sn(])|(?<=[=:-])%(?![sn])", lambda _: bare, text)


class Case:
    def __init__(self, build, value, around, command):
        self.build = build
        self.words = dict.fromkeys(re.findall(r"\{([a-z]+)", around))
        for word, setting in re.findall(r"\{([a-z]+):([^}]*)\}", around):
            self.words[word] = fill(setting, value)
        self.around = fill(re.sub(r"\{[^}]*\}\s*", "", around), value)
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
        """(status, output, messages) of the command in a folder of its own."""
        folder = self.folder(name)
        script = os.path.join(self.top, "command.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.command + "\n")
        prefix = ""
        if measured:
            recording = "-o " + (os.path.join(self.top, "r") if self.words.keys() & {"removed", "readonly"} else "r")
            prefix = f"{self.build}/trainprof run -q --summary=none {recording} -- "
        line = f"{self.around} {prefix}sh {script}"
        if "user" in self.words:
            os.chmod(self.top, 0o777)
            line = f"setpriv --reuid=65534 --regid=65534 --clear-groups {line}"
        if "removed" in self.words:
            line = f"rmdir {folder}; {line}"
        environment = dict(os.environ, PATH=f"{self.build}/programs:{os.environ['PATH']}", LC_ALL="C")
        if "tty" in self.words:
            return self.in_terminal(line, folder, environment)
        done = subprocess.run(["sh", "-c", f"{line}"], cwd=folder, env=environment, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def in_terminal(self, line, folder, environment):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe("sh", ["sh", "-c", "exec " + line], environment)
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
        return os.waitstatus_to_exitcode(status), re.sub(
            rb" ?trainprof: .*", b" ", re.sub(rb"\^.|\s+", b" ", output)), b""

    def check(self):
        """None, or what is wrong."""
        if "paranoid" in self.words:
            self.set_paranoid()
        if self.words.keys() & {"disk", "readonly", "removed", "user", "paranoid"} and os.geteuid() != 0:
            raise Skip("only root can")
        first = self.around.split(" ")[0] or "sh"
        if not shutil.which(first, path=f"{self.build}/programs:{os.environ['PATH']}"):
            raise Skip(f"no {first} here")
        alone = self.run("alone", False)
        if b"Operation not permitted" in alone[2] or alone[0] == NOT_POSSIBLE or b"not found" in alone[2] \
                and "nosuch" not in self.command:
            raise Skip("not possible here: " + alone[2].decode(errors="replace").strip()[:60])
        measured = self.run("measured", True)
        refused = measured[0] == 125 and measured[2].startswith(b"trainprof: ")
        if refused and ("disk" in self.words or "fsize" in self.around or "nofile" in self.around):
            return None  # said so before anything started
        if alone[0] != measured[0]:
            return f"status {measured[0]}, alone {alone[0]}: {measured[2][-200:]!r}"
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


def compare_probe(build):
    """What a program sees, alone and measured: only what docs/limits.md lists may differ."""
    allowed = re.compile(r"env TRAINPROF_MARKS=|env _=|env OLDPWD=|orphan's parent ")
    top = tempfile.mkdtemp(prefix="trainprof-faults-")
    probe = [f"{build}/faults_probe", "one", "two words", ""]
    said = []
    for prefix in ([], [f"{build}/trainprof", "run", "-q", "--summary=none", "-o", "r", "--"]):
        done = subprocess.run(prefix + probe, cwd=top, capture_output=True, text=True, check=False,
                              timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        said.append([line for line in done.stdout.splitlines() if not allowed.match(line)])
    shutil.rmtree(top, ignore_errors=True)
    differences = [line for line in said[1] if line not in said[0]] + \
                  [f"missing: {line}" for line in said[0] if line not in said[1]]
    return "; ".join(differences) or (None if said[0] else "the probe said nothing")


def main():
    build = os.path.abspath(sys.argv[1])
    is_quick = "--quick" in sys.argv
    only = next((word[7:] for word in sys.argv if word.startswith("--only=")), None)
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}

    def tell(mark, name, why=""):
        counts[mark] += 1
        print(f"{mark:8}{name}{': ' if why else ''}{why}", flush=True)

    if not only or only in "probe":
        wrong = compare_probe(build)
        tell("FAILED" if wrong else "ok", "probe", wrong or "")
    for name, how, value, around, command in rows(only):
        if is_quick and how != "quick":
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
