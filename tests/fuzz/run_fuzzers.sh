#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz harnesses from the seeds kept in tests/fuzz/seeds/NAME/: for FUZZ_SECONDS each, starting
# with the inputs that earlier runs found, or, if FUZZ_RUNS is set, that many inputs, the same ones
# every time. run_fuzzers.sh HARNESS...: as many in parallel as there are CPUs
set -u
corpus=build/fuzz/corpus
fixed=
# Addresses, and what compared memory holds, would make each run another one: a gate gives the same
# result for the same commit.
if [ -n "${FUZZ_RUNS:-}" ]; then
	corpus=build/fuzz/corpus-fixed
	! setarch -R true 2>/dev/null || fixed="setarch -R"
fi

# Fast harnesses get more inputs and slow ones fewer: each as many as take 15 to 60 seconds.
limit_of() { # limit_of NAME
	factor=1
	[ -n "${FUZZ_RUNS:-}" ] || { echo "-max_total_time=${FUZZ_SECONDS:-60}"; return; }
	case $1 in
	fuzz_json) factor=15 ;;
	fuzz_manifest) factor=5 ;;
	fuzz_perf | fuzz_proc) factor=3 ;;
	fuzz_tar | fuzz_trace_json) factor=2 ;;
	fuzz_rule) factor=2 ;;
	esac
	divisor=1
	case $1 in
	fuzz_nsys | fuzz_maker_db | fuzz_python) divisor=5 ;;
	esac
	echo "-runs=$((FUZZ_RUNS * factor / divisor)) -seed=1 -use_cmp=0"
}

# An input that takes a minute counts as a hang, even if other programs want the CPUs.
run_one() { # run_one HARNESS: its log, and its status in a file of its own
	name=$(basename "$1")
	seeds=tests/fuzz/seeds/$name
	grown=$corpus/$name
	[ -z "${FUZZ_RUNS:-}" ] || rm -rf "$grown"
	mkdir -p "$grown" build/fuzz/found
	[ -d "$seeds" ] || seeds=
	# shellcheck disable=SC2046,SC2086 # words; no seeds, no word
	$fixed "$1" $(limit_of "$name") -timeout=60 -rss_limit_mb=2048 \
		-artifact_prefix="build/fuzz/found/$name-" "$grown" $seeds >"build/fuzz/$name.log" 2>&1
	echo $? >"build/fuzz/$name.status"
}

if [ "$1" = --one ]; then
	run_one "$2"
	exit 0
fi
rm -f build/fuzz/*.status
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" "$0" --one
n_passed=0
n_failed=0
for harness in "$@"; do
	name=$(basename "$harness")
	log=build/fuzz/$name.log
	if [ "$(cat "build/fuzz/$name.status")" = 0 ]; then
		n_passed=$((n_passed + 1))
		echo "$name: $(grep -a -o 'DONE.*' "$log" | tail -1)"
	else
		n_failed=$((n_failed + 1))
		echo "failed: $name"
		grep -a -v '^#[0-9]*	' "$log" | tail -40
	fi
done
echo "fuzz: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
