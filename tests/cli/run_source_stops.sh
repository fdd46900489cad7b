# shellcheck shell=sh
# A source that stops early is in the report; on the program's terminal nothing is said but with -v.
. "$CASES/run.inc"
# shellcheck disable=SC2016 # the inner shell's own variable
damage='truncate -s 0 "$TRAINPROF_MARKS"; sleep 0.5; echo done'
for words in '' '-v' '-q -v'; do
	# shellcheck disable=SC2086
	trainprof run $words --summary=none --collect=marks --force -o prof -- sh -c "$damage" 2>&1
done
trainprof report --json prof | grep -c '"reason": "stopped early: the program damaged the file of marks'
