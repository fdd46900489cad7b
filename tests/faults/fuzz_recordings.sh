#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes seed recordings and traces, and runs the mutator on them, a process for each CPU:
# fuzz_recordings.sh BUILD HARNESS SECONDS SEED. Finds stay in build/faults/found. TRACES=FOLDER adds
# traces, COUNTS=RECORDINGS:IMPORTS ends it after so many, JOBS=N uses so many CPUs.
set -eu
build=$PWD/$1
harness=$PWD/$2
top=$PWD/build/faults
here=$PWD/tests/faults
kept=$here/kept
seconds=$3
seed=$4
jobs=${JOBS:-$(nproc)}
rm -rf "$top/seeds"
mkdir -p "$top/seeds" "$top/found"
# The recordings are written a hundred times a second: to memory, where there is room.
work=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$top")/trainprof-fuzz-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$top/seeds"
record() { # record NAME PROGRAM...
	name=$1
	shift
	timeout 20 "$build/trainprof" run -q --summary=none -d 2s -o "$name" -- "$@" >/dev/null 2>&1 || :
}
record trainer timeout 3 "$build/programs/trainer"
record python python3 -c 'import time
for step in range(200): time.sleep(0.005); sum(x * x for x in range(9000))'
record threads "$build/programs/thread_crowd" 8
record shell sh -c 'for i in 1 2 3 4 5; do sleep 0.1; ls / >/dev/null; done'
record short true
# Of every format that is imported: traces of tools, and the small ones of the fuzzers.
mkdir traces
set --
for trace in "$kept"/*.json "$here"/../fuzz/seeds/fuzz_maker_db/* "$here"/../fuzz/seeds/fuzz_maker_json/* \
	"$here"/../fuzz/seeds/fuzz_nsys/* "$here"/../fuzz/seeds/fuzz_straggler/* \
	"$here"/../fuzz/seeds/fuzz_trace_json/* "$here"/../fuzz/seeds/fuzz_xprof/* \
	${TRACES:+"$TRACES"/*.json.gz "$TRACES"/*.sqlite}; do
	[ ! -e "$trace" ] || set -- "$@" "$trace"
done
python3 "$here/small_traces.py" traces "$@"
n=0
for trace in traces/* ${TRACES:+"$TRACES"/*.tar.gz}; do
	[ -e "$trace" ] || continue
	n=$((n + 1))
	"$build/trainprof" import -q -o "import$n" "$trace" >/dev/null 2>&1 || :
done
cd "$OLDPWD"
# Short stacks of allocations and a small store of freed memory: three times as many inputs per second.
ASAN_OPTIONS="detect_leaks=0:exitcode=98:allocator_may_return_null=0:malloc_context_size=3:quarantine_size_mb=8${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
UBSAN_OPTIONS="exitcode=98${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
TRAINPROF_RULES=$PWD/rules
export ASAN_OPTIONS UBSAN_OPTIONS TRAINPROF_RULES
seeds=
for manifest in "$top"/seeds/*/manifest.json; do
	seeds="$seeds ${manifest%/manifest.json}"
done
[ -z "${COUNTS:-}" ] || seconds=$seconds:$((${COUNTS%:*} / jobs + 1)):$((${COUNTS#*:} / jobs + 1))
job=0
pids=
while [ "$job" -lt "$jobs" ]; do
	job=$((job + 1))
	mkdir "$work/$job"
	# shellcheck disable=SC2046,SC2086 # words: no name here holds a blank
	"$harness" "$seconds" "$((seed * 1000 + job))" "$top/found/$seed-$job" "$work/$job" $seeds \
		-- "$top"/seeds/traces/* -- $(find rules -name '*.json' | sort) >"$top/job-$job" &
	pids="$pids $!"
done
status=0
for pid in $pids; do
	wait "$pid" || status=1
done
job=0
while [ "$job" -lt "$jobs" ]; do
	job=$((job + 1))
	grep -v '^fuzz-recordings:' "$top/job-$job" || :
	tail -n 1 "$top/job-$job" >>"$work/counts"
done
awk '{ recordings += $2; imports += $4; rules += $6; finds += $8
       if ($11 > slowest) slowest = $11
       if ($14 > largest) largest = $14 }
     END { printf "fuzz-recordings: %d recordings, %d imports, %d rules, %d finds; slowest %.1f s, largest %d MiB\n",
           recordings, imports, rules, finds, slowest, largest }' "$work/counts"
exit "$status"
