# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The commands that the summary proposes work unchanged, for any place of the recording.
mkdir away far
next() { # next FILE: prints each proposed command
	tr -s '\n ' ' ' <"$1" | sed 's/.*Next: trainprof //; s/ *$//; s/ | /\n/'
	echo
}
try() { # try FILE
	next "$1" | while read -r words; do
		[ -n "$words" ] || continue
		echo "$words"
		# shellcheck disable=SC2086 # a command line
		trainprof $words >/dev/null || echo "status $?"
	done
}
trainprof run -o far/prof -- short_run 20 2>after_run >/dev/null
try after_run
cd away || exit 1
trainprof report "../far/prof" >elsewhere
try elsewhere
