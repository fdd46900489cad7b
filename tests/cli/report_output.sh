# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The output of report, its destination, and its messages on errors.
. "$CASES/run.inc"
run -o prof -- short_run 50 >/dev/null
trainprof report prof | head -1 | cut -c1-15
trainprof report | head -1 | cut -c1-15
trainprof report prof/report.json | head -1 | cut -c1-15
trainprof report --json prof >a.json && trainprof report --format=json -o b.json prof && cmp a.json b.json
trainprof report --validate a.json
trainprof report --validate prof
sed 's/"total_ns": /"total_ns": 1/' a.json >broken.json
trainprof report --validate broken.json | sed -n 's/:[0-9]*: parts sum.*/: PARTS/p'
trainprof report --schema | head -2
trainprof report --markdown prof | head -1 | cut -c1-3
trainprof report prof >/dev/full
said $?
trainprof report --json prof >&-
said $?
trainprof report --json prof -o /dev/full/x 2>&1
said $?
{
	wait_for gone
	trainprof report --full prof
	echo "closed pipe: status $?" >status
} | {
	exec </dev/null
	echo yes >gone
}
cat status
# An output file that is a link or a FIFO stays one.
touch real && ln -s real link && mkfifo fifo
cat fifo >got &
for name in link fifo; do
	trainprof report --json -o $name prof
	said $?
done
wait
[ -L link ] && [ -p fifo ] && cmp a.json real && cmp a.json got && echo 'written through'
