# shellcheck shell=sh
# Stopped and continued as a job: trainprof stops with the program and goes on with it.
. "$CASES/run.inc"

# until_line TEXT: until the shell has said so, at most 10 s
until_line() {
	for _ in $(seq 200); do
		grep -qsx "$1" said && return 0
		sleep 0.05
	done
	echo "never: $1"
}

state() { # of the program
	cut -d' ' -f3 "/proc/$(pgrep -P "$(cat job)" -x signal_trap)/stat"
}

job_shell job trainprof run -q --summary=none -o prof -- signal_trap 20 >said 2>&1 &
until_line ready
kill -s TSTP -- "-$(cat job)"
until_line 'stopped by 20'
echo "the program's state: $(state)"
kill -s CONT -- "-$(cat job)"
until_line continued
for _ in $(seq 100); do
	[ "$(state)" != T ] && break
	sleep 0.05
done
[ "$(state)" != T ] && echo 'the program runs again'
kill -s TERM "$(cat job)"
wait
grep -v ready said
ls prof/report.json
