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
import os, signal, termios
from terminal import Screen

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
s.press(b"c", "Copied to the clipboard")
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
PYTHONPATH=$CASES PYTHONDONTWRITEBYTECODE=1 python3 screen.py
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
