# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# INT and TERM reach the program if they are sent to trainprof only or to its whole group; in the
# first case exactly once.
. "$CASES/run.inc"
command -v setsid >/dev/null || { echo 'setsid is missing' >&2; exit 77; }
env --default-signal=INT true 2>/dev/null || { echo 'env knows no --default-signal' >&2; exit 77; }

# start NAME: in a separate group, with INT as a terminal's shell sets it
start() {
	setsid env --default-signal=INT trainprof run -q --summary=none -o "$1" -- \
		signal_trap 100 >"$1.out" 2>&1 &
	wait_for "$1.out"
}

for signal in INT TERM; do
	start alone-$signal && kill -s $signal $! && wait $!
	echo "$signal to trainprof: status $?, $(tail -1 alone-$signal.out)"
	start group-$signal && kill -s $signal -- -$! && wait $!
	echo "$signal to the group: status $?"
	ls alone-$signal/report.json group-$signal/report.json
done
