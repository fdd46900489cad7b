# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# trainprof itself is killed: the records written so far are readable, including the settings.
. "$CASES/run.inc"
# killed: kills trainprof, and ends its program
killed() {
	kill -KILL $!
	wait $! 2>/dev/null
	[ ! -s pid ] || kill "$(cat pid)"
	rm -f pid
}

# shellcheck disable=SC2016 # the inner shell's own
program='echo $$ >pid; exec sleep 100'
trainprof run -q -o prof -- sh -c "$program" &
wait_for prof/records.tpr
killed
trainprof report --json prof 2>said >report.json
said $?
sed 's/;.*//' said
grep -c '"asked_rate_hz": 99' report.json
grep -c '"kind": "unknown"' report.json
echo 'with --force: what was written is worth reading, and so is what it was to replace'
trainprof run -q --summary=none -o 'two of' -- true
old=$(stat -c %i 'two of/records.tpr')
trainprof run -q -o 'two of' --force -- sh -c "$program" &
is_another() {
	now=$(stat -c %i 'two of/records.tpr' 2>/dev/null) && [ "$now" != "$old" ] && [ -s 'two of/records.tpr' ]
}
until_true is_another
killed
# A program that was about to be started holds trainprof's lock until it notices that trainprof is
# gone.
until_true flock -n two*old* true
trainprof report --json 'two of' 2>said >report.json
said $?
sed 's/;.*//; s/old-[0-9]*/old-PID/' said
ls -d two* | sed 's/old-[0-9]*/old-PID/'
trainprof report -q --json 'two of' 2>&1 >/dev/null | head -1
