#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests trainprof on a real GPU: verify.sh OUT [RUN | PHASE...]
# RUN is 1, 2 or 3: its phases, in eight minutes at most. Each phase of phases.txt, or each named
# one, has a time limit and prints one line of JSON, which is appended to OUT/results.jsonl at once,
# in any case: a run that is cut has reported its results so far. Files that a phase leaves in its
# folder go compressed into OUT/details.tar, as long as that is small. No setting of the GPU is
# changed. docs/gpu-results/README.md explains the lines.
# VERIFY_SMALL=1: little work, for machines without a GPU; VERIFY_PHASES: another table;
# VERIFY_DETAILS=BYTES: maximum size of details.tar
set -u
[ $# -ge 1 ] || { echo "usage: $0 OUT [RUN | PHASE...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" || exit 2
VERIFY_OUT=$(cd "$1" && pwd)
export VERIFY_OUT
shift
phases=${VERIFY_PHASES:-$here/phases.txt}
most_bytes=${VERIFY_DETAILS:-16000000}
most_file_bytes=4000000
results=$VERIFY_OUT/results.jsonl
scratch=$(mktemp -d "${TMPDIR:-/tmp}/verify-XXXXXX") || exit 2
session=
trap 'rm -rf "$scratch"' EXIT
trap 'end_session; exit 143' INT TERM HUP
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
# If CUPTI comes only with Python's packages; the loader's own comes first.
wheel=$(python3 "$here/find_cupti.py")
[ -z "$wheel" ] || export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$wheel"

# Kills all that a phase has started and left: its whole session and nothing else.
end_session() {
	[ -n "$session" ] || return 0
	for stat in /proc/[0-9]*/stat; do
		# The name may contain anything; the fields follow the last parenthesis.
		rest=$(sed 's/.*) //' "$stat" 2>/dev/null) || continue
		# shellcheck disable=SC2086 # fields: state, parent, group, session
		set -- $rest
		pid=${stat#/proc/}
		[ "${4:-}" = "$session" ] && kill -9 "${pid%/stat}" 2>/dev/null
	done
	session=
}

# keep FOLDER: compresses small files of a phase into the details
keep() {
	find "$1" -maxdepth 1 -type f \( -name '*.json' -o -name '*.log' -o -name '*.tsv' \) -size "-${most_file_bytes}c" |
		while read -r file; do
			gzip -c "$file" >"$file.gz"
			size=$(($(wc -c <"$file.gz") + 2048))
			have=$(wc -c 2>/dev/null <"$VERIFY_OUT/details.tar" || echo 0)
			[ $((have + size)) -le "$most_bytes" ] || continue
			tar -rf "$VERIFY_OUT/details.tar" -C "$scratch" "$(basename "$1")/$(basename "$file").gz"
		done
}

# phase NAME SECONDS EXPERIMENTS COMMAND...
phase() {
	name=$1 seconds=$2 experiments=$3
	shift 3
	VERIFY_WORK=$scratch/$name
	export VERIFY_WORK
	mkdir -p "$VERIFY_WORK"
	begun=$(date -u +%s.%N)
	(cd "$here" && exec setsid timeout -k 2 "$seconds" "$@") >"$VERIFY_WORK/told" 2>"$VERIFY_WORK/$name.log" </dev/null &
	session=$!
	wait $session
	status=$?
	end_session
	python3 "$here/result_line.py" "$name" "$experiments" "$seconds" "$begun" "$status" "$VERIFY_WORK/told" \
		"$VERIFY_WORK/$name.log" >>"$results"
	keep "$VERIFY_WORK"
	rm -rf "$VERIFY_WORK"
	tail -n 1 "$results" | cut -c 1-160
}

while read -r name run seconds experiments command <&3; do
	case $name in '' | '#'*) continue ;; esac
	case "$*" in
	[0-9]) [ "$run" = 0 ] || [ "$run" = "$1" ] || continue ;;
	*) case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac ;;
	esac
	# shellcheck disable=SC2086 # words
	phase "$name" "$seconds" "$experiments" $command
done 3<"$phases"
