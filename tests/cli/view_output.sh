# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The output of view without a terminal: screens after keys, lines for screen readers, pictures,
# messages.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
for late in 1 6; do
	trace_of 60 $late >trace.json
	trainprof import -q -o waits$late trace.json >/dev/null
done
trainprof view --keys='<Enter>' --print=text waits6
trainprof view --print=text --ascii --width=60 --lines=14 waits6
echo 'advice counted out'
trainprof view --keys='7' --print=text waits6 | sed -n 4p
trainprof view --keys='7x' --print=text waits6 | sed -n 4p
echo 'two runs'
trainprof view --print=text waits6 waits1
echo 'lines for screen readers'
printf '2\n/3\n\nq\nq\nq\n' | trainprof view --plain waits6 >plain.txt
grep -n 'Screen' plain.txt
grep -c "$(printf '\033')" plain.txt
echo 'a picture'
trainprof view --print=svg waits6 >a.svg
head -2 a.svg
tail -1 a.svg
trainprof view --print=markdown waits6 | head -3
echo 'messages'
trainprof view --keys='<Entre>' --print=text waits6
said $?
trainprof view nowhere
said $?
trainprof view --print=text waits6 >/dev/full
said $?
trainprof view a b c
said $?
