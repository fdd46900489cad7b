# shellcheck shell=sh
# --log: stdout and stderr go to the file and through, each on its own stream.
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
run -o d --log=log -- daemon_parent 20 pid
said $?
[ $(($(date +%s) - start)) -lt 8 ] && echo at once
kill "$(cat pid)"
