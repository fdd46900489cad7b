#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the bench's own arithmetic on cases calculated by hand. check_bench.sh DIRECTORY_OF_BENCH
set -u
bin=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/check-bench-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
n_passed=0
n_failed=0

claim() { # claim TEXT WANTED GOT
	if [ "$2" = "$3" ]; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
		printf 'failed: %s\n wanted: %s\n    got: %s\n' "$1" "$2" "$3"
	fi
}

# Two steps of 100 and 300 ns; clock zero 1000, so the truth's window is [5000, 5400).
write_truth() { # write_truth THREADS
	cat >"$work/truth.json" <<END
{"schema": "trainer-truth/1", "threads": $1, "steps": 2,
 "window": {"start_ns": 5000, "end_ns": 5400},
 "communication": {"wait_ns": 40, "transfer_ns": 20},
 "parts_ns": {"compute": 200, "communication": 60, "memory": 20, "dataloader": 80, "host": 40, "idle": 0},
 "runnable_ns": {"compute": 30, "communication": 5, "memory": 0, "dataloader": 7, "host": 10, "idle": 0},
 "per_step": {"start_ns": [0, 100], "runnable_ns": [0, 40],
  "compute": [50, 150], "communication": [0, 60], "memory": [20, 0], "dataloader": [20, 60],
  "host": [10, 30], "idle": [0, 0]}}
END
}

write_report() { # write_report START END COMPUTE COMMUNICATION MEMORY DATALOADER HOST IDLE
	cat >"$work/report.json" <<END
{"run": {"window": {"start_ns": $1, "end_ns": $2}},
 "partition": {"total_ns": $(($3 + $4 + $5 + $6 + $7 + $8)), "parts": [
 {"id": "dataloader", "time_ns": $6}, {"id": "compute", "time_ns": $3},
 {"id": "communication", "time_ns": $4}, {"id": "memory", "time_ns": $5},
 {"id": "host", "time_ns": $7}, {"id": "idle", "time_ns": $8}]}}
END
}

worst() {
	"$bin/points" "$@" "$work" "$work/truth.json" | awk '{ print $NF }'
}

echo '{"run": {"started_ns": "1000"}}' >"$work/manifest.json"
write_truth 1
# compute 200 - 30, host 40 - 10 and both queues idle: 170 60 20 80 30 40 of 400
write_report 4000 4400 1700 600 200 800 300 400
claim "what the truth says is no error" 0.00 "$(worst)"
write_report 4000 4400 1660 600 240 800 300 400
claim "40 of 4000 moved is one point" 1.00 "$(worst)"
write_report 0 9000 1700 600 200 800 300 400
claim "a window wider than the truth is the truth's" 0.00 "$(worst)"
# first step alone: 50 0 20 20 10 0, no queueing
write_report 4000 4100 50 0 20 20 10 0
claim "the truth is taken over the report's window" 0.00 "$(worst)"
# second half of the second step only: 75-15 30 0 30 15-5 20 of 150
write_report 4250 4400 60 30 0 30 10 20
claim "a step cut by the window counts in proportion" 0.00 "$(worst)"
write_report 4000 4400 1700 200 200 800 300 800
claim "--wait-as hands the wait over" 0.00 "$(worst --wait-as idle)"
cat >"$work/report.json" <<END
{"run": {"window": {"start_ns": 0, "end_ns": 9000}},
 "steps": {"series": {"start_ns": [4000, 4100], "duration_ns": [100, 300], "kinds": ["warmup", "steady"]}},
 "partition": {"of": "step", "total_ns": 300, "parts": [{"id": "compute", "time_ns": 120},
  {"id": "communication", "time_ns": 60}, {"id": "memory", "time_ns": 0},
  {"id": "dataloader", "time_ns": 60}, {"id": "host", "time_ns": 20}, {"id": "idle", "time_ns": 40}]}}
END
# the second step: 150 - 30, 60, 0, 60, 30 - 10 and 40 of queueing, of 300
claim "the truth is taken over the steady steps" 0.00 "$(worst)"
write_report 4000 4400 1700 200 200 800 300 800
"$bin/points" --max 5 "$work" "$work/truth.json" >/dev/null
claim "--max is judged" 1 $?
write_truth 4
write_report 4000 4400 2000 600 200 800 300 100
claim "a team's queueing may count as compute" 0.00 "$(worst)"
write_report 4000 4400 1700 600 200 800 300 400
claim "or as idle" 0.00 "$(worst)"
write_report 4000 4400 2040 600 200 800 300 60
claim "but not as more than it was" 1.00 "$(worst)"
echo '{"partition": {"total_ns": 5, "parts": [{"id": "idle", "time_ns": 4}]}}' >"$work/report.json"
"$bin/points" "$work" "$work/truth.json" >/dev/null 2>&1
claim "parts that do not sum are refused" 4 $?

figure() { # figure NAME FIGURE COLUMN: median, quartiles, ratio, its interval are 1 to 6
	sed -n "s/^$1  *$2  *//p" "$work/out" | tr -d '][' | awk -v column="$3" '{ print $column }'
}

# Replaces the output of the inner form: a program that takes 2 s of CPU time in each round, and one
# that takes 2.2 to 3.8.
echo 'echo 4 2 >"$PAIRED_FILE"' >"$work/a.sh"
cat >"$work/b.sh" <<END
read -r cpu rest <"$work/takes"
echo "\$rest" >"$work/takes"
echo "5 \$cpu" >"\$PAIRED_FILE"
exit 3
END
echo "3.8 2.2 3.4 3.0 2.6 2.4 3.6 2.8 3.2" >"$work/takes"
"$bin/paired" 9 "a=sh $work/a.sh" "b=sh $work/b.sh" >"$work/out"
claim "failures are counted" 9 "$(figure b failed 1)"
claim "the first command's ratio is one" 1.0000 "$(figure a "program CPU s" 4)"
claim "2.2 to 3.8 have the median" 3.0000 "$(figure b "program CPU s" 1)"
claim "and the quartiles" "2.6000 3.4000" "$(figure b "program CPU s" 2) $(figure b "program CPU s" 3)"
claim "against 2 their ratio is" 1.5000 "$(figure b "program CPU s" 4)"
claim "all but the least and the most hold it with 95 %" "1.2000 1.8000" \
	"$(figure b "program CPU s" 5) $(figure b "program CPU s" 6)"
claim "wall time is another figure" 1.2500 "$(figure b "program wall s" 4)"
rest=$(figure b "profiler CPU s" 1)
awk -v rest="$rest" 'BEGIN { exit !(rest > -3.00001 && rest < -2.5) }'
claim "what is planted is taken off what is measured, found $rest" 0 $?

# Programs that report their own CPU time: no claim depends on its amount.
cat >"$work/spin.sh" <<'END'
for ((i = 0; i < $1; i++)); do :; done
times >"$2"
END

told() { # told FILE...: sum of the seconds of CPU time that they report
	for file in "$@"; do
		head -1 "$file"
	done | tr -c '0-9. \n' ' ' | awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { print sum }'
}

near() { # near NAME FIGURE FILE...: its median is the reported time, plus at most 5 % and 20 ms for starting
	figure "$1" "$2" 1 | awk -v told="$(shift 2; told "$@")" '{ exit !(told > 0 && $1 > 0.95 * told - 0.02 && $1 < 1.05 * told + 0.02) }'
}

"$bin/paired" 1 "a=exec $bin/paired -- bash $work/spin.sh 200000 $work/inner" \
	"b=bash $work/spin.sh 300000 $work/outer; exec $bin/paired -- bash $work/spin.sh 200000 $work/inner.b" >"$work/out"
near a "program CPU s" "$work/inner"
claim "a program's CPU time is what it says itself: $(told "$work/inner") s, $(figure a "program CPU s" 1) s" 0 $?
near b "profiler CPU s" "$work/outer"
claim "the rest is what the others say: $(told "$work/outer") s, $(figure b "profiler CPU s" 1) s" 0 $?
near b "CPU s" "$work/outer" "$work/inner.b"
claim "and the whole is both: $(figure b "CPU s" 1) s" 0 $?
"$bin/paired" -- sh -c 'exit 9'
claim "the inner form passes the status on" 9 $?

"$bin/confusion" 2>"$work/err"
claim "confusion needs a recording" 2 $?
"$bin/confusion" "$work/none" 2>"$work/err"
claim "and says that there is none" 4 $?

echo "bench: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
