#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent with NVIDIA's own CUPTI, of every version in cupti_versions.txt, on a driver that does
# nothing: the state that it reaches, results and output of programs that end in the middle of
# CUPTI's start, failing drivers, other tools, second copies. Nothing depends on time: drivers and
# programs wait for files. check_cupti.sh BUILD CUPTIS
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
here=$(dirname "$0")
build=$(realpath "$1")
cuptis=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/check-cupti-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
AT_ONCE=4

# States of the ring (trainprof/wire/gpu_ring.h).
OPEN=2 FINISHED=3 FAILED=18 SECOND_COPY=22

library_of() { # library_of VERSION
	for path in "$cuptis/$1"/nvidia/*/lib/libcupti.so.1*; do
		[ ! -e "$path" ] || realpath "$path"
	done
}

word_at() { # word_at BYTES: a word of the only ring in $rings
	od -An -t u4 -j "$1" -N 4 "$rings"/*.ring 2>/dev/null | tr -d ' \n'
}
state() { word_at 72; }
cupti_version() { word_at 80; }

# Each case has its own folders: $rings, and $case for the files it waits for.
begin_case() { # begin_case NAME
	case=$work/$version.$1
	rings=$case/rings
	mkdir -p "$rings"
}

# The agent's environment, then a program of programs/. Its output goes to $case/output, its status
# is ours.
with_agent() { # with_agent [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]
	timeout 60 env LD_LIBRARY_PATH="$build/doubles/null" CUDA_INJECTION64_PATH="$build/libtrainprof-agent.so" \
		TRAINPROF_GPU_RINGS="$rings" TRAINPROF_CUPTI="$library" "$@" >"$case/output" 2>&1
}

# 30 s, even on a busy machine; otherwise the next claim fails.
wait_for_state() { # wait_for_state STATE
	for _ in $(seq 3000); do
		[ "$(state)" != "$1" ] || return 0
		sleep 0.01
	done
	return 1
}

wait_for_line() { # wait_for_line TEXT
	for _ in $(seq 3000); do
		! grep -q "$1" "$case/output" 2>/dev/null || return 0
		sleep 0.01
	done
	return 1
}

ends_well() { # ends_well STATUS: 7, and both of its own handlers have run
	[ "$1" -eq 7 ] && [ "$(tr '\n' ' ' <"$case/output")" = "last first " ]
}

# ---- one version -----------------------------------------------------------------------------------------

collects() {
	begin_case open
	with_agent CUDA_ENDS_WHEN="$case/go" "$build/programs/cuda_ends" return &
	wait_for_state $OPEN
	claim $? "$version: it collects (state $(state))"
	[ "$(cupti_version)" = "$number" ]
	claim $? "$version: it is $number ($(cupti_version))"
	touch "$case/go"
	wait $!
	ends_well $?
	claim $? "$version: the program returns as without us"
	[ "$(state)" = $FINISHED ]
	claim $? "$version: it has finished (state $(state))"
}

# The end of a program whose CUPTI is held in the middle of its start, and continues after the agent
# gave up.
ends_while_held() {
	for how in return thread _exit exec; do
		begin_case "held-$how"
		touch "$case/hold"
		with_agent NULL_DRIVER_HOLD="$case/hold" CUDA_ENDS_WHEN="$case/hold.held" CUDA_ENDS_LINGER_MS=200 \
			"$build/programs/cuda_ends" $how
		status=$?
		case $how in
		return | thread) ends_well $status ;;
		*) [ $status -eq 7 ] ;;
		esac
		claim $? "$version: $how in the middle of CUPTI's start: $status $(tr '\n' ' ' <"$case/output")"
	done
}

# ... and continues when the program has begun to end, which waits for it.
ends_while_released() {
	begin_case released
	touch "$case/hold"
	with_agent NULL_DRIVER_HOLD="$case/hold" CUDA_ENDS_WHEN="$case/hold.held" CUDA_ENDS_LINGER_MS=200 \
		"$build/programs/cuda_ends" return &
	wait_for_line last
	rm -f "$case/hold"
	wait $!
	ends_well $?
	claim $? "$version: the program ends, CUPTI's start goes on: $(tr '\n' ' ' <"$case/output")"
}

survives_driver() { # survives_driver VARIABLE=VALUE: and reports that CUPTI does not start
	begin_case "driver-$1"
	with_agent "$1" CUDA_ENDS_WHEN="$case/go" "$build/programs/cuda_ends" return &
	wait_for_state $FAILED
	claim $? "$version, $1: it has failed (state $(state))"
	touch "$case/go"
	wait $!
	ends_well $?
	claim $? "$version, $1: the program returns as without us"
}

survives_closing() {
	begin_case close
	with_agent CUDA_ENDS_CUPTI="$library" CUDA_ENDS_WHEN="$case/go" "$build/programs/cuda_ends" close &
	wait_for_state $OPEN
	touch "$case/go"
	wait $!
	ends_well $?
	claim $? "$version: a program that closes CUPTI once too often returns as without us"
}

survives_forks() {
	begin_case fork
	with_agent "$build/programs/cuda_ends" fork
	ends_well $?
	claim $? "$version: children that are forked during CUPTI's start: $(tr '\n' ' ' <"$case/output")"
}

# A tool that looks up CUPTI's calls by name while we collect gets them.
serves_tool() { # serves_tool CALL...
	begin_case "tool-$1"
	with_agent CUPTI_CALLS_WHEN="$case/go" "$build/programs/cupti_calls" "$library" "$@" &
	wait_for_state $OPEN
	touch "$case/go"
	wait $!
	[ $? -eq 7 ] && ! grep -qv '=0$' "$case/output"
	claim $? "$version: a tool while we collect: $(tr '\n' ' ' <"$case/output")"
	strings "$rings"/*.ring | grep -q cupti_calls
	claim $? "$version: the ring says whose CUPTI it was"
}

returns_as_told() { # returns_as_told ROW-NUMBER CALL=RESULT...
	row=$1
	shift
	begin_case "calls-$row"
	env LD_LIBRARY_PATH="$build/doubles/null" "$build/programs/cupti_calls" "$library" "${@%%=*}" >"$case/output" 2>&1
	printf '%s\n' "$@" | cmp -s - "$case/output"
	claim $? "$version, row $row of cupti_calls.txt: $(tr '\n' ' ' <"$case/output")"
}

check_calls() {
	row=0
	while read -r since until calls; do
		row=$((row + 1))
		case $since in '' | '#'*) continue ;; esac
		if [ "$number" -ge "$since" ] && [ "$number" -le "$until" ]; then
			# shellcheck disable=SC2086 # words
			returns_as_told $row $calls
		fi
	done <"$here/cupti_calls.txt"
}

# The declarations of agent and sampler equal the headers next to this library.
has_our_layouts() {
	include=$(realpath "$cuptis/$version"/nvidia/c*/include)
	for layouts in cupti_layouts pm_layouts; do
		[ $layouts = cupti_layouts ] || [ -e "$include/cupti_pmsampling.h" ] || continue
		${CC:-gcc} -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -isystem "$here/cuda_stub" -isystem "$include" \
			-fsyntax-only "$here/$layouts.c"
		claim $? "$version: $layouts"
	done
}

check_version() {
	has_our_layouts
	collects
	ends_while_held
	ends_while_released
	survives_driver NULL_DRIVER_FAILS=999
	survives_closing
	survives_forks
	serves_tool subscribe:a register enable flush disable unsubscribe:a
	[ "$number" -lt 130000 ] || serves_tool exclusive:a register enable flush disable unsubscribe:a
	check_calls
	echo "$n_passed $n_failed" >"$work/$version.counts"
}

# ---- more than one ---------------------------------------------------------------------------------------

# A program loads another CUPTI while we collect: the agent stops and reports it.
lets_go_of_two() { # lets_go_of_two VERSION OTHER
	version=$1
	library=$(library_of "$1")
	other=$(library_of "$2")
	if [ -z "$library" ] || [ -z "$other" ]; then
		skip "a second copy: $1 or $2 is not there"
		return
	fi
	begin_case "second-$2"
	with_agent CUDA_ENDS_CUPTI="$other" CUDA_ENDS_WHEN="$case/go" CUDA_ENDS_UNTIL="$case/until" \
		"$build/programs/cuda_ends" second &
	wait_for_state $OPEN
	touch "$case/go"
	wait_for_state $SECOND_COPY
	claim $? "$1, then $2: it lets go (state $(state))"
	touch "$case/until"
	wait $!
	ends_well $?
	claim $? "$1, then $2: the program returns as without us"
}

grep -v '^#' "$here/cupti_versions.txt" >"$work/versions"
while read -r package version number; do
	library=$(library_of "$version")
	if [ -z "$library" ]; then
		skip "$package $version could not be fetched"
		continue
	fi
	while [ "$(jobs -rp | wc -l)" -ge "$AT_ONCE" ]; do
		wait -n
	done
	check_version &
done <"$work/versions"
wait
while read -r _ version _; do
	[ -n "$(library_of "$version")" ] || continue
	[ -e "$work/$version.counts" ]
	claim $? "$version: tried to the end"
	read -r passed failed <"$work/$version.counts" || continue
	n_passed=$((n_passed + passed))
	n_failed=$((n_failed + failed))
done <"$work/versions"
lets_go_of_two 12.8.90 13.0.85
lets_go_of_two 13.3.75 12.4.127
sum_up cupti
