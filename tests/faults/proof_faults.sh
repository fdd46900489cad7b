#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs everything that has a figure for faults, and prints a line for each figure: ok or FAILED. BUILD,
# FUZZ_SECONDS, COUNTS=RECORDINGS:IMPORTS, STEADY, SEED and TRACES come from the Makefile.
set -u
here=tests/faults
out=build/faults
failed=0
mkdir -p "$out"

# judge OK TEXT: OK is 1 if the figure is reached
judge() {
	if [ "$1" = 1 ]; then
		echo "ok      $2"
	else
		echo "FAILED  $2"
		failed=1
	fi
}

python3 $here/check_faults.py "$BUILD" --proofs >"$out/matrix.log" 2>&1
grep '^FAILED' "$out/matrix.log"
last=$(tail -n 1 "$out/matrix.log")
judge "$(echo "$last" | awk '{ print ($2 >= 200 && $4 == 0) }')" "matrix, at least 200 cases and none harmed: $last"

$here/fuzz_recordings.sh "$BUILD" build/asan/fuzz_recordings "$FUZZ_SECONDS" "$SEED" >"$out/fuzz.log" 2>&1
grep '^find' "$out/fuzz.log"
last=$(tail -n 1 "$out/fuzz.log")
judge "$(echo "$last" | awk -v counts="$COUNTS" '{ split(counts, want, ":")
	print ($2 >= want[1] && $4 >= want[2] && $8 == 0 && $11 <= 10 && $14 <= 1024) }')" \
	"mutator, $COUNTS without finds, 10 s and 1 GiB: $last"

python3 $here/proof_load.py "$BUILD" || failed=1
python3 $here/proof_steady.py "$BUILD" "$STEADY" || failed=1
exit $failed
