# shellcheck shell=sh
# trainprof itself is killed: what was written until then is read, and knows how it was measured.
. "$CASES/run.inc"
trainprof run -q -o prof -- sleep 2 &
wait_for prof/records.tpr
kill -KILL $!
wait $! 2>/dev/null
trainprof report --json prof 2>said >report.json
said $?
sed 's/;.*//' said
grep -c '"asked_rate_hz": 99' report.json
grep -c '"kind": "unknown"' report.json
