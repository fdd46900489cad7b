#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The printed pages of recorded runs agree with the facts in their own JSON: imported traces and the
# published cases and healthy runs of tests/cases. check_truth.sh TRAINPROF TRACES
set -u
trainprof=$1
traces=$2
here=$(dirname "$0")
command -v python3 >/dev/null || {
	echo 'truth: 0 passed, 0 failed, 1 skipped'
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/truth-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
status=0
fail() {
	echo "failed: $1"
	status=1
}
python3 "$here/made_trace.py" "$work/made.json"
for trace in "$work/made.json" "$traces"/*.gz "$traces"/*.sqlite; do
	[ -e "$trace" ] || continue
	name=$(basename "$trace")
	"$trainprof" import -q -o "$work/${name%%.*}" "$trace" >/dev/null || fail "$name: not imported"
done
"$trainprof" report "$work/made" | grep -q 'judged 60.0 ms of 1.26 s' ||
	fail 'made: what of the trace was judged is not on the page'
# shellcheck disable=SC2046 # names without spaces
set -- $(find "$work" -mindepth 1 -maxdepth 1 -type d | sort)
python3 "$here/truth.py" "$trainprof" "$here/../../rules" "$@" "$here"/../cases/*.json || status=1
exit "$status"
