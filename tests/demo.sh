#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A first demonstration: trains a small network on pictures whose decoding is the bottleneck, and
# lets trainprof report that. demo.sh BUILD_DIRECTORY
set -eu
build=$1
data=$build/demo
mkdir -p "$data"
set -- "$build/programs/trainer" --data "$data/pictures" --marks phases --workers 1 --side 256 \
	--batch 8 --steps 1000000 --milliseconds "${DEMO_MS:-12000}"
# Drawing the pictures is not part of the training.
"$build/programs/trainer" --data "$data/pictures" --side 256 --steps 1 >/dev/null
rm -rf "$data/recording"
echo "trainprof run -o $data/recording -- $*"
"$build/trainprof" run -o "$data/recording" -- "$@"
echo
echo "Until make install, trainprof is ./trainprof here: ./trainprof explain 1"
