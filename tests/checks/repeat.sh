#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs all gates N times next to two busy loops and prints a line for each run; then all failures.
# repeat.sh [N] [TARGET...]: `make check`'s gates, or those targets. Their requirements must be
# built.
set -u
n=${1:-10}
[ $# -eq 0 ] || shift
log=$(mktemp -d "${TMPDIR:-/tmp}/repeat-XXXXXX") || exit 2
busy=
trap 'kill $busy 2>/dev/null; rm -rf "$log"' EXIT
trap 'exit 130' INT TERM
for _ in 1 2; do
	(while :; do :; done) &
	busy="$busy $!"
done
n_bad=0
printf '%4s %8s %8s  %s\n' run wall status counted
run=1
while [ "$run" -le "$n" ]; do
	began=$(date +%s)
	if [ $# -gt 0 ]; then
		tests/gates.sh "$@" >"$log/$run" 2>&1
	else
		"${MAKE:-make}" -s --no-print-directory check >"$log/$run" 2>&1
	fi
	status=$?
	[ "$status" -eq 0 ] || n_bad=$((n_bad + 1))
	printf '%4d %6d s %8d  %s\n' "$run" $(($(date +%s) - began)) "$status" "$(tail -1 "$log/$run")"
	grep -aE '^failed:|^FAIL|:[FE]:|ended with status' "$log/$run" | sed 's/^/       /'
	run=$((run + 1))
done
echo "steady: $((n - n_bad)) passed, $n_bad failed, 0 skipped"
[ "$n_bad" -eq 0 ]
