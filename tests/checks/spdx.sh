#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every source file says its licence, in its first line or after "#!": "SPDX-License-Identifier: ID", where ID is
# that of LICENSE. spdx.sh [--fix]: adds the line where it is missing. Run from the top of the tree.
set -u
n_failed=0
if ! grep -q 'Apache License' LICENSE || ! grep -q 'Version 2\.0' LICENSE; then
	echo "LICENSE is not what tests/checks/spdx.sh knows: name its identifier there"
	exit 1
fi
id=Apache-2.0
tag="SPDX-License-Identifier: $id"

sources() {
	find src include tests docs .ci Makefile -type f \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' -o -name '*.sh' \
		-o -name '*.awk' -o -name '*.py' -o -name Makefile -o -path .ci/run \) \
		-not -path 'tests/data/*' -not -path 'tests/fuzz/seeds/*' -not -path '*/__pycache__/*' | sort
}

# line_of FILE: sets line, in the comment syntax of the file's language. Shell includes are .inc,
# too.
line_of() {
	case $1 in
	src/*.inc | include/*.inc | *.[ch] | *.def) line="/* $tag */" ;;
	*) line="# $tag" ;;
	esac
}

# missing: prints the files without it, from the list on standard input.
missing() {
	while IFS= read -r file; do
		line_of "$file"
		printf '%s\t%s\n' "$file" "$line"
	done | awk -F '\t' '
{
	first = second = ""
	if ((getline first <$1) > 0)
		(getline second <$1)
	close($1)
	if (first != $2 && !(first ~ /^#!/ && second == $2))
		print $1
}'
}

# fix FILE LINE: its mode does not change.
fix() {
	rest=$(mktemp) || exit 2
	cp -p "$1" "$1.new" # this script may be among the files: its old text has to stay while it runs
	cat "$1" >"$rest"
	case $(head -c 2 "$1") in
	'#!')
		{
			head -n 1 "$rest"
			echo "$2"
			tail -n +2 "$rest"
		} >"$1.new"
		;;
	*)
		{
			echo "$2"
			cat "$rest"
		} >"$1.new"
		;;
	esac
	mv "$1.new" "$1"
	rm -f "$rest"
}

list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
n_all=$(sources | wc -l)
sources | missing >"$list"
while IFS= read -r file; do
	line_of "$file"
	if [ "${1-}" = --fix ] && ! head -n 2 "$file" | grep -q '^[#/* ]*SPDX-License-Identifier'; then
		fix "$file" "$line"
		echo "$file: added"
		continue
	fi
	echo "$file: the first line (the second after #!) must be '$line': tests/checks/spdx.sh --fix"
	n_failed=$((n_failed + 1))
done <"$list"
echo "spdx: $((n_all - n_failed)) passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
