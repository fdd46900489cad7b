# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A source that stops early is in the report, even if it stops late; on the program's terminal it is
# reported only with -v.
. "$CASES/run.inc"
# shellcheck disable=SC2016 # the inner shell's own variable
damage='truncate -s 0 "$TRAINPROF_MARKS"; until [ -e go ]; do sleep 0.05; done; echo done'
reason='"reason": "stopped early: the program damaged the file of marks'
: >go
trainprof run --summary=none --collect=marks -o late -- sh -c "$damage" 2>&1
trainprof report --json late | grep -c "$reason"
for words in '-v' '-q -v'; do
	rm go
	# shellcheck disable=SC2086
	trainprof run $words --summary=none --collect=marks --force -o prof -- sh -c "$damage" >said 2>&1 &
	[ "$words" != -v ] || until_true grep -qs 'marks stopped' said
	: >go
	wait
	cat said
done
trainprof report --json prof | grep -c "$reason"
