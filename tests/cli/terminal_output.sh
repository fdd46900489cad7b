# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A terminal gets its own width and colours; a pipe, NO_COLOR and TERM=dumb get none.
. "$CASES/run.inc"
command -v script >/dev/null || { echo 'script is missing' >&2; exit 77; }
run -o prof -- short_run 50 >/dev/null
escape=$(printf '\033')
has_colour() { # has_colour NAME FILE
	echo "$1: $(grep -c "$escape\[" "$2" | sed 's/^[1-9].*/colour/; s/^0$/plain/')"
}
TERM=xterm script -qefc 'stty cols 50; trainprof report prof' out >/dev/null
has_colour 'terminal' out
sed '1d;$d' out | tr -d '\r' | sed "s/$escape\[[0-9;]*m//g" | awk 'length($0) > 50 { print "wider than 50: " $0 }'
TERM=xterm NO_COLOR=1 script -qefc 'trainprof report prof' out >/dev/null
has_colour 'NO_COLOR' out
TERM=dumb script -qefc 'trainprof report prof' out >/dev/null
has_colour 'dumb terminal' out
trainprof report prof >out
has_colour 'pipe' out
CLICOLOR_FORCE=1 trainprof report prof >out
has_colour 'CLICOLOR_FORCE' out
NO_COLOR=1 trainprof --color=always report prof >out
has_colour '--color=always' out
LC_ALL=C trainprof report --full prof | LC_ALL=C grep -c '[^ -~]'
# Some awk count bytes: characters of several bytes become one first.
COLUMNS=100 trainprof report --full prof | sed 's/[–×…µ█▉▊▋▌▍▎▏▁▂▃▄▅▆▇]/-/g' | awk 'length($0) > 100 { print }'
