#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent with NVIDIA's own CUPTI, of every version in cupti_versions.txt, on a driver that does
# nothing: the state that it reaches, results and output of programs that end in the middle of
# CUPTI's start, failing drivers, other tools, second copies. Nothing depends on time: drivers and
# programs wait for files. With FORKS=N (1), N programs of each version fork children meanwhile.
# check_cupti.sh BUILD CUPTIS
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
here=$(dirname "$0")
build=$(realpath "$1")
cuptis=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/check-cupti-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
AT_ONCE=4

# shellcheck source=tests/agent/cupti_case.inc
. "$here/cupti_case.inc"

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

# A driver that answers late: cuInit() returns meanwhile, and all is collected in the end.
opens_when_released() {
	begin_case late
	touch "$case/hold"
	with_agent NULL_DRIVER_HOLD="$case/hold" CUDA_ENDS_WHEN="$case/go" "$build/programs/cuda_ends" return &
	wait_for_file "$case/hold.held"
	[ "$(state)" = $STARTING ]
	claim $? "$version, late driver: the program runs while CUPTI starts (state $(state))"
	rm -f "$case/hold"
	wait_for_state $OPEN
	claim $? "$version, late driver: it collects in the end (state $(state))"
	touch "$case/go"
	wait $!
	ends_well $?
	claim $? "$version, late driver: the program returns as without us"
}

survives_driver() { # survives_driver STATE VARIABLE=VALUE: the agent comes to that state
	begin_case "driver-$2"
	with_agent "$2" CUDA_ENDS_WHEN="$case/go" "$build/programs/cuda_ends" return &
	wait_for_state "$1"
	claim $? "$version, $2: state $(state), not $1"
	touch "$case/go"
	wait $!
	ends_well $?
	claim $? "$version, $2: the program returns as without us"
}

# A driver that fails, or lacks a table that CUPTI needs: the first of all, one from its middle, and
# one that only 13.3 and later need.
survives_drivers() {
	survives_driver $FAILED NULL_DRIVER_FAILS=999
	survives_driver $FAILED NULL_DRIVER_LACKS=7cb63f9b
	survives_driver $FAILED NULL_DRIVER_LACKS=2c8e0ad8
	if [ "$number" -ge 130300 ]; then
		survives_driver $FAILED NULL_DRIVER_LACKS=f8cff951
	else
		survives_driver $OPEN NULL_DRIVER_LACKS=f8cff951
	fi
	survives_driver $OPEN NULL_DRIVER_INIT=100
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

# Forty children at random moments of the start; the proof does it often.
survives_forks() {
	for round in $(seq "${FORKS:-1}"); do
		begin_case "fork-$round"
		with_agent "$build/programs/cuda_ends" fork
		ends_well $?
		claim $? "$version: children that are forked during CUPTI's start: $(tr '\n' ' ' <"$case/output")"
	done
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

# From the wheel alone: counters of every chip that its host library knows fit into one pass.
has_one_pass() {
	[ -e "$(echo "$cuptis/$version"/nvidia/c*/include/cupti_pmsampling.h)" ] || return 0
	begin_case one-pass
	LD_LIBRARY_PATH="$build/doubles/null" TRAINPROF_CUPTI="$library" PM_SETS=1 \
		"$build/unit" collect_pm_metric_set >"$case/output" 2>&1 && grep -q '^GH100: .* counters' "$case/output"
	claim $? "$version: the counters of each chip in one pass: $(tail -1 "$case/output")"
}

settled() { # settled: CUPTI was found and opened, or there is none
	for _ in $(seq 3000); do
		case $(state) in "$OPEN" | "$NO_CUPTI") return 0 ;; esac
		sleep 0.01
	done
	return 1
}

# A libcupti that was cut, one of another machine, one that is not there: it is passed over, for the
# one that the loader knows, if it knows any.
passes_over_bad_files() {
	whole=$library
	for how in cut machine cuda14; do
		begin_case "file-$how"
		library=$case/libcupti.so.1
		case $how in
		cut) head -c 100000 "$whole" >"$library" ;;
		machine)
			cp "$whole" "$library"
			# shellcheck disable=SC2059 # the format is the bytes
			printf '\xb7\x00' | dd of="$library" bs=1 seek=18 conv=notrunc status=none
			;;
		cuda14) library=$case/libcupti.so.14 ;;
		esac
		with_agent CUDA_ENDS_WHEN="$case/go" "$build/programs/cuda_ends" return &
		settled && ! strings "$rings"/*.ring | grep -qxF "$library"
		claim $? "$version, $how: it is passed over (state $(state))"
		touch "$case/go"
		wait $!
		ends_well $?
		claim $? "$version, $how: the program returns as without us"
	done
	library=$whole
}

# No room for a ring, or no folder for it.
goes_on_without_ring() {
	begin_case no-ring
	for folder in /proc/self/nowhere /dev/full "$case/none"; do
		rings=$folder
		with_agent "$build/programs/cuda_ends" return
		ends_well $?
		claim $? "$version, rings in $folder: the program returns as without us"
	done
}

check_version() {
	has_our_layouts
	has_one_pass
	passes_over_bad_files
	goes_on_without_ring
	collects
	ends_while_held
	ends_while_released
	opens_when_released
	survives_drivers
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

each_version
lets_go_of_two 12.8.90 13.0.85
lets_go_of_two 13.3.75 12.4.127
sum_up cupti
