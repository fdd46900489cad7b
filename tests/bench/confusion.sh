#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the trainer with marks around its phases, and compares them with the labels that the analysis
# assigns without them. confusion.sh TRAINPROF DIRECTORY_OF_PROGRAMS DIRECTORY_OF_BENCH KNOBS...
# CONFUSION_MS is the length of the run (10000).
set -u
trainprof=$1
programs=$2
bench=$3
shift 3
work=$(mktemp -d "${TMPDIR:-/tmp}/confusion-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
"$trainprof" run -q --summary none -o "$work/run" -- "$programs/trainer" --data "$work/data" \
	--steps 100000 --milliseconds "${CONFUSION_MS:-10000}" --log-every 0 --marks phases "$@" >"$work/out" ||
	exit
"$bench/confusion" "$work/run"
