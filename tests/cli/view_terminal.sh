# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The viewer on a terminal: keys, another size, Ctrl-Z, q, signals and a crash; the terminal is
# restored.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
trace_of 60 6 >trace.json
trainprof import -q -o prof trace.json >/dev/null
cat >screen.py <<'END'
"""Gives the viewer a terminal, waits for what it shows after each key, and tells how it left it.
Nothing here waits for a time: each step waits for what must come."""
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

LONG = 120  # nothing waits that long unless something is wrong

class Screen:
    """What a terminal shows that obeys the sequences that the viewer sends, and fails at others."""
    def __init__(self, command, lines, columns, term="xterm"):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            self.fd = 0
            self.size(lines, columns)
            os.execvp(command[0], command)
        self.written = b""
        self.before = termios.tcgetattr(self.fd)
        self.rest = b""
        self.cells = {}
        self.at = [0, 0]

    def size(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def obey(self, data):
        text = (self.rest + data).decode("utf-8", "ignore")
        self.rest = b""
        for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x1b]*\x1b\\|[^\x1b]", text):
            if part[0] != "\x1b":
                if part == "\n":
                    self.at = [self.at[0] + 1, 0]
                elif part != "\r":
                    self.cells[tuple(self.at)] = part
                    self.at[1] += 1
            elif part[-1] == "H":
                numbers = part[2:-1].split(";") if len(part) > 3 else [1, 1]
                self.at = [int(numbers[0]) - 1, int(numbers[1]) - 1]
            elif part[-1] == "J":
                self.cells = {}
            elif part[-1] == "K":
                for place in [p for p in self.cells if p[0] == self.at[0] and p[1] >= self.at[1]]:
                    del self.cells[place]

    def text(self):
        lines = {}
        for (line, column), character in self.cells.items():
            lines.setdefault(line, {})[column] = character
        return "\n".join("".join(lines.get(i, {}).get(k, " ") for k in range(300)).rstrip()
                         for i in range(100))

    def read(self):
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.written += data
        self.obey(data)
        return bool(data)

    def wait(self, is_enough, what):
        end = time.monotonic() + LONG
        while not is_enough():
            if time.monotonic() > end or not self.read():
                print("never came:", what)
                print(self.text().rstrip())
                sys.exit(1)

    def expect(self, *texts):
        self.wait(lambda: all(text in self.text() for text in texts), texts)

    def press(self, keys, *texts):
        os.write(self.fd, keys)
        self.expect(*texts)

    def end(self):
        """Its wait status, when all that it wrote was read."""
        while self.read():
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                while select.select([self.fd], [], [], 0)[0] and self.read():
                    pass
                return status
        return os.waitpid(self.pid, 0)[1]

    def left(self, name):
        after = termios.tcgetattr(self.fd)
        entered, gone = self.written.count(b"\x1b[?1049h"), self.written.count(b"\x1b[?1049l")
        print(name, "keys as before", after[3] == self.before[3],
              "screen left", entered == gone and entered > 0,
              "cursor shown", self.written.rfind(b"\x1b[?25h") > self.written.rfind(b"\x1b[?25l"))

view = ["trainprof", "view", "prof"]

s = Screen(view, 24, 80)
s.expect("[1 Overview]", ">dataloader")
print("keys come one by one", not termios.tcgetattr(s.fd)[3] & (termios.ICANON | termios.ECHO))
s.press(b"2", "[2 Steps]", ">      1")
s.press(b"j\x1b[B\x1bOB", ">      4")
s.press(b"\r", "2/8 Steps > one step", "step 4 of 60")
s.press(b"\x1b", "[2 Steps]")
s.press(b"?", "Keys of this screen (steps)")
s.press(b"q", "[2 Steps]")
s.press(b"/17\r", ">     17")
s.size(12, 44)
s.expect("2/8 Steps", ">     17")
print("no line is wider", max(map(len, s.text().split("\n"))) <= 44)
s.size(5, 20)
s.expect("trainprof needs", "q quit")
s.size(40, 200)
s.expect("[2 Steps]", ">     17")
s.press(b"c", "Given to the terminal for its clipboard")
print("clipboard", b"\x1b]52;c;" in s.written)
os.write(s.fd, b"Q")
print("status", os.waitstatus_to_exitcode(s.end()))
s.left("after Q:")

# Stopped and continued, by a separate shell that reports the stop.
s = Screen(["sh", "-c", "set -m; trainprof view prof; echo stopped $?; read -r word; fg >/dev/null; echo ended $?"], 24, 80)
s.expect("[1 Overview]")
os.write(s.fd, b"\x1a")
s.expect("stopped")
print("Ctrl-Z left the screen", s.written.rstrip().find(b"\x1b[?1049l") > 0)
s.press(b"go on\n", "[1 Overview]")
os.write(s.fd, b"q")
s.expect("ended 0")
s.end()
s.left("after Ctrl-Z and fg:")

for name in "SIGTERM", "SIGHUP", "SIGINT", "SIGSEGV", "SIGABRT":
    s = Screen(view, 24, 80)
    s.expect("[1 Overview]", ">dataloader")
    os.kill(s.pid, getattr(signal, name))
    status = s.end()
    print(name, "killed" if os.WIFSIGNALED(status) else "status %d" % os.waitstatus_to_exitcode(status))
    s.left("after %s:" % name)
END
# Neither crash leaves a file behind.
# shellcheck disable=SC3045 # dash and bash both know it
ulimit -c 0
python3 screen.py
echo 'a dumb one, a pipe, and no terminal for keys'
cat >dumb.py <<'END'
import os, pty, sys
os.environ["TERM"] = "dumb"
pty.spawn(["trainprof", "view", "prof"])
END
python3 dumb.py </dev/null >dumb.txt
grep -c "$(printf '\033')" dumb.txt
head -1 dumb.txt | cut -c1-15
trainprof view prof </dev/null >report.txt
trainprof report prof | cmp - report.txt && echo 'the report'
