#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares step counts of loop shapes with the program's own count: check_loops.sh BUILD [SHAPE...].
# LENGTHS="20" milliseconds, STEPS=100, PYTHONS="python3". Prints a table; a wrong count that is
# called exact is "false". KEEP=DIR keeps the recordings that are not right. No gate: it measures
# running programs.
set -u
here=$(dirname "$0")
build=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=${STEPS:-100}
in_c=$("$build/programs/native_loops" --list)
shapes=${*:-$(python3 "$here/python/loops.py" --list) $in_c}
[ "$shapes" = native ] && shapes=$in_c

# cell SHAPE LENGTH COMMAND...
cell()
{
	shape=$1
	length=$2
	shift 2
	rm -rf "$work/run"
	"$build/trainprof" run -q -o "$work/run" -- "$@" "$shape" "$steps" "$length" >"$work/out" 2>/dev/null
	"$build/trainprof" report --json "$work/run" >"$work/json" 2>/dev/null
	line=$(python3 "$here/python/judge_steps.py" "$shape" "$length" "$work/out" "$work/json")
	echo "$line" | tee -a "$work/table"
	case $line in
	*right) ;;
	*) [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && mv "$work/run" "$KEEP/$shape-$length"; } ;;
	esac
}

for length in ${LENGTHS:-20}; do
	for shape in $shapes; do
		case " $(echo $in_c) " in
		*" $shape "*) cell "$shape" "$length" "$build/programs/native_loops" ;;
		*)
			for python in ${PYTHONS:-python3}; do
				cell "$shape" "$length" "$python" "$here/python/loops.py"
			done
			;;
		esac
	done
done
awk '{ n[$NF]++ } END { printf "loops: %d of %d right, %d without steps, %d wrong counts called exact\n",
	n["right"], NR, n["none"], n["false"] }' "$work/table"
