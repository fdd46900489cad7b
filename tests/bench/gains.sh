#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares advice with the effect of following it: the trainer is measured with a built-in cause,
# the cause is removed as the advice says, and steps per second of both, without trainprof, are
# compared with the interval of the gain. gains.sh TRAINPROF DIRECTORY_OF_PROGRAMS
# [only-rules-that-match]
# GAIN_MS is the length of a run (8000), GAIN_ROUNDS the number of runs of each for its speed (3).
set -u
trainprof=$1
programs=$2
only=${3:-}
milliseconds=${GAIN_MS:-8000}
rounds=${GAIN_ROUNDS:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/gains-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/gain.inc
. "$here/gain.inc"

train() { # train KNOBS...: writes the truth
	"$programs/trainer" --data "$work/data" --truth "$work/truth.json" --steps 100000 \
		--checkpoint "$work/checkpoint" --log "$work/log" "$@" >/dev/null 2>&1
}

speed() { # speed KNOBS...: steps per second
	train --milliseconds "$((milliseconds / 2))" "$@"
	jq '.steps / (.window.end_ns - .window.start_ns) * 1e9' "$work/truth.json"
}

measure() { # measure KNOBS...
	"$trainprof" run -q --summary none -o "$work/run" -- "$programs/trainer" \
		--data "$work/data" --checkpoint "$work/checkpoint" --log "$work/log" \
		--steps 100000 --milliseconds "$milliseconds" "$@" >/dev/null 2>&1
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
