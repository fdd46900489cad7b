#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Floors and rooms use only what the table in docs/architecture.md allows, by includes and by linked
# symbols; no files of a floor need each other in a circle; libraries are included only in the files
# that may use them.
# layers.sh BUILD_DIRECTORY; without it only includes are checked. Run from the top of the tree.
set -u
here=$(dirname "$0")

includes() {
	# shellcheck disable=SC2046 # one word a file
	grep -n '^[[:space:]]*#[[:space:]]*include' $(find src include -name '*.[ch]' | sort) /dev/null |
		sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/ /; s/:\([0-9]*\) / \1 include /'
}

# "src/base/buf.c 0 defines tp_buf_add", "src/base/text.c 0 uses tp_buf_add"
symbols() {
	[ -n "${1-}" ] || return
	# Objects of deleted files may still exist.
	find src -name '*.c' | sed "s,^src/\(.*\)c$,$1/obj/\1o," | xargs ls 2>/dev/null | xargs nm -A -g |
		sed "s,^$1/obj/\(.*\)o:[0-9a-f ]*,src/\1c ," |
		awk '$2 == "U" { print $1, 0, "uses", $3 }
			$2 ~ /^[TDBRV]$/ { print $1, 0, "defines", $3 }'
}

{
	sed -n '/^```layers$/,/^```$/p' docs/architecture.md | sed '/^```/d; s/^/TABLE /'
	symbols "$@" | sort -k 3,3
	includes
} | awk -f "$here/layers.awk"
