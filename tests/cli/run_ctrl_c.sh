# shellcheck shell=sh
# Ctrl-C on a terminal is delivered to the program exactly once, and the report is written.
command -v script >/dev/null || { echo 'script is missing' >&2; exit 77; }
(
	for _ in $(seq 100); do
		grep -q ready typed 2>/dev/null && break
		sleep 0.05
	done
	printf '\003'
	sleep 2
) | script -qefc 'trainprof run -o prof -- signal_trap 10; echo status $?' typed >/dev/null
tr -d '\r' <typed | grep -aE '^(int|INT|status|DATALOADER|Saved)|exited' | sed 's/^Overhead.*lost, //; s/ explain 1 |//'
ls prof/report.json
