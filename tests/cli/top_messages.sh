# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages for wrong uses of top: no files are left.
sleep 300 &
pid=$!
for words in '' 99999999 0 4x '1 2' '-i 50ms PID' '-i 1h PID' '-i 2 PID' '--intervall=2s PID' '-n PID' '-o prof PID' '--collect=perv PID' prof; do
	echo "trainprof top $words"
	# shellcheck disable=SC2086,SC2046
	trainprof top $(echo "$words" | sed "s/PID/$pid/") 2>&1
	echo "status $?"
done
kill $pid
trainprof run -q --summary=none -o prof -- short_run 50 >/dev/null
trainprof top prof 2>&1
echo "status $?"
trainprof tpo 2>&1
echo "status $?"
ls
