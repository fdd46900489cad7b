#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps by hardware breakpoints against the programs' own clocks, and what they cost.
#	check_watch.sh BUILD
# On a busy machine steps are irregular: then fewer are exact, and none is wrong.
set -u
build=$1
here=$(dirname "$0")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trainprof=$build/trainprof
failed=0

# check NAME WISH PROGRAM…: FILE in its arguments is the output file for its times
check()
{
	name=$1
	wish=$2
	shift 2
	rm -rf "$work/run" "$work/times"
	"$trainprof" run -q -o "$work/run" -- "$@" > "$work/out" 2>&1 || {
		echo "$name: did not run"
		cat "$work/out"
		failed=1
		return
	}
	"$trainprof" report --format=json "$work/run" > "$work/report.json" || failed=1
	python3 "$here/compare.py" "$work/run" "$work/times" "$work/report.json" "$name" "$wish" ||
		failed=1
}

if "$trainprof" doctor | grep -q 'ok  *breakpoints'; then
	for shape in range while epochs module; do
		check "python $shape" watch python3 "$here/loop_clock.py" 400 20 "$work/times" $shape
	done
	check "python twice" counter python3 "$here/loop_clock.py" 300 20 "$work/times" twice
	for ms in 8 20 50; do
		check "c $ms ms" watch "$build/programs/step_clock" $((8000 / ms)) $ms "$work/times"
	done
	check "c evaluations" watch "$build/programs/step_clock" 400 20 "$work/times" 10
else
	echo "no hardware breakpoints here: see trainprof doctor"
	exit 1
fi
exit $failed
