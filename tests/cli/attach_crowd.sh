# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Five hundred threads that start and end, and programs that fork and exec all the time: attaching
# finds them all each time, and loses none.
. "$CASES/run.inc"
for i in 1 2; do
	thread_chains 500 60 900000 >/dev/null &
	pid=$!
	# All chains sleep for 0.9 s at the same time; this is midway between two starts of all of
	# them.
	sleep 1.35
	trainprof attach -v --summary=none -d 500ms -o threads$i $pid 2>&1 |
		awk '/threads joined/ { print ($4 == $6 && $4 >= 500) ? "all threads joined" : $0 }'
	kill -KILL $pid
done
sh -c 'cd /; while :; do /bin/true; /bin/sh -c :; done' &
pid=$!
sleep 0.2
for i in 1 2 3; do
	trainprof attach -q --summary=none -d 700ms -o execs$i $pid
	said $?
	trainprof report execs$i --full | grep -oE '([0-9]+ records|no data) lost' | head -1
done
kill -KILL $pid
