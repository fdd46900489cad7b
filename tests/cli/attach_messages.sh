# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages for wrong uses of attach: no files are left.
sleep 300 &
pid=$!
for words in '' 99999999 0 4x '1 2' '--duration=9 PID' '--log=x PID' '-d' '--collect=perv PID' '-o prof/x/y PID'; do
	echo "trainprof attach $words"
	# shellcheck disable=SC2086,SC2046
	trainprof attach $(echo "$words" | sed "s/PID/$pid/") 2>&1
	echo "status $?"
done
mkdir mine
echo 'trainprof attach -o mine PID'
trainprof attach -o mine $pid 2>&1
echo "status $?"
kill $pid
# Some containers hide the kernel's threads.
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	trainprof attach 2 2>&1 | grep -q 'thread of the kernel' || echo 'a thread of the kernel was not refused'
fi
ls
