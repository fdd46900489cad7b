# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A recorded program that parses its data in a loop of 3,000 rows and trains for 368 steps: in this
# recording stacks show a loop in the preparation only, and the steps are those of the training.
cp -r "$CASES/../data/recordings/setup-loop" run
trainprof report run | sed -n '1s/.*, \([0-9,]* steps\),.*/\1/p; s/^\(WAITING FOR DATA\).*/\1/p'
