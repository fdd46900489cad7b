#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that fork and end in every way, with the library that CUDA loads, under valgrind: no
# invalid access in any process, and the status is the program's own. check_exits.sh BUILD
set -u
build=$1
n_passed=0
n_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/exits-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

if ! command -v valgrind >/dev/null; then
	echo "skipped: no valgrind"
	echo "exits: 0 passed, 0 failed, 1 skipped"
	exit 0
fi
echo "flushes_at_exit 1" >"$work/script"

ends_with() { # ends_with STATUS HOW
	env LD_LIBRARY_PATH="$build/doubles:$build/doubles/whole" CUPTI_SCRIPT="$work/script" \
		TRAINPROF_GPU_RINGS="$work" CUDA_INJECTION64_PATH="$(realpath "$build")/libtrainprof-agent.so" \
		valgrind -q --trace-children=yes --error-exitcode=99 --log-file="$work/log.%p" \
		"$build/programs/gpu_launcher" "$2" 3 640 0 120000 >"$work/output" 2>&1
	status=$?
	if [ "$status" -eq "$1" ] && [ -z "$(cat "$work"/log.*)" ]; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
		echo "failed: $2 ended with $status"
		cat "$work"/log.*
	fi
	rm -f "$work"/log.*
}

for how in return exit _exit fork forks; do
	ends_with 0 $how
done

echo "exits: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
