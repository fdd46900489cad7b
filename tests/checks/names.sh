#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file name is used for one subject: one stem, one floor (a .c, its header, its test); and it has
# a meaning. Run from the top of the tree.
set -u
{
	find src include -name '*.[ch]'
	find tests docs -name '*.c' -o -name '*.sh' -o -name '*.md' | grep -v '/unit/\|/data/\|/seeds/'
} | grep -v '/README.md$' | awk '
{
	n = split($0, parts, "/")
	file = parts[n]
	folder = parts[1] == "include" ? parts[3] : parts[2]
	# mirror.sh checks tests/unit; programs are users, with their own names.
	if ($0 ~ /^tests\/programs\//)
		next
	stem = file
	sub(/\.[a-z]*$/, "", stem)
	n_seen++
	if (stem ~ /^(utils?|common|helpers?|misc|stuff|tools?|lib|various|general|core|types|defs|global|base)$/) {
		print $0 ": the name says nothing"
		n_failed++
	} else if (stem in folders && folders[stem] != folder && file !~ /\.md$/ && seen[stem] !~ /\.md$/) {
		print $0 ": the name is taken by " seen[stem]
		n_failed++
	}
	if (file !~ /^[a-z0-9_]+\.[a-z0-9]+$/ && file !~ /\.md$/) {
		print $0 ": names are lower case with underscores"
		n_failed++
	}
	folders[stem] = folder
	seen[stem] = $0
}
END {
	printf "names: %d passed, %d failed, 0 skipped\n", n_seen - n_failed, n_failed
	exit n_failed > 0
}'
