# shellcheck shell=sh
# A terminal is drawn on in place, no higher and no wider than it is, and left as it was; q ends it.
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

def read(seconds, until=None):
    global written
    end = time.monotonic() + seconds
    while time.monotonic() < end and not (until and until in written):
        if select.select([fd], [], [], 0.1)[0]:
            try:
                written += os.read(fd, 65536)
            except OSError:
                return

read(20, b"trainprof takes")
read(0.2)
during = termios.tcgetattr(fd)
first, written = written, b""
size(fd, 8, 44)
read(20, b"\x1b[J")
second, written = written, b""
os.write(fd, b"xq")
read(20, b"\x1b[?1049l")
_, status = os.waitpid(pid, 0)
read(0.5)
print("status", os.waitstatus_to_exitcode(status))
print("echo", bool(before[3] & termios.ECHO), bool(during[3] & termios.ECHO))
print("another screen", first.startswith(b"\x1b[?1049h"), b"\x1b[?1049l" in written)
print("cursor", b"\x1b[?25l" in first, b"\x1b[?25h" in written)
for name, text, lines, columns in ("first", first, 12, 60), ("smaller", second, 8, 44):
    frame = text.split(b"\x1b[H")[-1].decode()
    rows = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", frame).replace("\r", "").split("\n")
    print(name, "rows fit" if len(rows) <= lines else rows,
          "columns fit" if max(map(len, rows)) <= columns else rows)
print("colour", b"\x1b[1m" in first)
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
