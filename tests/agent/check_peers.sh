#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Profilers of the user's beside the agent, on NVIDIA's own CUPTI and a driver that does nothing.
# CUPTI makes records of NVTX marks there, so a profile that loses some is seen. Every case prints
# the same as without the agent, and the ring says whose CUPTI it was. Nothing depends on time: the
# programs wait for files. check_peers.sh BUILD CUPTIS ROUNDS [VERSION...]
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
here=$(dirname "$0")
build=$(realpath "$1")
cuptis=$2
rounds=$3
shift 3
work=$(mktemp -d "${TMPDIR:-/tmp}/check-peers-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
AT_ONCE=4
# shellcheck source=tests/agent/cupti_case.inc
. "$here/cupti_case.inc"

# The user's profiler: linked with this version, two of them; one that looks calls up by name.
make_tools() {
	tools=$work/$version.tools
	mkdir -p "$tools"
	for name in linked_a linked_b named; do
		linked=()
		[ "$name" = named ] || linked=(-DPEER_LINKED "$library" "-Wl,-rpath,$(dirname "$library")")
		${CC:-gcc} -std=c11 -D_GNU_SOURCE -O1 -fPIC -shared -o "$tools/lib$name.so" "$here/cupti_peer_tool.c" \
			"${linked[@]}" -ldl || return 1
	done
}

# Runs in turn: each WAIT is reached, then a state of the ring, then a request; the program goes on.
peers() { # peers TOOL ACTION...: with the agent, in the background
	tool=$1
	shift
	with_agent CUPTI_PEER_LIBRARY="$library" CUPTI_PEER_A="$tools/lib$tool.so" \
		CUPTI_PEER_B="$tools/liblinked_b.so" "$build/programs/cupti_peers" "$@" &
	program=$!
}

peers_alone() { # peers_alone TOOL ACTION...: the same without the agent
	tool=$1
	shift
	timeout 60 env LD_LIBRARY_PATH="$build/doubles/null" CUPTI_PEER_LIBRARY="$library" \
		CUPTI_PEER_A="$tools/lib$tool.so" CUPTI_PEER_B="$tools/liblinked_b.so" \
		"$build/programs/cupti_peers" "$@" >"$case/alone" 2>&1
}

# The program goes on when the agent is in that state.
goes_on_at() { # goes_on_at STATE FILE
	wait_for_line "wait:$2"
	wait_for_state "$1"
	claim $? "$version, $title: state $(state) instead of $1"
	touch "$2"
}

# The profile is complete and the same as without us.
ends_alike() { # ends_alike N-PROFILES TOOL ACTION...
	n_profiles=$1
	shift
	wait $program
	[ $? -eq 7 ]
	claim $? "$version, $title: its exit status"
	peers_alone "$@"
	cmp -s "$case/alone" "$case/output"
	claim $? "$version, $title: $(tr '\n' ' ' <"$case/output"), alone $(tr '\n' ' ' <"$case/alone")"
	[ "$(grep -c '^count:.*=100$' "$case/output")" -eq "$n_profiles" ]
	claim $? "$version, $title: $n_profiles profiles of 100 marks: $(tr '\n' ' ' <"$case/output")"
}

names_owner() { # names_owner NAME
	strings "$rings"/*.ring | grep -q "$1"
	claim $? "$version, $title: the ring says whose CUPTI it was"
}

begin_peers() { # begin_peers TITLE
	title=$1
	begin_case "$(echo "$1" | tr -c 'a-z0-9\n' -)-$round"
	go=$case/go
}

# ---- cases -----------------------------------------------------------------------------------------------

# A tool that is loaded before CUDA or a moment before its first call, while we collect.
while_we_collect() { # while_we_collect TOOL HOW early|late STATE OWNER
	begin_peers "$1 $2 $3"
	actions=(cuda "wait:$go" load:a)
	[ "$3" = late ] || actions=(load:a cuda "wait:$go")
	actions+=("begin:a:$2" marks end:a count:a "begin:a:$2" marks end:a count:a "wait:$go.done")
	peers "$1" "${actions[@]}"
	goes_on_at $OPEN "$go"
	goes_on_at "$4" "$go.done"
	ends_alike 2 "$1" "${actions[@]}"
	names_owner "$5"
}

# A tool that has CUPTI before CUDA starts keeps it: we stand aside and do not fail.
before_us() { # before_us TOOL HOW STATE PROFILES
	begin_peers "before us: $1 $2"
	actions=(load:a "begin:a:$2" cuda "wait:$go" marks end:a count:a)
	peers "$1" "${actions[@]}"
	goes_on_at "$3" "$go"
	ends_alike "$4" "$1" "${actions[@]}"
}

# Two tools before us: they share CUPTI, or the second is refused as it is without us.
two_before_us() { # two_before_us HOW STATE PROFILES
	begin_peers "two before us: $1"
	actions=(load:a load:b "begin:a:$1" "begin:b:$1" cuda "wait:$go" marks end:a count:a end:b count:b)
	peers linked_a "${actions[@]}"
	goes_on_at "$2" "$go"
	ends_alike "$3" linked_a "${actions[@]}"
}

# A tool begins between two windows; a window that is asked for and over does not disturb it.
across_windows() { # across_windows TOOL HOW STATE STATE-AFTER
	begin_peers "across windows: $1 $2"
	actions=(cuda "wait:$go.1" load:a "begin:a:$2" "wait:$go.2" marks "wait:$go.3" end:a count:a)
	peers "$1" "${actions[@]}"
	wait_for_state $OPEN
	request $WANTS_IDLE
	goes_on_at $IDLE "$go.1"
	wait_for_line "wait:$go.2"
	request $WANTS_EVENTS
	goes_on_at "$3" "$go.2"
	wait_for_line "wait:$go.3"
	request $WANTS_IDLE
	goes_on_at "$4" "$go.3"
	ends_alike 1 "$1" "${actions[@]}"
}

# Another tool switches CUPTI off altogether while we collect, and begins anew.
finalized() {
	begin_peers "finalize"
	actions=(cuda "wait:$go" load:a begin:a:subscribe marks end:a count:a finalize begin:a:subscribe marks end:a count:a)
	peers named "${actions[@]}"
	goes_on_at $OPEN "$go"
	ends_alike "$1" named "${actions[@]}"
}

# ... or while we have it: the program goes on.
finalized_under_us() {
	begin_peers "finalize under us"
	peers named cuda "wait:$go" finalize "wait:$go.done" load:a begin:a:subscribe
	goes_on_at $OPEN "$go"
	wait_for_line "wait:$go.done"
	touch "$go.done"
	wait $program
	[ $? -eq 7 ]
	claim $? "$version, $title: the program goes on: $(tr '\n' ' ' <"$case/output")"
}

check_round() {
	while_we_collect linked_a subscribe early $BACKOFF liblinked_a.so
	while_we_collect linked_a subscribe late $BACKOFF liblinked_a.so
	while_we_collect linked_a take early $TAKEOVER liblinked_a.so
	while_we_collect linked_a take late $TAKEOVER liblinked_a.so
	while_we_collect named subscribe late $BACKOFF libnamed.so
	while_we_collect named subscribe early $BACKOFF libnamed.so
	while_we_collect named take late $TAKEOVER libnamed.so
	before_us linked_a subscribe $BACKOFF 1
	before_us named subscribe $BACKOFF 1
	two_before_us subscribe $BACKOFF 1
	across_windows linked_a subscribe $BACKOFF $BACKOFF
	across_windows named subscribe $BACKOFF $BACKOFF
	across_windows linked_a take $TAKEOVER $TAKEOVER
	finalized 2
	finalized_under_us
	[ "$number" -lt 130000 ] || {
		while_we_collect named exclusive late $BACKOFF cupti_peer
		before_us named exclusive $BACKOFF 1
	}
	check_sharing
}

# Tools that share CUPTI. 13.2 gives them no records of marks, with or without us, and refuses them
# in every process in which a tool that does not share has collected before, so there only those
# before us are tried.
check_sharing() {
	if [ "$number" -ge 130300 ]; then
		while_we_collect named shared late $BACKOFF cupti_peer
		before_us named shared $BACKOFF 1
		two_before_us shared $BACKOFF 2
		across_windows named shared $BACKOFF $BACKOFF
	elif [ "$number" -ge 130200 ]; then
		before_us named shared $BACKOFF 0
		two_before_us shared $BACKOFF 0
	fi
}

check_version() {
	make_tools
	claim $? "$version: the tools are made"
	for round in $(seq "$rounds"); do
		check_round
	done
	echo "$n_passed $n_failed" >"$work/$version.counts"
}

each_version "$@"
sum_up peers
