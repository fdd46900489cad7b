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
echo 'nor does one that writes on and on'
cat >chatty <<'END'
sh -c 'echo $$ >chatty.pid; while sleep 0.05; do echo ".$$"; done' &
sh -c 'exec yes >&2' &
echo $! >yes.pid
sleep 0.2
echo last
END
start=$(date +%s)
timeout 20 trainprof run -q --summary=none -o e --log=log -- sh chatty 2>/dev/null | grep -v '^[.]'
[ $(($(date +%s) - start)) -lt 8 ] && echo at once
kill "$(cat chatty.pid)" "$(cat yes.pid)" 2>/dev/null
grep -c last log
echo 'what the program wrote last and what its helper says soon after arrive'
run -o f --log=log -- sh -c '(sleep 0.1; echo helper) & head -c 60000 /dev/zero | tr "\0" x; echo; exit 5' | wc -c
tail -1 log
