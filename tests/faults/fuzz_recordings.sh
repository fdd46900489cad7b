#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes seed recordings and traces, and runs the mutator on them. fuzz_recordings.sh BUILD HARNESS
# SECONDS SEED; finds stay in build/faults/found. TRACES=FOLDER adds traces.
set -eu
build=$PWD/$1
harness=$PWD/$2
work=$PWD/build/faults
kept=$PWD/tests/faults/kept
rm -rf "$work/seeds" "$work/work"
mkdir -p "$work/seeds" "$work/work" "$work/found"
cd "$work/seeds"
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
n=0
traces=$(find "$kept" -name '*.json')
for trace in $traces ${TRACES:+"$TRACES"/*.json.gz "$TRACES"/*.sqlite "$TRACES"/*.tar.gz}; do
	[ -e "$trace" ] || continue
	n=$((n + 1))
	# The small ones are also mutated themselves.
	case $trace in
	*.sqlite) traces="$traces $trace" ;;
	*.json.gz)
		gzip -dc "$trace" >"trace$n.json"
		[ "$(wc -c <"trace$n.json")" -gt 2000000 ] || traces="$traces $PWD/trace$n.json"
		;;
	esac
	"$build/trainprof" import -q -o "import$n" "$trace" >/dev/null 2>&1 || :
done
cd "$OLDPWD"
export ASAN_OPTIONS="detect_leaks=0:exitcode=98:allocator_may_return_null=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="exitcode=98${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
TRAINPROF_RULES=$PWD/rules
export TRAINPROF_RULES
seeds=
for manifest in "$work"/seeds/*/manifest.json; do
	seeds="$seeds ${manifest%/manifest.json}"
done
# shellcheck disable=SC2046,SC2086 # words: no name here holds a blank
exec "$harness" "$3" "$4" "$work/found" "$work/work" $seeds -- $traces \
	-- $(find rules -name '*.json' | sort)
