# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Ctrl-Z, bg and fg: the terminal is restored each time, and only a foreground job draws on it.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
command -v bash >/dev/null || { echo "bash is missing" >&2; exit 77; }
sh -c 'while :; do :; done' &
pid=$!
cat >jobs.py <<'END'
import os, pty, select, signal, sys, time

pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", PS1="P> ", INPUTRC="/dev/null")
    os.execvp("bash", ["bash", "--norc", "--noediting", "-i"])

def read(seconds, until=None):
    written = b""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not (until and until in written):
        if select.select([fd], [], [], 0.1)[0]:
            try:
                written += os.read(fd, 65536)
            except OSError:
                break
    return written

def do(name, keys, seconds, until, *told):
    os.write(fd, keys)
    written = read(seconds, until)
    print(name, *(text in written for text in told))

# A timeout that is only reached on an error.
LONG = 120
ENTER, LEAVE, HOME, TAKES = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[H", b"trainprof takes"
read(LONG, b"P> ")
do("begin", b"trainprof top -i 500ms %d\n" % int(sys.argv[1]), LONG, TAKES, ENTER, TAKES)
do("Ctrl-Z", b"\x1a", LONG, b"P> ", LEAVE, b"Stopped")
do("fg", b"fg\n", LONG, TAKES, ENTER, TAKES)
do("Ctrl-Z", b"\x1a", LONG, b"P> ", LEAVE, b"Stopped")
do("bg: nothing is drawn", b"bg\n", 2, None, HOME)
do("the shell has its line", b"echo $((40 + 2))\n", LONG, b"42", b"42")
do("fg", b"fg\n", LONG, TAKES, ENTER, TAKES)
do("q", b"q", LONG, b"P> ", LEAVE)
do("status", b"echo status $?\n", LONG, b"status 0", b"status 0")
os.kill(pid, signal.SIGHUP)
END
python3 jobs.py $pid
kill -0 $pid && echo 'the program goes on'
kill $pid
