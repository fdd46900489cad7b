#!/bin/sh
# Runs fuzz harnesses from the seeds kept in tests/fuzz/seeds/NAME/: for FUZZ_SECONDS each, going on
# from what earlier runs found, or, when FUZZ_RUNS is set, that many inputs, the same ones every time.
# run_fuzzers.sh HARNESS...
set -u
corpus=build/fuzz/corpus
if [ -n "${FUZZ_RUNS:-}" ]; then
	corpus=build/fuzz/corpus-fixed
	rm -rf "$corpus"
fi

# Fast harnesses get more inputs and slow ones less: each what it would do in 15 to 60 seconds.
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
	fuzz_nsys | fuzz_python) divisor=5 ;;
	esac
	echo "-runs=$((FUZZ_RUNS * factor / divisor)) -seed=1"
}

n_passed=0
n_failed=0
for harness in "$@"; do
	name=$(basename "$harness")
	seeds=tests/fuzz/seeds/$name
	grown=$corpus/$name
	mkdir -p "$grown" build/fuzz/found
	[ -d "$seeds" ] || seeds=
	log=build/fuzz/$name.log
	# shellcheck disable=SC2046,SC2086 # two words; no seeds, no word
	if "$harness" $(limit_of "$name") -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix="build/fuzz/found/$name-" "$grown" $seeds >"$log" 2>&1; then
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
