#!/bin/sh
# Advice against what following it brings: the trainer with a cause built in is measured, then its
# cause is removed as the advice says, and steps a second of both, without trainprof, are compared
# with the bracket of the gain. gains.sh TRAINPROF DIRECTORY_OF_PROGRAMS [only-rules-that-match]
# GAIN_MS is the length of a run (8000), GAIN_ROUNDS how often each is run for its speed (3).
set -u
trainprof=$1
programs=$2
only=${3:-}
milliseconds=${GAIN_MS:-8000}
rounds=${GAIN_ROUNDS:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/gains-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
n_passed=0
n_failed=0

train() { # train KNOBS...: leaves the truth
	"$programs/trainer" --data "$work/data" --truth "$work/truth.json" --steps 100000 \
		--checkpoint "$work/checkpoint" --log "$work/log" "$@" >/dev/null 2>&1
}

speed() { # speed KNOBS...: steps a second
	train --milliseconds "$((milliseconds / 2))" "$@"
	jq '.steps / (.window.end_ns - .window.start_ns) * 1e9' "$work/truth.json"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# gain RULE BEFORE AFTER: knobs with the cause, and with what the advice of the rule says instead.
gain() {
	case $1 in *"$only"*) ;; *) return ;; esac
	rm -rf "$work/run" "$work/before" "$work/after"
	# shellcheck disable=SC2086 # knobs are words
	"$trainprof" run -q --summary none -o "$work/run" -- "$programs/trainer" \
		--data "$work/data" --checkpoint "$work/checkpoint" --log "$work/log" \
		--steps 100000 --milliseconds "$milliseconds" $2 >/dev/null 2>&1
	"$trainprof" report --json "$work/run" |
		jq -r --arg rule "$1" 'first(.findings[] | select(.rule == $rule and .state == "fired") | .gain |
			"\(.bracket[0]) \(.bracket[1]) \(.speedup.value)")' >"$work/gain"
	for _ in $(seq "$rounds"); do # shellcheck disable=SC2086
		speed $2 >>"$work/before"
		# shellcheck disable=SC2086
		speed $3 >>"$work/after"
	done
	if awk -v rule="$1" -v before="$(median <"$work/before")" -v after="$(median <"$work/after")" '
		{ n = NR; real = after / before
		  printf "%-34s promised %.2f (%.2f to %.2f), is %.2f\n", rule, $3, $1, $2, real
		  # Two medians of a few runs of a program differ by 2 %.
		  bad = real < $1 * 0.98 || real > $2 * 1.02 }
		END { if (!n) printf "%-34s not advised, would be %.2f\n", rule, after / before
		      exit bad || !n }' "$work/gain"; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
	fi
}

gain input/loads-in-trainer "--side 96" "--side 96 --workers 1"
gain input/too-few-workers "--side 128 --workers 1" "--side 128 --workers 2"
gain compute/too-many-threads "--threads 6 --width 2" "--threads 2 --width 2"
gain compute/one-thread "--width 3" "--width 3 --threads 2"
gain memory/page-fault-churn "--churn-mb 16" ""
gain host/checkpoint-in-step "--checkpoint-every 1 --checkpoint-mb 8" ""
gain compute/scalar-kernels "--kernel scalar --width 2" "--width 2"
gain host/logging-in-step "--log-every 1 --log-lines 10000" "--log-every 100 --log-lines 10000"
gain input/storage-bound "--uncached 1 --padding-kb 1024 --pictures 64" "--padding-kb 1024 --pictures 64"
echo "gains: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
