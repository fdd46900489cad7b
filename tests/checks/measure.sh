#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the sizes of the program, of files and of functions; checks nothing. measure.sh BINARY
set -u
sources=$(find src include -name '*.[ch]' | sort)
# shellcheck disable=SC2086 # one word a file
cat $sources | wc -l | xargs echo 'lines of src and include:'
find tests \( -name '*.[ch]' -o -name '*.sh' \) -exec cat {} + | wc -l | xargs echo 'lines of tests:'
[ ! -e "$1" ] || size "$1" | awk 'NR == 2 { print "program: " $1 " bytes of code, " $2 + $3 " of data" }'
echo 'longest files:'
# shellcheck disable=SC2086
wc -l $sources | sort -rn | sed -n '2,11s/^ */  /p'
echo 'longest functions:'
# A function begins with { and ends with } in the first column; its name is in the lines before.
# shellcheck disable=SC2086
awk '
FNR == 1 { name = "" }
/^[a-z].*[(]/ && !/;$/ { name = $0; sub(/[(].*/, "", name); sub(/.*[ *]/, "", name) }
/^[{]/ { start = FNR }
/^[}]$/ && start { printf "%d %s %s\n", FNR - start - 1, name, FILENAME; start = 0 }' $sources |
	sort -rn | awk '
	{ length_of[NR] = $1 }
	NR <= 10 { printf "  %4d %s (%s)\n", $1, $2, $3 }
	END { printf "functions: %d, median %d, 90 %% up to %d lines\n", NR, length_of[int((NR + 1) / 2)], length_of[int(NR / 10) + 1] }'
