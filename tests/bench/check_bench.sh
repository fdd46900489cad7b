#!/bin/sh
# Proves the bench's own arithmetic on cases worked out by hand. check_bench.sh DIRECTORY_OF_BENCH
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
# second half of the second step and nothing else: 75-15 30 0 30 15-5 20 of 150
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

spin() { # spin TURNS: a command whose CPU time is in proportion
	echo "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); done"
}

"$bin/paired" 9 "a=$(spin 100000)" "b=$(spin 150000); exit 3" >"$work/out"
claim "failures are counted" 9 "$(figure b failed 1)"
claim "the first command's ratio is one" 1.0000 "$(figure a "CPU s" 4)"
ratio=$(figure b "CPU s" 4)
awk -v ratio="$ratio" 'BEGIN { exit !(ratio > 1.35 && ratio < 1.65) }'
claim "half as much work again is a CPU ratio of 1.5, found $ratio" 0 $?
awk -v low="$(figure b "CPU s" 5)" -v high="$(figure b "CPU s" 6)" -v x="$ratio" \
	'BEGIN { exit !(low <= x && x <= high && low > 1) }'
claim "the interval holds the median" 0 $?

"$bin/paired" 3 "a=$bin/paired -- sh -c '$(spin 60000)'" \
	"b=$(spin 60000); $bin/paired -- sh -c '$(spin 60000)'" >"$work/out"
awk -v whole="$(figure b "CPU s" 1)" -v own="$(figure b "program CPU s" 1)" \
	-v rest="$(figure b "profiler CPU s" 1)" \
	'BEGIN { exit !(own > 0.3 * whole && own < 0.7 * whole && rest > 0.3 * whole) }'
claim "what the program takes is told from the rest" 0 $?
"$bin/paired" -- sh -c 'exit 9'
claim "the inner form passes the status on" 9 $?

"$bin/confusion" 2>"$work/err"
claim "confusion needs a recording" 2 $?
"$bin/confusion" "$work/none" 2>"$work/err"
claim "and says that there is none" 4 $?

echo "bench: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
