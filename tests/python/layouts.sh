#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Generates the rows of src/stack/python/py_layouts.inc from the headers of the installed
# interpreters, or compares them: layouts.sh print|check. Headers are those of pyenv, of Debian, and
# in PYTHON_HEADERS.
set -u
here=$(dirname "$0")
table=$here/../../src/stack/python/py_layouts.inc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_passed=0
n_failed=0
n_skipped=0

row_of() { # row_of COMPILER INCLUDE_DIRECTORY: a row of the table
	"$1" -std=gnu11 -O1 -w -I"$2" -I"$2/.." -S -o "$work/layout.s" "$here/layout_of.c" 2>"$work/log" || return 1
	sed -n 's/^->\([a-z_.]*\) = [$#]*\([0-9]*\)$/\1 \2/p' "$work/layout.s" | awk '
		$1 == "minor" {minor = $2}
		{printf "%s.%s = %s,", NR == 1 ? "\t{" : NR % 4 == 1 ? "\n\t " : " ", $1, $2}
		END {print "},"}'
}

minor_of() { # minor_of INCLUDE_DIRECTORY
	sed -n 's/^#define PY_MINOR_VERSION[[:space:]]*\([0-9]*\).*/\1/p' "$1/patchlevel.h"
}

headers() {
	for directory in ${PYTHON_HEADERS:-} /usr/include/python3.* "$HOME"/.pyenv/versions/3.*/include/python3.* \
		/root/.pyenv/versions/3.*/include/python3.*; do
		[ -e "$directory/internal/pycore_pystate.h" ] || continue
		minor=$(minor_of "$directory")
		[ "${minor:-0}" -ge 8 ] && echo "$minor $directory"
	done | sort -n -u
}

committed_row() { # committed_row MINOR
	awk -v minor="$1" '/^\t\{/ {row = ""} {row = row $0 "\n"} /\},$/ && index(row, "{.minor = " minor ",") {printf "%s", row}' "$table"
}

check_one() { # check_one COMPILER MINOR DIRECTORY
	if ! row_of "$1" "$3" >"$work/row"; then
		n_skipped=$((n_skipped + 1))
		echo "skipped: $1 cannot use $3: $(grep -m1 error "$work/log")"
	elif committed_row "$2" | cmp -s - "$work/row"; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
		echo "3.$2: $1 with $3 says otherwise than $table:"
		committed_row "$2" | diff - "$work/row"
	fi
}

case ${1:-check} in
print)
	headers | sort -n -u -k1,1 | while read -r minor directory; do
		row_of "${CC:-gcc}" "$directory" || cat "$work/log" >&2
	done
	;;
check)
	headers >"$work/headers"
	while read -r minor directory; do
		check_one "${CC:-gcc}" "$minor" "$directory"
		if command -v aarch64-linux-gnu-gcc >/dev/null; then
			check_one aarch64-linux-gnu-gcc "$minor" "$directory"
		fi
	done <"$work/headers"
	echo "layouts: $n_passed passed, $n_failed failed, $n_skipped skipped"
	[ "$n_failed" -eq 0 ]
	;;
esac
