#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs make targets, continues after a failure, and sums up their counts.
# gates.sh [--jobs=N] [--build TARGET] [VARIABLE=VALUE...] TARGET...
# N targets run in parallel (as many as there are CPUs), and the output of each is printed when it
# is done. The target of --build is built first and has to be all that the others need, because two
# makes at once must not build. A target prints "name: N passed, N failed, N skipped"; one that
# prints no counts counts as one. The seconds of each are printed after it, to find slow ones.
set -u
n_jobs=$(nproc)
variables=
build=
targets=
case " ${MAKEFLAGS-} " in
*-j*) ;;
*) variables="-j$n_jobs" ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--jobs=*) n_jobs=${1#--jobs=} ;;
	--build)
		build=$2
		shift
		;;
	*=*) variables="$variables $1" ;;
	*) targets="$targets $1" ;;
	esac
	shift
done
work=$(mktemp -d "${TMPDIR:-/tmp}/gates-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Words on purpose: no variable here holds a space.
# shellcheck disable=SC2086
make_it() { # make_it TARGET
	"${MAKE:-make}" -s --no-print-directory $variables "$1"
}

run() { # run TARGET: its output goes into a file, its counts into another
	log=$work/$1.log
	began=$(date +%s)
	make_it "$1" >"$log" 2>&1
	status=$?
	counts=$(sed -n 's/^[^ ]*:* *\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -1)
	target=$1
	# shellcheck disable=SC2086 # three words
	set -- ${counts:-0 0 0}
	if [ "$status" -ne 0 ]; then
		[ "$2" -gt 0 ] || set -- "$1" 1 "$3"
	elif [ -z "$counts" ]; then
		set -- 1 0 0
	fi
	echo "$1 $2 $3" >"$work/$target.counts"
	{
		echo "== $target"
		cat "$log"
		echo "   $(($(date +%s) - began)) s"
	} >"$work/$target.said"
	flock "$work" cat "$work/$target.said"
}

work_off() { # runs targets that no other job has begun, until there are none
	for target in $targets; do
		mkdir "$work/$target.begun" 2>/dev/null && run "$target"
	done
}

[ -z "$build" ] || make_it "$build" || exit 1
job=1
while [ "$job" -le "$n_jobs" ]; do
	work_off &
	job=$((job + 1))
done
wait
for target in $targets; do
	cat "$work/$target.counts" 2>/dev/null || echo "0 1 0" # ended early
done | awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
