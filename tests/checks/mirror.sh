#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/unit mirrors src: src/FLOOR/ROOM/FILE.c has tests/unit/FLOOR/ROOM/test_FILE.c and vice
# versa; a header without a source, include/trainprof/FLOOR/FILE.h, may have a test, too.
# Exceptions are in mirror.allow: PATTERN REASON. Run from the top of the tree.
set -u
allow=$(dirname "$0")/mirror.allow
n_passed=0
n_failed=0

is_allowed() {
	while read -r pattern reason; do
		case $pattern in '' | '#'*) continue ;; esac
		# The pattern is one on purpose.
		# shellcheck disable=SC2254
		case $1 in $pattern) [ -n "$reason" ] && return 0 ;; esac
	done <"$allow"
	return 1
}

for source in $(find src -mindepth 2 -name '*.c' | sort); do
	folder=${source%/*}
	test=tests/unit/${folder#src/}/test_${source##*/}
	if [ -e "$test" ] || is_allowed "$source"; then
		n_passed=$((n_passed + 1))
	else
		echo "$source has no $test"
		n_failed=$((n_failed + 1))
	fi
done
for test in $(find tests/unit -name 'test_*.c' | sort); do
	folder=${test%/*}
	name=${test##*/test_}
	source=src/${folder#tests/unit/}/$name
	header=include/trainprof/${source#src/}
	if [ -e "$source" ] || [ -e "${header%.c}.h" ]; then
		n_passed=$((n_passed + 1))
	else
		echo "$test tests nothing: no $source"
		n_failed=$((n_failed + 1))
	fi
done
echo "mirror: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
