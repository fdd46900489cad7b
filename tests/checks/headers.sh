#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone and declares something itself; include/ contains exactly the headers
# that another folder includes. CC is the compiler. Run from the top of the tree.
set -u
cc=${CC:-gcc}
n_passed=0
n_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/headers-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

fail() {
	echo "$1"
	n_failed=$((n_failed + 1))
}

# One compiler run for all headers: the first error of each is shown, and there is only one
# start-up.
alone() {
	for header in $(find include src -name '*.h' | sort); do
		unit=$work/$(echo "$header" | tr / _).c
		printf '#include "%s"\n' "$PWD/$header" >"$unit"
	done
	$cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Wall -Wextra -Werror -fsyntax-only "$work"/*.c 2>"$work/errors"
	for header in $(find include src -name '*.h' | sort); do
		unit=$(echo "$header" | tr / _).c
		if grep -q "/$unit:\|/$header:[0-9]*:[0-9]*: error" "$work/errors"; then
			grep "/$header:" "$work/errors" | head -3
			fail "$header does not compile alone"
		elif ! grep -v '^[[:space:]]*#' "$header" | grep -q '[;{]'; then
			fail "$header says nothing itself"
		else
			n_passed=$((n_passed + 1))
		fi
	done
	[ -s "$work/errors" ] && [ "$n_failed" -eq 0 ] && cat "$work/errors" && fail "headers do not compile"
}

# A public header is one that another folder includes.
doors() {
	# shellcheck disable=SC2046 # one word a file
	grep -H '^#include "trainprof/' $(find src include -name '*.[ch]') |
		sed 's,^\(src\|include/trainprof\)/\([a-z_]*\)[^:]*:#include "trainprof/\([^"]*\)".*,\2 \3,' |
		sort -u >"$work/uses"
	for header in include/trainprof/*/*.h; do
		name=${header#include/trainprof/}
		if awk -v name="$name" '$2 == name && index(name, $1 "/") != 1 { found = 1 } END { exit !found }' "$work/uses"; then
			n_passed=$((n_passed + 1))
		else
			fail "$header is a door that nobody goes through: it belongs beside its .c"
		fi
	done
}

alone
doors
echo "headers: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
