#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares advice with the effect of following it, for real loops of PyTorch, as gains.sh does with
# its trainer. gains_python.sh TRAINPROF OUTPUT [only-rules-that-match]
# GAIN_STEPS_PERCENT makes runs longer or shorter (100), GAIN_ROUNDS is the number of runs of each
# for its speed (3).
set -u
trainprof=$1
out=$2
only=${3:-}
percent=${GAIN_STEPS_PERCENT:-100}
rounds=${GAIN_ROUNDS:-3}
here=$(cd "$(dirname "$0")" && pwd)
real=$here/../real
python=/usr/bin/python3
work=$out/work
# shellcheck source=tests/bench/gain.inc
. "$here/gain.inc"

if ! $python -c 'import torch, PIL' 2>/dev/null; then
	echo "gains-python: 0 passed, 0 failed, 1 skipped (not here: Debian's python3-torch, python3-pil)"
	exit 0
fi
mkdir -p "$work" && cd "$out" || exit 2
[ -d middle ] || $python "$real/pictures.py" middle 64 400 || exit 2
[ -d small ] || $python "$real/pictures.py" small 512 32 || exit 2

# Knobs are THREADS STEPS PROGRAM ARGUMENTS; the program's own clock leaves out its first tenth.
measure() {
	threads=$1 steps=$(($2 * percent / 100)) program=$3
	shift 3
	"$trainprof" run -q --summary none -o "$work/run" -- env OMP_NUM_THREADS="$threads" \
		$python "$real/$program" "$@" --steps "$steps" >/dev/null 2>&1
}

speed() {
	threads=$1 steps=$(($2 * percent / 100)) program=$3
	shift 3
	OMP_NUM_THREADS=$threads $python "$real/$program" "$@" --steps "$steps" >/dev/null 2>&1
	jq '1 / .step_s' truth
}

inline="1 75 cnn.py truth middle --width 64 --batch 48"
gain input/loads-in-trainer "$inline" "$inline --workers 1"
crowded="cnn.py truth small --width 96 --batch 32"
gain compute/too-many-threads "8 110 $crowded" "2 110 $crowded"
gain compute/one-thread "1 100 loops.py wide truth" "2 100 loops.py wide truth"
saving="1 200 loops.py checkpoints truth"
gain host/checkpoint-in-step "$saving --every 2" "$saving --every 100"
echo "gains-python: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
