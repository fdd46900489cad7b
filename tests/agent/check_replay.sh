#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Buffers are decoded into the expected events: synthetic ones in the lengths of every version of
# CUPTI, captured ones (tests/data/captures/NAME.capture with NAME.txt next to it), and one that is
# captured here from a program on the doubles. They are iterated with our own table of lengths, and
# with the iterator of each CUPTI that is found: $TRAINPROF_CUPTI, toolkits, wheels of Python.
# check_replay.sh BUILD
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
build=$1
here=tests/agent
work=$(mktemp -d "${TMPDIR:-/tmp}/replay-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

# Each library once, even if it has several names.
cuptis() {
	for path in ${TRAINPROF_CUPTI:-} /usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.*[0-9] \
		/usr/local/cuda*/lib64/libcupti.so.*[0-9] /usr/local/cuda*/targets/*/lib/libcupti.so.*[0-9] \
		/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.*[0-9] \
		build/real/*/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.*[0-9] \
		"${HOME:-/nonexistent}"/.local/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.*[0-9]; do
		[ -e "$path" ] && realpath "$path"
	done | sort -u
}

replay() { # replay CUPTI CAPTURE EXPECTED
	"$build/replay" events "$1" "$2" >"$work/events" && diff "$3" "$work/events"
}

"$build/replay" versions >"$work/versions"
while read -r version; do
	"$build/replay" synthesise "$version" >"$work/$version.capture"
	replay - "$work/$version.capture" $here/replay.txt
	claim $? "records of CUPTI $version, by our lengths"
done <"$work/versions"

cuptis >"$work/cuptis"
[ -s "$work/cuptis" ] || skip "no CUPTI here: set TRAINPROF_CUPTI, or install a toolkit or nvidia-cuda-cupti"
while read -r cupti; do
	version=$("$build/replay" lengths "$cupti")
	claim $? "$version ($cupti)"
	version=${version##* }
	"$build/replay" synthesise "$version" >"$work/real.capture"
	replay "$cupti" "$work/real.capture" $here/replay.txt
	claim $? "records of CUPTI $version, by $cupti"
done <"$work/cuptis"

for capture in tests/data/captures/*.capture; do
	[ -e "$capture" ] || continue
	replay - "$capture" "${capture%.capture}.txt"
	claim $? "$capture, by our lengths"
done

# 10 rounds of 64 units, with 59 kernels and 63 calls that emit an event.
env LD_LIBRARY_PATH="$build/doubles:$build/doubles/whole" TRAINPROF_CAPTURE="$work/double.capture" \
	TRAINPROF_GPU_RINGS="$work" CUDA_INJECTION64_PATH="$(realpath "$build")/libtrainprof-capture.so" \
	"$build/programs/gpu_launcher" return 2 320 0 60000 >/dev/null
"$build/replay" events - "$work/double.capture" >"$work/events"
[ "$(grep -c '^KERNEL .*_Z' "$work/events")" -eq 590 ] && [ "$(grep -c '^CALL .* cu' "$work/events")" -eq 630 ]
claim $? "what the recorder wrote is what the program did"

# A capture that was truncated anywhere contains the parts before the cut.
head -c $(($(wc -c <"$work/double.capture") * 3 / 4)) "$work/double.capture" >"$work/cut.capture"
"$build/replay" events - "$work/cut.capture" | grep -v '^records' >"$work/cut"
[ -s "$work/cut" ] && head -n "$(wc -l <"$work/cut")" "$work/events" | cmp -s - "$work/cut"
claim $? "a capture that was cut is what came before the cut"

sum_up replay
