#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No function or variable is visible in more files than need it: one that only its own file uses is
# static. Uses in tests do not count. singleuse.sh BUILD_DIRECTORY
# Exceptions are in singleuse.allow: NAME REASON.
set -u
build=$1
allow=$(dirname "$0")/singleuse.allow
find "$build/obj" -name '*.o' | sort | while read -r object; do
	# Objects of deleted files may still exist.
	source=src/${object#"$build"/obj/}
	[ -e "${source%.o}.c" ] && nm -A -g "$object"
done | awk -v allow="$allow" '
BEGIN {
	while ((getline line < allow) > 0) {
		split(line, words, " ")
		if (line !~ /^#/ && line != "")
			allowed[words[1]] = 1
	}
}
{
	file = $1
	sub(/:.*/, "", file)
	kind = $(NF - 1)
	name = $NF
	if (kind == "U")
		used[name] = 1
	else if (kind ~ /^[TDBRVW]$/ && name != "main")
		where[name] = file
}
END {
	for (name in where) {
		if (name in used || name in allowed) {
			n_passed++
			continue
		}
		if (name ~ /^(__|_GLOBAL)/)
			continue # symbols of the sanitizers
		printf "%s: %s is used nowhere else\n", where[name], name
		n_failed++
	}
	for (name in allowed) {
		if (name in where && name in used) {
			printf "singleuse.allow: %s is used by now\n", name
			n_failed++
		}
	}
	printf "singleuse: %d passed, %d failed, 0 skipped\n", n_passed, n_failed
	exit n_failed > 0
}'
