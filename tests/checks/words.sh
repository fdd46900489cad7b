#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names of functions and files in src/ and include/ consist of words that a C programmer knows: those of
# words/ordinary.txt and those of words/field_terms.txt, which have a meaning there; regular endings are allowed.
# No struct, union or enum is defined twice, and no folder of code holds more than 40 files.
# Run from the top of the tree.
set -u
words=$(dirname "$0")/words
code=$(find src include -name '*.[ch]' | sort)

{
	# shellcheck disable=SC2086 # one word a file
	grep -nE '^[a-z][a-zA-Z0-9_ *]*[ *][a-z_0-9]+\(' $code /dev/null |
		sed 's/^\([^:]*\):\([0-9]*\):\([^(]*[ *]\)\([a-z_0-9]*\)(.*/function \1:\2 \4/'
	# shellcheck disable=SC2086
	grep -nE '^(struct|union|enum) [a-z_0-9]+ \{' $code /dev/null |
		sed 's/^\([^:]*\):\([0-9]*\):[a-z]* \([a-z_0-9]*\) .*/tag \1:\2 \3/'
	for file in $code; do
		name=${file##*/}
		echo "file $file:1 ${name%.*}"
		echo "folder ${file%/*}"
	done
	find tests/unit -type f | sed 's,/[^/]*$,,; s/^/folder /'
} | awk -v ordinary="$words/ordinary.txt" -v terms="$words/field_terms.txt" '
function fail(place, what, mend) {
	printf "%s: %s\n    %s\n", place, what, mend
	n_failed++
}

# Adds "waits", "waited", "waiting", "waiter" for "wait"; the list has the word itself.
function is_known(word,   stem, i, n, endings, pair) {
	if (word in known)
		return 1
	n = split("ies/y ied/y ier/y ions/ ion/ ings/ ing/ ing/e ers/ er/ er/e ed/ ed/e es/ s/ d/ or/", endings, " ")
	for (i = 1; i <= n; i++) {
		split(endings[i], pair, "/")
		if (word !~ pair[1] "$")
			continue
		stem = substr(word, 1, length(word) - length(pair[1])) pair[2]
		if (length(stem) > 2 && (stem in known))
			return 1
		if (length(stem) > 3 && substr(stem, length(stem)) == substr(stem, length(stem) - 1, 1) && (substr(stem, 1, length(stem) - 1) in known))
			return 1
	}
	return 0
}

BEGIN {
	while ((getline line < ordinary) > 0)
		known[line] = 1
	while ((getline line < terms) > 0) {
		if (line ~ /^#/)
			continue
		split(line, parts, " ")
		if (parts[2] == "")
			fail(terms ":1", "\"" parts[1] "\" has no meaning", "say in half a line what it means")
		known[parts[1]] = 1
		n_terms++
	}
	if (n_terms > 150)
		fail(terms ":1", n_terms " terms, at most 150", "name functions by everyday words")
	MEND = "use a word of " ordinary ", or add a term of the field with its meaning to " terms
}

$1 == "folder" {
	n_files[$2]++
	next
}

$1 == "tag" {
	n_seen++
	if ($3 in tag)
		fail($2, $3 " is defined in " tag[$3] ", too", "give one of them another name")
	tag[$3] = $2
	next
}

{
	n_seen++
	n = split($3, parts, "_")
	for (i = 1; i <= n; i++) {
		word = parts[i]
		gsub(/[0-9]/, "", word)
		if (length(word) > 1 && word != "tp" && !is_known(word))
			fail($2, $1 " " $3 ": \"" word "\" is no known word", MEND)
	}
}

END {
	for (folder in n_files) {
		n_seen++
		if (n_files[folder] > 40)
			fail(folder, n_files[folder] " files, at most 40", "cut it into rooms")
	}
	printf "words: %d passed, %d failed, 0 skipped\n", n_seen - n_failed, n_failed
	exit n_failed > 0
}'
