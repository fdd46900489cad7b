# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A recording is shown while it is written; its writer is not affected.
. "$CASES/run.inc"
trainprof run -q --summary=none -o prof -- trainer --milliseconds 600000 --steps 1000000 --marks steps >/dev/null &
run=$!
wait_for prof/records.tpr
# The first block covers a whole interval, even if the recording has just begun.
trainprof top -n 1 prof | sed -En 's/^trainprof top +prof +(trainer).* last 2\.00 s of .*/\1/p; s/^The recording takes .*; 0 records lost.$/cost/p'
# The marks give the steps of any interval.
has_blocks() {
	[ "$(grep -cs 'steps per second' out)" -ge 2 ]
}
: >out
trainprof top -i 1s prof >out &
top=$!
until_true has_blocks && echo 'some blocks'
kill $run
wait $top
said $?
tail -1 out
# A shell that has not yet seen the death of a job names its signal here.
wait $run 2>/dev/null
said $?
trainprof report prof --json | grep -c '"is_partial": *false'
