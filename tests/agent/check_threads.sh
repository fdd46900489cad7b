#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent, the doubles of CUDA and a program under ThreadSanitizer: 32 threads launch while the
# reader opens and closes windows, fork, and end. No report, and the status is the program's own.
# check_threads.sh BUILD, which has threads/libtrainprof-agent.so and threads/gpu_launcher
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
here=$(dirname "$0")
build=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/check-threads-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
version=double
# shellcheck source=tests/agent/cupti_case.inc
. "$here/cupti_case.inc"
: >"$work/script"

launcher() { # launcher END UNITS RATE: in 32 threads, as soon as the agent collects
	LD_LIBRARY_PATH="$build/doubles:$build/doubles/whole" CUPTI_SCRIPT="$work/script" TRAINPROF_GPU_RINGS="$rings" \
		CUDA_INJECTION64_PATH="$build/threads/libtrainprof-agent.so" \
		exec timeout 120 "$build/threads/gpu_launcher" "$1" 32 "$2" "$3" 60000 >"$case/output" 2>&1
}

for how in return exit _exit forks; do
	begin_case $how
	(launcher $how 640 0)
	status=$?
	[ $status -eq 0 ] && [ "$(wc -l <"$case/output")" -eq 1 ]
	claim $? "$how: status $status, $(head -c 3000 "$case/output")"
done

begin_case windows
launcher hang 1048576 20000 &
wait_for_state $OPEN
for _ in 1 2 3 4; do
	request $WANTS_IDLE
	wait_for_state $IDLE
	claim $? "a window closes (state $(state))"
	request $WANTS_EVENTS
	wait_for_state $OPEN
	claim $? "a window opens (state $(state))"
done
kill $!
wait
[ ! -s "$case/output" ]
claim $? "while windows open and close: $(head -c 3000 "$case/output")"
sum_up threads
