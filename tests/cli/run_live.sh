# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# run --live shows what it records; the program's output is in the log and its stdin is empty. v
# opens the viewer afterwards, where a key can be meant for nothing else.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
cat >waits.sh <<'END'
read -r word
echo "read '$word'"
echo "an error" >&2
until [ -e go ]; do sleep 0.05; done
exit 3
END
cat >screen.py <<'END'
import json, os, subprocess
from terminal import Screen

def job(command):
    """A command of a shell with job control, and the status that it prints."""
    return Screen(["sh", "-c", "set -m; %s; echo \"ended $?.\"; read -r word; echo \"word '$word'\"" % command], 24, 90)

live = "trainprof run --live --log train.log -o prof --force -- sh waits.sh"

def ends(s, key):
    """The program ends; a key after the summary; then the shell has the terminal again."""
    s.expect("trainprof top  prof", "[1 Overview]")
    s.press(b"3", "[3 Processes]", "sh")
    open("go", "w").close()
    s.expect("Saved prof", "Press v to look around")
    if key == b"v":
        s.press(key, "[1 Overview]", "trainprof  sh waits.sh")
        key = b"q"
    os.write(s.fd, key)
    s.expect("ended 3.")
    s.press(b"abc\n", "word 'abc'")
    s.end()
    os.remove("go")

s = job(live)
ends(s, b"v")
s.left("after v:")
s = job(live)
ends(s, b"x")
s.left("after another key:")
print("log:", open("train.log").read().split("\n"))

def asks_not(name, s):
    s.wait(lambda: "ended" in s.text(), name)
    print(name, "Press v" not in s.written.decode("utf-8", "replace"))
    os.write(s.fd, b"\n")
    s.end()

open("go", "w").close()
# The program could read the keys.
asks_not("not asked: the terminal was the program's", job("trainprof run -o prof2 -- sh -c 'exit 3'"))
# A script started it.
s = Screen(["sh", "-c", live + "; echo \"ended $?.\"; read -r word"], 24, 90)
asks_not("not asked: in a script", s)
# Without events, processes are found by looking for children: the view is none of the program.
s = job("without_perf trainprof run --live --log two.log -o prof3 -- sh -c 'until [ -e go2 ]; do sleep 0.1; done; exit 3'")
s.expect("trainprof top  prof3", "[1 Overview]")
open("go2", "w").close()
s.expect("Saved prof3", "Press v to look around")
os.write(s.fd, b"x")
s.expect("ended 3.")
s.press(b"abc\n", "word 'abc'")
s.end()
report = json.loads(subprocess.run(["trainprof", "report", "--json", "prof3"], stdout=subprocess.PIPE, check=False).stdout)
print("the view is listed:", any("trainprof" in process["name"] for process in report["processes"]))
END
export PYTHONPATH="$CASES" PYTHONDONTWRITEBYTECODE=1
timeout 100 python3 screen.py
echo 'messages'
trainprof run --live -- true
said $?
trainprof run --live --log=a.log -- true
said $?
ls
