# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# On a terminal top has the screens of the viewer, again and again; the terminal is restored, and
# what was shown last stays as text.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
command -v script >/dev/null || { echo "script is missing" >&2; exit 77; }
sh -c 'while :; do :; done' &
pid=$!
cat >screen.py <<'END'
import os, re, sys, termios
from terminal import Screen

def clock(s):
    """The time of day of the interval that is shown."""
    found = re.search("[0-9:]{8} +last", s.text())
    return found and found[0]

def goes_on(s):
    before = clock(s)
    s.wait(lambda: clock(s) and clock(s) != before, "a newer interval")
    return True

s = Screen(["trainprof", "top", "-i", "400ms", sys.argv[1]], 24, 90)
s.expect("trainprof top  pid " + sys.argv[1], "[1 Overview]", "trainprof takes", "q: quit (the program keeps running)")
print("keys come one by one", not termios.tcgetattr(s.fd)[3] & (termios.ICANON | termios.ECHO))
print("goes on", goes_on(s))
s.press(b"3", "[3 Processes]", "z hold")
print("goes on there", goes_on(s))
s.press(b"4\r", "held at")
s.press(b"?", "Keys of all screens", "hold the screen, or go on; the program runs")
s.press(b"q", "held at")
s.press(b"\x1b", "[4 Stacks]", "last")
s.press(b"z", "Held; z goes on. The program is not stopped.", "held at")
s.press(b"z", "last")
s.size(12, 44)
s.expect("4/8 Stacks")
s.wait(lambda: max(map(len, s.text().split("\n"))) <= 44, "narrower lines")
s.size(5, 20)
s.expect("trainprof needs", "q quit")
s.size(24, 90)
s.expect("[4 Stacks]")
print("goes on after all", goes_on(s))
s.press(b"1", "[1 Overview]")
os.write(s.fd, b"q")
print("status", os.waitstatus_to_exitcode(s.end()))
s.left("after q:")
last = s.written.split(b"\x1b[?1049l")[-1].decode()
print("what was shown last stays", "pid %s" % sys.argv[1] in last, "trainprof takes" in last)
print("colour", b"\x1b[1m" in s.written)
END
export PYTHONPATH="$CASES" PYTHONDONTWRITEBYTECODE=1
echo 'a terminal'
python3 screen.py $pid
echo 'NO_COLOR'
NO_COLOR=1 python3 screen.py $pid | grep colour
echo 'a dumb one'
TERM=dumb script -qefc "trainprof top -n 1 -i 400ms $pid" out >/dev/null
grep -c "$(printf '\033')" out
echo 'JSON, on a terminal as well'
TERM=xterm script -qefc "trainprof top --json -n 1 -i 400ms $pid" out >/dev/null
grep -c "$(printf '\033')" out
grep -c '^{"schema": "trainprof-top/1.0", "subject": "pid ' out
kill $pid
