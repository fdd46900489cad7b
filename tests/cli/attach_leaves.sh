# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Ctrl-C and the end of --duration leave the program unchanged: it gets no signal, is neither
# stopped nor traced, and can be attached to again.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
signal_trap 300 >heard &
pid=$!
wait_for heard
state() {
	awk '/^TracerPid:/ { print $1, $2 } /^State:/ { print $1, ($2 == "T" || $2 == "t") ? "stopped" : "goes on" }' /proc/$pid/status
}
trainprof attach -q --summary=none -o first $pid &
wait_for first/manifest.json
sleep 0.7
state
kill -TERM $!
wait $!
said $?
env --default-signal=INT trainprof attach -q --summary=none -o second $pid &
wait_for second/manifest.json
sleep 0.7
kill -INT $!
wait $!
said $?
trainprof attach -q --summary=none -o third -d 700ms $pid
said $?
state
ls -d first second third
for run in first second third; do
	trainprof report $run --json | python3 -c 'import json, sys
run = json.load(sys.stdin)["run"]
print(run["mode"], run["end"]["kind"], run["command"])'
done
kill -KILL $pid
cat heard
