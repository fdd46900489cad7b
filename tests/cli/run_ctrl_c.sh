# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Ctrl-C on a terminal is delivered to the program exactly once, and the report is written.
. "$CASES/run.inc"
command -v script >/dev/null || { echo 'script is missing' >&2; exit 77; }

# until_typed TEXT: until a line on the terminal begins like this
until_typed() {
	until_true grep -aqs "^$1" typed
}

(
	until_typed ready
	printf '\003'
	until_typed status
) | script -qefc 'trap : INT; trainprof run -o prof -- signal_trap 100; echo status $?' typed >/dev/null
# The terminal prints the key before the next output.
tr -d '\r' <typed | sed 's/^\^C//' | grep -aE '^(int|INT|status|Saved)|exit status' | sed 's/^Overhead.*lost, //; s/ explain 1 |//'
ls prof/report.json
