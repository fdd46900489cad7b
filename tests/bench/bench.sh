#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures trainprof's cost: the same programs plain, under trainprof and under perf, in
# alternation.
# bench.sh TRAINPROF DIRECTORY_OF_PROGRAMS DIRECTORY_OF_BENCH [ROUNDS]
# BENCH_S is the approximate run time of each program (10 s on the machine of docs/measurements.md).
set -u
trainprof=$1
programs=$2
bench=$3
rounds=${4:-5}
seconds=${BENCH_S:-10}
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

echo "machine: $(uname -sr), $(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"

compare() { # compare TITLE COMMAND
	echo
	echo "$1: $2"
	inner="$bench/paired -- $2"
	set -- "plain=exec $inner" \
		"trainprof=rm -rf $work/run; exec $trainprof run -q -o $work/run -- $inner" \
		"perf -F 99=exec perf record -q -F 99 -g -o $work/perf.data -- $inner"
	if ! perf record -q -F 99 -g -o "$work/perf.data" -- true >/dev/null 2>&1; then
		echo "(perf: not usable here)"
		set -- "$1" "$2"
	fi
	if [ ! -x "$trainprof" ]; then
		echo "(trainprof: not built)"
		first=$1
		shift $(($# > 2 ? 2 : 1))
		set -- "$first" "$@"
	fi
	"$bench/paired" "$rounds" "$@" | tee -a "$work/said"
}

trainer="$programs/trainer --data $work/data"
$trainer --steps 1 --side 96 >/dev/null || exit 2
$trainer --steps 1 >/dev/null || exit 2

compare "compute-bound" "$programs/fixed_work $((1400 * seconds))"
compare "compute-bound, two threads" "$programs/fixed_work $((1100 * seconds)) 2"
compare "switch-heavy" "$programs/ping_pong pipe $((36000 * seconds)) pinned 4000"
compare "loader-bound" "$trainer --side 96 --workers 1 --steps $((130 * seconds))"
echo
echo "switch-heavy does: $("$programs/ping_pong" pipe 36000 pinned 4000)"

# The time from the last step of a one-minute program until trainprof has ended, by the clock of
# /proc/uptime.
if [ -x "$trainprof" ]; then
	rm -rf "$work/run"
	"$trainprof" run -q -o "$work/run" -- "$programs/trainer" --data "$work/data" \
		--milliseconds $((6000 * seconds)) --steps 100000 --truth "$work/truth.json" >/dev/null 2>&1
	awk -v seconds=$((6 * seconds)) 'FNR == NR { if (match($0, /"end_ns": [0-9]+/)) end = substr($0, RSTART + 10, RLENGTH - 10)
			next }
		{ printf "\nreport ready %.2f s after the last of %d s of steps\n", $1 - end / 1e9, seconds }' \
		"$work/truth.json" /proc/uptime
	du -sk "$work/run" | awk '{ printf "recording: %.1f MiB\n", $1 / 1024 }'
	"$bench/paired" 3 "report=$trainprof report $work/run"
fi
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
# The cost of a failed program is no figure.
! grep ' failed ' "$work/said"
