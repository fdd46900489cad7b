# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# --log: stdout and stderr go to the file and are passed on, each on its own stream.
. "$CASES/run.inc"
run -o a --log=log -- sh -c 'echo out; echo err >&2; exit 3' >out 2>err
said $?
cat out err
sort log
echo 'a reader that leaves is noticed by the program'
{
	run -o b --log=log -- yes line
	echo "status $?" >noticed
} | head -1
wait_for noticed && cat noticed
echo 'a full disk under the log does not silence the program'
run -o c --log=/dev/full -- echo through
echo 'a daemon that keeps the pipe does not hold run up'
start=$(date +%s)
run -o d --log=log -- daemon_parent 300 pid
said $?
[ $(($(date +%s) - start)) -lt 60 ] && echo at once
wait_for pid
kill "$(cat pid)"
echo 'nor does one that writes on and on'
cat >chatty <<'END'
sh -c 'echo $$ >chatty.pid; while sleep 0.05; do echo ".$$"; done' &
sh -c 'echo $$ >yes.pid; exec yes >&2' &
until [ -s chatty.pid ] && [ -s yes.pid ]; do sleep 0.05; done
echo last
END
start=$(date +%s)
timeout 300 trainprof run -q --summary=none -o e --log=log -- sh chatty 2>/dev/null | grep -v '^[.]'
[ $(($(date +%s) - start)) -lt 60 ] && echo at once
kill "$(cat chatty.pid)" "$(cat yes.pid)" 2>/dev/null
grep -c last log
echo 'what the program wrote last and what its helper says soon after arrive'
# The helper prints 50 ms after the program has ended, and trainprof waits for 200; more on a busy
# machine.
for _ in $(seq 20); do
	run -o f --force --log=log -- sh -c '
		mkfifo end
		(read -r line; sleep 0.05; echo helper) <end &
		exec 9>end
		rm end
		head -c 60000 /dev/zero | tr "\0" x
		echo
		exit 5' >out
	tail -1 log | grep -qx helper && break
done
wc -c <out
tail -1 log
