#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loop shapes against the number of steps that the program counts itself: check_loops.sh BUILD [SHAPE...].
# LENGTHS="20" milliseconds, STEPS=100, PYTHONS="python3". Prints a table; no gate: it measures running programs.
set -u
here=$(dirname "$0")
trainprof=$1/trainprof
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=${STEPS:-100}
n=0
n_right=0
n_none=0
shapes=${*:-$(python3 "$here/python/loops.py" --list)}
for python in ${PYTHONS:-python3}; do
	for length in ${LENGTHS:-20}; do
		for shape in $shapes; do
			rm -rf "$work/run"
			told=$("$trainprof" run -q -o "$work/run" -- "$python" "$here/python/loops.py" "$shape" "$steps" \
				"$length" 2>/dev/null | sed -n 's/^steps //p')
			"$trainprof" report --json "$work/run" >"$work/json" 2>/dev/null
			found=$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["steps"]
print(d.get("total_count") or 0)' "$work/json" 2>/dev/null)
			found=${found:-0}
			n=$((n + 1))
			off=$((found - ${told:-0}))
			off=${off#-}
			word=wrong
			if [ "$found" -eq 0 ]; then
				word=none
				n_none=$((n_none + 1))
			elif [ "$off" -le 1 ] || [ $((off * 100)) -le "${told:-0}" ]; then
				word=right
				n_right=$((n_right + 1))
			fi
			printf '%-28s %4s ms %5s steps %5s found  %s\n' "$shape" "$length" "${told:-?}" "$found" "$word"
		done
	done
done
echo "loops: $n_right of $n right, $n_none without steps"
