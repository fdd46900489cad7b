# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Windows of GPU tracing: their cost for a program is measured, and stays below --max-overhead. The
# program is slower by a known factor while it is traced, and prints the length of each step.
. "$CASES/run.inc"
export NVML_SCRIPT="$PWD/script"
printf 'devices 1\nname NVIDIA H200\nawake 50\n' >script
# Any file: the driver would load it, and there is no driver.
: >agent.so
export TRAINPROF_AGENT="$PWD/agent.so"

# windowed NAME FACTOR BUDGET STEPS: steps of 21 ms that are FACTOR times as long while traced. At
# five percent the second window begins at most 28 s after the first step.
windowed() {
	SLOWED=$2 PERIOD=21 LD_LIBRARY_PATH=$BUILD/doubles/whole trainprof run -q --force --summary=none \
		--gpu-trace=windows --max-overhead="$3" -o "$1" -- \
		"$BUILD/programs/gpu_script" "$4" 0 2 9 0 1 >"$1.truth"
	said $? >"$1.status"
	trainprof report --format=json "$1" | tr -d ' \n' >"$1.json"
}

# fact NAME FACT: its value in the report and, if it has one, its 95 % interval
fact() {
	grep -o "\"$2\":{[^}]*" "$1.json" |
		sed 's/.*"value":\([^,]*\),/\1 /; s/"ci95":\[\([^,]*\),\([^]]*\)\].*/\1 \2/; s/"origin.*//'
}

# warmup NAME: number of warm-up steps
warmup() {
	sed 's/.*"excluded_warmup":\([0-9]*\).*/\1/' "$1.json"
}

# has_sides NAME: every window has steady steps on both sides
has_sides() {
	grep -o '"windows.cost_ratio":{[^}]*' "$1.json" | grep -q '"coverage_ratio":1$'
}

# cost_row NAME: the source's text about its windows
cost_row() {
	trainprof report --full "$1" | tr -s ' \n' ' ' | grep -o 'traced in [0-9]* windows*, [0-9.]* % of the time, which cost [^;)]*'
}

# compared TRIES NAME FACTOR BUDGET STEPS: the same, repeated until windows have steps for
# comparison, during the run and in the report. If other programs slow down the first seconds, these
# are warm-up.
compared() {
	tries=$1
	shift
	for _ in $(seq "$tries"); do
		windowed "$@"
		has_sides "$1" && cost_row "$1" >/dev/null && return
	done
}

# judged NAME FACTOR BUDGET: compares the planted cost with the budget, and the report's cost with
# the program's own clock: the extra time of the steps from 0.2 s before a window to 0.3 s after it,
# against 200 on either side, without warm-up. Other programs add to both in the same way, so they
# differ by at most a fiftieth and 0.02 % of the run.
judged() {
	cat "$1.status"
	awk -v said="$(fact "$1" windows.cost_ratio)" -v warmup="$(warmup "$1")" -v factor="$2" -v most="$3" '
		function size(x) {
			return x < 0 ? -x : x
		}
		function sum(from, to) {
			return at[to] - at[from]
		}
		function loss(first, behind,   begin, end, before, after) {
			for (begin = first; begin > 1 && at[begin] > at[first] - 200e6; begin--)
				;
			for (end = behind; end < NR && at[end] < at[behind] + 300e6; end++)
				;
			before = begin > warmup + 200 ? begin - 200 : warmup + 1
			after = end + 200 < NR ? end + 200 : NR
			usual = (sum(before, begin) / (begin - before) + sum(end, after) / (after - end)) / 2
			return sum(begin, end) - (end - begin) * usual
		}
		{ at[NR] = $14; at[NR + 1] = $14 + $10; is_traced[NR] = $12; n += $12 }
		END {
			for (i = 1; i <= NR; i++) {
				if (is_traced[i] && !is_traced[i - 1])
					first = i
				if (!is_traced[i] && is_traced[i - 1])
					lost += loss(first, i)
			}
			wall = at[NR + 1]
			planted = n * 21e6 * (factor - 1) / wall
			print "cost", (planted <= most ? "within the budget" : "is " planted " of " most)
			truth = lost / wall
			fine = split(said, figure, " ") == 3 && figure[2] <= figure[1] && figure[1] <= figure[3] &&
				size(figure[1] - truth) <= 0.0002 + 0.02 * size(truth)
			print "cost", (fine ? "as the program saw it" : "said to be " said " where it was " truth)
		}' "$1.truth"
	cost_row "$1" | sed 's/[0-9][0-9.e+-]*/N/g; s/ -N/ N/; s/windows/window/'
}

compared 3 five 2 5% 1620 &
compared 5 one 1.5 1% 860 &
wait
echo "-- twice as long while traced, five percent allowed"
judged five 2 0.05
trainprof report five | grep -o 'and GPU tracing -*[0-9]' | sed 's/-*[0-9]/N/'
[ "$(fact five windows.count)" -ge 2 ] && echo "more than one window"
echo "-- half as long again, one percent allowed"
judged one 1.5 0.01
