#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares step counts of loop shapes with the program's own count: check_loops.sh BUILD [SHAPE...].
# LENGTHS="20" milliseconds, STEPS=100, PYTHONS="python3". Prints a table; a wrong count that is
# called exact is "false". No gate: it measures running programs.
set -u
here=$(dirname "$0")
trainprof=$1/trainprof
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=${STEPS:-100}
shapes=${*:-$(python3 "$here/python/loops.py" --list)}
for python in ${PYTHONS:-python3}; do
	for length in ${LENGTHS:-20}; do
		for shape in $shapes; do
			rm -rf "$work/run"
			"$trainprof" run -q -o "$work/run" -- "$python" "$here/python/loops.py" "$shape" "$steps" \
				"$length" >"$work/out" 2>/dev/null
			"$trainprof" report --json "$work/run" >"$work/json" 2>/dev/null
			python3 "$here/python/judge_steps.py" "$shape" "$length" "$work/out" "$work/json" |
				tee -a "$work/table"
		done
	done
done
awk '{ n[$NF]++ } END { printf "loops: %d of %d right, %d without steps, %d wrong counts called exact\n",
	n["right"], NR, n["none"], n["false"] }' "$work/table"
