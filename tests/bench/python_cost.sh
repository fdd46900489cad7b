#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures trainprof's cost in a PyTorch training with two loader workers: the same program plain,
# under trainprof, austin and py-spy, in alternation.
# python_cost.sh TRAINPROF DIRECTORY_OF_BENCH OUTPUT [ROUNDS]
# BENCH_STEPS is the number of steps (160, some 25 s on the machine of docs/measurements.md). Other
# profilers come from PyPI; one that cannot be installed is left out.
set -u
trainprof=$1
bench=$2
out=$3
rounds=${4:-9}
steps=${BENCH_STEPS:-160}
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3
work=$out/work
mkdir -p "$work" || exit 2

if ! $python -c 'import torch, PIL' 2>/dev/null; then
	echo "bench-python: not here: Debian's python3-torch and python3-pil"
	exit 0
fi
[ -d "$out/middle" ] || (cd "$out" && $python "$here/../real/pictures.py" middle 64 400) || exit 2

# installed PACKAGE PROGRAM: prints the path of the program; empty if it cannot be installed
installed() {
	program=$out/venv/bin/$2
	if [ ! -x "$program" ]; then
		[ -x "$out/venv/bin/pip" ] || $python -m venv "$out/venv" >"$out/venv.log" 2>&1
		"$out/venv/bin/pip" install -q "$1" >"$out/$2.log" 2>&1
	fi
	[ -x "$program" ] && echo "$program"
}

pyspy=$(installed py-spy py-spy)
austin=$(installed 'austin-dist<4' austin) # 4.0 wants glibc 2.38, and Debian 12 has 2.36
echo "machine: $(uname -sr), $(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
echo "$("$trainprof" --version | head -1); ${pyspy:+$("$pyspy" --version)}; ${austin:+$("$austin" --version 2>&1 | head -1)}"

inner="$python $here/own_time.py $here/../real/cnn.py $work/truth $out/middle --steps $steps"
inner="$inner --width 64 --batch 48 --workers 2 --repeat 3"
set -- "plain=exec $inner" \
	"trainprof=rm -rf $work/run; exec $trainprof run -q -o $work/run -- $inner"
# The same rate as trainprof, including child processes.
if [ -n "$austin" ] && "$austin" -C -i 10ms -o "$work/austin" $python -c 'sum(range(10**7))' >/dev/null 2>&1; then
	set -- "$@" "austin=exec $austin -C -i 10ms -o $work/austin $inner"
else
	echo "(austin: not usable here)"
fi
if [ -n "$pyspy" ]; then
	set -- "$@" "py-spy=exec $pyspy record -s -r 100 -f raw -o $work/py-spy -- $inner"
else
	echo "(py-spy: not usable here)"
fi
"$bench/paired" "$rounds" "$@"
"$trainprof" report --full "$work/run" | grep -E 'Overhead|Less detail'
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
