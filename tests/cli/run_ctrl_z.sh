# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Stopped and continued as a job: trainprof stops and continues with the program.
. "$CASES/run.inc"

# until_line TEXT: until the shell has printed it
until_line() {
	until_true grep -qsx "$1" said
}

is_stopped() { # the program, independent of trainprof's state
	[ "$(cut -d' ' -f3 "/proc/$program/stat")" = T ]
}

goes_on() {
	! is_stopped
}

# shellcheck disable=SC2016 # the inner shell's own
job_shell job trainprof run -q --summary=none -o prof -- sh -c 'echo $$ >pid; exec signal_trap 100' >said 2>&1 &
until_line ready
program=$(cat pid)
kill -s TSTP -- "-$(cat job)"
until_line 'stopped by 20'
until_true is_stopped && echo 'the program is stopped'
kill -s CONT -- "-$(cat job)"
until_line continued
until_true goes_on && echo 'the program runs again'
kill -s TERM "$(cat job)"
wait
grep -v ready said
ls prof/report.json
