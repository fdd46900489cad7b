#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For calls in each order the double of CUPTI returns the results of NVIDIA's own library of that
# version (cupti_calls.txt, which check-cupti compares with the libraries). check_calls.sh BUILD
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
here=$(dirname "$0")
build=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/check-calls-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

returns_as_told() { # returns_as_told NUMBER CALL=RESULT...
	number=$1
	shift
	echo "version $number" >"$work/script"
	printf '%s\n' "$@" >"$work/expected"
	# shellcheck disable=SC2046 # words
	env LD_LIBRARY_PATH="$build/doubles" CUPTI_SCRIPT="$work/script" "$build/programs/cupti_calls" \
		"$build/doubles/whole/libcupti.so.13" $(sed 's/=.*//' "$work/expected") >"$work/output" 2>&1
	cmp -s "$work/expected" "$work/output"
	claim $? "as $number: $(tr '\n' ' ' <"$work/output")"
}

grep -v '^#' "$here/cupti_versions.txt" >"$work/versions"
grep -v '^#' "$here/cupti_calls.txt" >"$work/calls"
while read -r _ _ number; do
	while read -r since until calls; do
		[ "$number" -ge "$since" ] && [ "$number" -le "$until" ] || continue
		# shellcheck disable=SC2086 # words
		returns_as_told "$number" $calls
	done <"$work/calls"
done <"$work/versions"
sum_up calls
