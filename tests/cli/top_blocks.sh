# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# In a pipe the output is blocks of plain text, as many as requested; the program is not affected.
. "$CASES/run.inc"
signal_trap 600 >heard &
heard=$!
wait_for heard
sh -c 'while :; do :; done' &
pid=$!
# Parts that change from block to block become a word.
shape() {
	sed -E "s/$pid/PID/g; s/[0-9]+:[0-9:]+/CLOCK/g; s/(last) [0-9.]+ m?s/\1 TIME/; s/ +/ /g" |
		sed -En 's/^(trainprof top pid PID .* last TIME of CLOCK)$/\1/p; s/^(trainprof takes) [0-9.<]+ % .*$/\1/p; s/^ (PID trainer).*/\1/p; s/^(pid .*)/\1/p'
}
echo '-n 2'
trainprof top --width=120 -n 2 -i 500ms $pid >out
said $?
shape <out
grep -c "$(printf '\033')" out
echo '-d 4500ms -i 3s: the last one is shorter'
trainprof top --width=120 -d 4500ms -i 3s $pid >out
shape <out
sed -n 's/^trainprof top .* last \([0-9.]*\) s of .*/\1/p' out | awk '{ last[NR] = $1 } END { print (last[2] < last[1] ? "shorter" : last[1] " and " last[2]) }'
echo 'of one that ends'
: >out
sh -c 'until grep -q takes out; do sleep 0.05; done; exit 3' &
trainprof top -i 500ms $! >out
said $?
sed -n 's/^pid [0-9]* //p' out
wait $!
said $?
echo 'nobody reads on'
{ trainprof top -i 300ms $pid 2>errors; echo "status $?" >ended; } | head -1 | grep -c 'trainprof top'
wait_for ended
cat ended errors
echo 'a full disk'
trainprof top -i 300ms $pid 2>errors >/dev/full
said $?
cat errors
echo 'Ctrl-C'
: >out # the old content is of the previous one
env --default-signal=INT trainprof top -i 300ms $heard >out &
wait_for out
kill -INT $!
wait $!
said $?
kill -0 $pid && echo 'it goes on'
kill $pid
kill -KILL $heard
cat heard
ls
