#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_trainer.sh DIRECTORY_OF_PROGRAMS: the trainer's own times agree: parts add up to the window
# and steps to the parts, the loss falls, it ends as requested.
# check_trainer.sh DIRECTORY_OF_PROGRAMS --proofs: its times are true: the CPU time agrees, each
# knob raises its own part, marks last as long as in the truth.
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
bin=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/check-trainer-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
truth=$work/truth.json

# value KEY: a number on a line of the truth, at any depth of that line
value() {
	sed -n "s/.*\"$1\": \([-0-9.]*\).*/\1/p" "$truth" | head -1
}

# part NAME: in thousandths of the quickest quarter of the steps. Other programs take CPUs, and a
# host takes the whole machine, for longer than most steps last: that affects some steps, which show
# nothing about the knobs.
part() {
	awk -v want="$1" '
		/^  "[a-z_]*": \[/ {
			name = $1
			gsub(/[":]/, "", name)
			sub(/.*\[/, "")
			n = split($0, x, ",")
			for (i = 1; i <= n; i++) {
				if (name == want)
					own[i] = x[i] + 0
				if (name != "start_ns" && name != "runnable_ns")
					wall[i] += x[i]
			}
		}
		END { for (i = 1; i <= n; i++) printf "%.0f %.0f\n", wall[i], own[i] }' "$truth" | sort -n |
		awk '{ wall[NR] = $1; own[NR] = $2 }
			END {
				for (i = 1; 4 * i < NR + 4; i++) {
					sum += wall[i]
					x += own[i]
				}
				printf "%d", sum ? 1000 * x / sum : 0
			}'
}

# whole_part NAME: in thousandths of the window, without waits for a CPU; for runs without listed
# steps
whole_part() {
	awk -v want="$1" '
		/"parts_ns": {/ || /"runnable_ns": {/ {
			sign = /"parts_ns"/ ? 1 : -1
			sub(/.*{/, "")
			gsub(/[^a-z0-9:,]/, "")
			n = split($0, item, ",")
			for (i = 1; i <= n; i++) {
				split(item[i], pair, ":")
				sum += sign * pair[2]
				if (pair[1] == want)
					x += sign * pair[2]
			}
		}
		END { printf "%d", sum ? 1000 * x / sum : 0 }' "$truth"
}

# The same amount of work, independent of the available CPU time.
run() {
	"$bin/trainer" --data "$work/data" --truth "$truth" --pictures 64 --steps 40 "$@" >"$work/out" 2>&1
}

# The time that the host took from all CPUs so far, in whole ticks: neither CPU time nor time on a
# run queue.
stolen_ns() {
	awk '/^cpu / { printf "%.0f", $9 * 1e7 }' /proc/stat
}

check_sums() {
	window=$(($(value end_ns) - $(value start_ns)))
	sum=$(sed -n 's/.*"parts_ns": {\(.*\)}.*/\1/p' "$truth" | tr ',' '\n' |
		awk -F': ' '{ s += $2 } END { printf "%.0f", s }')
	off=$((sum - window))
	[ "${off#-}" -le $((window / 1000)) ]
	claim $? "$1: parts sum to $sum, window is $window"
}

# The steps' parts, added up differently, equal the parts.
check_steps() {
	awk -v part="$2" '
		index($0, "\"parts_ns\"") { t = $0; sub(".*\"" part "\": ", "", t); total = t + 0 }
		index($0, "\"" part "\": [") { t = $0; gsub(/[^0-9,]/, "", t); n = split(t, x, ",")
			for (i = 1; i <= n; i++) sum += x[i] }
		END { d = sum - total; if (d < 0) d = -d; exit !(d <= 0.001 * total + 1000) }' "$truth"
	claim $? "$1: steps add up to $2"
}

# On a thread that never blocks, CPU time, time on the run queue and the host's share are the whole
# window.
check_cpu() { # check_cpu NAME STOLEN_NS_BEFORE
	queue=$(sed -n 's/.*"runnable_ns": {\(.*\)}.*/\1/p' "$truth" | tr ',' '\n' |
		awk -F': ' '{ s += $2 } END { printf "%.0f", s }')
	window=$(($(value end_ns) - $(value start_ns)))
	off=$((window - $(value cpu_ns) - queue))
	stolen=$(($(stolen_ns) - $2 + 10000000))
	[ "$off" -ge $((-window / 50)) ] && [ "$off" -le $((window / 50 + stolen)) ]
	claim $? "$1: CPU $(value cpu_ns), queue $queue and at most $stolen of the host's differ from the window $window"
}

# raises PART POINTS KNOBS...: the part is at least that many points above the plain run's
raises() {
	wanted=$1
	points=$2
	shift 2
	run "$@"
	claim $? "trainer $* runs"
	check_sums "trainer $*"
	before=0
	eval "before=\$plain_$wanted"
	after=$(part "$wanted")
	[ "$after" -ge $((before + points * 10)) ]
	claim $? "trainer $*: $wanted is $after of 1000, was $before"
}

ends_with() { # ends_with STATUS KNOBS...
	wanted=$1
	shift
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -c 0; run "$@") 2>/dev/null
	status=$?
	[ "$status" -eq "$wanted" ]
	claim $? "trainer $*: status $status, not $wanted"
}

check_knobs() {
	raises dataloader 20 --side 128
	raises dataloader 20 --decode 4
	raises dataloader 15 --sample-sleep-us 1000
	raises dataloader 15 --sample-sleep-us 2000 --workers 1
	raises dataloader 15 --sample-sleep-us 2000 --workers 1 --worker-kind process
	raises dataloader 10 --uncached 1 --padding-kb 1024 --pictures 16
	raises dataloader 10 --direct 1 --padding-kb 64 --pictures 16
	raises dataloader 5 --map 1 --uncached 1 --padding-kb 1024 --pictures 16
	raises compute 5 --width 2
	raises compute 5 --kernel scalar
	raises compute 5 --embedding-mb 64 --lookups 20000
	raises compute -20 --threads 6 --barrier spin # its queueing does not count here
	raises memory 20 --churn-mb 16
	raises memory 20 --copy-mb 64
	raises host 20 --metrics 200
	raises host 20 --log-every 1 --log-lines 20000
	raises host 2 --log-every 1 --log-sync 1
	raises host 10 --checkpoint-every 1 --checkpoint-mb 8
	raises idle 20 --sleep-us 8000
	raises communication 5 --ranks 2 --payload-kb 4096
	raises communication 10 --ranks 2 --transport tcp --late-us 20000
	wait_ns=$(value wait_ns)
	steps=$(value steps)
	[ "$wait_ns" -ge $((steps * 5000000)) ]
	claim $? "trainer: rank 0 waited $wait_ns ns for a rank late by 20 ms in $steps steps"
}

listen() {
	rm -f "$work/ring"
	"$bin/mark_listener" "$work/ring" "$bin/trainer" --data "$work/data" --truth "$truth" \
		--steps 40 --marks phases --log-every 1 --eval-every 10 >"$work/marks"
}

# marked_as_true MARK PHASE: within 1 % and the distance between clock and mark
marked_as_true() {
	awk -v id="$2" -v name="$1" '
		FNR == NR && $1 == name { marked = $3 }
		FNR != NR && index($0, "\"" id "\"") { t = $0; sub(".*wall_ns\": ", "", t); true_ns = t + 0 }
		END { d = marked - true_ns; if (d < 0) d = -d; exit !(d <= 0.01 * true_ns + 200000) }' \
		"$work/marks" "$truth"
}

marks_are_true() {
	marked_as_true dataloader next_batch && marked_as_true forward forward &&
		marked_as_true backward backward && marked_as_true logging log_step
}

check_books() {
	run --log-every 1 --steps 200
	claim $? "trainer runs"
	check_sums "trainer"
	for name in compute dataloader host; do
		check_steps "trainer" $name
	done
	awk -v a="$(value first)" -v b="$(value last)" 'BEGIN { exit !(b < 0.5 * a) }'
	claim $? "trainer: loss falls, $(value first) to $(value last)"
	run --ranks 2 --payload-kb 64
	claim $? "trainer --ranks 2 runs"
	[ -s "$truth.1" ]
	claim $? "trainer: the second rank leaves its truth"
	listen
	claim $? "trainer under the mark listener"
	[ "$(sed -n 's/^step //p' "$work/marks" | cut -d' ' -f1)" = 40 ]
	claim $? "marks: $(grep '^step ' "$work/marks"), 40 expected"
	grep -q '^lost 0$' "$work/marks"
	claim $? "marks: $(grep '^lost' "$work/marks")"
	ends_with 0 --steps 3
	ends_with 4 --exit-at 2 --exit-code 4
	ends_with 139 --crash-at 2
	ends_with 143 --signal-at 2 --signal 15
	ends_with 2 --no-such-knob 1
	ends_with 2 --workers many
	OMP_NUM_THREADS=1 "$bin/mlp" -n 60 -r 64 -o "$truth" >/dev/null
	claim $? "mlp runs"
	check_sums "mlp"
	awk -v a="$(value first)" -v b="$(value last)" 'BEGIN { exit !(b < 0.8 * a) }'
	claim $? "mlp: error falls, $(value first) to $(value last)"
	[ "$("$bin/fixed_work" 5)" = "$("$bin/fixed_work" 5)" ]
	claim $? "fixed_work repeats itself"
	"$bin/thread_crowd" 500 100 | grep -q '^threads 600 '
	claim $? "thread_crowd runs 600 threads"
}

check_times() {
	stolen_before=$(stolen_ns)
	run --log-every 1 --steps 200
	claim $? "trainer runs"
	check_cpu "trainer" "$stolen_before"
	for name in compute communication memory dataloader host idle; do
		eval "plain_$name=$(part $name)"
	done
	[ "$(value minor_faults)" -lt 100 ]
	claim $? "trainer: a plain run faults $(value minor_faults) pages in"
	check_knobs
	# The sum of a listener over the marks equals the truth. On a difference it is tried again:
	# the thread may lose its CPU between the truth's clock and the mark's.
	for _ in 1 2 3 4 5; do
		listen
		status=$?
		marks_are_true && break
	done
	claim "$status" "trainer under the mark listener: status $status"
	marks_are_true
	claim $? "marks: phases last as long as the truth says"
	run --workers 0 --decode 6
	slow=$(part dataloader)
	run --workers 2 --decode 2
	[ "$(part dataloader)" -lt $((slow - 100)) ]
	claim $? "trainer: workers hide loading, $(part dataloader) of 1000 after $slow"
	stolen_before=$(stolen_ns)
	OMP_NUM_THREADS=1 "$bin/mlp" -n 60 -r 64 -o "$truth" >/dev/null
	claim $? "mlp runs"
	check_cpu "mlp" "$stolen_before"
	plain_memory=$(whole_part memory)
	OMP_NUM_THREADS=1 "$bin/mlp" -n 60 -r 64 -m 16 -o "$truth" >/dev/null
	[ "$(whole_part memory)" -ge $((plain_memory + 200)) ]
	claim $? "mlp -m 16: memory is $(whole_part memory) of 1000"
}

case ${2-} in
--proofs) check_times ;;
*) check_books ;;
esac

sum_up programs
