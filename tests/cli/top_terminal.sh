# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# On a terminal the output is drawn in place, within its size, and the terminal is restored; q ends
# it.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
command -v script >/dev/null || { echo "script is missing" >&2; exit 77; }
sh -c 'while :; do :; done' &
pid=$!
cat >screen.py <<'END'
"""Gives top a terminal of 60 x 12, presses a key, resizes it, presses q; tells what it wrote."""
import fcntl, os, pty, re, select, struct, sys, termios, time

def size(fd, lines, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    size(0, 12, 60)
    os.execvp(sys.argv[1], sys.argv[1:])
before = termios.tcgetattr(fd)
written = b""

LONG = 120  # nothing waits that long unless something is wrong

def read(is_enough):
    global written
    end = time.monotonic() + LONG
    while time.monotonic() < end and not is_enough():
        if select.select([fd], [], [], 0.1)[0]:
            try:
                written += os.read(fd, 65536)
            except OSError:
                return

def frames():
    """Those that are whole: each begins with HOME and ends with what erases the rest."""
    return [text.split(b"\x1b[J")[0] for text in written.split(b"\x1b[H")[1:] if b"\x1b[J" in text]

def rows_of(frame):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", frame.decode()).replace("\r", "").split("\n")

def fits(frame, lines, columns):
    return len(rows_of(frame)) <= lines and max(map(len, rows_of(frame))) <= columns

read(lambda: any(b"trainprof takes" in frame for frame in frames()))
during = termios.tcgetattr(fd)
first, first_frame, written = written, frames()[-1], b""
# Browses in the last interval, and continues.
os.write(fd, b"4")
read(lambda: b"4/8 " in written and b"Stacks" in written and b"functions by" not in written)
os.write(fd, b"?")
read(lambda: b"Keys of this screen" in written)
looked, written = written, b""
os.write(fd, b"qq")
read(lambda: any(b"trainprof takes" in frame for frame in frames()))
went_on, written = written, b""
size(fd, 8, 44)
# A frame of the former size may still be in the output.
read(lambda: any(fits(frame, 8, 44) for frame in frames()))
second_frame, written = frames()[-1], b""
os.write(fd, b"xq")
read(lambda: b"\x1b[?1049l" in written)
_, status = os.waitpid(pid, 0)
read(lambda: False)
print("status", os.waitstatus_to_exitcode(status))
print("echo", bool(before[3] & termios.ECHO), bool(during[3] & termios.ECHO))
print("another screen", first.startswith(b"\x1b[?1049h"), b"\x1b[?1049l" in written)
print("cursor", b"\x1b[?25l" in first, b"\x1b[?25h" in written)
for name, frame, lines, columns in ("first", first_frame, 12, 60), ("smaller", second_frame, 8, 44):
    rows = rows_of(frame)
    print(name, "rows fit" if len(rows) <= lines else rows,
          "columns fit" if max(map(len, rows)) <= columns else rows)
print("colour", b"\x1b[1m" in first)
print("looked around", b"Stacks" in looked, b"Keys of this screen" in looked, "and went on", b"trainprof takes" in went_on)
last = written.split(b"\x1b[?1049l")[-1].decode()
print("what was shown last stays", "pid %s" % sys.argv[-1] in last)
END
echo 'a terminal'
python3 screen.py trainprof top -i 400ms $pid
echo 'NO_COLOR'
NO_COLOR=1 python3 screen.py trainprof top -i 400ms $pid | grep colour
echo 'a dumb one'
TERM=dumb script -qefc "trainprof top -n 1 -i 400ms $pid" out >/dev/null
grep -c "$(printf '\033')" out
kill $pid
