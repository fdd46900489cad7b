# shellcheck shell=sh
# A program that ends while it is measured: how it ended is told, its status is not ours.
. "$CASES/run.inc"
for last in 'exit 0' 'exit 3' 'kill -TERM $$'; do
	sh -c "sleep 1; $last" &
	trainprof attach -o "prof $last" $! 2>&1 | tr '\n' ' ' | grep -o 'sh \(exited\|was killed\)[^(]*(attached to' | head -1
	wait $!
	said $?
done
sh -c 'sleep 0.5' &
trainprof attach -q --summary=none -o last $!
said $?
